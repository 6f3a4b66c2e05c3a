/* What the token strip shows in colour. The legend is a filter: pressed roles keep their cue, all others become plain
   text. Equal tokens: every token that occurs more than once has the colour and the number of its group, not of its
   owner. Each is one attribute of the pane; it goes into the address and survives a new window. */
import { onStep, remember } from "./cursor.js";
import { clickOnSpace, isPlain, write } from "./dom.js";
import { card, inspector } from "./inspector.js";
import { choose } from "./request.js";

const TOGGLES = "[data-role-toggle], [data-equal-toggle]";
let unfolded = false; // whether all is said of a token
let last = {}; // the run, and what was last chosen in it: only, equal

const pane = () => inspector()?.querySelector("#input");

function keep(name, shown, sent) {
  const { run } = inspector().dataset;
  pane().dataset[name] = shown;
  last = { ...(last.run === run && last), run, [name]: shown };
  choose(name, sent);
  remember();
}

function showRoles(roles) {
  const toggles = [...pane().querySelectorAll("[data-role-toggle]")];
  const named = toggles.map((toggle) => toggle.dataset.roleToggle).filter((role) => roles.includes(role));
  for (const toggle of toggles) toggle.setAttribute("aria-pressed", String(named.includes(toggle.dataset.roleToggle)));
  const all = pane().querySelector("[data-role-all]");
  if (!named.length && all === document.activeElement) toggles[0].focus();
  all.hidden = !named.length;
  keep("only", named.join(" "), named.join(","));
}

function toggleRole(role) {
  const pressed = pane().dataset.only.split(" ");
  showRoles(pressed.includes(role) ? pressed.filter((other) => other !== role) : [...pressed, role]);
}

function showEqual(on) {
  pane()
    .querySelector("[data-equal-toggle]")
    .setAttribute("aria-pressed", String(Boolean(on)));
  keep("equal", on, on);
}

/* How much is held is a matter of the step. */
function count(step) {
  const held = document.querySelector('#input .legend [data-role-toggle="held"]');
  const shown = card(step);
  if (!held || !shown) return;
  const [start, end] = (shown.hold ?? "0-0").split("-").map(Number);
  const size = (end - start).toLocaleString("en");
  write(held.querySelector("[data-role-size]"), size);
  held.setAttribute("aria-label", `held, ${size} ${end - start === 1 ? "character" : "characters"}`);
}

function fold({ target }) {
  if (target.id === "more-facts") unfolded = target.open;
}

/* What is swapped in may have been asked for before the last press. */
function swapped() {
  const more = document.getElementById("more-facts");
  if (more) more.open = unfolded;
  if (!pane() || inspector().dataset.run !== last.run) return;
  if (last.only !== undefined && pane().dataset.only !== last.only) showRoles(last.only.split(" "));
  if (last.equal !== undefined && pane().dataset.equal !== last.equal) showEqual(last.equal);
}

function click(event) {
  if (!isPlain(event)) return;
  const control = event.target.closest(`${TOGGLES}, [data-role-all]`);
  if (!control) return;
  event.preventDefault();
  if (control.dataset.roleToggle) toggleRole(control.dataset.roleToggle);
  else if (control.hasAttribute("data-role-all")) showRoles([]);
  else showEqual(pane().dataset.equal ? "" : "1");
}

export function startStrip() {
  onStep(count);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("toggle", fold, true);
  document.addEventListener("click", click);
  document.addEventListener("keydown", (event) => clickOnSpace(event, `a:is(${TOGGLES})`));
}
