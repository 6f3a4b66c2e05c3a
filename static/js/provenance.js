/* Selecting a part of the result lights up the output it came from, and selecting a token lights up what became of it.
   Both sides carry the same offsets of the output (data-from, data-to), so a selection is one range. */
import { say } from "./dom.js";

let range = null;

function paint() {
  for (const element of document.querySelectorAll("#inspector .linked")) element.classList.remove("linked");
  if (!range) return;
  const [start, end] = range;
  for (const element of document.querySelectorAll(
    "#strip [data-from], #result .run[data-from], #step .card:not([hidden]) [data-from]",
  )) {
    const from = Number(element.dataset.from);
    const to = Number(element.dataset.to);
    if (from < end && to > start) element.classList.add("linked");
  }
}

function show(start, end) {
  range = end > start ? [start, end] : null;
  paint();
  const first = document.querySelector("#strip .linked");
  const box = document.getElementById("strip");
  if (first && box.scrollHeight > box.clientHeight) {
    box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
  const text = [...document.querySelectorAll("#strip .linked")].map((run) => run.textContent).join("");
  say(range ? `Comes from characters ${start} to ${end}: ${text.slice(0, 80)}` : "");
}

/* Lights up what these characters of the output came with, and what became of them. */
export function selectRange(start, end) {
  range = end > start ? [start, end] : null;
  paint();
}

export function clearSelection() {
  range = null;
  paint();
}

export function startProvenance() {
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest?.("[data-select]");
    const token = target.closest?.("[data-token]");
    const part = target.closest?.("#result tr[data-from], #step [data-from]");
    if (chosen) show(...chosen.dataset.select.split("-").map(Number));
    else if (token) selectToken(token);
    else if (part && !target.closest("a, button, #result .run")) {
      show(Number(part.dataset.from), Number(part.dataset.to));
    }
  });
  document.addEventListener("htmx:after:swap", paint);
}

function selectToken(token) {
  const runs = [...token.querySelectorAll("[data-from]")];
  if (!runs.length) return;
  range = [Number(runs[0].dataset.from), Number(runs.at(-1).dataset.to)];
  paint();
}
