/* Draws the cursor of the inspector: one step is current, and every pane shows what it knows about it. */
import { asText, keepVisible, mark, moveLine, write } from "./dom.js";
import { ask, chosen } from "./request.js";
import { isAtRest, standing, total } from "./cursor.js";

export const inspector = () => document.getElementById("inspector");
const findings = () => document.getElementById("findings").dataset;
const stops = () => document.getElementById("stops");
const list = () => document.getElementById("event-list");
const range = (text) => text.split("-").map(Number);

let cards = new Map(); // what the page says about the steps of the window
let parts = null; // what is drawn at every step and may be swapped: looked for once after a swap

/* What the page says about a step of the window, or null. */
export function card(step) {
  const known = cards.get(step);
  if (known?.isConnected) return known.dataset;
  return inspector()?.querySelector(`#step .card[data-at="${step}"]`)?.dataset ?? null;
}

function look(page) {
  if (parts?.view === page.view) return parts;
  const all = (selector) => [...page.view.querySelectorAll(selector)];
  const band = page.root.querySelector("[data-band]");
  return (parts = {
    view: page.view,
    band,
    cursor: band.querySelector("[data-band-cursor]"),
    held: band.querySelector("[data-band-held]"),
    slider: page.root.querySelector("[data-slider]"),
    summary: page.root.querySelector("[data-summary]:not(.card)"),
    number: page.root.querySelector("[data-step-number]"),
    diagrams: all("[data-diagram]"),
    nodes: all("[data-node]:not(.card)"),
    edges: all("[data-diagram] [data-edge]"),
    rules: all("[data-rule]"),
    lit: {},
  });
}

function read(view) {
  asText(view);
  const root = inspector();
  const { checked, steps } = findings();
  const shown = new Map();
  for (const element of view.querySelectorAll("[data-at]")) {
    const step = Number(element.dataset.at);
    shown.set(step, [...(shown.get(step) ?? []), element]);
  }
  cards = new Map([...view.querySelectorAll("#step .card")].map((one) => [Number(one.dataset.at), one]));
  parts = null;
  const jumps = JSON.parse(view.dataset.jumps);
  if (steps) jumps.finding = JSON.parse(steps);
  jumps.stop = JSON.parse(stops().dataset.stops);
  return {
    root,
    view,
    at: Number(view.dataset.stepNow),
    least: 1,
    most: Number(root.dataset.total),
    first: Number(view.dataset.first),
    last: Number(view.dataset.last),
    jumps,
    checked,
    stops: stops(),
    listed: stops().dataset.stops,
    places: places(root),
    list: list(),
    shown,
    drawn: Number(view.dataset.stepNow), // the step whose elements are not hidden
    tokens: numbered(view, "[data-token]", "step"),
    chunks: [...view.querySelectorAll("[data-stop]")],
    runs: [...view.querySelectorAll("#strip [data-from]")].map((element) => {
      const { from, to } = element.dataset;
      return { element, from: Number(from), to: Number(to) };
    }),
    bars: [...root.querySelectorAll("[data-band] .band-state")],
    bytes: numbered(view, "#input [data-fed]", "fed"),
    sent: numbered(view, ":is(#result, #wire) [data-sent]", "sent"),
    open: [...view.querySelectorAll("[data-open-from]")],
    rows: numbered(view, "[data-row]", "row"),
    before: null, // the step that is drawn: null until one is
  };
}

/* Elements with the step they belong to, which is read once. */
const numbered = (view, selector, name) =>
  [...view.querySelectorAll(selector)].map((element) => ({ element, at: Number(element.dataset[name]) }));

/* Of these, what a move to a step may change: all at first, then what lies between. */
function touched(page, pieces, step) {
  if (page.before === null) return pieces;
  const [least, most] = [Math.min(page.before, step), Math.max(page.before, step)];
  return pieces.filter(({ at }) => least <= at && at <= most);
}

let asking = false; // for the report: one request at a time, whatever is swapped in meanwhile
const REPORT_TRIES = 3; // in a row without an answer
const REST = 100; // milliseconds until it is looked at again whether the cursor rests
const REPORT_PAUSE = 700; // milliseconds; each time as long again

/* A long output opens before its chunkings are compared; ask for the rest once. It comes in the parts that a search
   changes too: what is around the cursor stays as it is. While it is worked on, it is asked for again and again; where
   it does not come, a few times more, and then when somebody says so. Whoever is on the way through the output comes
   first: one process holds the run, and a window would wait for a part of the report. */
async function fetchReport() {
  if (asking || !isPending()) return;
  asking = true;
  show("[data-working]", "[data-report-again]");
  let tries = 0;
  while (isPending() && tries < REPORT_TRIES) {
    if (!isAtRest()) {
      await pause(REST);
      continue;
    }
    document.querySelector("[data-report-left]")?.removeAttribute("data-report-left");
    await ask("#inspector", "none", { ...standing(), report: "1" });
    if (document.querySelector("[data-report-left]")) tries = 0;
    else if (isAtRest()) tries += 1; // else it was given up for who moves
    if (tries && tries < REPORT_TRIES && isPending()) await pause(tries * REPORT_PAUSE);
  }
  asking = false;
  if (isPending()) show("[data-report-again]", "[data-working]");
}

