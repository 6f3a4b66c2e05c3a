/* Sets the colours before the first paint. A classic script, loaded in the head and blocking on purpose: a module would
   run after the page was drawn in the other theme. The toggle itself is in preferences.js. */
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    /* storage is refused: the system decides */
  }
})();
