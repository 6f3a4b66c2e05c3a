/* Keys. Single keys act only while the focus is inside the inspector or the comparison and not in a field, and one
   switch in the key sheet turns them all off (WCAG 2.1.4). Every key has a visible control that does the same. */
import { focusPlace, inTurn, jump, moveBy, refocusing, remark, scope } from "./cursor.js";
import { openDialog } from "./dialogs.js";
import { inspector } from "./inspector.js";
import { editOutput } from "./live.js";
import { openPalette } from "./palette.js";
import { togglePlay } from "./play.js";
import { areKeysOn } from "./preferences.js";
import { clearSelection } from "./provenance.js";
import { runTo } from "./stops.js";
import { openPanel } from "./views.js";
import { nextPin, togglePin } from "./watch.js";
import { askWho } from "./who.js";

const PANES = ["input", "step", "result", "machine", "dock"];
const BOTH = {
  ArrowLeft: () => jump("step", "previous"),
  ArrowRight: () => jump("step", "next"),
  Home: () => jump("end", "previous"),
  End: () => jump("end", "next"),
  "[": () => jump("change", "previous"),
  "]": () => jump("change", "next"),
  g: () => document.getElementById("go-to").select(),
};
const INSPECTOR = {
  ...BOTH,
  PageUp: () => moveBy(-50),
  PageDown: () => moveBy(50),
  ",": () => jump("emission", "previous"),
  p: () => jump("emission", "previous"),
  ".": () => jump("emission", "next"),
  n: () => jump("emission", "next"),
  "{": () => jump("finding", "previous"),
  "}": () => jump("finding", "next"),
  b: () => document.getElementById("until").select(),
  r: () => inTurn(() => runTo("next")),
  R: () => inTurn(() => runTo("previous")),
  d: nextDivergence,
  e: editOutput,
  w: () => inTurn(askWho),
  m: () => inTurn(togglePin),
  M: () => inTurn(nextPin),
  "/": () => openPanel(document.getElementById("filter"))?.focus(),
  ...Object.fromEntries(PANES.map((pane, index) => [index + 1, () => focusPane(pane)])),
};
const COMPARISON = {
  ...BOTH,
  d: () => jump("parting", "next"),
  D: () => jump("parting", "previous"),
};
const SCROLLS = ["Home", "End", "PageUp", "PageDown"];
const PIECES = "[data-token], [data-stop]"; // of the output, and of a recorded stream: the cursor's own
const STEPS = `[data-slider], [data-bit], ${PIECES}, :is(#step-bar, #cursor-bar) *`;

const isField = (element) =>
  element.matches?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]");

/* The next chunking that gives another message, after the one on the page. */
function nextDivergence() {
  const all = [...document.querySelectorAll("#chunkings [data-divergence]")];
  const at = all.findIndex((one) => one.closest("[aria-current]"));
  if (all.length > 0) all[(at + 1) % all.length].click();
  else if (document.querySelector("[data-report-pending]")) remark("The other chunkings are not compared yet.");
  else remark(`No other chunking ${document.getElementById("chunkings") ? "gives another message" : "is possible"}.`);
}

function focusPane(name) {
  const pane = document.getElementById(name);
  pane?.focus();
  pane?.scrollIntoView({ block: "nearest" });
}

function press(event) {
  const { key, target } = event;
  if ((event.ctrlKey || event.metaKey) && key === "Enter") {
    event.preventDefault();
    // what another output is put beside with, or a recording's raw output added, has a button of its own
    const own = target.closest?.("[data-sends]")?.querySelector("[type=submit]");
    if (own) own.click();
    else document.getElementById("setup")?.requestSubmit(document.querySelector("#setup [name=run]"));
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape") escape(event);
  else if (!isInDialog(target) && !isField(target) && (key.length > 1 || areKeysOn())) act(event);
}

/* An open dialog has the focus, unless somebody clicked beside what can have it. */
const isInDialog = (target) =>
  target.closest?.("dialog") || (target === document.body && document.querySelector("dialog[open]"));

function act(event) {
  const { key, target } = event;
  if (key === "?") openDialog("help");
  else if (key === ":") {
    event.preventDefault();
    openPalette();
  } else if (key === " ") space(event);
  else if (isMeant(key, target)) {
    event.preventDefault();
    (inspector() ? INSPECTOR : COMPARISON)[key]();
  }
}

/* Whether the key is for the cursor, and not for what has the focus or for the window. */
function isMeant(key, target) {
  const around = target === document.body || target.id === "main";
  if (!scope() || !(around || scope().contains(target))) return false;
  if (!Object.hasOwn(inspector() ? INSPECTOR : COMPARISON, key)) return false;
  // the slider of steps would start from where the window on its way begins, and lose what was pressed meanwhile
  if (target.matches("input[type=range]:not([data-slider])") && /^(Arrow|Home|End)/.test(key)) return false;
  if (target.matches("input[type=radio]") && key.startsWith("Arrow")) return false; // the next choice
  return !SCROLLS.includes(key) || target.matches(STEPS) || refocusing() || !isInScrolling(target);
}

/* Whether there is something that these keys would scroll: a pane, or a run that is taller than the screen. A
   comparison has one cursor for all of it, and its panes stand under each other wherever the screen is not wide. */
const isInScrolling = (target) =>
  target.closest(".pane-body, .scroll, .pairs, .side-steps > .pane") ||
  (inspector() && document.documentElement.scrollHeight > window.innerHeight);

/* Space keeps its meaning on buttons and links; elsewhere on the step controls, where the focus stands after a run, and
   on the piece that the cursor is on, to which Enter goes too, it plays. */
function space(event) {
  const { target } = event;
  const piece = inspector() && target.closest(PIECES);
  const plays = piece ?? target.closest("#step-bar, #overview") ?? target.closest("#verdict [tabindex='-1']");
  if (!plays || (!piece && target.matches("button, a, summary"))) return;
  event.preventDefault();
  // a button is pressed once the key is let go
  target.addEventListener("keyup", (released) => released.preventDefault(), { once: true });
  inTurn(togglePlay);
}

function escape(event) {
  const { target } = event;
  clearSelection();
  const chip = "details:is(.menu, form:not(.at-home) .source)[open]";
  const menu = target.closest?.(chip) ?? (inspector() ? document.querySelector(chip) : null);
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (!target.matches?.("#go-to, #filter, #until")) return;
  event.preventDefault(); // a search field would be cleared, while the list stays filtered
  focusPlace();
}

export function startKeys() {
  document.addEventListener("keydown", press);
}
