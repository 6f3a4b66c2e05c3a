/* Pinned steps and what is watched: of the rows of the window two are shown, before and after the step. A pin is part
   of the address; the server draws its row, its flag and how many there are, and nothing that somebody else draws. */
import { goTo, onStep, remember, step } from "./cursor.js";
import { isPlain, mark, say } from "./dom.js";
import { askFor, choose } from "./request.js";

const field = () => document.querySelector("#cursor [data-view=pins]");
const pins = () => (field()?.value ?? "").split(",").filter(Boolean).map(Number);
let rows = new Map(); // of the table that is there
let current = null;
let shown = [];
const row = (number) => rows.get(number);

/* Pins the step, or takes its pin away. */
export function togglePin(number = step()) {
  if (!field()) return;
  const others = pins().filter((pin) => pin !== number);
  const on = others.length === pins().length;
  if (on && others.length >= Number(field().dataset.most)) {
    say(`Step ${number} is not pinned: ${others.length} steps are, and that is the most.`);
    return;
  }
  choose("pins", (on ? [...others, number].sort((one, two) => one - two) : others).join(","));
  show(step());
  remember();
  load();
  say(`Step ${number} ${on ? "pinned" : "not pinned any more"}.`);
}

const load = () => askFor("pins", { step: String(step()) });

/* What was asked for before a step was pinned, and is there only now, has not got its pin. */
function catchUp({ detail }) {
  if (!field() || detail.ctx?.sourceElement?.id === "ask-pins") return;
  const drawn = [...document.querySelectorAll("[data-pins]")];
  if (drawn.some(({ dataset }) => dataset.pins !== field().value)) load();
}

/* The next pinned step, and from the last back to the first. */
export function nextPin() {
  const next = pins().find((pin) => pin > step()) ?? pins()[0];
  if (next) goTo(next);
  else say("No step is pinned.");
}

function show(number) {
  for (const one of shown) one.hidden = true;
  current?.removeAttribute("aria-current");
  shown = [row(number - 1), row(number)].filter(Boolean);
  for (const one of shown) one.hidden = false;
  current = row(number) ?? null;
  if (current) mark(current, "aria-current", "step");
  const button = document.querySelector("#step-bar [data-pin]");
  button?.setAttribute("aria-pressed", String(pins().includes(number)));
}

/* The rows that the server drew as shown are hidden by the next step. */
function adopt() {
  const all = [...document.querySelectorAll("#watch [data-watch]")];
  rows = new Map(all.map((one) => [Number(one.dataset.watch), one]));
  shown = all.filter((one) => !one.hidden);
  for (const one of all) one.removeAttribute("aria-current");
  show(step());
}

export function startWatch() {
  onStep(show);
  adopt();
  document.addEventListener("htmx:after:swap", adopt);
  document.addEventListener("htmx:after:swap", catchUp);
  document.addEventListener("click", (event) => {
    const control = isPlain(event) && event.target.closest("[data-pin], [data-unpin]");
    if (!control) return;
    event.preventDefault();
    const kept = control.dataset.unpin;
    togglePin(kept ? Number(kept) : step());
    if (kept) document.querySelector("#watch .pane-body").focus();
  });
}
