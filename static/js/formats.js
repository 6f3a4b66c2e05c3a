/* The format editor: line numbers, the caret on a finding, samples that come and go. The form is posted by htmx while
   somebody types; only what is said about the text is swapped, never a field. Without script every button posts the
   form. */
const editor = () => document.getElementById("editor");
const isInside = ({ target }) => editor()?.contains(target);
const text = () => document.getElementById("format-text");

/* The field is as high as its text and the pane scrolls both it and the line numbers. */
function measure() {
  const field = text();
  const gutter = document.getElementById("format-gutter");
  if (!field || !gutter) return;
  const lines = field.value.split("\n").length;
  field.rows = Math.max(lines + 1, 24);
  while (gutter.children.length > lines) gutter.lastElementChild.remove();
  for (let number = gutter.children.length + 1; number <= lines; number += 1) {
    gutter.append(Object.assign(document.createElement("li"), { textContent: number }));
  }
}

function toCaret(link) {
  const field = text();
  const { caret, caretEnd, line } = link.dataset;
  const pane = field.closest("[data-code]");
  const height = Number.parseFloat(getComputedStyle(field).lineHeight);
  field.focus({ preventScroll: true });
  field.setSelectionRange(Number(caret), Number(caretEnd));
  pane.scrollTop = Math.max(0, (Number(line) - 1) * height - pane.clientHeight / 3);
  pane.scrollIntoView({ block: "nearest" });
}

function check() {
  window.htmx.trigger(editor(), "check");
}

function addSample(button) {
  const numbers = [...document.querySelectorAll("[data-sample]")].map((sample) => Number(sample.dataset.sample));
  const number = Math.max(0, ...numbers) + 1;
  const made = document.getElementById("sample-template").content.cloneNode(true);
  for (const element of made.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (
        [
          "id",
          "for",
          "aria-labelledby",
          "data-sample",
          "data-accept",
          "data-remove",
          "aria-label",
          "name",
          "value",
        ].includes(name)
      ) {
        element.setAttribute(name, value.replace(/\b0\b/, number));
      }
    }
  }
  made.querySelector("h3").textContent = `Sample ${number}`;
  document.getElementById("samples").append(made);
  button.disabled = numbers.length + 1 >= Number(button.dataset.most);
  document.getElementById(`output-${number}`).focus();
  check();
}

function removeSample(button) {
  const sample = button.closest("[data-sample]");
  const next = sample.nextElementSibling ?? sample.previousElementSibling;
  sample.remove();
  document.querySelector("[data-add]").disabled = false;
  (next?.querySelector("textarea") ?? document.querySelector("[data-add]")).focus();
  check();
}

/* What came out becomes what is expected; it is in the page already. */
function acceptResult(button) {
  const sample = button.closest("[data-sample]");
  const accepted = sample.querySelector("[data-accepted]");
  if (!accepted) return;
  const field = sample.querySelector("textarea[name^='expect.']");
  field.value = accepted.textContent;
  field.rows = Math.min(12, Math.max(3, field.value.split("\n").length));
  check();
}

function press(event) {
  const { target } = event;
  const act = (selector, run) => {
    const found = target.closest(selector);
    if (!found) return;
    event.preventDefault();
    run(found);
  };
  act("[data-caret]", toCaret);
  act("[data-check]", check);
  act("[data-add]", addSample);
  act("[data-remove]", removeSample);
  act("[data-accept]", acceptResult);
}

/* A new line begins where the last one did; a bracket that was just opened indents it by two. */
function indent(event) {
  const field = event.target;
  if (field !== text() || event.key !== "Enter" || event.isComposing || event.shiftKey || event.altKey) return;
  const before = field.value.slice(0, field.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const deeper = /[[{]\s*$/.test(line) ? "  " : "";
  event.preventDefault();
  document.execCommand("insertText", false, `\n${/^\s*/.exec(line)[0]}${deeper}`);
}

export function startFormats() {
  measure();
  document.addEventListener("input", (event) => event.target === text() && measure());
  document.addEventListener("htmx:after:swap", measure);
  document.addEventListener("click", (event) => isInside(event) && press(event));
  document.addEventListener("keydown", (event) => {
    if (!isInside(event)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (!isCommand) indent(event);
    else if (event.key === "Enter") {
      event.preventDefault();
      check();
    }
  });
}
