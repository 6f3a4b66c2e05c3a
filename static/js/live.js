/* The text of the run is edited where it stands: a key replays it, and the message and a quick verdict follow. Of keys
   that come faster than answers the pause behind them replays it; a newer request drops the one on its way. What the
   page showed of the run is kept aside and comes back with "Back to the run"; what was typed stays in the field, and in
   this tab, until it is run or forgotten. The form keeps the text of the run: what stands here takes its place only in
   what is sent. */
import { aim, goTo } from "./cursor.js";
import { say } from "./dom.js";
import { inspector } from "./inspector.js";

const LEAST = 15; // milliseconds without a key that are a pause; somewhat longer where answers take longer
const MOST = 60;
const SHOWN = ["said", "message", "live-note"];
let kept = {}; // what the page showed of the run, by id
let waiting = 0;
let sent = 0;
let flying = 0; // requests without their answer
let typedAt = 0; // when the last key was pressed
let missed = false; // how far the search is was not shown
let pause = LEAST;
let submitted = null; // the key of the draft that is being run
let next = null; // what is done with the edited text once it is run

const field = () => document.getElementById("live-text");
const setup = () => document.getElementById("setup");
const PREFIX = "live-"; // of the keys of drafts
const key = () => PREFIX + field().dataset.run;
export const isEditing = () => Boolean(inspector()?.hasAttribute("data-editing"));

function dropDraft(name) {
  try {
    sessionStorage.removeItem(name);
  } catch {
    /* there is nothing */
  }
}

function keepDraft() {
  const { value, defaultValue } = field();
  if (value === defaultValue) {
    dropDraft(key());
    return;
  }
  try {
    sessionStorage.setItem(key(), value);
  } catch {
    /* it is not kept */
  }
}

/* What was typed over the runs of this tab. */
export function forgetEdits() {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    /* there is nothing */
  }
}

function draft() {
  try {
    return sessionStorage.getItem(key());
  } catch {
    return null;
  }
}

/* That something was typed over the text of the run is said where it is edited, while the run is shown. */
function showKept() {
  const open = document.querySelector("[data-live-open]");
  if (!open || !field()) return;
  const isKept = (draft() ?? field().defaultValue) !== field().defaultValue;
  open.toggleAttribute("data-kept", isKept);
  open.textContent = isKept ? "Edited text" : "Edit";
  open.title = isKept ? "What you typed is kept, and not run (e)" : "e";
}

export function editOutput() {
  if (!field()) {
    const source = document.getElementById("source");
    if (!source) return;
    source.open = true;
    document.getElementById("text").focus();
    say("Live is off for this output: it is edited here, and judged by Run again.");
    return;
  }
  if (isEditing()) return;
  kept = Object.fromEntries(SHOWN.map((id) => [id, document.getElementById(id)]));
  inspector().setAttribute("data-editing", "");
  document.getElementById("live-edit").hidden = false;
  const text = draft();
  if (text !== null) field().value = text;
  if (field().value !== field().defaultValue) replay();
  field().focus({ preventScroll: true });
}

/* What is wrong with the output is said at its end, or at the place that is named: there the caret is. */
function mend() {
  editOutput();
  if (!isEditing()) return;
  const { value, defaultValue } = field();
  const [, end] = document.getElementById("said").dataset.place?.split("-").map(Number) ?? [];
  const at = value === defaultValue && end ? [...value].slice(0, end).join("").length : value.length;
  field().setSelectionRange(at, at);
}

function close() {
  clearTimeout(waiting);
  [sent, submitted, next] = [0, null, null];
  window.htmx.trigger(field(), "htmx:abort");
  inspector().removeAttribute("data-editing");
  document.getElementById("live-edit").hidden = true;
  for (const [id, element] of Object.entries(kept)) document.getElementById(id)?.replaceWith(element);
  kept = {};
  showKept();
  poll();
  goTo(aim(), { quiet: true }); // a window that was held back meanwhile is asked for again
  document.querySelector("#strip [tabindex='0']")?.focus({ preventScroll: true });
}

