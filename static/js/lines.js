/* The source pane of an engine's parser: which lines ran at the step under the cursor. It is asked for when the cursor
   rests, for the engine has to be at that step. A number of a line asks which other steps ran it, a character of the
   message which line sent it. */
import { onStep, remember, step } from "./cursor.js";
import { isPlain, say } from "./dom.js";
import { ask, choose } from "./request.js";

const WAIT = 120; // milliseconds that the cursor has to rest
let timer = 0;
let asked = null; // a character of this step that nothing was loaded for yet
let seen = ""; // what was brought into sight: the line of a step, or of a character of it

const box = () => document.getElementById("lines");
const source = () => box()?.querySelector("[data-source]")?.dataset;
const shown = () => Number(source()?.source);

function load() {
  clearTimeout(timer);
  asked = null;
  box().setAttribute("aria-busy", "true");
  ask("#lines", "innerHTML", { step: String(step()) });
}

function moved() {
  clearTimeout(timer);
  const isStale = shown() !== step() || (asked !== null && asked !== source()?.about);
  if (box() && isStale) timer = setTimeout(load, WAIT);
}

/* The line that sent comes into sight, or that put there what another returned; else the first that ran. Of the
   attributes those that changed stand first. */
function sight() {
  const line =
    box().querySelector("#putter") ?? box().querySelector("#sender") ?? box().querySelector(".source-line.ran");
  const top = line?.offsetParent ? line.getBoundingClientRect().top - box().getBoundingClientRect().top : 0;
  box().scrollTop = top ? box().scrollTop + top - box().clientHeight / 3 : 0;
}

function swapped() {
  if (!box()) return;
  box().removeAttribute("aria-busy");
  moved();
  const now = `${shown()} ${source()?.about ?? ""}`;
  if (seen === now) return;
  seen = now;
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

/* A character of the message is asked about, or (an empty part) none any more: the pane is about it where its step is
   the one under the cursor, and once it is. */
export function askPart(part, of) {
  if (!box() || !choose("part", part)) return;
  remember();
  asked = of === step() ? part : null;
  moved();
}

export function startLines() {
  onStep(moved);
  document.addEventListener("click", clicked);
  document.addEventListener("htmx:after:swap", swapped);
  swapped();
}
