/* What is typed on the first page stays in this tab until it is run or cleared, and comes back after a reload. It is
   never sent anywhere. Storage may be refused or full: then it is not kept. */
import { isChanged, isRestored, say } from "./dom.js";

const KEY = "draft";
const RAN = "ran"; // what was run last: it is there again for who goes back to the first page
const PAUSE = 200; // milliseconds
let waiting = 0;

const form = () => document.querySelector("#setup.at-home");
const fields = () =>
  [...(form()?.elements ?? [])].filter(
    (field) => field.name && field.matches("textarea:not([hidden]), select, input:not([type=hidden], [type=file])"),
  );
const isSwitch = (field) => ["checkbox", "radio"].includes(field.type);

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "{}");
  } catch {
    return {};
  }
}

export function dropDraft() {
  clearTimeout(waiting);
  try {
    sessionStorage.removeItem(KEY);
    sessionStorage.removeItem(RAN);
  } catch {
    /* there is nothing */
  }
}

/* What was typed is run now, and a draft no more. */
function ran() {
  clearTimeout(waiting);
  try {
    sessionStorage.setItem(RAN, sessionStorage.getItem(KEY) ?? "{}");
    sessionStorage.removeItem(KEY);
  } catch {
    /* it is not kept */
  }
}

/* Only what is not as it was at first. */
function keep() {
  const changed = fields().filter(isChanged);
  const values = Object.fromEntries(
    changed.map((field) => [field.name, isSwitch(field) ? field.checked : field.value]),
  );
  try {
    if (changed.length) sessionStorage.setItem(KEY, JSON.stringify(values));
    else sessionStorage.removeItem(KEY);
  } catch {
    /* it is not kept */
  }
}

function restore(key = KEY) {
  const values = read(key);
  const text = form()?.elements.namedItem("text");
  if (!text || text.value || !Object.keys(values).length) return;
  for (const field of fields()) {
    if (!Object.hasOwn(values, field.name)) continue;
    if (isSwitch(field)) field.checked = values[field.name];
    else field.value = values[field.name];
  }
  if (text.value) window.htmx.trigger(document.querySelector(".look"), "look");
}

function clear() {
  form().reset();
  dropDraft();
  const text = document.getElementById("text");
  text.value = "";
  text.dispatchEvent(new Event("input", { bubbles: true }));
  clearTimeout(waiting);
  text.focus();
  say("Cleared.");
}

export function startDraft() {
  const [visit] = performance.getEntriesByType("navigation");
  const first = () => {
    restore();
    if (visit?.type === "back_forward") restore(RAN);
  };
  if (window.htmx) first();
  else window.addEventListener("load", first);
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, ({ target }) => {
      if (!target.closest?.("#setup.at-home")) return;
      clearTimeout(waiting);
      waiting = setTimeout(keep, PAUSE);
    });
  }
  window.addEventListener("pagehide", () => form() && keep());
  document.addEventListener("submit", ({ target }) => target.matches?.("#setup.at-home") && keep(), true);
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx?.target?.id === "page" && document.getElementById("inspector")) ran();
    else if (isRestored(event) && form()) {
      restore();
      restore(RAN);
      document.getElementById("text").focus();
    }
  });
  document.addEventListener("click", ({ target }) => target.closest("[data-clear]") && clear());
}
