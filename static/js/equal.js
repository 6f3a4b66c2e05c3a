/* Equal tokens: instead of its owner's colour every token that occurs more than once has the colour and the number of
   its group. One attribute of the pane; it goes into the address and survives a new window. */
import { inspector, remember } from "./stepper.js";

let last = null; // the run, and what was last chosen in it

const pane = () => inspector()?.querySelector("#input");

function show(on) {
  pane().dataset.equal = on ? "1" : "";
  last = { run: inspector().dataset.run, on };
  pane().querySelector("[data-equal-toggle]").setAttribute("aria-pressed", String(on));
  const field = document.querySelector('#cursor [data-view="equal"]');
  field.value = on ? "1" : "";
  field.dataset.changed = "1";
  remember();
}

/* What is swapped in may have been asked for before the last press. */
function swapped() {
  if (last && pane() && inspector().dataset.run === last.run && Boolean(pane().dataset.equal) !== last.on) show(last.on);
}

export function startEqual() {
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const control = event.target.closest("[data-equal-toggle]");
    if (!control) return;
    event.preventDefault();
    show(!pane().dataset.equal);
  });
  document.addEventListener("keydown", (event) => {
    const control = event.key === " " && event.target.closest?.("a[data-equal-toggle]");
    if (!control) return;
    event.preventDefault(); // a link that is a button answers to both keys of a button
    control.click();
  });
}
