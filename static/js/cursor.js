/* The cursor of a replay: a step of the inspector, a character in the comparison.

   The server has drawn all text of the loaded window once. Moving the cursor inside it only changes attributes and
   classes: no request. Outside, the window around the new place is fetched with the address or form that works without
   script too. After anything is swapped in, the page is read anew.

   This file knows where the cursor is. What a page looks like is known to its drawer (inspector.js, compare.js), of
   which these are the parts:
     name             of the place, in the form
     slider, stops    selectors: the slider, and the pieces of text that take the focus
     links            selector of what leads to a place
     view()           the element that holds the window, or null
     read(view)       { root, view, at, least, most, first, last, jumps } and what the drawer wants to keep
     opened(page)     what is to be done once for a window (may be missing)
     isStale(page)    whether what stands around the window has changed (missing where nothing there does)
     draw(page, at)   shows the place and gives the words to announce it
     place(link)      where a link leads, null where it is another page
     slid(page, value) the place that a value of the slider stands for (missing where it is the place)
     typed(text)      the place that somebody typed, null where the server has to answer
     written(page, at) the place as its field has it (missing where that is the number)
     none(page, kind) why there is no place of a kind at all (missing, or empty, where nothing is known)
     address(page, at) */
import { isPlain, mark, say, write } from "./dom.js";
import { lasting } from "./private.js";
import { ask, WINDOW_SWAP } from "./request.js";

const PLACE = /(, )((?:step|chunk|character|column) [\d,]+ of [\d,]+|end of the stream)( ·)/; // in the title of a page
const MOVES = "[data-jump], [data-leap]";
const STEADY = 400; // milliseconds between two moves of a key that is held down, at most

let drawers = [];
let drawer = null; // the one whose page this is
let page = null; // what it read
let at = 1;
let wanted = null; // the place we go to once its window is here
let flying = false; // whether a window is on its way: one at a time, however fast the keys come
const disregarded = new WeakSet(); // requests in place of which the run is posted again: it goes on to the same place
let moved = -STEADY; // when the cursor moved last
let goal = null; // the place that window was asked for; null where it is wanted wherever somebody goes meanwhile
let queue = []; // what was asked for meanwhile, in order: an act, and whether it only moves the cursor
let inText = false; // whether what is being replaced had the focus in the text
let remembering = 0;
let announcing = 0;
let sliding = 0;
let asides = 0;
let typing = false; // whether somebody is at the number of a place to go to: it is not written over
const listeners = [];

