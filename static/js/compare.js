/* Draws the cursor of a comparison: one column of the axis, which is a character of the output where all sides read
   one, and on every side the step that was fed it. */
import { asText, isPlain, keepVisible, mark, moveLine } from "./dom.js";
import { ask, carries } from "./request.js";

const holds = ({ dataset }, at) => Number(dataset.from) <= at && at < Number(dataset.to);

function read(view) {
  asText(view);
  const root = document.querySelector("[data-compare]");
  const most = Number(root.dataset.size);
  const end = Number(view.dataset.to);
  return {
    root,
    view,
    at: Number(view.dataset.at),
    least: 0,
    most,
    first: Number(view.dataset.from),
    last: end === most ? most : end - 1, // the end of a window is on it only where the output ends there too
    jumps: JSON.parse(view.dataset.jumps),
    strips: [...view.querySelectorAll("[data-both]")].map((strip) => ({
      strip,
      bits: [...strip.querySelectorAll("[data-bit]")],
    })),
    places: [...view.querySelectorAll("[data-place]")],
    sides: [...view.querySelectorAll("section[data-side]")].map((column) => ({
      name: column.dataset.side,
      steps: [...column.querySelectorAll(".side-step")],
      sent: [...view.querySelectorAll(`#messages [data-side="${column.dataset.side}"] [data-sent]`)],
    })),
  };
}

const letter = ({ name }) => name.toUpperCase();

function draw(page, at) {
  const current = page.sides.map((side) => drawSide(side, at));
  for (const one of page.strips) drawText(one, at, fedTo(page, one.strip, current));
  const parting = page.places.filter((row) => holds(row, at));
  for (const row of page.places) mark(row, "aria-current", parting.includes(row) && "true");
  const words = current.map(({ announce = "" }, index) => `Side ${letter(page.sides[index])}: ${announce}`).join(" ");
  drawOverview(page, at, words);
  for (const field of document.querySelectorAll("[data-cursor-field]")) field.value = String(at);
  const states = current.map(({ summary = "" }, index) => `${letter(page.sides[index])} ${summary}`);
  page.root.querySelector("[data-compare-summary]").textContent = states.join(" · ");
  return `${page.root.dataset.unit} ${at} of ${page.most}.${parting.length ? " The sides part here." : ""} ${words}`;
}

/* Up to where the output of a strip is fed to the sides that read it. */
function fedTo(page, strip, current) {
  const ends = page.sides.map(({ name }, index) => (strip.dataset.sides.includes(name) ? current[index].to : 0));
  return Math.max(...ends.map((end) => Number(end ?? 0)));
}

/* Shows the step of a side that was fed the character, and gives what the page says about it. */
function drawSide(side, at) {
  for (const step of side.steps) step.hidden = !holds(step, at);
  const shown = side.steps.find((step) => !step.hidden)?.dataset ?? {};
  const now = Number(shown.step ?? 0);
  for (const element of side.sent) {
    const sent = Number(element.dataset.sent);
    element.classList.toggle("not-yet", sent > now);
    element.classList.toggle("now", sent === now && element.classList.contains("run"));
  }
  return shown;
}

function drawText({ strip, bits }, at, fed) {
  const focused = document.activeElement?.closest?.("[data-bit]");
  const cursor = bits.findLast((bit) => holds(bit, at));
  for (const bit of bits) {
    bit.setAttribute("aria-selected", String(holds(bit, at)));
    bit.tabIndex = holds(bit, at) ? 0 : -1;
    bit.classList.toggle("future", Number(bit.dataset.from) >= fed);
  }
  if (!cursor) return;
  if (focused && focused !== cursor && strip.contains(focused)) cursor.focus({ preventScroll: true });
  keepVisible(cursor, strip);
}

function drawOverview(page, at, words) {
  const x = `${(((at + 0.5) * 100) / (page.most + 1)).toFixed(3)}%`;
  moveLine(page.root.querySelector("[data-band-cursor]"), x);
  const slider = page.root.querySelector("[data-compare-slider]");
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", words);
}

/* Where nothing parts the sentence on top says that, and of how many sides. */
function none(page, kind) {
  if (kind !== "parting" || page.jumps.parting.length > 0) return "";
  const said = document.getElementById("compare-headline").textContent;
  return `The sides part nowhere. ${said.replace(/\s+/g, " ").trim()}`;
}

function typed(text) {
  const digits = text.replaceAll(",", "").trim();
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

/* What the address of the comparison says, at a place. */
export function comparisonWords(at) {
  const query = new URLSearchParams(new FormData(document.getElementById("cursor")));
  // a run that is held is known by its address; its text belongs into none
  for (const name of [...query.keys()]) if (carries(name)) query.delete(name);
  query.set("at", String(at));
  return query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

const address = (page, at) => `${page.root.dataset.address}?${comparisonWords(at)}`;

/* The matrix is asked for where it stands; the form remembers it for the address. */
function askForMatrix(event) {
  const control = isPlain(event) && event.target.closest("#matrix [data-matrix]");
  if (!control) return;
  event.preventDefault();
  const which = control.dataset.matrix;
  for (const form of ["cursor", "sides", "put-form"]) remember(document.getElementById(form), which);
  control.setAttribute("aria-busy", "true");
  ask("#matrix", "innerHTML", { matrix: which, at: document.getElementById("go-to").value });
}

function remember(form, which) {
  if (!form) return;
  const field = form.elements.namedItem("matrix") ?? form.appendChild(document.createElement("input"));
  Object.assign(field, { type: "hidden", name: "matrix", value: which });
}

export function startCompare() {
  document.addEventListener("click", askForMatrix);
}

export const comparisonDrawer = {
  name: "at",
  slider: "[data-compare-slider]",
  stops: "[data-bit]",
  links: "[data-go-at], [data-bit]",
  view: () => document.querySelector("[data-compare] [data-compare-window]"),
  read,
  draw,
  place: ({ dataset }) => Number(dataset.goAt ?? dataset.from),
  typed,
  none,
  address,
};
