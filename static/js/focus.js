/* The focus stays on what was pressed. A tab that is a link inside the page would hand it to its target, which cannot
   have it, and what is swapped for its like would take it along: both leave it to the page as a whole. */
import { isPlain, isRestored } from "./dom.js";

// What a control is for, where it has no id: by that its like is found inside the nearest part that has one.
const MARKS = [
  "data-tab",
  "data-choice",
  "data-matrix",
  "data-jump",
  "data-leap",
  "data-where",
  "data-go-at",
  "data-step",
];
const PANELS = ["steps", "places", "conformance"]; // of the dock of a comparison, of which one is shown
let lost = ""; // the selector of what had the focus before the swap

const named = (element, name) => `[${name}="${CSS.escape(element.getAttribute(name) ?? "")}"]`;

function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const name = MARKS.find((mark) => element.hasAttribute(mark));
  const part = element.closest("[id]");
  if (!name || !part) return "";
  const way = element.dataset.direction ? named(element, "data-direction") : "";
  return `#${CSS.escape(part.id)} ${named(element, name)}${way}`;
}

function note() {
  const element = document.activeElement;
  if (element && element !== document.body) lost = selectorOf(element);
}

/* Where somebody put it elsewhere meanwhile it stays there. */
function restore(event) {
  const like = document.activeElement === document.body && lost ? document.querySelector(lost) : null;
  if (!isRestored(event)) like?.focus({ preventScroll: true });
  if (document.activeElement !== document.body) lost = "";
}

function stay(event) {
  const link = isPlain(event) && !event.defaultPrevented && event.target.closest("nav a[href^='#at-']");
  if (!link) return;
  event.preventDefault();
  const { top } = link.getBoundingClientRect();
  location.hash = link.hash;
  link.focus({ preventScroll: true });
  const dock = link.closest(".compare-dock");
  if (dock) hold(dock, link.getBoundingClientRect().top - top);
}

/* The page went to where the address leads: the tabs stay where they were, unless there is no room for the panel. */
function hold(dock, moved) {
  window.scrollBy(0, moved);
  for (const part of [...PANELS.map((name) => document.getElementById(name)), dock]) {
    if (part?.checkVisibility()) part.scrollIntoView({ block: "nearest" });
  }
}

export function startFocus() {
  document.addEventListener("click", stay);
  document.addEventListener("htmx:before:swap", note);
  document.addEventListener("htmx:after:swap", restore);
}
