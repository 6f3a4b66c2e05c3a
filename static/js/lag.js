/* The cursor in the lag plot: it stands where the output has been fed to. */
import { inspector, onStep } from "./stepper.js";

function move(step) {
  const plot = inspector()?.querySelector("[data-lag]");
  const span = inspector()?.querySelector(`#step .card[data-at="${step}"]`)?.dataset.span;
  if (!plot || !span) return;
  const x = `${(Number(span.split("-")[1]) * 100) / Math.max(1, Number(plot.dataset.length))}%`;
  const line = plot.querySelector("[data-lag-cursor]");
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

export function startLag() {
  onStep(move);
}
