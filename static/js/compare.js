/* The cursor of a comparison: one character of the output, and on either side the step that was fed it.

   The server has drawn every step and both messages of the loaded window. Moving inside it only changes attributes and
   classes; outside, the window around the new character is fetched with the address or the form that works without
   script. Keys act under the same conditions as those of the inspector. */
import { keepVisible } from "./sight.js";
import { read } from "./storage.js";

let page = null;
let at = 0;
let wanted = null; // the character we are fetching a window for
let inText = false; // whether what is being replaced had the focus in the text
let queue = []; // moves asked for while a window is on its way
let timer = 0;
let sliding = 0;

const span = (element) => [Number(element.dataset.from), Number(element.dataset.to)];
const holds = (element) => {
  const [from, to] = span(element);
  return from <= at && at < to;
};

function load() {
  const root = document.querySelector("[data-compare]");
  const view = root?.querySelector("[data-compare-window]");
  if (!view) return (page = null);
  const [from, to] = span(view);
  page = {
    root,
    view,
    from,
    to,
    size: Number(root.dataset.size),
    jumps: JSON.parse(view.dataset.jumps),
    bits: [...view.querySelectorAll("[data-bit]")],
    places: [...view.querySelectorAll("[data-place]")],
    sides: [...view.querySelectorAll("section[data-side]")].map((column) => ({
      steps: [...column.querySelectorAll(".side-step")],
      sent: [...view.querySelectorAll(`#messages [data-side="${column.dataset.side}"] [data-sent]`)],
    })),
  };
  at = Number(view.dataset.at);
  return page;
}

const clamp = (offset) => Math.max(0, Math.min(page.size, Math.round(offset)));
/* The end of a window is on it only where the output ends there too. */
const isLoaded = (offset) => offset >= page.from && (offset < page.to || (offset === page.to && page.to === page.size));

function goTo(offset) {
  const target = clamp(offset);
  if (isLoaded(target)) {
    wanted = null;
    at = target;
    draw();
    announce();
    remember();
  } else fetchWindow(target);
}

function target(kind, direction) {
  const on = direction === "next";
  if (kind === "end") return on ? page.size : 0;
  const places = page.jumps[kind];
  return (on ? places.find((place) => place > at) : places.findLast((place) => place < at)) ?? null;
}

/* Keys are pressed faster than a window arrives: what they ask for waits until it is here. */
function leap(kind, direction) {
  if (!page) return;
  if (wanted !== null) {
    queue.push([kind, direction]);
    return;
  }
  const place = target(kind, direction);
  if (place !== null) goTo(place);
}

function draw() {
  const current = page.sides.map((side) => {
    for (const step of side.steps) step.hidden = !holds(step);
    const shown = side.steps.find((step) => !step.hidden);
    drawMessage(side, Number(shown?.dataset.step ?? 0));
    return shown;
  });
  drawText(current);
  for (const row of page.places) {
    if (holds(row)) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  drawControls(current);
}

function drawMessage(side, step) {
  for (const element of side.sent) {
    const sent = Number(element.dataset.sent);
    element.classList.toggle("not-yet", sent > step);
    element.classList.toggle("now", sent === step && element.classList.contains("run"));
  }
}

function drawText(current) {
  const fed = Math.max(...current.map((step) => Number(step?.dataset.to ?? 0)));
  const focused = document.activeElement?.closest?.("[data-bit]");
  let cursor = null;
  for (const bit of page.bits) {
    const here = holds(bit);
    if (here) cursor = bit;
    bit.setAttribute("aria-selected", String(here));
    bit.tabIndex = here ? 0 : -1;
    bit.classList.toggle("future", Number(bit.dataset.from) >= fed);
  }
  if (!cursor) return;
  if (focused && focused !== cursor) cursor.focus({ preventScroll: true });
  keepVisible(cursor, page.view.querySelector("[data-both]"));
}

function drawControls(current) {
  const place = `${(((at + 0.5) * 100) / (page.size + 1)).toFixed(3)}%`;
  const line = page.root.querySelector("[data-band-cursor]");
  for (const name of ["x1", "x2"]) line.setAttribute(name, place);
  const slider = page.root.querySelector("[data-compare-slider]");
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", words(current));
  page.root.querySelector("#go-to").value = String(at);
  for (const field of document.querySelectorAll("[data-cursor-field]")) field.value = String(at);
  page.root.querySelector("[data-compare-summary]").textContent = current
    .map((step, index) => `${"AB"[index]} ${step?.dataset.summary ?? ""}`)
    .join(" · ");
  for (const control of page.root.querySelectorAll("[data-leap]")) {
    const to = target(control.dataset.leap, control.dataset.direction);
    if (to === null || to === at) control.setAttribute("aria-disabled", "true");
    else control.removeAttribute("aria-disabled");
    if (to !== null && control.tagName === "A") control.href = address(to);
  }
  document.title = document.title.replace(/character \d+ of/, `character ${at} of`);
}

const words = (current) => current.map((step, index) => `Side ${"AB"[index]}: ${step?.dataset.announce ?? ""}`).join(" ");

function announce() {
  const current = page.sides.map((side) => side.steps.find((step) => !step.hidden));
  const parts = page.places.some(holds) ? " The sides part here." : "";
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => {
    document.getElementById("live").textContent = `Character ${at} of ${page.size}.${parts} ${words(current)}`;
  }, 250);
}

