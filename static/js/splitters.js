/* The lines between the panes. A share is a custom property of the work area, in a sheet of its own: htmx would copy a
   style attribute to the next run, which the policy of the page forbids. It is kept for this browser, since a link must
   look the same to everybody. Arrow keys move a line, Enter folds what is before or below it as far as it goes, and
   opens it again. */
import { inspector } from "./inspector.js";
import { keep, kept } from "./preferences.js";

const LEAST = 15; // percent of the work area
const MOST = 70;
const STEP = 2;
const KEYS = { ArrowLeft: -STEP, ArrowUp: STEP, ArrowRight: STEP, ArrowDown: -STEP, Home: -100, End: 100 };
const LINES = {
  input: { property: "--input-share", unit: "%", first: 33 },
  step: { property: "--step-share", unit: "%", first: 32 },
  dock: { property: "--dock", unit: "%", first: null },
};

const sheet = new CSSStyleSheet();
const shares = new Map();

function write() {
  sheet.replaceSync(`#page #work { ${[...shares].map(([name, value]) => `${name}: ${value}`).join("; ")} }`);
}

const work = () => inspector()?.querySelector("#work");

/* Where a line stands now, in percent of the width or the height. */
function share(name) {
  const box = work().getBoundingClientRect();
  const line = work().querySelector(`[data-splitter="${name}"]`).getBoundingClientRect();
  if (name === "dock") return ((box.bottom - line.bottom) * 100) / box.height;
  const before = name === "step" ? share("input") : 0;
  return ((line.left + 4 - box.left) * 100) / box.width - before;
}

function set(name, value) {
  const { property, unit } = LINES[name];
  const percent = Math.max(LEAST, Math.min(MOST, value));
  shares.set(property, `${percent.toFixed(1)}${unit}`);
  write();
  work()
    .querySelector(`[data-splitter="${name}"]`)
    .setAttribute("aria-valuenow", String(Math.round(percent)));
  keep(`share-${name}`, percent.toFixed(1));
}

function reset(name) {
  shares.delete(LINES[name].property);
  write();
  keep(`share-${name}`, "");
  work()
    .querySelector(`[data-splitter="${name}"]`)
    .setAttribute("aria-valuenow", String(Math.round(share(name))));
}

function fold(name) {
  if (share(name) > LEAST + 0.5) set(name, LEAST);
  else reset(name);
}

function restore() {
  if (!work()) return;
  for (const name of Object.keys(LINES)) {
    const percent = Number(kept(`share-${name}`));
    if (percent) set(name, percent);
  }
}

function drag(event) {
  const line = event.target.closest?.("[data-splitter]");
  if (!line || event.button) return;
  event.preventDefault();
  line.focus();
  const { splitter: name } = line.dataset;
  const box = work().getBoundingClientRect();
  const before = name === "step" ? share("input") : 0;
  const move = ({ clientX, clientY }) => {
    if (name === "dock") set(name, ((box.bottom - clientY) * 100) / box.height);
    else set(name, ((clientX - box.left) * 100) / box.width - before);
  };
  line.setPointerCapture(event.pointerId);
  line.addEventListener("pointermove", move);
  line.addEventListener("pointerup", () => line.removeEventListener("pointermove", move), { once: true });
}

function press(event) {
  const name = event.target.dataset?.splitter;
  if (!name) return;
  if (event.key === "Enter") fold(name);
  else if (event.key in KEYS) set(name, share(name) + KEYS[event.key]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function startSplitters() {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  restore();
  document.addEventListener("pointerdown", drag);
  document.addEventListener("dblclick", ({ target }) => target.dataset?.splitter && reset(target.dataset.splitter));
  document.addEventListener("keydown", press, true);
  document.addEventListener("htmx:after:swap", ({ detail }) => detail.ctx?.target?.id === "page" && restore());
}
