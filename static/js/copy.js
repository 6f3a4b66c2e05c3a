/* Copies the value of a pane, whole and nothing else: the output and what is edited from their fields, message, step
   and machine from the server. A panel of the dock is copied as text: glyphs become the characters that they stand for,
   tables lines with tabs. Where the browser refuses, the text is laid out to be copied by hand. */
import { step } from "./cursor.js";
import { copyText, say } from "./dom.js";
import { inspector } from "./inspector.js";
import { isEditing, liveText } from "./live.js";

const MARKS = { "·": " ", "→": "\t", "⏎": "\n" };
const LINES = "p, div, li, dl, ol, ul, tr, pre, section, article, h2, h3, h4, dd, caption, header";
const LEFT_OUT = "button[data-copy-pane], .visually-hidden, svg, [hidden], .pins button, kbd";

function character(glyph) {
  if (glyph.dataset.c) return String.fromCodePoint(Number.parseInt(glyph.dataset.c, 16));
  return MARKS[glyph.textContent] ?? glyph.textContent;
}

/* What stands for itself goes to `exact`, and a mark into its place: no text of a page has that character. */
const MARK = "\0";

function gather(node, parts, exact, final) {
  const asItIs = (text) => {
    exact.push(text);
    parts.push(MARK);
  };
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.parentElement.closest("pre, code, .run")) asItIs(node.data);
    else parts.push(node.data.replace(/\s+/g, " "));
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT) || !node.checkVisibility()) return;
  if (node.matches(".glyph")) {
    asItIs(character(node));
    return;
  }
  if (!final && node.matches(".not-yet")) return;
  for (const child of node.childNodes) gather(child, parts, exact, final);
  if (node.matches("td, th, dt")) parts.push("\t");
  else if (node.matches(LINES)) parts.push("\n");
}

/* The whole output, be it in a field or not: a field holds no carriage return. */
function output() {
  const unheld = document.getElementById("unheld-text");
  if (unheld) return JSON.parse(unheld.dataset.text);
  return liveText() ?? document.getElementById("text")?.value;
}

function shown(pane) {
  if (["input", "live-edit"].includes(pane.id) && pane.dataset.show !== "chunks") {
    const whole = output();
    if (whole !== undefined) return whole;
  }
  const [parts, exact] = [[], []];
  const final = pane.dataset.show !== "step";
  const raw = pane.querySelector(".chunk-raw"); // a chunk is copied as it came
  for (const part of raw ? [raw] : pane.children) {
    if (!part.matches(".pane-head, .who")) gather(part, parts, exact, final);
  }
  const laidOut = parts
    .join("")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return laidOut.replaceAll(MARK, () => exact.shift());
}

/* What the server says of a value of this run at the step; null where it holds the run no more, or says nothing. */
async function value(pane) {
  const what = pane.querySelector("[data-copy-pane]")?.dataset.copyPane;
  const { held, address, chunk } = inspector()?.dataset ?? {};
  if (!what || isEditing() || !(held || address)) return null;
  const query = new URLSearchParams(chunk ? { chunk } : {});
  if (pane.dataset.show !== "final") query.set("step", String(step()));
  try {
    const answer = await fetch(`${held || address}/copy/${what}?${query}`);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

function offer(text) {
  const dialog = document.getElementById("copy-dialog");
  const field = dialog.querySelector("textarea");
  field.value = text;
  dialog.showModal();
  field.select();
}

/* Copies what a pane stands for; where nobody knows it, what it shows. */
async function copyPane(pane) {
  const text = (await value(pane)) ?? shown(pane.querySelector(".card:not([hidden])") ?? pane);
  const name = pane.querySelector("h2")?.textContent ?? "It";
  if (await copyText(text)) say(`${name}: ${text.length} characters copied.`);
  else offer(text);
  return text;
}

export function startCopy() {
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy-pane]");
    if (!button) return;
    await copyPane(button.closest(".pane"));
    if (document.getElementById("copy-dialog").open) return;
    button.setAttribute("data-done", "");
    setTimeout(() => button.removeAttribute("data-done"), 1500);
  });
}
