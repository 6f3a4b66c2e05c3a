/* Filters the events on the page while typing; Enter asks the server for matches of the whole trace. The language is
   the server's: every word must occur in the row's terms. */
import { step } from "./cursor.js";
import { ask } from "./request.js";

function apply(words) {
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("#events [data-terms]")];
  let shown = 0;
  for (const row of rows) {
    row.hidden = !terms.every((term) => row.dataset.terms.includes(term));
    if (!row.hidden) shown += 1;
  }
  const note = document.querySelector("[data-filter-note]");
  note.dataset.whole ??= note.textContent;
  note.textContent = terms.length ? `${shown} of ${rows.length} here; Enter searches all` : note.dataset.whole;
}

function searchAll(field) {
  ask("#window", "innerHTML", { step: String(step()), filter: field.value });
}

export function startFilter() {
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) apply(event.target.value);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("[data-filter]")) return;
    event.preventDefault();
    searchAll(event.target);
  });
}
