/* What is typed in the format editor stays in this tab through a reload, with its samples, until it is taken back or
   something else is edited. It comes back only at the address where it was typed, over the text it was typed over.
   Storage may be refused or full: then it is not kept. */
import { say } from "./dom.js";

const KEY = "format-draft";
const PAUSE = 200; // milliseconds
let waiting = 0;

const editor = () => document.getElementById("editor");
const text = () => document.getElementById("format-text");
const address = () => location.pathname + location.search;
const numbers = () => [...document.querySelectorAll("[data-sample]")].map((sample) => sample.dataset.sample);
const fields = () =>
  [...editor().elements].filter((field) => field.name && field.matches("textarea, select, input[type=radio]"));

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

function drop() {
  clearTimeout(waiting);
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    /* there is nothing */
  }
}

/* Samples are kept in their order: the numbers of those that come back may be others. */
function keep() {
  clearTimeout(waiting);
  const values = fields()
    .filter((field) => field.type !== "radio" || field.checked)
    .map(({ name, value }) => [name, value]);
  try {
    sessionStorage.setItem(
      KEY,
      JSON.stringify({ at: address(), over: text().defaultValue, samples: numbers(), values }),
    );
  } catch {
    /* it is not kept */
  }
}

function changed() {
  return fields().some((field) =>
    field.type === "radio"
      ? field.checked !== field.defaultChecked
      : field.tagName === "TEXTAREA" && field.value !== field.defaultValue,
  );
}

function restore() {
  const draft = read();
  if (!editor() || draft?.at !== address() || draft.over !== text().defaultValue) return;
  while (numbers().length < draft.samples.length) document.querySelector("[data-add]").click();
  while (numbers().length > draft.samples.length) document.querySelector("[data-remove]").click();
  const here = numbers();
  for (const [name, value] of draft.values) {
    const [kind, number] = name.split(".");
    const now = number === undefined ? name : `${kind}.${here[draft.samples.indexOf(number)]}`;
    for (const field of [...editor().elements].filter((one) => one.name === now)) {
      if (field.type === "radio") field.checked = field.value === value;
      else field.value = value;
    }
  }
  if (!changed() && String(here) === String(draft.samples)) return;
  document.querySelector("[data-format-back]").hidden = false;
  text().dispatchEvent(new Event("input", { bubbles: true }));
  text().focus({ preventScroll: true });
  say("What was typed is here again.");
}

export function startFormatDraft() {
  if (window.htmx) restore();
  else window.addEventListener("load", restore);
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(keep, PAUSE);
  };
  const isInside = (event) => event.composedPath().includes(editor()); // what was pressed may be gone by now
  for (const kind of ["input", "change"]) document.addEventListener(kind, (event) => isInside(event) && later());
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (!isInside(event)) return;
    if (target.closest("[data-add], [data-remove], [data-accept]")) later();
    if (!target.closest("[data-format-back]")) return;
    drop();
    window.removeEventListener("pagehide", keepOpen);
    location.reload();
  });
  window.addEventListener("pagehide", keepOpen);
}

const keepOpen = () => waiting && keep();
