/* The intake panel: fields that a recording fills while somebody pastes, links to fields, and what is said aloud. */
import { isPage, say } from "./dom.js";

const BLANK = {
  tools: "",
  tool_choice: "auto",
  reasoning_open: "",
  finish_reason: "",
  model: "",
  template_kwargs: "",
  prompt_tail: "",
  chunking: "token",
  stop: "",
  skip_special: "",
  include_stop: "",
};
let filled = new Map();

const taken = () =>
  new Map([...document.querySelectorAll("#intake [data-taken]")].map((one) => [one.dataset.taken, one.value]));

function field(name) {
  return document.getElementById("setup")?.elements.namedItem(name);
}

/* What an earlier recording filled in goes, what this one says comes; a field that somebody changed stays. */
function fill() {
  const now = taken();
  for (const [name, blank] of Object.entries(BLANK)) {
    const target = field(name);
    const was = filled.get(name) ?? blank;
    const next = now.get(name) ?? blank;
    if (!target || was === next) continue;
    if (target.type === "checkbox") {
      if (target.checked === Boolean(was)) target.checked = Boolean(next);
    } else if (target.value === was) target.value = next;
  }
  filled = now;
  showTools();
}

/* How many tools there are stands beside the button that shows them. */
function showTools() {
  const said = document.querySelector("#tools-summary .quiet");
  try {
    const tools = JSON.parse(field("tools").value || "[]");
    if (said) said.textContent = (Array.isArray(tools) ? tools.length : 1) || "none";
  } catch {
    /* not JSON yet: the server says so at the field */
  }
}

/* What was said about the text before goes with it. */
function forget() {
  for (const one of document.querySelectorAll("#intake [data-pasted]")) one.remove();
  for (const one of document.querySelectorAll("#intake [name=output]:checked")) one.checked = false;
}

function toField(event) {
  const link = event.target.closest("[data-field]");
  const found = link && document.getElementById(link.dataset.field);
  if (!found) return;
  event.preventDefault();
  for (let at = found.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  const target = found.matches("input, select, textarea")
    ? found
    : found.querySelector("input:checked, input, select, textarea");
  found.scrollIntoView({ block: "center" });
  target?.focus({ preventScroll: true });
}

export function startIntake() {
  filled = taken();
  document.addEventListener("htmx:after:swap", (event) => {
    if (isPage(event)) filled = taken();
    if (event.detail.ctx?.target?.id !== "intake") return;
    fill();
    const said = document.getElementById("intake")?.dataset.spoken;
    if (said) say(said);
  });
  /* Asked while somebody types: files go with a run alone. */
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    if (!ctx.sourceElement?.matches?.(".look")) return;
    for (const name of ["file", "tokenizer_file"]) ctx.request.body.delete(name);
  });
  document.addEventListener(
    "input",
    (event) => {
      if (event.target.id === "text") forget();
    },
    true,
  );
  document.addEventListener("change", (event) => {
    if (event.target.matches("#intake [name=output]")) window.htmx.trigger(document.querySelector(".look"), "look");
  });
  document.addEventListener("click", toField);
}
