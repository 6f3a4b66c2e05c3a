/* The colour toggle: as the system, light, dark. The choice is kept in this browser; theme.js applies it early. */
import { read, write } from "./storage.js";

const THEMES = ["auto", "light", "dark"];
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

function show(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.setAttribute("aria-label", `Colours: ${WORDS[theme]}`);
    button.querySelector("[data-theme-name]").textContent = theme;
  }
}

export function startAppearance() {
  let theme = THEMES.includes(read("theme")) ? read("theme") : "auto";
  show(theme);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    write("theme", theme === "auto" ? null : theme);
    show(theme);
  });
}
