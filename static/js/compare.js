/* Draws the cursor of a comparison: one character of the output, and on either side the step that was fed it. */
import { keepVisible, mark, moveLine } from "./dom.js";

const holds = ({ dataset }, at) => Number(dataset.from) <= at && at < Number(dataset.to);

function read(view) {
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
    bits: [...view.querySelectorAll("[data-bit]")],
    places: [...view.querySelectorAll("[data-place]")],
    sides: [...view.querySelectorAll("section[data-side]")].map((column) => ({
      steps: [...column.querySelectorAll(".side-step")],
      sent: [...view.querySelectorAll(`#messages [data-side="${column.dataset.side}"] [data-sent]`)],
    })),
  };
}

function draw(page, at) {
  const current = page.sides.map((side) => drawSide(side, at));
  drawText(page, at, Math.max(...current.map(({ to = 0 }) => Number(to))));
  const parting = page.places.filter((row) => holds(row, at));
  for (const row of page.places) mark(row, "aria-current", parting.includes(row) && "true");
  const words = current.map(({ announce = "" }, index) => `Side ${"AB"[index]}: ${announce}`).join(" ");
  drawOverview(page, at, words);
  for (const field of document.querySelectorAll("[data-cursor-field]")) field.value = String(at);
  const states = current.map(({ summary = "" }, index) => `${"AB"[index]} ${summary}`);
  page.root.querySelector("[data-compare-summary]").textContent = states.join(" · ");
  return `Character ${at} of ${page.most}.${parting.length ? " The sides part here." : ""} ${words}`;
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

function drawText(page, at, fed) {
  const focused = document.activeElement?.closest?.("[data-bit]");
  const cursor = page.bits.findLast((bit) => holds(bit, at));
  for (const bit of page.bits) {
    bit.setAttribute("aria-selected", String(holds(bit, at)));
    bit.tabIndex = holds(bit, at) ? 0 : -1;
    bit.classList.toggle("future", Number(bit.dataset.from) >= fed);
  }
  if (!cursor) return;
  if (focused && focused !== cursor) cursor.focus({ preventScroll: true });
  keepVisible(cursor, page.view.querySelector("[data-both]"));
}

function drawOverview(page, at, words) {
  const x = `${(((at + 0.5) * 100) / (page.most + 1)).toFixed(3)}%`;
  moveLine(page.root.querySelector("[data-band-cursor]"), x);
  const slider = page.root.querySelector("[data-compare-slider]");
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", words);
}

function typed(text) {
  const digits = text.replaceAll(",", "").trim();
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

function address(page, at) {
  const query = new URLSearchParams(new FormData(document.getElementById("cursor")));
  query.delete("case"); // a run that is held is known by its address; its text belongs into none
  query.set("at", String(at));
  return `${page.root.dataset.address}?${query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
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
  address,
};
