/* The heat strip: pick a cut with the slider or a click, see what came of it, replay it. */
import { moveLine } from "./dom.js";

const strip = (element) => element.closest("[data-heat]");

/* The outcome of a cut, from the failing stretches; "" where it is the same. */
function outcome(root, cut) {
  return JSON.parse(root.dataset.cuts).find(([first, last]) => first <= cut && cut <= last)?.[2] ?? "";
}

function pick(root, cut) {
  const size = Number(root.dataset.size);
  const line = root.querySelector("[data-heat-cursor]");
  line.removeAttribute("visibility");
  moveLine(line, `${((cut - 0.5) * 100) / size}%`);
  const letter = outcome(root, cut);
  const words = letter ? `outcome ${letter}` : "same";
  root.querySelector("[data-heat-cut]").textContent = cut.toLocaleString("en");
  root.querySelector("[data-heat-outcome]").textContent = words;
  const slider = root.querySelector("[data-heat-slider]");
  slider.value = String(cut);
  slider.setAttribute("aria-valuetext", `after character ${cut}: ${words}`);
  const control = root.querySelector("[data-heat-go]");
  const name = control.tagName === "A" ? "href" : "value";
  control.setAttribute(name, control.getAttribute(name).replace(/cuts(:|%3A)\d+/, `cuts$1${cut}`));
  return control;
}

/* The cut under the pointer; a failing one is easy to hit, however narrow. */
function under(root, event) {
  const size = Number(root.dataset.size);
  const box = root.querySelector(".heat-strip").getBoundingClientRect();
  const at = Math.min(size, Math.max(1, Math.ceil(((event.clientX - box.left) / box.width) * size)));
  const reach = Math.ceil((3 * size) / box.width);
  const near = JSON.parse(root.dataset.cuts)
    .map(([first, last]) => Math.min(last, Math.max(first, at)))
    .sort((a, b) => Math.abs(a - at) - Math.abs(b - at))[0];
  return near !== undefined && Math.abs(near - at) <= reach ? near : at;
}

export function startSearch() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-heat-slider]")) pick(strip(event.target), Number(event.target.value));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches?.("[data-heat-slider]")) {
      event.preventDefault();
      strip(event.target).querySelector("[data-heat-go]").click();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.(".heat-strip")) {
      const root = strip(event.target);
      pick(root, under(root, event)).click();
    }
  });
}
