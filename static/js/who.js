/* Who wrote this: from any character of the message to the step that sent it, the row, and the output it came from.

   A run of the message is text that one step sent; inside a run a character is found by its place, so nothing is drawn
   for each. The caret is one element over the text: it has the focus while the keyboard is at it. */
import { goTo, step as stepNow } from "./cursor.js";
import { isPlain, say } from "./dom.js";
import { card, inspector } from "./inspector.js";
import { askPart } from "./lines.js";
import { clearSelection, selectRange } from "./provenance.js";

const RUNS = "#result .run[data-sent]";
let place = null; // the run, and which of its characters

const runs = () => [...document.querySelectorAll(RUNS)].filter((run) => run.checkVisibility());
const textOf = (run) => run.parentElement;

/* The characters of a run, each with where it is drawn: a glyph is one, whatever stands in its box. */
function characters(run) {
  const found = [];
  for (const node of run.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      let from = 0;
      for (const text of node.data) {
        found.push({ node, from, to: from + text.length, text });
        from += text.length;
      }
    } else if (node.matches(".glyph")) found.push({ node, text: node.title || node.textContent });
  }
  return found;
}

function boxes({ node, from, to }) {
  if (from === undefined) return [...node.getClientRects()];
  const range = document.createRange();
  range.setStart(node, from);
  range.setEnd(node, to);
  return [...range.getClientRects()];
}

const holds = (box, x, y) => box.left <= x && x < box.right && box.top <= y && y < box.bottom;

/* Which part of the message a run is of: content, or an argument of a call. */
function partOf(run) {
  const role = [...run.classList].find((name) => name.startsWith("role-")) ?? "";
  const call = run.closest(".call")?.querySelector(".call-index")?.textContent;
  return [call, role.slice(5)].filter(Boolean).join(" ");
}

/* Which character of its part it is. */
const inPart = ({ run, at }) => Number(run.dataset.inPart) + at;

/* Where in the output the character came from; of text that is no copy, all that it was made of. */
function origin({ run, at }) {
  const [from, to] = [Number(run.dataset.from), Number(run.dataset.to)];
  const exact = !run.matches(".converted, .synthetic, .unplaced") && to - from === characters(run).length;
  return exact ? [from + at, from + at + 1] : [from, to];
}

function words(found) {
  const { run, at } = found;
  const step = Number(run.dataset.sent);
  const [from, to] = origin(found);
  const made = ["converted", "synthetic", "unplaced"].find((kind) => run.classList.contains(kind));
  const came = to - from === 1 ? `character ${from}` : `characters ${from} to ${to}`;
  const where = made === "unplaced" || to === from ? "from no place in the output" : `from ${came} of the output`;
  const who = card(step)?.who ?? "";
  const { sentWhere } = document.getElementById("inspector").dataset;
  return {
    text: characters(run)[at].text,
    rest: [
      `${partOf(run)}, character ${inPart(found)}, sent ${sentWhere} ${step}`,
      who,
      made === "unplaced" ? "" : (made ?? ""),
      where,
    ].filter(Boolean),
  };
}

function line(found) {
  const note = document.getElementById("who");
  const { text, rest } = words(found);
  note.replaceChildren(Object.assign(document.createElement("code"), { textContent: text }), ` ${rest.join(" · ")}`);
  return `${text}: ${rest.join(". ")}.`;
}

function caret() {
  const known = document.getElementById("who-caret");
  if (known) return known;
  const made = Object.assign(document.createElement("span"), { id: "who-caret", tabIndex: -1, role: "button" });
  document.querySelector("#result .pane-body").append(made);
  return made;
}

function put(found, { focus = false } = {}) {
  place = found;
  const said = line(found);
  const mark = caret();
  const pane = mark.parentElement;
  const [box] = boxes(characters(found.run)[found.at]);
  const outer = pane.getBoundingClientRect();
  mark.style.left = `${box.left - outer.left + pane.scrollLeft}px`;
  mark.style.top = `${box.top - outer.top + pane.scrollTop}px`;
  mark.style.inlineSize = `${Math.max(4, box.width)}px`;
  mark.style.blockSize = `${box.height}px`;
  mark.ariaLabel = said;
  if (focus) mark.focus({ preventScroll: true });
  mark.scrollIntoView({ block: "nearest" });
  selectRange(...origin(found));
  askPart(partAt(found), Number(found.run.dataset.sent));
  say(said);
}

/* The character as the page of an engine's parser asks about it: its channel, and which of it. */
function partAt(found) {
  const { part } = found.run.dataset;
  return part ? `${part}:${inPart(found)}` : "";
}

