/* The share dialog, private links, and copying. Without script the same buttons lead to the share page. */
import { nameCase } from "./banner.js";
import { step, viewWords } from "./cursor.js";
import { openDialog } from "./dialogs.js";
import { copyText } from "./dom.js";
import { encode } from "./private.js";

const LONG = 2000;
const TOO_LONG = 8000;

async function caseText() {
  const carried =
    document.querySelector("#cursor [name=case]")?.value ??
    document.querySelector("main #share-form [name=case]")?.value;
  if (carried) return carried;
  const url = document.querySelector("[data-case-url]")?.dataset.caseUrl;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return JSON.stringify(await answer.json());
}

/* The words of the address, and the texts beside it where the dialog is about a comparison. */
const wordsField = () => document.querySelector("#share-form [data-share-words]");
const besides = (form) => [...form.elements].filter(({ name }) => name.startsWith("beside."));

/* The case, in a comparison with the texts beside it after it, and the words of the address before the `#`. */
async function linkParts() {
  const words = wordsField();
  const beside = besides(words.form).map(({ value }) => JSON.parse(value));
  const text = await caseText();
  return [beside.length ? JSON.stringify([JSON.parse(text), ...beside]) : text, words.value];
}

async function privateLink() {
  const said = document.querySelector("dialog[open] [data-private-result], main [data-private-result]");
  try {
    const [text, query] = await linkParts();
    const fragment = await encode(text);
    if (fragment.length > TOO_LONG) {
      const size = `${fragment.length.toLocaleString()} characters`;
      said.textContent = `The link would have ${size}, more than most programs take. Send the case file instead.`;
      return;
    }
    const link = `${location.origin}${document.body.dataset.root}?${query}${fragment}`;
    const warning =
      link.length > LONG ? ` It has ${link.length.toLocaleString()} characters; some chat programs cut it.` : "";
    said.textContent = (await copyText(link)) ? `Copied.${warning}` : `Copy it from here: ${link}`;
    said.dataset.link = link;
  } catch (error) {
    said.textContent = `No link could be made: ${error.message}.`;
  }
}

function openShare(event) {
  const dialog = openDialog("share");
  if (!dialog) return;
  event.preventDefault();
  const words = wordsField();
  if (words) words.value = viewWords();
  for (const link of dialog.querySelectorAll("[data-leads-here]")) leadHere(link);
  const carried = dialog.querySelector("[data-share-case]");
  const source = document.querySelector("#cursor [name=case]");
  if (carried) carried.value = source?.value ?? "";
  const named = dialog.querySelector("[name=source]");
  if (named && source) named.remove();
}

/* A link that was made before leads to where the reader stands now. In that of a comparison the texts beside it have
   names of their own: there the place alone is another. */
function leadHere(link) {
  const name = "value" in link ? "value" : "href";
  const [path, words = ""] = link[name].split("?");
  const compared = document.querySelector("[data-both]") !== null;
  link[name] = `${path}?${compared ? words.replace(/\bat=\d+/, `at=${step()}`) : viewWords()}`;
}

/* What was shared stands in the dialog, over the run it is of, whose name says so from then on. */
function shared(event) {
  const link = document.getElementById("permalink"); // in the dialog, or on the page of its own
  if (!link) return;
  const box = link.closest(".shared");
  if (!box.contains(document.activeElement)) link.focus();
  if (event.detail.ctx?.target?.id !== "share-form") return;
  nameCase(box.dataset.heading);
  for (const note of document.querySelectorAll(".case-note")) note.textContent = "shared";
}

/* Enter in a field creates the link, and does not press the first button of the form. */
function enter(event) {
  if (event.key !== "Enter" || event.target.id !== "share-title") return;
  event.preventDefault();
  event.target.form.querySelector("[data-share-create]").click();
}

export function startShare() {
  document.addEventListener("htmx:after:swap", shared);
  document.addEventListener("keydown", enter);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-share]")) openShare(event);
    if (event.target.closest("[data-private-link]")) privateLink();
    const button = event.target.closest("[data-copy]");
    if (button) {
      copyText(document.getElementById(button.dataset.copy).value).then((done) => {
        document.querySelector("[data-copied]").textContent = done ? "Copied" : "Not copied";
        button.textContent = done ? "Copied" : "Select and copy";
      });
    }
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches("[data-copy-source]")) event.target.select();
  });
}
