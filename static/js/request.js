/* The form of the view (`#cursor`): it asks the server for a part of this page, and carries what was chosen in it.
   A run that was posted is asked for by the address under which the server holds it; where it is held no more, the
   form is posted again, as it is without script. A newer request of the same source replaces the older. */
const form = () => document.getElementById("cursor");
const holder = () => document.querySelector("[data-held]");
// The run on its way that is posted again, and the address that it replaces: one at a time, and nothing else is asked
// for until it is on the page.
let posting = null;
const UNSAID = ["pasted", "pasted_as", "output", "held"]; // of the form, where a part is asked for

const isPosting = () => posting !== null && posting.held === holder()?.dataset.held;

/* What was chosen and asked for while the run is posted again: it is done on the page that comes. */
const later = { choices: new Map(), parts: new Map() };

/* Whether a field carries what the server holds under an address: the case, and the outputs beside it. */
export const carries = (name) => name === "case" || name === "held" || name.startsWith("beside.");

/* How a window is replaced: in one go. htmx would draw it once with the attributes of the old one and set its own some
   frames later, and only then say that it is here: until then the page would show the step that the server drew. */
export const WINDOW_SWAP = "innerHTML settle:0ms";

export function ask(target, swap, extra) {
  if (!form() || isPosting()) return posting?.sent;
  const values = Object.fromEntries(new FormData(form()));
  for (const name of UNSAID) delete values[name];
  Object.assign(values, extra);
  const held = holder()?.dataset.held;
  if (held) for (const name of Object.keys(values)) if (carries(name)) delete values[name];
  const action = held || form().getAttribute("action");
  const common = { target, swap, source: target };
  if (held || form().method === "get") {
    return window.htmx.ajax("GET", `${action}?${new URLSearchParams(values)}`, common);
  }
  return window.htmx.ajax("POST", action, { ...common, values });
}

/* Asks for parts of the page that something chosen changes. The request is one of an element that stays (`#ask-…`): a
   newer one takes its place, and whatever is swapped in meanwhile takes nothing away. What comes says where it goes. */
export function askFor(parts, extra) {
  if (isPosting()) later.parts.set(parts, extra);
  return ask(`#ask-${parts}`, "none", extra);
}

/* Whether something was asked for under an address of a run that has another one since: it comes to nothing. */
export function isOutdated(address) {
  const held = holder()?.dataset.held;
  return address.includes("/r/") && Boolean(held) && !address.startsWith(held);
}

/* Posts the run again, which the server holds no more, and goes on at the same place; false where there is none. What
   was asked for at the same time fails in the same way: that is one post. */
export function postAgain(extra) {
  const held = holder()?.dataset.held;
  if (isPosting()) return true;
  if (!form() || !held) return false;
  const values = Object.assign(Object.fromEntries(new FormData(form())), extra);
  for (const name of ["filter", "held"]) delete values[name];
  const sent = window.htmx.ajax("POST", form().getAttribute("action"), { target: "#page", swap: WINDOW_SWAP, values });
  const mine = { held, sent };
  posting = mine;
  Promise.resolve(sent).finally(() => {
    if (posting !== mine) return;
    posting = null;
    catchUp();
  });
  return true;
}

function catchUp() {
  const [choices, parts] = [[...later.choices], [...later.parts]];
  for (const all of Object.values(later)) all.clear();
  for (const [name, value] of choices) choose(name, value);
  for (const [part, extra] of parts) askFor(part, extra);
}

/* Keeps a choice for the next request and the address; false where the page has no such choice. */
export function choose(name, value) {
  const field = [...(form()?.elements ?? [])].find(({ dataset }) => dataset.view === name);
  if (!field) return false;
  if (isPosting()) later.choices.set(name, value);
  field.value = value;
  field.dataset.changed = "1";
  return true;
}

/* The choices that are not the default, by name. */
export function chosen() {
  const fields = [...form().elements].filter((field) => field.dataset.view && field.value);
  const other = fields.filter((field) => field.value !== field.defaultValue || field.dataset.changed);
  return other.map((field) => [field.dataset.view, field.value]);
}