/* Whoever reads the form gets what stands here, and nothing that was said of the text of the run. */
function carry({ target, formData }) {
  if (target !== setup() || !isEditing()) return;
  formData.set("text", field().value);
  for (const { name } of document.querySelectorAll("#intake [data-pasted]")) formData.delete(name);
}

function replay() {
  const values = Object.fromEntries([...new FormData(setup())].filter(([, value]) => typeof value === "string"));
  sent = performance.now();
  const target = "#live-note";
  flying += 1;
  const answered = window.htmx.ajax("POST", field().dataset.live, {
    source: field(),
    target,
    swap: "outerHTML",
    values,
  });
  Promise.resolve(answered).finally(() => (flying -= 1));
}

/* A key that is pressed alone is answered at once. */
function typed() {
  clearTimeout(waiting);
  const alone = !flying && performance.now() - typedAt > pause;
  typedAt = performance.now();
  if (alone) replay();
  else waiting = setTimeout(replay, pause);
  keepDraft();
}

/* While the text is edited, what comes of the run as it was has no place on the page. */
function hold(event) {
  const { ctx } = event.detail;
  if (!isEditing() || ctx.sourceElement === field() || ctx.target?.id === "page") return;
  event.preventDefault();
  missed ||= ctx.target?.id === "search-poll";
}

/* Asks on how far the search is, as the page did before. */
function poll() {
  if (!missed) return;
  missed = false;
  const old = document.getElementById("search-poll");
  const again = old.cloneNode(true);
  old.replaceWith(again);
  window.htmx.process(again);
}

/* What was run is no draft any more, and what was asked for meanwhile is about it. */
function ran() {
  const [pressed, found] = [next, document.getElementById("inspector")];
  next = null;
  if (submitted && found) dropDraft(submitted);
  submitted = null;
  if (pressed && found) {
    const again = controls().find((control) => nameOf(control) === pressed);
    again?.click();
  }
}

/* What is done with a run: shared, compared, exported. While its text is edited that is done with what stands in the
   field, which becomes the run first. */
const DONE = ".case-bar :is(a, button):not(.fork *, [data-mend])";
const controls = () => [...document.querySelectorAll(DONE)];
const nameOf = (control) => control.textContent.replace(/\s+/g, " ").trim();

const isEdited = () => isEditing() && field().value !== field().defaultValue;

/* The text that the reader sees; undefined where no field can hold it, or nothing is edited in place. */
export const liveText = () => (isEditing() ? field().value : field()?.defaultValue);

function runFirst(event) {
  const control = event.target.closest?.(DONE);
  if (!control || !isEdited()) return;
  event.preventDefault();
  event.stopPropagation();
  next = nameOf(control);
  say("The edited text is run first.");
  setup().requestSubmit(setup().querySelector("[name=run]"));
}

function swapped({ detail }) {
  if (detail.ctx?.target?.id === "page") ran();
  if (!isEditing()) showKept();
  if (detail.ctx?.sourceElement !== field() || !sent) return;
  const took = performance.now() - sent;
  pause = Math.min(MOST, Math.max(LEAST, took / 4));
  field().dataset.took = String(Math.round(took));
  say(document.getElementById("headline").textContent.trim());
}

export function startLive() {
  showKept();
  document.addEventListener("click", runFirst, true);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-live-open], [data-source-open]")) editOutput();
    else if (target.closest("[data-mend]")) mend();
    else if (target.closest("[data-live-close]")) close();
  });
  document.addEventListener("input", ({ target }) => target === field() && typed());
  document.addEventListener("submit", ({ target }) => {
    if (target === setup() && isEditing()) submitted = key();
  });
  document.addEventListener("formdata", carry);
  document.addEventListener("htmx:before:response", hold);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !isEditing() || document.querySelector("dialog[open]")) return;
      event.stopPropagation();
      close();
    },
    true,
  );
}
