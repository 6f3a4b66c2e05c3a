/* Which view of a pane is shown. The views behind tabs are on the page already: choosing one only says which is shown.
   Those of the wire are drawn by the server into the window, which is what the links do without script. Both are kept
   in the address. And copying what is shown, where all of it is. */
import { drawAnew, goTo, inTurn, remember, step } from "./cursor.js";
import { copyText, isPage, isPlain, mark, say } from "./dom.js";
import { choose } from "./request.js";

const tabs = {}; // what was chosen in each pane

function show(pane, value) {
  const bar = document.querySelector(`[data-tabs="${pane}"]`);
  const box = bar?.closest("[data-show]");
  if (!box || !bar.querySelector(`[data-tab="${value}"]`)) return;
  box.dataset.show = value;
  if (pane === "dock") document.getElementById("work").dataset.dock = value;
  for (const tab of bar.querySelectorAll("[data-tab]")) mark(tab, "aria-current", tab.dataset.tab === value && "true");
  keepInRow(bar);
  choose(pane, value);
}

/* Where the tabs have no room the current one is in sight. */
function keepInRow(bar) {
  const tab = bar.querySelector("[aria-current]");
  if (!tab || bar.scrollWidth <= bar.clientWidth) return;
  const [row, own] = [bar.getBoundingClientRect(), tab.getBoundingClientRect()];
  if (own.left < row.left || own.right > row.right) bar.scrollLeft += own.left - row.left - (row.width - own.width) / 2;
}

function chooseTab(tab) {
  const pane = tab.closest("[data-tabs]").dataset.tabs;
  tabs[pane] = tab.dataset.tab;
  show(pane, tab.dataset.tab);
  remember();
  if (["dock", "input"].includes(pane)) inTurn(() => goTo(step(), { quiet: true })); // its row, byte or chunk in sight
}

/* Shows the panel of the dock that has the element, and gives it. */
export function openPanel(element) {
  const panel = element?.closest(".panel");
  if (panel) {
    tabs.dock = panel.id;
    show("dock", panel.id);
    remember();
  }
  return element;
}

/* An address inside the page may lead into a panel that is not shown. */
const openNamed = (hash) => hash.length > 1 && openPanel(document.getElementById(decodeURIComponent(hash.slice(1))));

function draw(choice) {
  if (!choose(...choice.split("="))) return false;
  drawAnew();
  return true;
}

async function copy(button) {
  const done = await copyText(document.getElementById(button.dataset.copyText).textContent);
  button.textContent = done ? "Copied" : "Select and copy";
  say(button.textContent);
}

function click(event) {
  if (!isPlain(event)) return;
  const link = event.target.closest("a[href^='#']");
  if (link) openNamed(link.hash);
  const control = event.target.closest("[data-copy-text], [data-tab], [data-choice]");
  if (!control) return;
  if (control.dataset.copyText) copy(control);
  else if (control.dataset.tab) {
    event.preventDefault();
    chooseTab(control);
  } else if (draw(control.dataset.choice)) event.preventDefault();
}

function keepAllInRow() {
  for (const bar of document.querySelectorAll("[data-tabs]")) keepInRow(bar);
}

export function startViews() {
  openNamed(location.hash);
  keepAllInRow();
  window.addEventListener("hashchange", () => openNamed(location.hash));
  document.addEventListener("click", click);
  document.addEventListener("htmx:after:swap", (event) => {
    if (isPage(event)) keepAllInRow();
    for (const [pane, value] of Object.entries(tabs)) show(pane, value);
  });
}
