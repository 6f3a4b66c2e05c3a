/* The source pane of an engine's parser: which lines ran at the step under the cursor. It is asked for when the cursor
   rests, for the engine has to be at that step. A number of a line asks which other steps ran it. */
import { onStep, remember, step } from "./cursor.js";
import { isPlain, say } from "./dom.js";
import { ask, choose } from "./request.js";

const WAIT = 120; // milliseconds that the cursor has to rest
let timer = 0;
let seen = 0; // the step whose line was brought into sight

const box = () => document.getElementById("lines");
const shown = () => Number(box()?.querySelector("[data-source]")?.dataset.source);

function load() {
  clearTimeout(timer);
  box().setAttribute("aria-busy", "true");
  ask("#lines", "innerHTML", { step: String(step()) });
}

function moved() {
  clearTimeout(timer);
  if (box() && shown() !== step()) timer = setTimeout(load, WAIT);
}

/* The line that sent comes into sight; else the first that ran. Of the attributes those that changed stand first. */
function sight() {
  const line = box().querySelector("#sender") ?? box().querySelector(".source-line.ran");
  const top = line?.offsetParent ? line.getBoundingClientRect().top - box().getBoundingClientRect().top : 0;
  box().scrollTop = top ? box().scrollTop + top - box().clientHeight / 3 : 0;
}

function swapped() {
  if (!box()) return;
  box().removeAttribute("aria-busy");
  moved();
  if (seen === shown()) return;
  seen = shown();
  sight();
}

function clicked(event) {
  if (event.target.closest("[data-tabs=source]")) requestAnimationFrame(sight);
  const number = isPlain(event) && event.target.closest("#lines [data-where]");
  if (!number || !choose("where", number.dataset.where)) return;
  event.preventDefault();
  remember();
  say(`Other steps that ran ${number.getAttribute("aria-label")}`);
  load();
}

export function startLines() {
  onStep(moved);
  document.addEventListener("click", clicked);
  document.addEventListener("htmx:after:swap", swapped);
  swapped();
}
