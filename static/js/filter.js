/* Filters the events by conditions, the same as those of stops: after a pause in typing the server answers with the
   lines for which they hold. A long run is looked through when somebody presses Enter, after which keys are for the
   cursor. */
import { focusPlace, total } from "./cursor.js";
import { mark, say } from "./dom.js";
import { askFor, choose } from "./request.js";

const PAUSE = 200; // milliseconds
const LONG = 20_000; // steps: to look through more of them takes too long for every pause
let waiting = 0;
let wanted = null; // the filter that was asked for last in this run
let entered = false; // Enter left the field, and the answer is on its way

const shown = () => document.querySelector("[data-window]");

function search(field) {
  clearTimeout(waiting);
  choose("filter", field.value);
  wanted = field.value.trim();
  load();
}

/* Without a filter the events are those of the window. */
const load = () => askFor("events", { step: shown().dataset.stepNow, filter: wanted });

function typed({ target }) {
  if (!target.matches("[data-filter]")) return;
  clearTimeout(waiting);
  if (total() <= LONG) waiting = setTimeout(search, PAUSE, target);
  else document.getElementById("filter-note").textContent = "Enter looks through the whole run";
}

/* The field stays as it is while its answer comes; what is wrong in it is said there. */
function tell() {
  const field = document.getElementById("filter");
  const problem = document.getElementById("filter-problem");
  mark(field, "aria-invalid", problem && "true");
  mark(field, "aria-describedby", problem && "filter-problem");
  if (problem && entered) field.focus(); // to mend it
  entered = false;
  say((problem ?? document.getElementById("filter-note")).textContent);
}

/* The list may have been asked for before the filter, or before the window, that is there now. */
function swapped({ detail }) {
  const source = detail.ctx?.sourceElement?.id;
  if (detail.ctx?.target?.id === "page") wanted = null;
  if (source === "ask-events") tell();
  const list = document.getElementById("event-list");
  if (!list || wanted === null) return;
  const { first, last } = shown().dataset;
  const isOther = source !== "ask-events" && list.dataset.filterOf !== wanted;
  if (isOther || (!wanted && list.dataset.drawn !== `${first}-${last}`)) load();
}

export function startFilter() {
  document.addEventListener("input", typed);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("[data-filter]")) return;
    event.preventDefault();
    search(event.target);
    entered = true;
    focusPlace();
  });
}
