/* The cursor in the lag plot: it stands where the output has been fed to, and goes where the plot is clicked. */
import { goTo, onStep } from "./cursor.js";
import { moveLine } from "./dom.js";
import { card } from "./inspector.js";

function move(step) {
  const plot = document.querySelector("#lag [data-lag]");
  const span = card(step)?.span;
  if (!plot || !span) return;
  const fed = Number(span.split("-")[1]);
  moveLine(plot.querySelector("[data-lag-cursor]"), `${(fed * 100) / Math.max(1, Number(plot.dataset.length))}%`);
}

/* The step that fed the character under the pointer. */
function under(plot, event) {
  const steps = JSON.parse(plot.dataset.steps);
  const box = plot.getBoundingClientRect();
  const column = Math.floor(((event.clientX - box.left) / box.width) * steps.length);
  return steps[Math.min(steps.length - 1, Math.max(0, column))];
}

export function startLag() {
  onStep(move);
  document.addEventListener("click", (event) => {
    const plot = event.target.closest?.("[data-lag]");
    if (plot) goTo(under(plot, event));
  });
}
