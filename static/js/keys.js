/* Keys. Single keys act only while the focus is inside the inspector and not in a field, and one switch in the key sheet
   turns them all off (WCAG 2.1.4). Every key has a visible control that does the same. */
import { openDialog } from "./dialogs.js";
import { togglePlay } from "./play.js";
import { clearSelection } from "./provenance.js";
import { aim, goTo, inspector, jump, refocusing, total } from "./stepper.js";
import { read, write } from "./storage.js";

const PANES = ["input", "step", "machine", "result", "events", "chunkings"];
const ACTIONS = {
  ArrowLeft: () => jump("step", "previous"),
  ArrowRight: () => jump("step", "next"),
  Home: () => goTo(1),
  End: () => goTo(total()),
  PageUp: () => goTo(aim() - 50),
  PageDown: () => goTo(aim() + 50),
  "[": () => jump("change", "previous"),
  "]": () => jump("change", "next"),
  ",": () => jump("emission", "previous"),
  p: () => jump("emission", "previous"),
  ".": () => jump("emission", "next"),
  n: () => jump("emission", "next"),
  "{": () => jump("finding", "previous"),
  "}": () => jump("finding", "next"),
  d: nextDivergence,
  g: () => document.getElementById("go-to")?.select(),
  "/": () => document.getElementById("filter")?.focus(),
};
const LETTERS = /^[a-z[\],.{}/?1-6 ]$/;

const isField = (element) => element.matches?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const isOn = () => read("keys") !== "off";

/* The next chunking that gives another message, after the one on the page. */
function nextDivergence() {
  const all = [...document.querySelectorAll("#chunkings [data-divergence]")];
  const at = all.findIndex((one) => one.closest("[aria-current]"));
  all[(at + 1) % all.length]?.click();
}

function focusPane(number) {
  const pane = document.getElementById(PANES[number - 1]);
  pane?.focus();
  pane?.scrollIntoView({ block: "nearest" });
}

function press(event) {
  const { key, target } = event;
  if ((event.ctrlKey || event.metaKey) && key === "Enter") {
    event.preventDefault();
    return document.getElementById("setup")?.requestSubmit(document.querySelector("#setup [name=run]"));
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape") return escape(target);
  if (document.querySelector("dialog[open]") || isField(target)) return;
  if (LETTERS.test(key) && !isOn()) return;
  if (key === "?") return openDialog("help");
  const inside = inspector()?.contains(target) || target === document.body || target.id === "main";
  if (!inside || (LETTERS.test(key) && target === document.body && !inspector())) return;
  if (key === " ") return space(event);
  if (/^[1-6]$/.test(key)) return focusPane(Number(key));
  const scrolls = ["Home", "End", "PageUp", "PageDown"].includes(key) && !target.matches("[data-slider], [data-token], #step-bar *") && !refocusing();
  if (!ACTIONS[key] || scrolls) return;
  if (target.matches("input[type=range]") && /^(Arrow|Home|End)/.test(key)) return;
  event.preventDefault();
  ACTIONS[key]();
}

/* Space keeps its meaning on buttons and links; elsewhere on the step controls it plays. */
function space(event) {
  if (!event.target.closest("#step-bar, .overview") || event.target.matches("button, a, summary")) return;
  event.preventDefault();
  togglePlay();
}

function escape(target) {
  clearSelection();
  const menu = target.closest?.("details.menu[open]") ?? document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (target.matches?.("#go-to, #filter")) document.getElementById("strip")?.querySelector("[tabindex='0']")?.focus();
}

export function startKeys() {
  document.addEventListener("keydown", press);
  for (const box of document.querySelectorAll("[data-keys-switch]")) {
    box.checked = isOn();
    box.addEventListener("change", () => write("keys", box.checked ? null : "off"));
  }
}