function asked(offset) {
  const values = new URLSearchParams(new FormData(document.getElementById("cursor")));
  values.set("at", String(offset));
  return values;
}

const address = (offset) => `${page.root.dataset.address}?${asked(offset).toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;

/* Browsers refuse more than a hundred address changes in half a minute, so the last of a burst counts. */
function remember() {
  if (!page.root.dataset.address) return;
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(history.state, "", address(at)), 300);
}

function fetchWindow(offset) {
  if (wanted === offset) return;
  wanted = offset;
  page.view.setAttribute("aria-busy", "true");
  const common = { target: "#window", swap: "innerHTML", source: "#window" };
  const form = document.getElementById("cursor");
  if (form.method === "get") window.htmx.ajax("GET", address(offset), common);
  else window.htmx.ajax("POST", form.getAttribute("action"), { ...common, values: Object.fromEntries(asked(offset)) });
}

function swapped() {
  if (!document.querySelector("[data-compare]")) return (page = null);
  const target = wanted;
  if (!load()) return;
  wanted = null;
  if (target !== null && isLoaded(target)) at = target;
  draw();
  announce();
  remember();
  const waiting = queue;
  queue = [];
  for (const [kind, direction] of waiting) leap(kind, direction);
  if (inText) page.bits.find((bit) => bit.tabIndex === 0)?.focus({ preventScroll: true });
  inText = false;
}

const ACTIONS = {
  ArrowLeft: () => leap("step", "previous"),
  ArrowRight: () => leap("step", "next"),
  Home: () => leap("end", "previous"),
  End: () => leap("end", "next"),
  "[": () => leap("change", "previous"),
  "]": () => leap("change", "next"),
  d: () => leap("parting", "next"),
  D: () => leap("parting", "previous"),
  g: () => document.getElementById("go-to").select(),
};
const isField = (element) => element.matches?.("input:not([type=range]), textarea, select, [contenteditable]");

function press(event) {
  const { key, target: element } = event;
  if (!page || !Object.hasOwn(ACTIONS, key) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") || isField(element)) return;
  const inside = page.root.contains(element);
  if (key.length === 1 ? !inside || read("keys") === "off" : !inside && element !== document.body && element.id !== "main") return;
  if (element.matches("[data-compare-slider]") && key.length > 1) return;
  if (/^(Home|End)$/.test(key) && !element.matches("[data-bit], #cursor-bar *")) return;
  event.preventDefault();
  ACTIONS[key]();
}

function click(event) {
  if (!page || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const control = event.target.closest("[data-leap], [data-go-at], [data-bit]");
  if (!control || !page.root.contains(control)) return;
  event.preventDefault();
  if (control.dataset.leap) {
    if (control.getAttribute("aria-disabled") !== "true") leap(control.dataset.leap, control.dataset.direction);
  } else goTo(Number(control.dataset.goAt ?? control.dataset.from));
}

export function startCompare() {
  if (load()) draw();
  document.addEventListener("htmx:before:swap", () => {
    if (document.activeElement?.closest("[data-bit]")) inText = true;
  });
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("htmx:finally:request", (event) => {
    const { ctx } = event.detail;
    if (!page || ctx?.target?.id !== "window" || ctx.status?.includes?.("Abort")) return;
    if (ctx.status?.startsWith?.("error") || ctx.response?.status >= 400) [wanted, queue] = [null, []];
  });
  document.addEventListener("keydown", press);
  document.addEventListener("click", click);
  document.addEventListener("input", (event) => {
    if (!page || !event.target.matches("[data-compare-slider]")) return;
    clearTimeout(sliding);
    const offset = Number(event.target.value);
    if (isLoaded(offset)) goTo(offset);
    else sliding = setTimeout(() => goTo(offset), 150);
  });
  document.addEventListener("submit", (event) => {
    if (!page || event.target.id !== "cursor" || event.submitter?.hasAttribute("formaction") || event.submitter?.name) return;
    const text = document.getElementById("go-to").value.replaceAll(",", "").trim();
    if (!/^\d+$/.test(text)) return;
    event.preventDefault();
    goTo(Number(text));
  });
}
