/* Completes the word at the caret of a field from its datalist, as a combobox does: typing offers what begins so, arrow
   keys choose, Enter takes it, Escape closes the list. Where one alone is offered, what was typed is no condition yet,
   and Enter means the one it begins. Without script the browser offers the same list. */
const FIELDS = "input[list=conditions], input[data-completed]";
const MOST = 60;
let field = null; // whose list is open
let chosen = -1;

const box = () => document.getElementById("completions");
const options = () => [...(box()?.children ?? [])];

/* Where the word begins that the caret is in; blanks between quotation marks do not end one. */
function wordStart(text, caret) {
  const before = text.slice(0, caret);
  const quoted = (before.split('"').length - 1) % 2;
  const from = quoted ? before.lastIndexOf('"') : before.length;
  const start = before.slice(0, from).search(/\S*$/);
  return start + (before[start] === "-" ? 1 : 0);
}

function offered() {
  const start = wordStart(field.value, field.selectionStart);
  const word = field.value.slice(start, field.selectionStart).toLowerCase();
  const known = [...document.getElementById("conditions").options];
  return known.filter(({ value }) => value.toLowerCase().startsWith(word) && value.toLowerCase() !== word);
}

/* The field answers as a combobox from its first focus on. */
function prepare(target) {
  if (!target.hasAttribute("list")) return;
  target.removeAttribute("list");
  target.dataset.completed = "1";
  target.setAttribute("role", "combobox");
  target.setAttribute("aria-autocomplete", "list");
  target.setAttribute("aria-expanded", "false");
}

function line({ value, textContent }, at) {
  const item = document.createElement("li");
  item.id = `completion-${at}`;
  item.role = "option";
  item.ariaSelected = "false";
  item.dataset.value = value;
  item.append(
    Object.assign(document.createElement("code"), { textContent: value }),
    Object.assign(document.createElement("span"), { textContent, className: "quiet" }),
  );
  return item;
}

function show() {
  const found = offered().slice(0, MOST);
  if (!found.length) {
    close();
    return;
  }
  const list = box() ?? Object.assign(document.createElement("ul"), { id: "completions", role: "listbox" });
  list.ariaLabel = "Conditions";
  list.replaceChildren(...found.map(line));
  document.getElementById("main").append(list);
  place(list);
  field.setAttribute("aria-controls", "completions");
  field.setAttribute("aria-expanded", "true");
  choose(-1);
}

/* Under the field, or over it where there is more room. */
function place(list) {
  const { left, top, bottom } = field.getBoundingClientRect();
  const below = window.innerHeight - bottom;
  list.style.left = `${Math.max(8, Math.min(left, window.innerWidth - list.offsetWidth - 8))}px`;
  list.style.maxBlockSize = `${Math.min(320, Math.max(below, top) - 12)}px`;
  list.style.top = below >= Math.min(list.offsetHeight, top) ? `${bottom + 2}px` : `${top - list.offsetHeight - 2}px`;
}

export function close() {
  box()?.remove();
  field?.setAttribute("aria-expanded", "false");
  for (const name of ["aria-controls", "aria-activedescendant"]) field?.removeAttribute(name);
  chosen = -1;
}

function choose(at) {
  chosen = at;
  for (const [number, item] of options().entries()) item.ariaSelected = String(number === at);
  const item = options()[at];
  if (!item) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  field.setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

/* A word that wants a value is left open behind its colon. */
function take(value) {
  const start = wordStart(field.value, field.selectionStart);
  const rest = field.value.slice(field.selectionStart).trimStart();
  const text = value.endsWith(":") ? value : `${value} `;
  field.value = field.value.slice(0, start) + text + rest;
  field.setSelectionRange(start + text.length, start + text.length);
  close();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  close(); // what was taken offers nothing
}

function press(event) {
  if (!event.target.matches?.(FIELDS)) return;
  field = event.target;
  const { key } = event;
  const many = options().length;
  if (key === "ArrowDown" && !many) show();
  else if (key === "ArrowDown" && many) choose((chosen + 1) % many);
  else if (key === "ArrowUp" && many) choose(chosen < 1 ? many - 1 : chosen - 1);
  else if (key === "Enter" && chosen >= 0) take(options()[chosen].dataset.value);
  else if (key === "Escape" && many) close();
  else {
    if (key === "Enter" && many === 1) take(options()[0].dataset.value); // and it is entered
    if (key === "Enter") close();
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

export function startComplete() {
  document.addEventListener("keydown", press, true);
  document.addEventListener("focusin", ({ target }) => target.matches?.(FIELDS) && prepare(target));
  document.addEventListener("focusout", ({ target }) => target === field && close());
  document.addEventListener("input", ({ target }) => {
    if (!target.matches?.(FIELDS)) return;
    prepare(target); // what the server says of it may have been put over this
    field = target;
    show();
  });
  document.addEventListener("pointerdown", (event) => {
    const item = event.target.closest?.("#completions li");
    if (!item) return;
    event.preventDefault(); // the field keeps the focus
    take(item.dataset.value);
  });
}
