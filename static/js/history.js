/* The latest runs of this browser: title or first characters, parser, verdict, time. The list is in local storage and
   goes nowhere; the text of a posted run is kept in its tab alone (again.js), as long as that is open. Undo goes to the
   run before (trail.js). Where storage is refused there is no list. */
import { forgetRuns, textOf } from "./again.js";
import { dropDraft } from "./draft.js";
import { inspector } from "./inspector.js";
import { forgetEdits, isEditing } from "./live.js";
import { follow, forgetTrail, hasBefore, stepBack } from "./trail.js";

const LIST = "history";
const MOST = 30;
const LONGEST = 60;
let forgotten = null; // the run on the page, once it was forgotten with the others: it is not listed again
let isLeft = false; // Undo goes to another run, and what arrives until then does not put this one on the trail again

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(LIST) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/* Whether local storage took it. */
function write(list) {
  try {
    localStorage.setItem(LIST, JSON.stringify(list));
    return true;
  } catch {
    return false;
  }
}

const isKept = () => write(read());

const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/* The run on the page, or null. */
function current() {
  const root = inspector();
  const address = root?.dataset.held || root?.dataset.address;
  if (!address) return null;
  const named = !root.dataset.held && root.dataset.heading;
  const text = document.getElementById("text")?.value.trim().replace(/\s+/g, " ") ?? "";
  const headline = document.getElementById("headline");
  return {
    address,
    title: shortened(named || text || "empty output"),
    parser: root.dataset.parser ?? "",
    verdict: (headline?.textContent.trim() ?? "").replace(/\s+/g, " "),
    severity: headline?.dataset.severity ?? "",
    time: Date.now(),
  };
}

/* While the text of a run is edited, what the page says is not of that run. */
function note() {
  if (isEditing() || isLeft) return;
  const run = current();
  if (run?.address !== forgotten) forgotten = null;
  if (!run || forgotten || !isKept()) return;
  const others = read().filter(({ address }) => address !== run.address);
  write([run, ...others].slice(0, MOST));
  if (run.address === location.pathname) follow(run.address); // else its address is on its way
}

function undo() {
  const before = stepBack(current()?.address);
  if (!before) return;
  isLeft = true;
  location.assign(before);
}

const when = (time) => new Date(time).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function entry(run) {
  const item = document.createElement("li");
  const link = element("a", "", "");
  link.href = run.address;
  link.append(
    element("span", "history-title", run.title),
    element("span", `history-verdict${run.severity === "error" ? " severity-error" : ""}`, run.verdict),
    element("span", "quiet", `${run.parser} · ${when(run.time)}`),
  );
  item.append(link);
  return item;
}

function show() {
  const runs = read();
  const now = current()?.address;
  for (const list of document.querySelectorAll("[data-history]")) {
    list.replaceChildren(...runs.filter(({ address }) => address !== now).map(entry));
    const box = list.closest("[data-history-box]");
    box.hidden = !list.children.length;
  }
  // from a comparison, and from a page that has no address of its own, to the run
  const leads = hasBefore(now) && (now || document.querySelector("[data-compare], main [data-undo]"));
  for (const button of document.querySelectorAll("[data-undo]")) button.hidden = !leads;
  offerTexts();
}

/* A comparison can put the text of another run of this tab beside. */
function offerTexts() {
  const select = document.querySelector("[data-recent-select]");
  if (!select) return;
  const known = read().filter(({ address }) => textOf(address) !== null);
  const options = known.map(({ address, title }) => new Option(title, address));
  select.replaceChildren(select.options[0], ...options);
  select.closest("[data-recent-texts]").hidden = !options.length;
}

function choose({ target }) {
  if (!target.matches?.("[data-recent-select]") || !target.value) return;
  document.getElementById("put").value = textOf(target.value) ?? "";
}

function forget() {
  try {
    localStorage.removeItem(LIST);
  } catch {
    /* there is nothing */
  }
  forgetTrail();
  forgetRuns();
  forgetEdits();
  dropDraft();
  forgotten = current()?.address ?? null;
  show();
  document.getElementById("live").textContent = "The runs of this browser are forgotten.";
}

export function startHistory() {
  const update = () => {
    note();
    show();
  };
  update();
  for (const kind of ["htmx:after:swap", "htmx:after:history:push"]) document.addEventListener(kind, update);
  window.addEventListener("pageshow", ({ persisted }) => {
    isLeft = false;
    if (persisted) update();
  });
  document.addEventListener("change", choose);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-undo]")) undo();
    if (target.closest("[data-forget]")) forget();
  });
}
