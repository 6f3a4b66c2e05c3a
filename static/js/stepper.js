/* The cursor. One step is current; every pane shows what it knows about it.

   The server has drawn all text of the loaded window once. Moving the cursor inside it only changes attributes and
   classes: no request. Outside, the window around the new step is fetched with the address or form that works without
   script too. After anything is swapped in, the page is read anew. */

import { ask } from "./request.js";
import { keepVisible } from "./sight.js";

let page = null; // what was read from the page, see load()
let current = 1;
let timer = 0;
let inStrip = false; // whether what is being replaced had the focus in the token strip
let wanted = null; // the step we are fetching a window for
const listeners = [];

export const step = () => current;
/* Where relative moves start: keys are pressed faster than a window arrives. */
export const aim = () => wanted ?? current;
/* Whether the token that had the focus is being replaced: keys pressed meanwhile still mean the cursor. */
export const refocusing = () => inStrip;
export const total = () => page?.total ?? 0;
export const onStep = (listener) => listeners.push(listener);
export const inspector = () => document.getElementById("inspector");

function load() {
  const root = inspector();
  const view = root?.querySelector("[data-window]");
  if (!view) return (page = null);
  page = {
    root,
    view,
    total: Number(root.dataset.total),
    first: Number(view.dataset.first),
    last: Number(view.dataset.last),
    jumps: JSON.parse(view.dataset.jumps),
    shown: new Map(),
    tokens: [...view.querySelectorAll("[data-token]")],
    runs: [...view.querySelectorAll("#strip [data-from]")],
    sent: [...view.querySelectorAll("#result [data-sent]")],
    open: [...view.querySelectorAll("[data-open-from]")],
    rows: [...view.querySelectorAll("[data-row]")],
  };
  const found = document.getElementById("findings").dataset;
  page.checked = found.checked;
  if (found.steps) page.jumps.finding = JSON.parse(found.steps);
  for (const element of view.querySelectorAll("[data-at]")) {
    const at = Number(element.dataset.at);
    page.shown.set(at, [...(page.shown.get(at) ?? []), element]);
  }
  return page;
}

const clamp = (number) => Math.max(1, Math.min(page.total, number));
const card = (number) => page.shown.get(number)?.find((element) => element.classList.contains("card"));

/* Go to a step, from anywhere. */
export function goTo(number, { quiet = false } = {}) {
  if (!page || !Number.isFinite(number)) return;
  const target = clamp(Math.round(number));
  if (target >= page.first && target <= page.last) {
    wanted = null;
    move(target, quiet);
  } else fetchWindow(target);
}

/* The next or previous place of a kind: step, change, emission, finding, end. */
export function target(kind, direction) {
  if (!page) return null;
  const on = direction === "next";
  if (kind === "end") return on ? page.total : 1;
  if (kind === "step") return aim() + (on ? 1 : -1);
  const places = page.jumps[kind] ?? [];
  return (on ? places.find((place) => place > current) : places.findLast((place) => place < current)) ?? null;
}

export function jump(kind, direction) {
  const place = target(kind, direction);
  if (place !== null) goTo(place);
}

function move(number, quiet) {
  const before = current;
  current = number;
  for (const element of page.shown.get(before) ?? []) element.hidden = true;
  for (const element of page.shown.get(number) ?? []) element.hidden = false;
  const shown = card(number);
  moveTokens(shown);
  moveResult();
  moveLog();
  moveOverview(shown);
  moveMachine(shown);
  moveControls(shown);
  if (!quiet) announce(shown);
  remember();
  for (const listener of listeners) listener(number);
}

function moveTokens(shown) {
  let cursor = null;
  for (const token of page.tokens) {
    const at = Number(token.dataset.step);
    token.classList.toggle("future", at > current);
    token.setAttribute("aria-selected", String(at === current));
    token.tabIndex = -1;
    if (at === current || (cursor === null && at > current)) cursor ??= token;
  }
  cursor ??= page.tokens.at(-1);
  const focused = document.activeElement?.closest?.("[data-token]");
  if (cursor) {
    cursor.tabIndex = 0;
    if (focused && focused !== cursor) cursor.focus({ preventScroll: true });
    keepVisible(cursor, document.getElementById("strip"));
  }
  const [start, end] = (shown?.dataset.hold ?? "0-0").split("-").map(Number);
  for (const run of page.runs) {
    const from = Number(run.dataset.from);
    const to = Number(run.dataset.to);
    const held = end > start && from >= start && to <= end;
    run.classList.toggle("role-held", held);
    run.classList.toggle("held-start", held && from === start);
    run.classList.toggle("held-end", held && to === end);
  }
}

