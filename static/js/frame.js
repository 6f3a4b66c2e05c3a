/* What holds for the whole page is a class of the body, and what a pane says for its neighbours an attribute of what
   holds them all: a selector that looks down (`:has`) costs at every step. The server draws both; here they follow what
   is swapped in. */
const PAGES = { "run-page": "#page > #inspector", "compare-page": "#page > #compare", "home-page": "#setup.at-home" };

function follow() {
  for (const [name, mark] of Object.entries(PAGES)) {
    document.body.classList.toggle(name, !!document.querySelector(mark));
  }
  const verdict = document.getElementById("verdict");
  const severity = document.getElementById("headline")?.dataset.severity;
  verdict?.classList.toggle("fails", severity === "error");
  verdict?.classList.toggle("holds", severity === "pass");
  const dock = document.getElementById("dock");
  if (dock) document.getElementById("work").dataset.dock = dock.dataset.show;
  const problem = document.querySelector("#stops .stop-note.severity-error");
  document.getElementById("step-bar")?.classList.toggle("is-wrong", !!problem);
  document.getElementById("editor")?.toggleAttribute("data-broken", !!document.querySelector("#editor [data-stale]"));
}

export function startFrame() {
  document.addEventListener("htmx:after:swap", follow);
}
