/* The legend as a filter: pressed roles keep their cue in the token strip, all others become plain text. Which roles are
   pressed is one attribute of the pane; it goes into the address and survives a new window. */
import { inspector, onStep, remember } from "./stepper.js";

let last = null; // the run, and the roles last pressed in it

const pane = () => inspector()?.querySelector("#input");
const pressed = () => new Set(pane().dataset.only.split(" ").filter(Boolean));

function show(roles) {
  const toggles = [...pane().querySelectorAll("[data-role-toggle]")];
  const named = toggles.map((toggle) => toggle.dataset.roleToggle).filter((role) => roles.has(role));
  pane().dataset.only = named.join(" ");
  last = { run: inspector().dataset.run, only: pane().dataset.only };
  for (const toggle of toggles) toggle.setAttribute("aria-pressed", String(roles.has(toggle.dataset.roleToggle)));
  const all = pane().querySelector("[data-role-all]");
  if (!named.length && all === document.activeElement) toggles[0].focus();
  all.hidden = !named.length;
  const field = document.querySelector('#cursor [data-view="only"]');
  field.value = named.join(",");
  field.dataset.changed = "1";
  remember();
}

function toggle(role) {
  const roles = pressed();
  if (!roles.delete(role)) roles.add(role);
  show(roles);
}

/* How much is held is a matter of the step. */
function count(step) {
  const held = pane()?.querySelector('[data-role-toggle="held"]');
  const card = inspector()?.querySelector(`#step .card[data-at="${step}"]`);
  if (!held || !card) return;
  const [start, end] = (card.dataset.hold ?? "0-0").split("-").map(Number);
  const size = (end - start).toLocaleString("en");
  held.querySelector("[data-role-size]").textContent = size;
  held.setAttribute("aria-label", `held, ${size} ${end - start === 1 ? "character" : "characters"}`);
}

/* What is swapped in may have been asked for before the last press. */
function swapped() {
  if (!last || inspector()?.dataset.run !== last.run || pane()?.dataset.only === last.only) return;
  show(new Set(last.only.split(" ")));
}

export function startOwnership() {
  onStep(count);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const control = event.target.closest("[data-role-toggle], [data-role-all]");
    if (!control) return;
    event.preventDefault();
    if (control.dataset.roleToggle) toggle(control.dataset.roleToggle);
    else show(new Set());
  });
  document.addEventListener("keydown", (event) => {
    const control = event.key === " " && event.target.closest?.("a[data-role-toggle]");
    if (!control) return;
    event.preventDefault(); // a link that is a button answers to both keys of a button
    control.click();
  });
}