function moveResult() {
  for (const element of page.sent) {
    const at = Number(element.dataset.sent);
    element.classList.toggle("not-yet", at > current);
    element.classList.toggle("now", at === current);
  }
  for (const badge of page.open) badge.hidden = current < Number(badge.dataset.openFrom) || current >= Number(badge.dataset.openTo);
  const chunk = page.view.querySelector(".wire .now");
  if (chunk) keepVisible(chunk, chunk.closest(".scroll"));
}

function moveLog() {
  let first = null;
  for (const row of page.rows) {
    const here = Number(row.dataset.row) === current;
    if (here) first ??= row;
    if (here) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  }
  if (first) keepVisible(first, first.closest("[data-log]"));
}

const percent = (number) => `${((number * 100) / page.total).toFixed(3)}%`;

function moveOverview(shown) {
  const band = page.root.querySelector("[data-band]");
  const cursor = band.querySelector("[data-band-cursor]");
  for (const name of ["x1", "x2"]) cursor.setAttribute(name, percent(current - 0.5));
  for (const bar of band.querySelectorAll(".band-state")) {
    bar.classList.toggle("current", Number(bar.dataset.first) <= current && current <= Number(bar.dataset.last));
  }
  const [from, to] = (shown?.dataset.bandHold ?? "1-0").split("-").map(Number);
  const held = band.querySelector("[data-band-held]");
  held.setAttribute("x", percent(from - 1));
  held.setAttribute("width", percent(Math.max(0, to - from + 1)));
  const slider = page.root.querySelector("[data-slider]");
  slider.value = String(current);
  slider.setAttribute("aria-valuetext", shown?.dataset.announce ?? `Step ${current} of ${page.total}`);
}

function moveMachine(shown) {
  const { node = "", edge = "", row = "" } = shown?.dataset ?? {};
  for (const box of page.view.querySelectorAll("[data-node]")) box.classList.toggle("current", box.tagName === "g" && box.dataset.node === node);
  for (const line of page.view.querySelectorAll("[data-diagram] [data-edge]")) line.classList.toggle("last", line.dataset.edge === edge);
  for (const rule of page.view.querySelectorAll("[data-rule]")) {
    if (rule.dataset.rule === row) rule.setAttribute("aria-current", "true");
    else rule.removeAttribute("aria-current");
  }
}

function moveControls(shown) {
  page.root.querySelector("#go-to").value = String(current);
  page.root.querySelector("[data-summary]").textContent = shown?.dataset.summary ?? "";
  page.root.querySelector("[data-step-number]").textContent = String(current);
  for (const control of page.root.querySelectorAll("[data-jump]")) {
    const place = target(control.dataset.jump, control.dataset.direction);
    const off = place === null || place < 1 || place > page.total || place === current;
    if (off) control.setAttribute("aria-disabled", "true");
    else control.removeAttribute("aria-disabled");
    if (!off && control.tagName === "A") control.href = address(place);
  }
  document.title = document.title.replace(/step \d+ of/, `step ${current} of`);
}

function announce(shown) {
  const region = document.getElementById("live");
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => (region.textContent = shown?.dataset.announce ?? `Step ${current}`), 250);
}

/* The address of this view with another step; what is not the default is kept. */
export function address(number = current) {
  const base = page.root.dataset.address || page.root.dataset.action;
  const query = new URLSearchParams();
  query.set("step", String(number));
  for (const field of document.getElementById("cursor").elements) {
    if (field.dataset.view && field.value && (field.value !== field.defaultValue || field.dataset.changed)) query.set(field.dataset.view, field.value);
  }
  if (page.root.dataset.chunk) query.set("chunk", page.root.dataset.chunk);
  return `${base}?${query}`;
}