/* Several panes may wait for it. */
const isPending = () => document.querySelector("[data-report-pending]") !== null;

const pause = (milliseconds) => new Promise((after) => setTimeout(after, milliseconds));

function show(these, instead) {
  for (const note of document.querySelectorAll(these)) note.hidden = false;
  for (const note of document.querySelectorAll(instead)) note.hidden = true;
}

function draw(page, step) {
  for (const element of page.shown.get(page.drawn) ?? []) element.hidden = true;
  for (const element of page.shown.get(step) ?? []) element.hidden = false;
  page.drawn = step;
  const shown = card(step) ?? {};
  const words = shown.announce ?? `Step ${step}`;
  drawTokens(page, step);
  drawChunks(page, step);
  drawHeld(page, shown);
  drawResult(page, step);
  drawLog(page, step);
  drawOverview(page, step, shown);
  drawMachine(page, shown);
  drawStops(page, step);
  drawPlace(page);
  page.before = step;
  settleSoon(page);
  write(look(page).summary, shown.summary ?? "");
  if (look(page).number) write(look(page).number, String(step));
  return words;
}

function drawTokens(page, step) {
  for (const { element, at } of touched(page, page.tokens, step)) {
    element.classList.toggle("future", at > step);
    element.setAttribute("aria-selected", String(at === step));
  }
  page.cursor = (page.tokens.find(({ at }) => at >= step) ?? page.tokens.at(-1))?.element;
  for (const { element, at } of touched(page, page.bytes, step)) element.classList.toggle("now", at === step);
}

/* Of the chunks of a recorded stream one can be reached by the tab key, and it keeps the focus. */
function drawChunks(page, step) {
  page.chunk = page.chunks.find((link) => Number(link.dataset.step) === step) ?? page.chunks.at(-1);
  for (const link of page.chunks) link.tabIndex = link === page.chunk ? 0 : -1;
}

/* What asks where things stand makes the browser lay the page out: it waits until all is drawn, and is done once for
   each picture, however many steps lead to it. */
let settling = null;

function settleSoon(page) {
  if (!settling) requestAnimationFrame(() => settle(settling));
  settling = page;
}

function settle(page) {
  settling = null;
  if (!page.view.isConnected) return;
  const focused = document.activeElement;
  page.tabbed ??= [...page.view.querySelectorAll("[data-token][tabindex='0']")];
  for (const token of page.tabbed) token.tabIndex = -1;
  page.tabbed = page.cursor ? [page.cursor] : [];
  if (page.cursor) page.cursor.tabIndex = 0;
  const cursor = focused?.closest?.("[data-token]") ? page.cursor : focused?.matches?.("[data-stop]") && page.chunk;
  if (cursor && cursor !== focused) cursor.focus({ preventScroll: true });
  const box = document.querySelector("[data-strip-box]");
  const here = (pieces) => pieces.filter(({ at }) => at === page.before).map(({ element }) => element);
  const sights = [
    [here(page.bytes)[0], box],
    [page.cursor, box],
  ];
  sights.push([here(page.sent).find((element) => element.matches("#message *")), document.getElementById("message")]);
  const chunk = latestChunk(page.before);
  sights.push([chunk, chunk?.closest(".scroll")]);
  const rows = new Map(
    here(page.rows)
      .map((row) => [row.closest("[data-log]"), row])
      .reverse(),
  );
  for (const [log, row] of rows) sights.push([row, log]);
  for (const [element, pane] of sights) if (element?.checkVisibility()) keepVisible(element, pane);
}

/* The chunk on the wire that a client got last, by then: where nothing is sent it stays lit. */
function latestChunk(step) {
  const sent = [...document.querySelectorAll("#wire [data-sent]")];
  const latest = sent.findLast((chunk) => Number(chunk.dataset.sent) <= step);
  for (const chunk of sent) chunk.classList.toggle("latest", chunk === latest);
  return latest;
}

/* Only what was held before or is now: all at first. */
function drawHeld(page, { hold = "0-0" }) {
  if (page.hold === hold) return;
  const [start, end] = range(hold);
  const [before, after] = page.hold ? range(page.hold) : [0, Infinity];
  page.hold = hold;
  for (const { element, from, to } of page.runs) {
    if ((to < before || after < from) && (to < start || end < from)) continue;
    const held = end > start && from >= start && to <= end;
    element.classList.toggle("role-held", held);
    element.classList.toggle("held-start", held && from === start);
    element.classList.toggle("held-end", held && to === end);
  }
}

/* What the verdict names of the output is marked in it. */
function drawPlace(page) {
  const named = document.getElementById("said").dataset.place ?? "0-0";
  if (page.named === named) return;
  page.named = named;
  const [start, end] = range(named);
  for (const { element, from, to } of page.runs) element.classList.toggle("named-place", from < end && start < to);
}

