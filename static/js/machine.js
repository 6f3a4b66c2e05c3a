/* The diagram answers: its size, and the steps of what is pressed. An arrow or a row leads to the next step at which it
   led on, and from the last one back to the first. */
import { goTo, step } from "./cursor.js";
import { say } from "./dom.js";
import { inspector } from "./inspector.js";

const LEAST = 0.75; // of the size at which the text is as large as elsewhere: below it is scrolled instead
const MOST = 2.5;
const FACTOR = 1.25;
let zoom = 0; // 0: as large as fits

const boxes = () => [...(inspector()?.querySelectorAll("[data-zoomed]") ?? [])];

function size(box) {
  const drawing = box.firstElementChild;
  const { width, height } = drawing.viewBox.baseVal;
  const style = getComputedStyle(box);
  const room = (one, two) => parseFloat(style[one]) + parseFloat(style[two]);
  const across = (box.clientWidth - room("paddingLeft", "paddingRight")) / width;
  const down = (box.clientHeight - room("paddingTop", "paddingBottom")) / height;
  return Math.max(LEAST, Math.min(across, down, FACTOR));
}

function draw() {
  for (const box of boxes()) {
    if (!box.clientHeight) continue; // another view is shown
    const drawing = box.firstElementChild;
    const { width, height } = drawing.viewBox.baseVal;
    const scale = zoom || size(box);
    drawing.setAttribute("width", String(width * scale));
    drawing.setAttribute("height", String(height * scale));
  }
}

function resize(how) {
  const shown = boxes().find((box) => box.clientHeight);
  if (!shown) return;
  const now = zoom || size(shown);
  if (how === "fit") zoom = 0;
  else zoom = Math.max(0.4, Math.min(MOST, how === "in" ? now * FACTOR : now / FACTOR));
  draw();
}

function lead(control) {
  const steps = control.dataset.fired.split(" ").map(Number);
  const next = steps.find((at) => at > step()) ?? steps[0];
  goTo(next, { quiet: true });
  say(`Step ${next}, ${steps.indexOf(next) + 1} of ${steps.length}.`);
}

export function startMachine() {
  draw();
  new ResizeObserver(draw).observe(document.body);
  document.addEventListener("click", ({ target }) => {
    const control = target.closest?.("[data-zoom], [data-fired]");
    if (control?.dataset.zoom) resize(control.dataset.zoom);
    else if (control && inspector()?.contains(control)) lead(control);
    if (target.closest?.("[data-tabs=machine], [data-tabs=source]")) requestAnimationFrame(draw);
  });
  document.addEventListener("htmx:after:swap", draw);
  document.addEventListener("pointerup", ({ target }) => target.dataset?.splitter && draw());
}
