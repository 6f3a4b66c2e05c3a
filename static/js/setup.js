/* The form: policies of the chosen parser only, focus on what is wrong, what was changed and is not run yet, and after
   a run the head of the page and the focus, which goes to the verdict. */
import { nameCase } from "./banner.js";
import { isChanged, isRestored } from "./dom.js";

function showPolicies(parser) {
  document.getElementById("setup").dataset.parser = parser;
  for (const field of document.querySelectorAll("#policies [data-formats]")) {
    field.hidden = parser !== "auto" && !field.dataset.formats.split(" ").includes(parser);
  }
}

/* Whether the last input was a key: only then the headline shows that it has the focus. */
let byKeys = false;

/* The field that is wrong has the focus; false where none is. */
function focusProblem() {
  const problem = document.querySelector("[data-focus]");
  problem?.focus();
  return problem !== null;
}

/* Back and Forward bring another page, and the focus went with the one before: it goes to where it is after Run. What
   the address names is shown, and no browser puts the focus there by itself. */
function restored() {
  if (focusProblem() || document.activeElement !== document.body) return;
  const place = document.querySelector("#headline, #compare-headline, #setup.at-home #text");
  const found = place ?? document.getElementById("main");
  found.toggleAttribute("data-by-keys", byKeys);
  found.focus({ preventScroll: true });
}

function swapped(event) {
  if (isRestored(event)) restored();
  if (event.detail.ctx?.target?.id !== "page") return;
  const wrong = focusProblem();
  const { heading, note: said } = document.getElementById("inspector")?.dataset ?? {};
  const isRun = heading !== undefined;
  nameCase(heading ?? "");
  for (const note of document.querySelectorAll(".case-note")) note.textContent = isRun ? said : "not run";
  if (!isRun) return;
  document.title = `${heading} · Toolcall Inspector`;
  if (wrong) return;
  const headline = document.getElementById("headline");
  headline?.toggleAttribute("data-by-keys", byKeys);
  headline?.focus();
}

/* Beside a run the chips that say something else than it was run with are marked, and Run is the next action. */
function showChanges() {
  const form = document.querySelector("#setup:not(.at-home)");
  if (!form || !document.getElementById("inspector")) return;
  const fields = [...form.elements].filter((field) => field.name && field.matches("select, textarea, input"));
  const changed = fields.filter((field) => !field.matches("[type=hidden], [type=submit]") && isChanged(field));
  const chips = new Set(changed.map((field) => field.closest("#setup > .setup > .field, .source")));
  for (const chip of form.querySelectorAll(".setup > .field, .source")) {
    chip.toggleAttribute("data-changed", chips.has(chip));
  }
  form.toggleAttribute("data-stale", changed.length > 0);
  form.querySelector("[name=run]").classList.toggle("primary", changed.length > 0);
  document.getElementById("stale").hidden = !changed.length;
}

/* The first page begins with its box, where nothing else is asked for: no place of the address, no field that is
   wrong. On a small screen a keyboard would cover it. */
function focusBox() {
  if (matchMedia("(min-width: 701px)").matches) focusFree("#setup.at-home #text");
}

/* Puts the focus where work goes on, unless it is elsewhere already or the address says where. */
function focusFree(selector) {
  if (location.hash || document.activeElement !== document.body) return;
  document.querySelector(selector)?.focus({ preventScroll: true });
}

export function startSetup() {
  if (!focusProblem()) {
    focusBox();
    focusFree("#headline, #compare-headline"); // of a run or a comparison that a link or a form led to
  }
  for (const kind of ["keydown", "pointerdown"]) {
    document.addEventListener(kind, () => (byKeys = kind === "keydown"), { capture: true });
  }
  document.addEventListener("htmx:after:swap", swapped);
  window.addEventListener("pageshow", showChanges); // a browser may fill the form in again
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, ({ target }) => target.form?.id === "setup" && showChanges());
  }
  document.addEventListener("change", (event) => {
    if (event.target.id === "parser") showPolicies(event.target.value);
  });
}
