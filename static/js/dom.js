/* Small things that many parts do to elements, to clicks and to the region that is read aloud. */

/* Whether a click is for this page: with one of these keys the browser opens a tab or a window, or saves. */
export const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.shiftKey;

/* Whether what was swapped in is the page as a whole: by the browser's Back and Forward. */
export const isRestored = ({ detail }) => detail.ctx?.target === document.body;

/* Whether what was swapped in has the elements of a page anew: all of them, or those of a run. */
export const isPage = (event) => isRestored(event) || event.detail.ctx?.target?.id === "page";

/* Whether a field of a form is not as the page came with it. */
export function isChanged(field) {
  if (["checkbox", "radio"].includes(field.type)) return field.checked !== field.defaultChecked;
  if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
  return !field.options[field.selectedIndex]?.defaultSelected && field.selectedIndex > 0;
}

/* An attribute that is there only while it has a value. */
export function mark(element, name, value) {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}

/* Says other words in an element that holds words only. Its text node stays: one that comes or goes makes the browser
   look at every rule that asks what an element has. */
export function write(element, words) {
  const { firstChild: text } = element;
  if (text?.nodeType !== Node.TEXT_NODE || text.nextSibling) element.textContent = words;
  else if (text.data !== words) text.data = words;
}

/* Puts an upright line of a plot at `x`, a length of SVG. */
export function moveLine(line, x) {
  for (const end of ["x1", "x2"]) line.setAttribute(end, x);
}

/* Keeps an element in sight inside its own scrolling box; the page itself never moves. Of a box that goes on below the
   screen only the part on the screen counts. */
export function keepVisible(element, box) {
  if (!box || box.scrollHeight <= box.clientHeight) return;
  const outer = box.getBoundingClientRect();
  const inner = element.getClientRects()[0] ?? element.getBoundingClientRect();
  const onScreen = Math.min(outer.bottom, window.innerHeight);
  const bottom = onScreen > outer.top + 96 ? onScreen : outer.bottom;
  if (inner.top < outer.top + 32 || inner.bottom > bottom - 32) box.scrollTop += inner.top - (outer.top + bottom) / 2;
}

const POSTS = ["type", "form", "name", "value"]; // attributes

/* Pieces of the output that post a form are buttons, for those without script. A browser lays each out as a block in
   its line, though: one with a newline inside is as high as two lines. Those of a script are text. */
export function asText(view) {
  for (const button of view.querySelectorAll("button:is([data-token], [data-bit])")) {
    const piece = document.createElement("a");
    for (const { name, value } of button.attributes) if (!POSTS.includes(name)) piece.setAttribute(name, value);
    piece.append(...button.childNodes);
    button.replaceWith(piece);
  }
}

/* Has words read aloud. */
export function say(words) {
  write(document.getElementById("live"), words);
}

/* A link that is a button answers to both keys of a button: Enter clicks by itself, the space bar does not. */
export function clickOnSpace(event, links) {
  const control = event.key === " " && event.target.closest?.(links);
  if (!control) return;
  event.preventDefault();
  control.click();
}

/* Whether the text is in the clipboard now; a browser may refuse. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
