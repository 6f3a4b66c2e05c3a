/* What a search finds changes the verdict while somebody reads below it, and nothing there moves: the verdict keeps the
   height that it had at first. Where room was left for the smallest case, that scrolls if it needs more; where not,
   what there is no room for folds into one line until somebody asks for it. The next page shows all. On a narrow screen
   it may not be shown at first: then nobody reads below it. */
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
  delete found.dataset.folded;
  found.style.minBlockSize = `${height}px`;
  const more = heightOf(found) - height;
  if (more <= 0) return;
  const room = heightOf(small) - more;
  if (room >= LEAST) small.style.maxBlockSize = `${room}px`;
  else found.dataset.folded = "";
}

/* Asked for, or in a window of another size, it takes the room it needs. */
function letGo() {
  if (!framed) return;
  framed.free = true;
  framed.verdict.style.removeProperty("min-block-size");
  delete framed.verdict.dataset.folded;
  document.getElementById("smallest")?.style.removeProperty("max-block-size");
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
