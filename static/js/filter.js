/* Filters the events by conditions, the same as those of stops: after a pause in typing the server answers with the
   lines for which they hold. A long run is looked through when somebody presses Enter. */
import { standing, step, total } from "./cursor.js";
import { mark, say } from "./dom.js";
import { ask, choose } from "./request.js";

const PAUSE = 200; // milliseconds
const LONG = 20_000; // steps: to look through more of them takes too long for every pause
let waiting = 0;

function search(field) {
  clearTimeout(waiting);
  choose("filter", field.value);
  ask("#event-list", "outerHTML", { ...standing(), step: String(step()) });
}

function typed({ target }) {
  if (!target.matches("[data-filter]")) return;
  clearTimeout(waiting);
  if (total() <= LONG) waiting = setTimeout(search, PAUSE, target);
  else document.getElementById("filter-note").textContent = "Enter looks through the whole run";
}

/* The field stays as it is while its answer comes; what is wrong in it is said there. */
function swapped({ detail }) {
  if (detail.ctx?.target?.id !== "event-list") return;
  const field = document.getElementById("filter");
  const problem = document.getElementById("filter-problem");
  mark(field, "aria-invalid", problem && "true");
  mark(field, "aria-describedby", problem && "filter-problem");
  say((problem ?? document.getElementById("filter-note")).textContent);
}

export function startFilter() {
  document.addEventListener("input", typed);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("[data-filter]")) return;
    event.preventDefault();
    search(event.target);
  });
}
