/* Stop conditions: while somebody types the server is asked at which steps they hold; Enter runs to the next, and from
   there on `r` does. What is typed counts for `r` and `R` too: it is asked for first. A long run is looked through on
   Enter alone. */
import { aim, focusPlace, goTo, onStep, step, total } from "./cursor.js";
import { mark, say } from "./dom.js";
import { askFor, choose } from "./request.js";

const PAUSE = 150; // milliseconds
const LONG = 20_000; // steps: to look through more of them takes too long for every pause
let waiting = 0;
let running = null; // where to run once the stops are here
let told = null; // words that stand where they led to, whatever is drawn or swapped there

const field = () => document.getElementById("until");
const stops = () => document.getElementById("stops");
const isAsked = () => stops().dataset.stopsOf === field().value.trim();

let asked = 0; // how often was asked: only the last answer counts

function apply() {
  clearTimeout(waiting);
  choose("until", field().value);
  asked += 1;
  const mine = asked;
  const sent = askFor("stops", { step: String(step()), until: field().value });
  show(true);
  Promise.resolve(sent).finally(() => mine === asked && show(false));
}

/* Whether the server is at it: what takes seconds says so at once. */
function show(busy) {
  if (!stops()) return;
  mark(stops(), "aria-busy", busy && "true");
  const note = document.getElementById("stop-note");
  if (busy && total() > LONG) {
    note.classList.remove("severity-error");
    note.replaceChildren(document.createElement("span"));
    note.firstChild.dataset.looking = "";
    note.firstChild.textContent = `looking through ${total().toLocaleString("en")} steps …`;
  } else if (!busy) note?.querySelector("[data-looking]")?.remove(); // where no answer took its place
}

/* What the page has of stops is of another condition than the one in the field: it is hidden until that is known. */
function age() {
  const isOld = Boolean(stops()) && !isAsked();
  for (const id of ["stops", "stop-marks"]) document.getElementById(id)?.toggleAttribute("data-stale", isOld);
}

/* What a condition lacks is said while it is being typed; that it is wrong, once it is entered or left. */
function draft(on) {
  document.getElementById("step-bar")?.toggleAttribute("data-typing", on);
}

/* Behind the last stop the first one follows, and the other way round, and that is said. */
function go(direction) {
  if (field().matches("[aria-invalid]")) return;
  const [places, on, here] = [JSON.parse(stops().dataset.stops), direction === "next", aim()];
  const next = on ? places.find((place) => place > here) : places.findLast((place) => place < here);
  const place = next ?? (on ? places[0] : places.at(-1));
  if (document.activeElement === field()) focusPlace();
  if (place === undefined) tell("No step is one: nothing to run to.");
  else {
    goTo(place);
    if (next === undefined) {
      const which = `${on ? "first" : "last"} of ${places.length}`;
      tell(`the ${which} again`, `None ${on ? "after" : "before"} here: the ${which}`, place);
    }
  }
}

/* Words beside the field, until the next move: two short lines have room there, and the sentence hangs on them. */
function tell(words, sentence = words, place = step()) {
  told = { words, sentence, place };
  putTold();
  say(sentence);
}

function putTold() {
  const note = document.querySelector("#stop-note [data-stop-place]");
  if (!note || !told || aim() !== told.place) return;
  note.dataset.all ??= note.textContent;
  note.dataset.toldAt = String(told.place);
  Object.assign(note, { textContent: told.words, title: told.sentence });
}

/* Runs to the next or previous stop, of what stands in the field. */
export function runTo(direction) {
  if (isAsked()) {
    go(direction);
    return;
  }
  running = direction;
  apply();
}

const lastWord = () => field().value.split(/\s+/).at(-1).replace(/^-/, "");

/* The condition that the last word is the beginning of: it says nothing yet, and not that it is looked for as text. */
function begun() {
  const word = lastWord().toLowerCase();
  const known = [...document.getElementById("conditions").options];
  if (!word || known.some(({ value }) => value.toLowerCase() === word)) return null;
  return known.find(({ value }) => value.toLowerCase().startsWith(word));
}

/* What half a condition lacks, in the place of what is wrong with one; nothing of a whole one. */
function lacks(condition) {
  const note = document.getElementById("stop-note");
  note.querySelector("[data-half]")?.remove();
  if (!condition) return;
  const said = `${lastWord()} goes on, as in ${condition.value}: ${condition.textContent}`;
  const words = Object.assign(document.createElement("span"), { textContent: said, className: "stop-problem" });
  words.dataset.half = "";
  note.replaceChildren(words);
  note.classList.add("severity-error");
  document.getElementById("step-bar").classList.add("is-wrong");
}

function typed({ target }) {
  if (target.id !== "until") return;
  [running, told] = [null, null];
  draft(true);
  age();
  clearTimeout(waiting);
  const half = begun();
  lacks(half);
  if (total() <= LONG && !half) waiting = setTimeout(() => !isAsked() && apply(), PAUSE);
}

/* The marks of a timeline that was asked for before the condition are others. */
function swapped({ detail }) {
  age();
  putTold();
  const marks = document.getElementById("stop-marks");
  const isOwn = detail.ctx?.sourceElement?.id === "ask-stops";
  if (marks && !isOwn && isAsked() && marks.dataset.stopsOf !== stops().dataset.stopsOf) apply();
  if (!running || !field() || !isAsked()) return;
  const direction = running;
  running = null;
  go(direction);
}

/* A condition that is left half typed is asked for all the same: it says what it lacks. */
function left({ target }) {
  if (target.id !== "until") return;
  draft(false);
  if (target.isConnected && total() <= LONG && !isAsked()) apply();
}

export function startStops() {
  onStep(() => {
    if (told && aim() !== told.place) told = null;
  });
  document.addEventListener("input", typed);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.id !== "until") return;
    event.preventDefault();
    draft(false);
    runTo("next");
  });
  document.addEventListener("focusout", left);
}
