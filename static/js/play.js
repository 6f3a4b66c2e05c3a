/* Play: until the end, any key or click, or a hidden page. An output has a step every quarter of a second. A recorded
   stream is played as it came, at a speed that is chosen; a gap over two seconds lasts two. Who asked the system for
   less motion sees at most four chunks a second: those between are passed over. */
import { goTo, onStep, step, total } from "./cursor.js";
import { inspector } from "./inspector.js";

const EVERY = 250;
const LONGEST = 2000; // milliseconds that a gap lasts at most
const FRAME = 16;
let timer = 0;
let clock = []; // when each step is due, in milliseconds of play
let begun = 0; // when play began, less what was played before

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const speed = () => Number(inspector()?.querySelector("[data-speed]")?.value ?? 1);

/* When each step of a recorded stream is due, at speed one; empty where no times are known. */
function readClock() {
  const times = JSON.parse(inspector()?.querySelector("[data-times]")?.dataset.times ?? "[]");
  let due = 0;
  const found = times.map((time, at) => (due += Math.min(LONGEST, at ? time - times[at - 1] : 0)));
  return times.length ? [...found, due] : [];
}

function show() {
  for (const button of document.querySelectorAll("[data-play]")) {
    button.setAttribute("aria-pressed", String(timer !== 0));
    button.querySelector("[data-play-word]").textContent = timer ? "Pause" : "Play";
  }
}

function stop() {
  clearTimeout(timer);
  timer = 0;
  show();
}

/* The next step, or the latest that is due, and the time until the one after it. */
function tick() {
  if (step() >= total()) {
    stop();
    return;
  }
  if (!clock.length) {
    goTo(step() + 1, { quiet: true });
    timer = setTimeout(tick, EVERY);
    return;
  }
  const played = (performance.now() - begun) * speed();
  const due = Math.min(total(), clock.findLastIndex((one) => one <= played) + 1);
  if (due > step()) goTo(due, { quiet: true });
  if (!timer) return; // that was the end
  const next = (clock[Math.max(due, step())] ?? played) - played;
  timer = setTimeout(tick, Math.max(isCalm() ? EVERY : FRAME, next / speed()));
}

function start() {
  if (step() >= total()) goTo(1, { quiet: true });
  clock = readClock();
  setClock();
  timer = setTimeout(tick, clock.length ? 0 : EVERY);
  show();
}

/* From here on the step under the cursor is the one that is due now. */
function setClock() {
  begun = performance.now() - (clock[step() - 1] ?? 0) / speed();
}

export function togglePlay() {
  if (timer) stop();
  else start();
}

const isSpeed = (event) => event.target.closest?.("[data-speed]");

export function startPlay() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-play]")) togglePlay();
    else if (timer && !isSpeed(event)) stop();
  });
  document.addEventListener("keydown", (event) => {
    if (timer && !isSpeed(event) && event.key !== " " && event.key !== "Enter") stop();
  });
  document.addEventListener("change", (event) => isSpeed(event) && setClock());
  document.addEventListener("visibilitychange", () => timer && document.hidden && stop());
  onStep((number) => timer && number >= total() && stop());
}
