/* What this browser keeps: the colours (as the system, light, dark; theme.js applies them early), whether single
   keys are on, and how wide the panes are. Storage may be refused: then a choice lasts as long as the page. */
import { isRestored } from "./dom.js";

const THEMES = { auto: "as the system", light: "light", dark: "dark" };

export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key, value) {
  try {
    if (!value) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    /* it is not kept */
  }
}

export const areKeysOn = () => kept("keys") !== "off";

function show(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.setAttribute("aria-label", `Colours: ${THEMES[name]}`);
    button.querySelector("[data-theme-name]").textContent = name;
  }
}

let theme = "auto";

function choose(name) {
  theme = name;
  keep("theme", name === "auto" ? null : name);
  show(name);
}

/* The colours that are not chosen now, each with its words. */
export function themes() {
  const others = Object.entries(THEMES).filter(([name]) => name !== theme);
  return others.map(([name, words]) => ({ name: words, choose: () => choose(name) }));
}

const isSwitch = (field) => field.matches?.("[data-keys-switch]");

/* The page comes as the server has it, which knows none of this. */
function tell() {
  show(theme);
  for (const box of document.querySelectorAll("[data-keys-switch]")) box.checked = areKeysOn();
}

export function startPreferences() {
  const names = Object.keys(THEMES);
  theme = names.includes(kept("theme")) ? kept("theme") : "auto";
  tell();
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) choose(names[(names.indexOf(theme) + 1) % names.length]);
  });
  document.addEventListener("change", ({ target }) => isSwitch(target) && keep("keys", target.checked ? null : "off"));
  document.addEventListener("htmx:after:swap", (event) => isRestored(event) && tell());
}
