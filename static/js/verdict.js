/* What a search finds changes the verdict while somebody reads below it, and nothing there moves: the verdict keeps the
   height that it had at first. Where room was left for the smallest case, that scrolls if it needs more; else the
   grounds are cut to the lines that there is room for; where not even one is left, all but the headline folds. Both
   last until somebody asks for the rest. The next page shows all. On a narrow screen it may not be shown at first: then
   nobody reads below it. */
const LEAST = 72; // pixels of a smallest case that is worth to be scrolled in

let framed = null; // { verdict, height, free }: the one on the page, its height at first, whether it let go of it

const verdict = () => document.getElementById("verdict");
const heightOf = (element) => element.getBoundingClientRect().height;
const watching = new MutationObserver(settle); // is told before the next picture

/* The first that is swapped in finds the verdict as the page came with it. */
function measure() {
  const found = verdict();
  if (!found || framed?.verdict === found) return;
  framed = { verdict: found, height: heightOf(found), free: !found.checkVisibility() };
  watching.disconnect();
  watching.observe(found, { childList: true, characterData: true, subtree: true });
}

function settle() {
  const { verdict: found, height, free } = framed;
  if (free || !found.isConnected) return;
  const small = document.getElementById("smallest");
  unfold(found);
  found.style.minBlockSize = `${height}px`;
  const more = heightOf(found) - height;
  if (more <= 0) return;
  const room = heightOf(small) - more;
  if (room >= LEAST) small.style.maxBlockSize = `${room}px`;
  else if (!cut(found, more)) found.dataset.folded = "";
}

/* Takes whole lines from the grounds, as long as one is left. */
function cut(found, more) {
  const grounds = found.querySelector(".grounds");
  if (!grounds) return false;
  const line = parseFloat(getComputedStyle(grounds).lineHeight);
  const lines = Math.floor((heightOf(grounds) - more) / line + 0.01);
  if (lines < 1) return false;
  grounds.style.maxBlockSize = `${lines * line}px`;
  found.dataset.cut = "";
  return true;
}

function unfold(found) {
  delete found.dataset.folded;
  delete found.dataset.cut;
  found.querySelector(".grounds")?.style.removeProperty("max-block-size");
  document.getElementById("smallest")?.style.removeProperty("max-block-size");
}

/* Asked for, or in a window of another size, it takes the room it needs. */
function letGo() {
  if (!framed) return;
  framed.free = true;
  framed.verdict.style.removeProperty("min-block-size");
  unfold(framed.verdict);
}

export function startVerdict() {
  document.addEventListener("htmx:before:swap", measure);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-unfold]")) return;
    letGo();
    document.getElementById("headline").focus();
  });
  window.addEventListener("resize", letGo);
}