function leave() {
  document.getElementById("who-caret")?.remove();
  document.getElementById("who")?.replaceChildren();
  place = null;
  clearSelection();
}

/* Goes to the step that sent the character under the caret. */
function go() {
  goTo(Number(place.run.dataset.sent), { quiet: true });
  put(place); // what stands out is drawn anew
}

function move(by) {
  const { run, at } = place;
  const next = at + by;
  if (next >= 0 && next < characters(run).length) return put({ run, at: next });
  const all = runs();
  const other = all[all.indexOf(run) + by];
  return other && put({ run: other, at: by > 0 ? 0 : characters(other).length - 1 });
}

/* The beginning of the next text, or of the one before. */
function leap(by) {
  const texts = [...new Set(runs().map(textOf))];
  const text = texts[texts.indexOf(textOf(place.run)) + by];
  const first = text && runs().find((run) => textOf(run) === text);
  if (first) put({ run: first, at: 0 });
}

function edge(last) {
  const own = runs().filter((run) => textOf(run) === textOf(place.run));
  const run = last ? own.at(-1) : own[0];
  put({ run, at: last ? characters(run).length - 1 : 0 });
}

/* Back to the token that the character came from. */
function toOutput() {
  const [from] = origin(place);
  const parts = [...document.querySelectorAll("#strip [data-from]")];
  const token = parts.find(
    (part) => Number(part.dataset.from) <= from && from < Number(part.dataset.to),
  )?.parentElement;
  leave();
  (token ?? document.querySelector("#strip [tabindex='0']"))?.focus();
}

const KEYS = {
  ArrowLeft: () => move(-1),
  ArrowRight: () => move(1),
  ArrowUp: () => leap(-1),
  ArrowDown: () => leap(1),
  Home: () => edge(false),
  End: () => edge(true),
  Enter: go,
  " ": go,
  w: toOutput,
  Escape: () => {
    leave();
    askPart("", stepNow());
    document.querySelector("#strip [tabindex='0']")?.focus();
  },
};

function press(event) {
  if (event.target.id !== "who-caret" || !Object.hasOwn(KEYS, event.key)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  KEYS[event.key]();
}

/* From the output to what became of it: the caret stands at the first character of the message that came from the token
   with the focus, else from this step. */
export function askWho() {
  const token = document.activeElement?.closest?.("[data-token]") ?? inspector().querySelector("[aria-selected=true]");
  const parts = [...(token?.querySelectorAll("[data-from]") ?? [])];
  const all = runs();
  if (!all.length) {
    say("The message is empty.");
    return;
  }
  for (const part of parts) {
    const [from, to] = [Number(part.dataset.from), Number(part.dataset.to)];
    const run = all.find((one) => Number(one.dataset.from) < to && Number(one.dataset.to) > from);
    if (!run) continue;
    const at = Math.max(0, from - Number(run.dataset.from));
    put({ run, at: Math.min(at, characters(run).length - 1) }, { focus: true });
    return;
  }
  if (parts.length) say("Nothing of this token is in the message.");
  put({ run: all.find((run) => run.classList.contains("now")) ?? all[0], at: 0 }, { focus: true });
}

function click(event) {
  if (event.target.closest?.(".facts a.cue") && isPlain(event)) {
    event.preventDefault();
    askWho();
    return;
  }
  const run = event.target.closest?.(RUNS);
  if (!run || !isPlain(event) || event.target.closest("a, button") || !getSelection().isCollapsed) return;
  const all = characters(run);
  const at = all.findIndex((one) => boxes(one).some((box) => holds(box, event.clientX, event.clientY)));
  if (!all.length) return;
  place = { run, at: Math.max(0, at) };
  goTo(Number(run.dataset.sent), { quiet: true });
  put(place, { focus: true });
}

/* The place in the window that came instead of the one it was in; the caret had the focus. */
function again() {
  if (!place || place.run.isConnected) return;
  const { run, at } = place;
  const same = (one) => ["sent", "from", "to", "inPart"].every((name) => one.dataset[name] === run.dataset[name]);
  const found = runs().find((one) => same(one) && one.textContent === run.textContent && partOf(one) === partOf(run));
  if (found) put({ run: found, at }, { focus: document.activeElement === document.body });
  else leave();
}

export function startWho() {
  document.addEventListener("click", click);
  document.addEventListener("keydown", press, true);
  document.addEventListener("htmx:after:swap", again);
  new ResizeObserver(() => place?.run.isConnected && put(place)).observe(document.body);
}
