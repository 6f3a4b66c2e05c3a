/* The server holds a posted run for a while. What was posted is kept in this tab: its address, loaded anew after the
   server forgot it, posts it again at the same step. Storage may be refused or full: then it is not kept. */
const LIST = "runs";
const MOST = 12;
let forgotten = null; // the address of the run on the page, once it was forgotten with the others

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(LIST) ?? "[]");
  } catch {
    return [];
  }
}

const held = () => document.querySelector("[data-held]")?.dataset.held;

function keep() {
  const form = document.getElementById("cursor");
  const address = held();
  if (address !== forgotten) forgotten = null;
  if (!address || forgotten || form?.method !== "post" || kept().includes(address)) return;
  const values = Object.fromEntries(new FormData(form));
  for (const name of ["filter", "held"]) delete values[name];
  store(address, JSON.stringify([form.getAttribute("action"), values]));
}

/* The oldest runs make room for the new one, as many as it takes. */
function store(address, text) {
  const others = kept();
  while (others.length >= MOST) drop(others.shift());
  for (;;) {
    try {
      sessionStorage.setItem(address, text);
      sessionStorage.setItem(LIST, JSON.stringify([...others, address]));
      return;
    } catch {
      drop(address);
      if (!others.length) return;
      drop(others.shift());
    }
  }
}

function drop(address) {
  try {
    sessionStorage.removeItem(address);
  } catch {
    /* there is nothing */
  }
}

/* The case of a run that was posted in this tab, as JSON; null where it is kept no more. */
export function textOf(address) {
  if (!kept().includes(address)) return null;
  try {
    return JSON.parse(sessionStorage.getItem(address))[1].case ?? null;
  } catch {
    return null;
  }
}

export function forgetRuns() {
  for (const address of kept()) drop(address);
  drop(LIST);
  forgotten = held() || null;
}

function post() {
  const { pathname, search } = location;
  if (!document.querySelector("[data-status='410']") || !kept().includes(pathname)) return;
  const text = sessionStorage.getItem(pathname);
  if (!text) return;
  const [action, values] = JSON.parse(text);
  Object.assign(values, Object.fromEntries(new URLSearchParams(search)));
  window.htmx.ajax("POST", action, { target: "#page", swap: "innerHTML", values });
}

/* The page that said that the run is gone shows it again. */
function settle() {
  if (document.getElementById("inspector")) document.querySelector("[data-status]")?.removeAttribute("data-status");
  keep();
}

export function startAgain() {
  keep();
  post();
  document.addEventListener("htmx:after:swap", settle);
}
