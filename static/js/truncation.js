/* The truncation scrubber: the slider, the field and the two buttons choose a cut; the server replays the output up to
   it and draws the result. The strip over all cuts is fetched when the pane first comes into sight. */
import { remember } from "./cursor.js";
import { isPlain, mark, moveLine, say } from "./dom.js";
import { inspector } from "./inspector.js";
import { ask } from "./request.js";
import { openPanel } from "./views.js";

const WAIT = 120; // between two requests while the slider moves
let timer = 0;
let said = ""; // what was last announced
let observer = null;
let wish = null; // a cut that was asked for while the first look was on its way
let looking = false; // whether the pane was opened because it came into sight

const box = () => inspector()?.querySelector("#truncation [data-cuts]");
const pending = () => inspector()?.querySelector("#truncation [data-cuts-pending]");
const field = () => document.getElementById("cut-at");
const length = () => Number(box().dataset.length);

function move(wanted) {
  const cut = Math.max(1, Math.min(length(), Math.round(wanted)));
  field().value = String(cut);
  field().dataset.changed = "1";
  box().querySelector("[data-cut-slider]").value = String(cut);
  moveLine(box().querySelector("[data-cut-cursor]"), `${(cut * 100) / length()}%`);
  for (const control of box().querySelectorAll("[data-cut-jump]")) {
    mark(control, "aria-disabled", jumpFrom(cut, control.dataset.cutJump) === null && "true");
  }
  remember();
  clearTimeout(timer);
  timer = setTimeout(() => ask("#cut", "innerHTML", { cut: String(cut) }), WAIT);
}

function jumpFrom(cut, direction) {
  const changes = JSON.parse(box().dataset.cuts);
  return (direction === "next" ? changes.find((at) => at > cut) : changes.findLast((at) => at < cut)) ?? null;
}

/* The first look at the pane: at the cursor, unless the reader asked for another cut. */
function open(chosen) {
  if (!pending()) return;
  if (pending().dataset.asked) {
    wish = chosen ?? wish;
    return;
  }
  pending().dataset.asked = "1";
  looking = chosen === undefined;
  const fed = Number(inspector().querySelector("#step .card:not([hidden])")?.dataset.span?.split("-")[1]);
  ask("#truncated", "innerHTML", { cut: String(chosen ?? (fed || 1)) });
}

function typed() {
  const wanted = Number(field().value.replace(/[^0-9]/g, ""));
  if (wanted) move(wanted);
}

function clicked(event) {
  if (!isPlain(event)) return;
  const control = event.target.closest(
    ":is(#truncation, #findings, #robustness) :is([data-cut], [data-cut-jump], [data-cut-go])",
  );
  if (!control) return;
  event.preventDefault();
  if (!control.closest("#truncation")) openPanel(document.getElementById("truncation")).focus();
  const { cut, cutJump } = control.dataset;
  if (pending()) open(Number(cut));
  else if (control.hasAttribute("data-cut-go")) typed();
  else {
    const target = cutJump ? jumpFrom(Number(field().value), cutJump) : Number(cut);
    if (target !== null) move(target);
  }
}

/* The tab says how many results there are, as soon as that is known. */
function tell() {
  const count = document.querySelector('#dock [data-count="truncation"]');
  if (!count || !box()) return;
  count.textContent = Number(box().dataset.results).toLocaleString("en");
  count.hidden = false;
}

function swapped() {
  tell();
  if (looking && field()) delete field().dataset.changed; // only looked at: the address stays as it was
  if (field()) looking = false;
  if (wish !== null && box()) {
    move(wish);
    wish = null;
  }
  const words = inspector()?.querySelector("[data-cut-words]")?.dataset.cutWords ?? "";
  if (words && said && words !== said) say(words);
  said = words;
  watch();
}

function watch() {
  observer?.disconnect();
  if (!pending()) return;
  observer = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && open());
  observer.observe(pending());
}

export function startTruncation() {
  watch();
  document.addEventListener("click", clicked);
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-cut-slider]")) move(Number(event.target.value));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.id !== "cut-at") return;
    event.preventDefault();
    typed();
  });
  document.addEventListener("htmx:after:swap", swapped);
}
