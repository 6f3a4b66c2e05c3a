/* The text of the run is edited where it stands: every pause in typing replays it, and the message and a quick verdict
   follow. A newer request drops the one on its way. What the page showed of the run is kept aside and comes back with
   "Back to the run"; what was typed stays in the field, and in this tab. */
import { goTo, step } from "./cursor.js";
import { say } from "./dom.js";
import { inspector } from "./inspector.js";

const LEAST = 15; // milliseconds without a key that are a pause; longer where answers take longer
const MOST = 500;
const SHOWN = ["said", "message", "live-note"];
let kept = {}; // what the page showed of the run, by id
let waiting = 0;
let sent = 0;
let missed = false; // how far the search is was not shown
let pause = LEAST;

const field = () => document.getElementById("live-text");
const setup = () => document.getElementById("setup");
const key = () => `live-${field().dataset.run}`;
export const isEditing = () => Boolean(inspector()?.hasAttribute("data-editing"));

function keepDraft(text) {
  try {
    if (text === null) sessionStorage.removeItem(key());
    else sessionStorage.setItem(key(), text);
  } catch {
    /* it is not kept */
  }
}

function draft() {
  try {
    return sessionStorage.getItem(key());
  } catch {
    return null;
  }
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

function close() {
  clearTimeout(waiting);
  sent = 0;
  window.htmx.trigger(field(), "htmx:abort");
  inspector().removeAttribute("data-editing");
  document.getElementById("live-edit").hidden = true;
  for (const [id, element] of Object.entries(kept)) document.getElementById(id)?.replaceWith(element);
  kept = {};
  poll();
  goTo(step(), { quiet: true });
  document.querySelector("#strip [tabindex='0']")?.focus({ preventScroll: true });
}

/* The form runs what stands here. */
function carry() {
  document.getElementById("text").value = field().value;
  for (const one of document.querySelectorAll("#intake [data-pasted]")) one.remove(); // said of another text
}

function replay() {
  carry();
  const values = Object.fromEntries([...new FormData(setup())].filter(([, value]) => typeof value === "string"));
  sent = performance.now();
  const target = "#live-note";
  window.htmx.ajax("POST", field().dataset.live, { source: field(), target, swap: "outerHTML", values });
}

function typed() {
  keepDraft(field().value);
  clearTimeout(waiting);
  waiting = setTimeout(replay, pause);
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

function swapped({ detail }) {
  if (detail.ctx?.sourceElement !== field() || !sent) return;
  const took = performance.now() - sent;
  pause = Math.min(MOST, Math.max(LEAST, took / 4));
  field().dataset.took = String(Math.round(took));
  say(document.getElementById("headline").textContent.trim());
}

export function startLive() {
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-live-open], [data-source-open]")) editOutput();
    else if (target.closest("[data-live-close]")) close();
  });
  document.addEventListener("input", ({ target }) => target === field() && typed());
  document.addEventListener("submit", ({ target }) => target.id === "setup" && isEditing() && carry(), true);
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
