/* The form: policies of the chosen parser only, focus on what is wrong, and after a run the head of the page and the
   focus, which goes to the verdict. */
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

function swapped(event) {
  if (event.detail.ctx?.target?.id !== "page") return;
  const wrong = focusProblem();
  const { heading, note: said } = document.getElementById("inspector")?.dataset ?? {};
  const isRun = heading !== undefined;
  for (const name of document.querySelectorAll(".case-name")) name.textContent = heading ?? "";
  for (const note of document.querySelectorAll(".case-note")) note.textContent = isRun ? said : "not run";
  if (!isRun) return;
  document.title = `${heading} · Toolcall Inspector`;
  if (wrong) return;
  const headline = document.getElementById("headline");
  headline?.toggleAttribute("data-by-keys", byKeys);
  headline?.focus();
}

/* The first page begins with its box, where nothing else is asked for: no place of the address, no field that is
   wrong. On a small screen a keyboard would cover it. */
function focusBox() {
  if (location.hash || document.activeElement !== document.body || !matchMedia("(min-width: 701px)").matches) return;
  document.querySelector("#setup.at-home #text")?.focus({ preventScroll: true });
}

export function startSetup() {
  if (!focusProblem()) focusBox();
  for (const kind of ["keydown", "pointerdown"]) {
    document.addEventListener(kind, () => (byKeys = kind === "keydown"), { capture: true });
  }
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("change", (event) => {
    if (event.target.id === "parser") showPolicies(event.target.value);
  });
}
