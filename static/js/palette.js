/* The command palette: every action of the page by its name. The actions are the controls themselves: what is chosen is
   pressed, or has the focus where it is a field. Keys that have no control stand in a list of their own. */
import { inspector } from "./inspector.js";
import { themes } from "./preferences.js";
import { openPanel } from "./views.js";

const PLACES = ["#inspector", "#page", "main", ".banner"]; // what is nearest to the run comes first
const CONTROLS = "a[href], button, summary, select, input:not([type=hidden]), textarea";
const NOT = [
  "#strip *, [data-bit], #completions *, dialog *, table *, .card *, .skip-link, .product",
  "[data-theme-toggle]", // each choice of it is a command
  "[hidden], .unscripted, [aria-disabled=true]",
  ".findings *, .heat *, .drop-places *, .facts *, #verdict form *",
  "[data-step]:not([data-jump], [data-leap], [data-tab], [data-choice])", // a step that a list names
].join(", ");
// What another tab hides: of the dock, or on a narrow screen of the run. Inside it these are hidden by themselves.
const BESIDE = "#compare :is(.compare-sentence, #output, #messages, #steps, #places, #conformance, #beside)";
const PARTS = `#inspector :is(.panel, .screen, .dock), ${BESIDE}`;
const FOLDED = ".banner nav, #step-bar, #cursor-bar"; // what a narrow screen has no room for can be chosen all the same
const MENU = "details:is(.menu, form:not(.at-home) .source)";
const CLOSED = "[hidden] *, details:not([open]) > :not(summary), details:not([open]) > :not(summary) *";
const PANES = ["input", "step", "result", "machine", "dock"]; // by the number that is their key
const MOST = 80;
let actions = [];
let chosen = 0;

const dialog = () => document.getElementById("palette-dialog");
const field = () => dialog().querySelector("input");
const list = () => dialog().querySelector("ul");
const words = (text) => (text ?? "").replace(/\s+/g, " ").trim();
/* Parts that stand apart on the page are words of their own here. */
const spoken = (element) => {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode.data);
  return words(found.join(" "));
};

/* What stands in a closed menu or another tab can be chosen too; what the page does not offer now cannot. */
function isOffered(element) {
  if (element.matches(NOT) || element.disabled) return false;
  const shown = element.closest(`${MENU}:not([open])`) ?? element;
  return shown.checkVisibility() || isBehindATab(shown) || shown.closest(FOLDED) !== null;
}

function isBehindATab(element) {
  const part = element.closest(PARTS);
  return part !== null && !part.checkVisibility() && !element.matches(CLOSED);
}

/* Shows the part of the run that an element is in. */
function showPart(element) {
  openPanel(element);
  const part = element.closest(PARTS);
  if (part && !part.checkVisibility()) location.hash = addressOf(part);
  else if (element.closest("#stops") && !element.checkVisibility()) location.hash = "step"; // there is room for them
}

/* Where the tab of a part leads to. */
function addressOf(part) {
  if (part.matches(BESIDE)) return `at-${{ conformance: "matrix", "": "verdict" }[part.id] ?? part.id}`;
  return part.matches(".panel") ? "dock" : part.id;
}

export function nameOf(element) {
  const own = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent;
  const keyless = element.cloneNode(true);
  for (const kbd of keyless.querySelectorAll?.("kbd, .visually-hidden") ?? []) kbd.remove();
  return words(own) || (element.matches("select, input, textarea") ? element.name : spoken(keyless));
}

/* Where it is: the menu, the pane or the group that it is in. */
function placeOf(element) {
  const menu = element.closest(MENU);
  if (menu && element !== menu.firstElementChild) return spoken(menu.querySelector("summary"));
  const group = element.closest("[aria-label], [aria-labelledby]");
  const outer = group === element ? element.parentElement.closest("[aria-label], [aria-labelledby]") : group;
  const label = outer?.getAttribute("aria-label");
  return words(label ?? document.getElementById(outer?.getAttribute("aria-labelledby"))?.textContent);
}

/* Every command of the page, as it is now. */
export function commands() {
  const seen = new Set();
  const found = [];
  const controls = PLACES.flatMap((place) => [...document.querySelectorAll(`${place} :is(${CONTROLS})`)]);
  for (const element of new Set(controls)) {
    if (!isOffered(element)) continue;
    const [name, place] = [nameOf(element), placeOf(element)];
    if (!name || seen.has(`${name} ${place}`)) continue;
    seen.add(`${name} ${place}`);
    const key = words(element.getAttribute("title") || element.querySelector("kbd")?.textContent);
    found.push({ name, place, key, element });
  }
  const all = [...found, ...sharing(), ...parsers(), ...colours(), ...panes()];
  return [...all, ...keyed(new Set(all.map(({ key }) => key)))];
}

/* The ways to share: the dialog asks before anything is stored, so it opens with the focus on what was chosen. */
function sharing() {
  const opener = document.querySelector("#page [data-share]");
  const all = opener ? document.querySelectorAll("#share-dialog form:not([method=dialog]) :is(button, a[href])") : [];
  const ways = [...all].filter((way) => !way.disabled && !way.closest("[hidden]"));
  const open = (element) => {
    opener.click();
    element.focus();
  };
  return ways.map((element) => ({
    name: nameOf(element),
    place: "Share",
    key: "",
    element,
    choose: () => open(element),
  }));
}

