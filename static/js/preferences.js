/* What this browser keeps: the colours (as the system, light, dark; theme.js applies them early), whether single
   keys are on, and how wide the panes are. Storage may be refused: then a choice lasts as long as the page. */
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

function show(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.setAttribute("aria-label", `Colours: ${THEMES[theme]}`);
    button.querySelector("[data-theme-name]").textContent = theme;
  }
}

export function startPreferences() {
  const names = Object.keys(THEMES);
  let theme = names.includes(kept("theme")) ? kept("theme") : "auto";
  show(theme);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    theme = names[(names.indexOf(theme) + 1) % names.length];
    keep("theme", theme === "auto" ? null : theme);
    show(theme);
  });
  for (const box of document.querySelectorAll("[data-keys-switch]")) {
    box.checked = areKeysOn();
    box.addEventListener("change", () => keep("keys", box.checked ? null : "off"));
  }
}
