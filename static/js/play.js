/* Play: a step every quarter of a second until the end, any key or click, or a hidden page. */
import { goTo, onStep, step, total } from "./cursor.js";

const EVERY = 250;
let timer = 0;

function show() {
  for (const button of document.querySelectorAll("[data-play]")) {
    button.setAttribute("aria-pressed", String(timer !== 0));
    button.querySelector("[data-play-word]").textContent = timer ? "Pause" : "Play";
  }
}

function stop() {
  clearInterval(timer);
  timer = 0;
  show();
}

export function togglePlay() {
  if (timer) {
    stop();
    return;
  }
  if (step() >= total()) goTo(1, { quiet: true });
  timer = setInterval(() => (step() < total() ? goTo(step() + 1, { quiet: true }) : stop()), EVERY);
  show();
}

export function startPlay() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-play]")) togglePlay();
    else if (timer) stop();
  });
  document.addEventListener("keydown", (event) => {
    if (timer && event.key !== " " && event.key !== "Enter") stop();
  });
  document.addEventListener("visibilitychange", () => timer && document.hidden && stop());
  onStep((number) => timer && number >= total() && stop());
}
