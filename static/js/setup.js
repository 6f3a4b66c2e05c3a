/* The form: policies of the chosen parser only, focus on what is wrong, and no upload that cannot succeed. */
import { take, takeTokenizer } from "./drop.js";

function showPolicies(parser) {
  for (const field of document.querySelectorAll("#policies [data-formats]")) {
    field.hidden = parser !== "auto" && !field.dataset.formats.split(" ").includes(parser);
  }
}

function focusProblem() {
  document.querySelector("[data-focus]")?.focus();
}

export function startSetup() {
  focusProblem();
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx?.target?.id !== "page") return;
    focusProblem();
    const root = document.getElementById("inspector");
    const named = root?.dataset.heading ?? "";
    for (const name of document.querySelectorAll(".case-name")) name.textContent = named;
    for (const note of document.querySelectorAll(".case-note")) note.textContent = root ? "not shared" : "not run";
    if (!root) return;
    document.title = `${root.dataset.heading} · Toolcall Inspector`;
    if (!document.querySelector("[data-focus]")) (document.querySelector("#intake .intake") ?? document.querySelector(".verdict"))?.scrollIntoView({ block: "start" });
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "parser") showPolicies(event.target.value);
    if (event.target.id === "file" && event.target.files.length) take(event.target, event.target.files);
    if (event.target.matches("#setup #tokenizer_file")) takeTokenizer(event.target);
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-open-file]")) return;
    const field = document.getElementById("file");
    if (!field) return;
    event.preventDefault();
    document.getElementById("source").open = true;
    field.click();
  });
}
