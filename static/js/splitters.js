/* The lines between the panes. A share is a custom property of the work area, in a sheet of its own: htmx would copy a
   style attribute to the next run, which the policy of the page forbids. It is kept for this browser, since a link must
   look the same to everybody. Arrow keys move a line, Enter folds what is before or below it as far as it goes, and
   opens it again. */
import { isPage } from "./dom.js";
import { inspector } from "./inspector.js";
import { keep, kept } from "./preferences.js";

const MOST = 70; // percent of the work area
const STEP = 2;
const KEYS = { ArrowLeft: -STEP, ArrowUp: STEP, ArrowRight: STEP, ArrowDown: -STEP, Home: -100, End: 100 };
const LINES = { input: "--input-share", step: "--step-share", dock: "--dock" };

const sheet = new CSSStyleSheet();
const shares = new Map();
const sizes = new ResizeObserver(() => work() && tell()); // also once the page is laid out

const work = () => inspector()?.querySelector("#work");
const lineOf = (name) => work().querySelector(`[data-splitter="${name}"]`);

/* No pane is smaller than this: the style sheet holds to it whatever is remembered, and from narrower windows. */
const least = () => parseFloat(getComputedStyle(work()).getPropertyValue("--least-share"));

/* As far as a line goes: the panes behind it keep the least width, those above the dock the least height. */
function most(name) {
  if (name === "dock") {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const panes = parseFloat(getComputedStyle(work()).getPropertyValue("--least-panes")) * rem;
    return Math.max(least(), Math.min(MOST, 100 - (panes * 100) / work().getBoundingClientRect().height));
  }
  return 100 - least() - (name === "step" ? share("input") : least());
}

/* Where a line stands now, in percent of the width or the height. */
function share(name) {
  const box = work().getBoundingClientRect();
  const line = lineOf(name).getBoundingClientRect();
  if (name === "dock") return ((box.bottom - line.bottom) * 100) / box.height;
  const before = name === "step" ? share("input") : 0;
  return ((line.left + 4 - box.left) * 100) / box.width - before;
}

/* What the lines say of themselves: one moves the limit of another. Where there are none, nothing can be said. */
function tell() {
  for (const name of Object.keys(LINES).filter((one) => lineOf(one)?.checkVisibility())) {
    const line = lineOf(name);
    line.setAttribute("aria-valuemin", String(Math.round(least())));
    line.setAttribute("aria-valuemax", String(Math.round(most(name))));
    line.setAttribute("aria-valuenow", String(Math.round(share(name))));
  }
}

function write() {
  sheet.replaceSync(`#page #work { ${[...shares].map(([name, value]) => `${LINES[name]}: ${value}%`).join("; ")} }`);
  tell();
}

function set(name, value) {
  const percent = Math.max(least(), Math.min(most(name), value)).toFixed(1);
  shares.set(name, percent);
  write();
  keep(`share-${name}`, percent);
}

function reset(name) {
  shares.delete(name);
  write();
  keep(`share-${name}`, "");
}

/* What is folded gets back the size that was set before, also after a reload. */
function fold(name) {
  const before = Number(kept(`unfolded-${name}`));
  if (share(name) > least() + 0.5) {
    keep(`unfolded-${name}`, shares.get(name) ?? "");
    set(name, least());
  } else if (before) set(name, before);
  else reset(name);
}

function restore() {
  if (!work()) return;
  for (const name of Object.keys(LINES)) {
    const percent = Number(kept(`share-${name}`));
    if (percent) shares.set(name, Math.min(MOST, percent));
  }
  write();
  sizes.disconnect();
  sizes.observe(work());
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
  line.addEventListener("lostpointercapture", () => line.removeEventListener("pointermove", move), { once: true });
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
  document.addEventListener("focusin", ({ target }) => target.dataset?.splitter && tell());
  document.addEventListener("htmx:after:swap", (event) => isPage(event) && restore());
}