function drawStops(page, step) {
  const note = page.stops.querySelector("[data-stop-place]");
  if (!note) return;
  const all = page.jumps.stop;
  if (note.dataset.toldAt === String(step)) return;
  if (note.dataset.toldAt) note.title = "";
  delete note.dataset.toldAt;
  note.dataset.all ??= note.textContent;
  const at = all.indexOf(step);
  note.textContent = at < 0 ? note.dataset.all : `${note.dataset.all}, this is ${at + 1}`;
}

function drawResult(page, step) {
  for (const { element, at } of touched(page, page.sent, step)) {
    element.classList.toggle("not-yet", at > step);
    element.classList.toggle("now", at === step);
  }
  for (const badge of page.open) {
    badge.hidden = step < Number(badge.dataset.openFrom) || step >= Number(badge.dataset.openTo);
  }
}

function drawLog(page, step) {
  for (const { element, at } of touched(page, page.rows, step)) mark(element, "aria-current", at === step && "step");
}

/* Where the chunks of a recorded stream stand on its axis, in percent; null where steps are evenly spaced. */
const places = (root) => JSON.parse(root.querySelector("[data-places]")?.dataset.places ?? "null");

function drawOverview(page, step, shown) {
  const percent = (number) => `${((number * 100) / page.most).toFixed(3)}%`;
  const { band, cursor, held, slider } = look(page);
  slider.setAttribute("aria-valuetext", shown.announce ?? `Step ${step} of ${page.most}`);
  if (page.places) {
    moveLine(cursor, `${page.places[step - 1]}%`);
    slider.value = String(page.places[step - 1]);
    return;
  }
  moveLine(cursor, percent(step - 0.5));
  const bar = page.bars.find(({ dataset }) => step <= Number(dataset.last));
  for (const one of band.querySelectorAll(".band-state.current")) if (one !== bar) one.classList.remove("current");
  bar?.classList.add("current");
  const [from, to] = range(shown.bandHold ?? "1-0");
  held.setAttribute("x", percent(from - 1));
  held.setAttribute("width", percent(Math.max(0, to - from + 1)));
  slider.value = String(step);
}

function drawMachine(page, { node = "", edge = "", row = "" }) {
  const { diagrams, nodes, edges, rules, lit } = look(page);
  if (lit.node !== node) {
    for (const diagram of diagrams) {
      const label = diagram.getAttribute("aria-label");
      diagram.setAttribute("aria-label", label.replace(/Current state [^.]*/, `Current state ${node}`));
    }
    for (const box of nodes) box.classList.toggle("current", box.tagName === "g" && box.dataset.node === node);
  }
  if (lit.edge !== edge) for (const line of edges) line.classList.toggle("last", line.dataset.edge === edge);
  if (lit.row !== row) for (const rule of rules) mark(rule, "aria-current", rule.dataset.rule === row && "true");
  Object.assign(lit, { node, edge, row });
}

/* A link to another chunking's trace is a page of its own; a token is always of this one. */
function place(link) {
  if (link.matches("[data-token]")) return Number(link.dataset.step);
  const chunk = new URLSearchParams(link.tagName === "A" ? link.search : link.value).get("chunk") ?? "";
  return chunk === inspector().dataset.chunk ? Number(link.dataset.step) : null;
}

/* The address of this view with another step; what is not the default is kept. */
function address(page, step) {
  const { address: own, action, chunk } = page.root.dataset;
  const query = new URLSearchParams([["step", String(step)], ...chosen()]);
  if (chunk) query.set("chunk", chunk);
  return `${own || action}?${query}`;
}

/* The chunk that came last before a place of the axis; the step in whose share of the band the value lies. */
function slid(page, value) {
  if (page.places) return Math.max(1, page.places.filter((start) => start <= value).length);
  return Math.max(1, Math.min(page.most, Math.round(value)));
}

function typed(text) {
  if (document.activeElement?.matches("[data-filter]")) return null;
  if (text.trim().toLowerCase() === "end") return total();
  return Number(text.replaceAll(",", "")) || null; // the field takes nothing but digits and commas
}

/* Behind the last chunk of a recorded stream is its end, which has no number. */
const written = (page, step) => card(step)?.written ?? String(step);

export const inspectorDrawer = {
  name: "step",
  slider: "[data-slider]",
  stops: ":is([data-token], [data-stop])",
  links: "[data-step]",
  view: () => inspector()?.querySelector("[data-window]") ?? null,
  read,
  /* The checks or a search changed the panes around the window, or told how far they are. */
  isStale: (page) =>
    findings().checked !== page.checked ||
    stops() !== page.stops ||
    stops().dataset.stops !== page.listed ||
    list() !== page.list ||
    !document.querySelector("[data-searching]"),
  opened: () => setTimeout(fetchReport, 50),
  draw,
  place,
  slid,
  typed,
  written,
  address,
};

document.addEventListener("htmx:after:swap", () => {
  parts = null;
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-report-again]")) fetchReport();
});
