/* A list of parsers that a field above it filters. Without script it is a plain select. Enter in either puts the chosen
   one beside, the arrow down leads from the field into the list. */
import { say } from "./dom.js";

const ROWS = 7;
const lists = new WeakMap(); // every list with all its groups, as they came

function open(select) {
  if (lists.has(select)) return;
  lists.set(select, [...select.children]);
  select.size = ROWS;
}

const fits = (words, wanted) => wanted.every((word) => words.toLowerCase().includes(word));

/* The options that have all words, in their groups. Those that do not are taken out: not every browser hides one. */
function narrowed(group, wanted) {
  const copy = group.cloneNode(false);
  const inHeading = fits(group.label, wanted);
  const told = ({ text, dataset }) => `${text} ${dataset.also ?? ""}`;
  for (const option of group.children) if (inHeading || fits(told(option), wanted)) copy.append(option.cloneNode(true));
  return copy;
}

/* How well an option has the name that was typed: as its own, as another name it has, as the beginning of either. */
function rank({ value, dataset }, typed) {
  const names = [value.toLowerCase(), ...(dataset.also ?? "").toLowerCase().split(" ")];
  const exact = names.indexOf(typed);
  if (exact >= 0) return Math.min(exact, 1);
  const begun = names.findIndex((name) => name.startsWith(typed));
  return begun < 0 ? 4 : begun ? 3 : 2;
}

/* The groups with the best option of each first, and the group that has the best of all. Equal ones stay in order. */
function ranked(groups, typed) {
  const byRank = (options) => [...options].sort((a, b) => rank(a, typed) - rank(b, typed));
  for (const group of groups) group.replaceChildren(...byRank(group.children));
  return groups.sort((a, b) => rank(a.firstElementChild, typed) - rank(b.firstElementChild, typed));
}

function filter(field) {
  const select = field.form.querySelector("select");
  const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = lists.get(select).map((group) => narrowed(group, wanted));
  const groups = found.filter((group) => group.children.length);
  const chosen = select.value;
  select.replaceChildren(...(wanted.length ? ranked(groups, field.value.trim().toLowerCase()) : groups));
  const kept = [...select.options].findIndex(({ value }) => value === chosen);
  select.selectedIndex = wanted.length ? 0 : Math.max(0, kept);
  const { length } = select.options;
  const words = length ? `${length} ${length === 1 ? "parser" : "parsers"}` : "no parser has that name";
  field.form.querySelector("[data-pick-note]").textContent = wanted.length ? words : "";
  say(words);
}

function press(event) {
  const { key, target } = event;
  const form = target.closest?.("[data-pick]");
  if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
  const select = form.querySelector("select");
  if (key === "ArrowDown" && target.matches("[data-pick-filter]")) {
    event.preventDefault();
    select.focus();
  } else if (key === "Enter" && target === select) {
    event.preventDefault();
    form.requestSubmit();
  }
}

export function startPick() {
  const openAll = () => {
    for (const select of document.querySelectorAll("[data-pick] select")) open(select);
  };
  openAll();
  document.addEventListener("htmx:after:swap", openAll);
  document.addEventListener("input", ({ target }) => target.matches?.("[data-pick-filter]") && filter(target));
  document.addEventListener("keydown", press);
  document.addEventListener("dblclick", ({ target }) => target.closest?.("[data-pick] select")?.form.requestSubmit());
}