/* The parsers that the set-up offers, each by its name: the run is replayed with it, or the first one will be. */
function parsers() {
  const select = document.querySelector("#setup #parser");
  const verb = inspector() ? "Replay with" : "Read with";
  const other = [...(select?.options ?? [])].filter(({ selected }) => !selected);
  return other.map((option) => ({
    name: `${verb} ${option.value}`,
    place: words(option.textContent.replace(option.value, "")).replace(/^\W+/, ""),
    key: "",
    choose: () => {
      select.value = option.value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
      if (inspector()) select.form.requestSubmit(select.form.querySelector("[name=run]"));
      else document.getElementById("text").focus();
    },
  }));
}

/* The colours, by their name instead of one after the other. */
function colours() {
  return themes().map((theme) => ({ name: `Colours: ${theme.name}`, place: "Theme", key: "", choose: theme.choose }));
}

/* Keys of the help that no control on the page has. */
function keyed(taken) {
  if (!inspector()) return [];
  const keys = [...document.querySelectorAll("#help-dialog .keys [data-press]")];
  return keys
    .filter(({ dataset }) => !taken.has(dataset.press))
    .map(({ dataset: { press: key, does } }) => ({ name: does, place: "Keys", key, press: key }));
}

function panes() {
  if (!inspector()) return [];
  const there = PANES.map((name, index) => [document.getElementById(name), String(index + 1)]);
  return there
    .filter(([pane]) => pane)
    .map(([pane, key]) => ({
      name: `Go to ${words(pane.querySelector("h2")?.textContent) || pane.getAttribute("aria-label") || "dock"}`,
      place: "Panes",
      key,
      choose: () => {
        if (!pane.checkVisibility()) location.hash = pane.id;
        pane.focus();
        pane.scrollIntoView({ block: "nearest" });
      },
    }));
}

/* How well an action fits: 0 where its name begins so, 1 where words of its name do, 2 where words of its name or place
   do, 3 where the whole phrase stands inside its name; null where it does not. */
function fit({ name, place }, terms) {
  const [own, all] = [name.toLowerCase(), `${name} ${place}`.toLowerCase()];
  const begin = (text) => {
    const starts = text.split(/[^\p{L}\p{N}_]+/u);
    return terms.every((term) => starts.some((word) => word.startsWith(term)));
  };
  if (own.startsWith(terms.join(" "))) return 0;
  if (begin(own)) return 1;
  if (begin(all)) return 2;
  return own.includes(terms.join(" ")) ? 3 : null;
}

function matching() {
  const terms = field().value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions.map((action) => [fit(action, terms), action]).filter(([rank]) => rank !== null);
  return found
    .sort(([one], [two]) => one - two)
    .map(([, action]) => action)
    .slice(0, MOST);
}

function line(action, at) {
  const item = document.createElement("li");
  const part = (tag, textContent, className = "") =>
    Object.assign(document.createElement(tag), { textContent, className });
  item.id = `command-${at}`;
  item.role = "option";
  item.append(part("span", action.name), part("span", action.place, "quiet"));
  if (action.key && action.key.length < 12) item.append(part("kbd", action.key));
  return item;
}

let shown = [];
function show() {
  shown = matching();
  list().replaceChildren(...shown.map(line));
  dialog().querySelector("[data-none]").hidden = shown.length > 0;
  choose(0);
}

function choose(at) {
  chosen = at;
  for (const [number, item] of [...list().children].entries()) item.ariaSelected = String(number === at);
  const item = list().children[at];
  if (!item) {
    field().removeAttribute("aria-activedescendant");
    return;
  }
  field().setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

function run(action) {
  dialog().close();
  if (!action) return;
  const { element, press: key } = action;
  if (action.choose) {
    action.choose();
    return;
  }
  if (key) {
    document.querySelector("#strip [tabindex='0']")?.focus();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    return;
  }
  showPart(element);
  const menu = element.closest(MENU);
  if (menu && element !== menu.firstElementChild) menu.open = true;
  if (element.matches("select, input:not([type=checkbox], [type=radio]), textarea")) element.focus();
  else element.click();
}

export function openPalette() {
  if (dialog().open) return;
  actions = commands();
  field().value = "";
  dialog().showModal();
  show();
}

/* Its keys are its own: nothing of the page hears them. */
function press(event) {
  if (!dialog().open || !dialog().contains(event.target)) return;
  const many = shown.length;
  if (event.key === "ArrowDown" && many) choose((chosen + 1) % many);
  else if (event.key === "ArrowUp" && many) choose((chosen + many - 1) % many);
  else if (event.key === "Enter") run(shown[chosen]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function startPalette() {
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openPalette();
  });
  document.addEventListener("keydown", press, true);
  document.addEventListener("input", ({ target }) => target === field() && show());
  document.addEventListener("click", ({ target }) => {
    const at = [...list().children].indexOf(target.closest("li"));
    if (at >= 0) run(shown[at]);
    else if (target.closest("[data-palette]")) openPalette();
  });
}
