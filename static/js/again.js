/* The server holds a posted run for a while. What was posted is kept in this tab: its address, loaded anew after the
   server forgot it, posts it again at the same step, and the page that says that it is gone says so, and has a button
   for it: an answer may not come. Storage may be refused or full: then it is not kept. */
const LIST = "runs";
const MOST = 12;
const LONG = 20_000; // steps
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

/* The run of this address, or the one that a page below it is about. */
function lost() {
  const { pathname } = location;
  return kept().find((address) => pathname === address || pathname.startsWith(`${address}/`));
}

function offer() {
  const [box, address] = [document.querySelector("[data-status='410'] [data-kept-run]"), lost()];
  if (!box || !address) return;
  box.hidden = false;
  document.querySelector("[data-anew]")?.classList.remove("primary");
  if (address === location.pathname) post();
}

async function post() {
  const text = sessionStorage.getItem(lost());
  if (!text) return;
  const [action, values] = JSON.parse(text);
  if (location.pathname === lost()) Object.assign(values, Object.fromEntries(new URLSearchParams(location.search)));
  note("It is run again …");
  try {
    await window.htmx.ajax("POST", action, { target: "#page", swap: "innerHTML", values });
  } finally {
    note("It did not come.");
  }
}

/* On the page that is there as long as the run is not. */
function note(words) {
  const place = document.querySelector("[data-kept-note]");
  if (place) place.textContent = words;
}

/* The page that said that the run is gone shows it again. */
function settle() {
  if (document.getElementById("inspector")) document.querySelector("[data-status]")?.removeAttribute("data-status");
  keep();
}

/* Who closes the page of a long output has its memory given back before long. Whoever loads it anew, or comes back,
   finds it for two minutes, and after them it is posted again. */
function leave() {
  const steps = Number(document.getElementById("inspector")?.dataset.total ?? 0);
  if (held() && steps > LONG) navigator.sendBeacon(`${held()}/left`);
}

export function startAgain() {
  keep();
  window.addEventListener("pagehide", leave);
  offer();
  document.addEventListener("click", ({ target }) => target.closest("[data-run-kept]") && post());
  document.addEventListener("htmx:after:swap", settle);
}