/* Browsers refuse more than a hundred address changes in half a minute, so the last of a burst counts. */
export function remember() {
  if (!page?.root.dataset.address) return;
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(history.state, "", address()), 300);
}

function fetchWindow(number) {
  if (wanted === number) return;
  wanted = number;
  page.view.setAttribute("aria-busy", "true");
  ask("#window", "innerHTML", { step: String(number) });
}

/* A long output opens before its chunkings are compared; ask for the rest once. It comes in the parts that a search
   changes too: what is around the cursor stays as it is. */
function fetchReport() {
  const waiting = document.querySelector("[data-report-pending]:not([data-asked])");
  if (!waiting) return;
  waiting.dataset.asked = "1";
  for (const note of document.querySelectorAll("[data-working]")) note.hidden = false;
  ask("#search-poll", "outerHTML", { step: String(current), report: "1" }, "#inspector");
}

/* The checks or a search changed the panes around the window, or told how far they are: the cursor stays. */
function searched() {
  if (!page?.view.isConnected || page.root !== inspector() || document.querySelector("[data-window]") !== page.view) return false;
  const checked = document.getElementById("findings").dataset.checked;
  if (checked !== page.checked || !document.querySelector("[data-searching]")) {
    load();
    move(current, true);
  }
  return true;
}

function swapped() {
  if (searched()) return;
  const { root = null, total: steps = 0 } = page ?? {};
  const [keep, asked] = [current, wanted];
  if (!load()) return;
  wanted = null;
  current = Number(page.view.dataset.stepNow);
  const sameRun = root && page.total === steps && root.dataset.run === page.root.dataset.run;
  move(current, true);
  if (sameRun) goTo(asked ?? keep, { quiet: asked === null });
  if (inStrip) page.tokens.find((token) => token.tabIndex === 0)?.focus({ preventScroll: true });
  inStrip = false;
  setTimeout(fetchReport, 50);
}

export function startStepper() {
  if (load()) {
    current = Number(page.view.dataset.stepNow);
    move(current, true);
    setTimeout(fetchReport, 50);
  }
  document.addEventListener("htmx:before:swap", () => {
    if (document.activeElement?.closest("[data-token]")) inStrip = true;
  });
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("htmx:finally:request", (event) => {
    const { ctx } = event.detail;
    if (ctx?.target?.id !== "window" || ctx.status?.includes?.("Abort")) return; // replaced by a newer one
    if (ctx.status?.startsWith?.("error") || ctx.response?.status >= 400) wanted = null;
  });
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !page) return;
    const control = event.target.closest("[data-jump], [data-step]");
    if (!control || !page.root.contains(control)) return;
    if (control.dataset.jump) {
      event.preventDefault();
      if (control.getAttribute("aria-disabled") !== "true") jump(control.dataset.jump, control.dataset.direction);
    } else if (!leavesTrace(control)) {
      event.preventDefault();
      goTo(Number(control.dataset.step));
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-slider]")) slide(Number(event.target.value));
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "cursor" || !page || event.submitter?.hasAttribute("formaction")) return;
    if (event.submitter?.name) return;
    const asked = Number(document.getElementById("go-to").value.replace(/[^0-9]/g, ""));
    if (document.activeElement?.matches("[data-filter]") || !asked) return;
    event.preventDefault();
    goTo(asked);
  });
  document.addEventListener("toggle", closeOtherMenus, true);
}

/* A link to another chunking's trace is a page of its own. */
function leavesTrace(control) {
  const asked = new URLSearchParams(control.tagName === "A" ? control.search : control.value).get("chunk") ?? "";
  return asked !== page.root.dataset.chunk;
}

let sliding = 0;
function slide(number) {
  clearTimeout(sliding);
  if (number >= page.first && number <= page.last) goTo(number);
  else sliding = setTimeout(() => goTo(number), 150);
}

function closeOtherMenus(event) {
  if (!event.target.matches?.("details.menu[open]")) return;
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== event.target) menu.open = false;
}
