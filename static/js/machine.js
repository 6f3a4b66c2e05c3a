/* The diagram answers: its size, and the steps of what is pressed. An arrow or a row leads to the next step at which it
   led on, and from the last one back to the first. It is as large as all of it fits in, while its text
   stays legible; a larger one scrolls, and the current state is brought into sight. "Fit" is the way back there from
   any other size, and from there to the width of the pane. */
import { goTo, onStep, step } from "./cursor.js";
import { mark, say } from "./dom.js";
import { inspector } from "./inspector.js";

const LEAST = 0.3;
const LEGIBLE = 1; // its text has the least size that text has anywhere
const MOST = 2.5;
const FACTOR = 1.25;
let zoom = 0; // 0: as large as fits, and legible
let wide = false; // whether it fits the width of its pane alone

const boxes = () => [...(document.getElementById("machine")?.querySelectorAll("[data-zoomed]") ?? [])];

function size(box) {
  const drawing = box.firstElementChild;
  const { width, height } = drawing.viewBox.baseVal;
  const style = getComputedStyle(box);
  const room = (one, two) => parseFloat(style[one]) + parseFloat(style[two]);
  const across = (box.clientWidth - room("paddingLeft", "paddingRight")) / width;
  const down = (box.clientHeight - room("paddingTop", "paddingBottom")) / height;
  return Math.max(LEGIBLE, Math.min(across, wide ? MOST : Math.min(down, FACTOR)));
}

/* The current state in the middle of its box, where not all of the drawing is in sight. */
function follow() {
  for (const box of boxes()) {
    const rect = box.querySelector(".state.current rect");
    const [inner, outer] = [rect?.getBoundingClientRect(), box.getBoundingClientRect()];
    if (!inner?.width || !outer.height) continue;
    const near = 28; // so that its arrows are seen too
    if (inner.top < outer.top + near || inner.bottom > outer.bottom - near) {
      box.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
    }
    if (inner.left < outer.left || inner.right > outer.right) {
      box.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
    }
  }
}

let following = 0;

/* Once for each picture, after all is drawn. */
function followSoon() {
  cancelAnimationFrame(following);
  following = requestAnimationFrame(follow);
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
  for (const fit of document.querySelectorAll("[data-zoom=fit]")) mark(fit, "aria-pressed", String(wide && !zoom));
  followSoon();
}

function resize(how) {
  const shown = boxes().find((box) => box.clientHeight);
  if (!shown) return;
  const now = zoom || size(shown);
  if (how === "fit") [wide, zoom] = [!wide && zoom === 0, 0];
  else zoom = Math.max(LEAST, Math.min(MOST, how === "in" ? now * FACTOR : now / FACTOR));
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
  onStep(followSoon);
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
