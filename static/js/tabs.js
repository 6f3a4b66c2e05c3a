/* Tabs of the panes. Every tab is on the page already; choosing one only says which is shown, and keeps it in the address. */
import { remember } from "./stepper.js";

const chosen = {};

function show(pane, value) {
  const tabs = document.querySelector(`[data-tabs="${pane}"]`);
  const box = tabs?.closest("[data-show]");
  if (!box) return;
  box.dataset.show = value;
  for (const tab of tabs.querySelectorAll("[data-tab]")) {
    if (tab.dataset.tab === value) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
  const field = document.querySelector(`#cursor [data-view="${pane}"]`);
  if (field) {
    field.value = value;
    field.dataset.changed = "1";
  }
}

export function startTabs() {
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tab]");
    if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const pane = tab.closest("[data-tabs]").dataset.tabs;
    chosen[pane] = tab.dataset.tab;
    show(pane, tab.dataset.tab);
    remember();
  });
  document.addEventListener("htmx:after:swap", () => {
    for (const [pane, value] of Object.entries(chosen)) show(pane, value);
  });
}
