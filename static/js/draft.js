/* What is typed on the first page stays in this tab until it is run or cleared, and comes back after a reload. It is
   never sent anywhere. Storage may be refused or full: then it is not kept. */
import { isChanged, say } from "./dom.js";

const KEY = "draft";
const PAUSE = 200; // milliseconds
let waiting = 0;

const form = () => document.querySelector("#setup.at-home");
const fields = () =>
  [...(form()?.elements ?? [])].filter(
    (field) => field.name && field.matches("textarea:not([hidden]), select, input:not([type=hidden], [type=file])"),
  );
const isSwitch = (field) => ["checkbox", "radio"].includes(field.type);

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export function dropDraft() {
  clearTimeout(waiting);
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    /* there is nothing */
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

function restore() {
  const values = read();
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
  if (window.htmx) restore();
  else window.addEventListener("load", restore);
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, ({ target }) => {
      if (!target.closest?.("#setup.at-home")) return;
      clearTimeout(waiting);
      waiting = setTimeout(keep, PAUSE);
    });
  }
  window.addEventListener("pagehide", () => form() && keep());
  document.addEventListener("htmx:after:swap", ({ detail }) => {
    if (detail.ctx?.target?.id === "page" && document.getElementById("inspector")) dropDraft();
  });
  document.addEventListener("click", ({ target }) => target.closest("[data-clear]") && clear());
}
