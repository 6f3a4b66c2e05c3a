/* Private links: a case in an address, as JSON, deflated, base64url, after `#v1.`. The fragment never reaches a server:
   opening such a link posts the case, which is replayed and not stored. */
import { tell } from "./notice.js";

const PREFIX = "#v1.";
const root = () => document.body.dataset.root; // the path of the first page

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function encode(text) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function decode(fragment) {
  const binary = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = await through(
    new DecompressionStream("deflate-raw"),
    Uint8Array.from(binary, (char) => char.charCodeAt(0)),
  );
  return new TextDecoder("utf-8", { fatal: true }).decode(packed);
}

async function open() {
  if (!location.hash.startsWith(PREFIX) || location.pathname !== root()) return;
  let values;
  try {
    values = readCases(await decode(location.hash));
  } catch {
    refuse();
    return;
  }
  const view = Object.fromEntries(new URLSearchParams(location.search));
  const action = Object.keys(view).some((name) => /^[a-d]_/.test(name)) ? "compare" : "run";
  Object.assign(values, view, { private: "1" });
  window.htmx.ajax("POST", root() + action, { target: "#page", swap: "innerHTML", values });
}

/* The fields of a form: the case, and the texts beside it where there are several. */
function readCases(text) {
  const found = JSON.parse(text);
  if (!Array.isArray(found)) return { case: text };
  const [first, ...beside] = found.map((one) => JSON.stringify(one));
  return Object.fromEntries([["case", first], ...beside.map((one, index) => [`beside.${index + 1}`, one])]);
}

/* The address of a view in a page that a private link opened: the same link, for the server holds the run for a while
   only. Elsewhere it is the address that is given. */
export function lasting(address) {
  if (!location.hash.startsWith(PREFIX)) return address;
  const query = address.split("?")[1];
  return `/?${query ?? ""}${location.hash}`;
}

function refuse() {
  const reason = "It may have been cut short; ask for it again, or for the case file.";
  tell("This private link is damaged.", reason, { again: false });
}

export function startPrivate() {
  if (window.htmx) open();
  else window.addEventListener("load", open);
  window.addEventListener("hashchange", open);
}
