/* The latest runs of this browser: title or first characters, parser, verdict, time. The list is in local storage and
   goes nowhere; the text of a posted run is kept in its tab alone (again.js), as long as that is open. Undo goes to the
   run before. Where storage is refused there is no list. */
import { forgetRuns, textOf } from "./again.js";
import { dropDraft } from "./draft.js";
import { inspector } from "./inspector.js";
import { forgetEdits, isEditing } from "./live.js";

const LIST = "history";
const TRAIL = "trail"; // of a tab: the addresses of its runs, in the order they were opened
const MOST = 30;
const LONGEST = 60;
let forgotten = null; // the run on the page, once it was forgotten with the others: it is not listed again

function read(storage, key) {
  try {
    const found = JSON.parse(storage().getItem(key) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

function write(storage, key, list) {
  try {
    storage().setItem(key, JSON.stringify(list));
    return true;
  } catch {
    return false;
  }
}

// functions: that there is a storage at all may be refused by an exception
const local = () => localStorage;
const session = () => sessionStorage;

/* Whether local storage takes something. */
function isKept() {
  return write(local, LIST, read(local, LIST));
}

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
  if (isEditing()) return;
  const run = current();
  if (run?.address !== forgotten) forgotten = null;
  if (!run || forgotten || !isKept()) return;
  const others = read(local, LIST).filter(({ address }) => address !== run.address);
  write(local, LIST, [run, ...others].slice(0, MOST));
  const trail = read(session, TRAIL);
  if (trail.at(-1) !== run.address) write(session, TRAIL, [...trail, run.address].slice(-MOST));
}

function undo() {
  const trail = read(session, TRAIL);
  const now = current()?.address;
  while (trail.length && trail.at(-1) === now) trail.pop();
  const before = trail.at(-1);
  if (!before) return;
  write(session, TRAIL, trail);
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
  const runs = read(local, LIST);
  const now = current()?.address;
  for (const list of document.querySelectorAll("[data-history]")) {
    list.replaceChildren(...runs.filter(({ address }) => address !== now).map(entry));
    const box = list.closest("[data-history-box]");
    box.hidden = !list.children.length;
  }
  const before = read(session, TRAIL).some((address) => address !== now);
  const leads = before && (now || document.querySelector("[data-compare]")); // from a comparison to its run
  for (const button of document.querySelectorAll("[data-undo]")) button.hidden = !leads;
  offerTexts();
}

/* A comparison can put the text of another run of this tab beside. */
function offerTexts() {
  const select = document.querySelector("[data-recent-select]");
  if (!select) return;
  const known = read(local, LIST).filter(({ address }) => textOf(address) !== null);
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
    sessionStorage.removeItem(TRAIL);
  } catch {
    /* there is nothing */
  }
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
  document.addEventListener("htmx:after:swap", update);
  document.addEventListener("change", choose);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-undo]")) undo();
    if (target.closest("[data-forget]")) forget();
  });
}
