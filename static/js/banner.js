/* The name of the case in the banner. What its lines have no room for is whole below it while somebody points at it or
   reaches it by keyboard. */
import { isRestored } from "./dom.js";

const all = () => document.querySelectorAll(".case-name");

function fit() {
  for (const name of all()) {
    const cut = name.scrollHeight > name.clientHeight + 1 || name.scrollWidth > name.clientWidth;
    if (cut) name.tabIndex = 0;
    else name.removeAttribute("tabindex");
    if (cut) name.nextElementSibling.dataset.whole = name.textContent; // it is drawn beside, where nothing is cut off
  }
}

export function nameCase(heading) {
  for (const name of all()) name.textContent = heading;
  fit();
}

function watch(observer) {
  observer.disconnect();
  for (const name of all()) observer.observe(name.parentElement);
}

export function startBanner() {
  const observer = new ResizeObserver(fit);
  watch(observer);
  document.addEventListener("htmx:after:swap", (event) => isRestored(event) && watch(observer));
}