export const step = () => at;
/* The words of the address of where the reader is, or is going, and of what is shown there. */
export const viewWords = () => (page ? drawer.address(page, aim()).split(/[?#]/)[1] : "");
/* Where moves by a number of steps start: keys are pressed faster than a window arrives. */
export const aim = () => wanted ?? at;
/* Whether the text that had the focus is being replaced: keys pressed meanwhile still mean the cursor. */
export const refocusing = () => inText;
/* Where the reader is, or is going, as the form names it. */
export const standing = () => (page ? { [drawer.name]: String(aim()) } : {});
/* Whether nobody is under way: no window is on its way, and the cursor stood still for a moment. */
export const isAtRest = () => !flying && performance.now() - moved > STEADY;
export const total = () => page?.most ?? 0;
/* The part of the page that the cursor moves in, or null. */
export const scope = () => page?.root ?? null;
export const onStep = (listener) => listeners.push(listener);

function load() {
  drawer = drawers.find((one) => one.view()) ?? null;
  page = drawer?.read(drawer.view()) ?? null;
  return page;
}

const isLoaded = (place) => page.first <= place && place <= page.last;

/* What is asked for while a window is on its way is done once that is here: it is meant for the place we go to. */
export function inTurn(act, moves = false) {
  if (flying && wanted !== null) queue.push({ act, moves });
  else act();
}

/* Whether something else is to be done first, at a place whose window is on its way. */
const isBehindOthers = () => flying && wanted !== null && queue.length > 0;

/* Goes so many steps on. Where each of them would have led by itself is nobody's place. */
export function moveBy(steps) {
  if (isBehindOthers()) queue.push({ act: () => moveBy(steps), moves: true });
  else goTo(aim() + steps);
}

/* Goes to a place, from anywhere: moves that wait to be made before it lead nowhere. */
export function goTo(number, { quiet = false } = {}) {
  if (!page || !Number.isFinite(number)) return;
  while (queue.at(-1)?.moves) queue.pop();
  if (isBehindOthers()) {
    queue.push({ act: () => goTo(number, { quiet }), moves: true });
    return;
  }
  const place = Math.max(page.least, Math.min(page.most, Math.round(number)));
  if (isLoaded(place)) {
    const before = at;
    wanted = null;
    at = place;
    page.view.removeAttribute("aria-busy");
    draw(quiet);
    lookAhead(before);
    takeTurns(queue.splice(0));
  } else {
    wanted = place;
    page.view.setAttribute("aria-busy", "true");
    if (!flying) fetchWindow(place);
  }
}

function takeTurns(waiting) {
  for (const { act, moves } of waiting) inTurn(act, moves);
}

/* A key that is held down moves on and on: what comes next is fetched before the edge of the window is reached. */
function lookAhead(before) {
  const steady = performance.now() - moved < STEADY;
  moved = performance.now();
  const room = Math.floor((page.last - page.first) / 4);
  const way = Math.sign(at - before);
  if (flying || !steady || !way || Math.abs(at - before) > room) return;
  const edge = way > 0 ? page.last : page.first;
  if (edge !== (way > 0 ? page.most : page.least) && Math.abs(edge - at) < room) {
    fetchWindow(at + way * room, { wherever: true });
  }
}

/* The next or previous place of a kind: step, change, emission, finding, parting, end. */
function target(kind, direction) {
  const on = direction === "next";
  if (kind === "end") return on ? page.most : page.least;
  const places = page.jumps[kind];
  if (kind === "step" && !places) return at + (on ? 1 : -1);
  return (on ? places?.find((place) => place > at) : places?.findLast((place) => place < at)) ?? null;
}

/* Where it leads is not known before the window is here, but for the ends and, as a rule, the next step. */
export function jump(kind, direction) {
  if (!page) return;
  if (kind === "end") goTo(target(kind, direction));
  else if (kind === "step" && !page.jumps.step) moveBy(direction === "next" ? 1 : -1);
  else inTurn(() => jumpNow(kind, direction), true);
}

function jumpNow(kind, direction) {
  const place = target(kind, direction);
  if (place !== null) goTo(place);
  else remark(whyNone(kind, direction));
}

/* A key that leads nowhere says so, in the words of its control. */
function whyNone(kind, direction) {
  const which = `:is([data-jump="${kind}"], [data-leap="${kind}"])[data-direction="${direction}"]`;
  const label = page.root.querySelector(which)?.getAttribute("aria-label") ?? `${direction} ${kind}`;
  return drawer.none?.(page, kind) || `${label.replace(/, none$/, "")}: there is none.`;
}

/* Words in place of the summary beside the controls, until the next move. */
export function remark(words) {
  const summary = page?.root.querySelector(":is([data-summary], [data-compare-summary]):is(.step-summary *)");
  if (summary) write(summary, words);
  clearTimeout(announcing);
  say(words);
}

function draw(quiet) {
  const words = drawer.draw(page, at);
  page.standing = words.split(". ", 1)[0];
  if (!typing) writePlace(page.root.querySelector("#go-to"));
  if (!page.moves?.every((control) => control.isConnected)) page.moves = [...page.root.querySelectorAll(MOVES)];
  for (const control of page.moves) drawMove(control);
  if (!quiet) announce(words);
  remember();
  clearTimeout(asides);
  asides = setTimeout(drawAside, 50);
  for (const listener of listeners) listener(at);
}

/* What was selected to be typed over stays selected: a digit typed now replaces the number. */
function writePlace(field) {
  const all = field === document.activeElement && field.selectionEnd - field.selectionStart === field.value.length;
  field.value = drawer.written?.(page, at) ?? String(at);
  if (all) field.select();
}

const kindOf = (control) => control.dataset.jump ?? control.dataset.leap;

function drawMove(control) {
  const place = target(kindOf(control), control.dataset.direction);
  const off = place === null || place < page.least || place > page.most || place === at;
  if ((control.getAttribute("aria-disabled") === "true") !== off) mark(control, "aria-disabled", off && "true");
}

/* What only the browser asks for waits until the picture is there: the title, and where a link leads that opens in
   another tab. */
function drawAside() {
  if (!page?.moves) return;
  const [first, ...rest] = page.standing;
  document.title = document.title.replace(PLACE, `$1${first.toLowerCase()}${rest.join("")}$3`);
  for (const control of page.moves) {
    if (control.tagName !== "A" || control.getAttribute("aria-disabled") === "true") continue;
    const place = target(kindOf(control), control.dataset.direction);
    if (place !== null) control.href = addressOf(place);
  }
}

/* As the server writes it, and people read it: `chunk=cuts:3,9`. */
const addressOf = (place) => drawer.address(page, place).replaceAll("%3A", ":").replaceAll("%2C", ",");

function announce(words) {
  clearTimeout(announcing);
  announcing = setTimeout(() => say(words), 250);
}

/* Browsers refuse more than a hundred address changes in half a minute, so the last of a burst counts. Back and Forward
   lead to another address at once, and its page comes later: the place on the one that was left is no part of it. */
export function remember() {
  if (!page?.root.dataset.address) return;
  clearTimeout(remembering);
  const { pathname } = location;
  const renew = () =>
    page && pathname === location.pathname && history.replaceState(history.state, "", lasting(addressOf(at)));
  remembering = setTimeout(renew, 300);
}

/* Draws the window anew, of which something else is shown. */
export const drawAnew = () => fetchWindow(at, { wherever: true });

function fetchWindow(place, { wherever = false } = {}) {
  flying = true;
  goal = wherever ? null : place;
  ask("#window", WINDOW_SWAP, { [drawer.name]: String(place) });
}

/* What was swapped in is another run, another window of this one, or what stands around the window. */
function swapped() {
  if (page && drawer.view() === page.view) {
    inText = false;
    if (drawer.isStale?.(page)) {
      load();
      draw(true);
    }
    return;
  }
  flying = false;
  const old = page;
  const [asked, waiting, before] = [wanted, queue, at];
  [wanted, queue] = [null, []];
  if (!load()) return;
  at = page.at;
  draw(true);
  drawer.opened?.(page);
  if (old?.most === page.most && old.root.dataset.run === page.root.dataset.run) {
    goTo(asked ?? before, { quiet: asked === null });
    takeTurns(waiting);
  }
  // the focus went with what was replaced, unless somebody put it elsewhere meanwhile
  if (inText && document.activeElement === document.body) focusPlace();
  inText = false;
}

/* What a request asked for comes with the whole page. */
export function waitForPage(request) {
  disregard(request);
  flying = true;
}

/* What comes of a request has no meaning any more. */
export const disregard = (request) => disregarded.add(request);

/* A window that nobody goes to any more takes the place of none: the cursor moved on in the one that is here. */
function pass(event) {
  const { ctx } = event.detail;
  if (ctx.target?.id === "window" && ctx.response?.status < 400 && goal !== null && wanted === null) {
    event.preventDefault();
  }
}

/* A window that did not come, alone or with the whole page, leaves the cursor where it is. One that came and was held
   back (live.js) is still the place we go to. */
function answered({ detail: { ctx } }) {
  if (disregarded.has(ctx)) return;
  if (!["window", "page"].includes(ctx?.target?.id)) return;
  if (ctx.status === "swapped" || ctx.status?.includes?.("Abort")) return; // it is here, or replaced by a newer one
  flying = false;
  if (ctx.response?.status < 400 && !ctx.status?.startsWith?.("error")) return;
  [wanted, queue] = [null, []];
  page?.view.removeAttribute("aria-busy");
}

function click(event) {
  if (!page || !isPlain(event)) return;
  const control = event.target.closest(`${MOVES}, ${drawer.links}`);
  if (!control || !page.root.contains(control)) return;
  const kind = kindOf(control);
  const place = kind ? null : drawer.place(control);
  if (!kind && place === null) return;
  event.preventDefault();
  if (!kind) goTo(place);
  else if (control.getAttribute("aria-disabled") !== "true") jump(kind, control.dataset.direction);
}

function noteTyping(event) {
  if (event.target.id === "go-to") typing = event.type === "input";
}

function slide(event) {
  if (!page || !event.target.matches(drawer.slider)) return;
  const value = Number(event.target.value);
  const place = drawer.slid?.(page, value) ?? value;
  clearTimeout(sliding);
  if (isLoaded(place)) goTo(place);
  else sliding = setTimeout(() => goTo(place), 150);
}

/* The form is posted by its own buttons; what is typed into its field is a place to go to. */
function submit(event) {
  const { target: form, submitter } = event;
  if (!page || form.id !== "cursor" || submitter?.name || submitter?.hasAttribute("formaction")) return;
  const place = drawer.typed(document.getElementById("go-to").value);
  typing = false;
  if (place === null) return;
  event.preventDefault();
  goTo(place);
  focusPlace(); // what is typed next is for the cursor
}

/* Puts the focus on the piece of the text that the cursor is on, from a field that was left. */
export function focusPlace() {
  page?.view.querySelector(`${drawer.stops}[tabindex="0"]`)?.focus({ preventScroll: true });
}

export function startCursor(...known) {
  drawers = known;
  if (load()) {
    at = page.at;
    draw(true);
    drawer.opened?.(page);
  }
  document.addEventListener("htmx:before:swap", () => {
    if (page && document.activeElement?.closest(drawer.stops)) inText = true;
  });
  document.addEventListener("htmx:before:response", pass);
  document.addEventListener("htmx:after:swap", swapped);
  document.addEventListener("htmx:finally:request", answered);
  document.addEventListener("click", click);
  document.addEventListener("input", slide);
  for (const kind of ["input", "focusout"]) document.addEventListener(kind, noteTyping);
  document.addEventListener("submit", submit);
}
