/* When the server does not answer, fails at it, or refuses a partial request, say which and keep what is loaded. A run
   that it holds no more (410) is posted again. */
import { disregard, standing, waitForPage } from "./cursor.js";
import { tell, untell } from "./notice.js";
import { isOutdated, postAgain } from "./request.js";

let last = null;

const SILENT = "The server did not answer.";

/* What happened, by the status of the answer: a refusal says why in a sentence of its own. */
const headOf = (status) => `The server ${status < 500 ? "refused this" : "could not do this"} (${status}).`;

/* A full form answers its own errors with the form; only those are swapped in. */
const OWN = { page: [413, 422, 429], "share-form": [429] };

function refuse(event) {
  const { ctx } = event.detail;
  const status = ctx.response?.status ?? 0;
  const own = OWN[ctx.target?.id]?.includes(status) && ctx.response?.headers.get("Content-Type")?.includes("html");
  if (status < 400 || (own && !ctx.response.headers.get("Cache-Control")?.includes("no-store"))) return;
  event.preventDefault();
  if (status === 410 && isOutdated(ctx.request.action)) {
    disregard(ctx);
    return;
  }
  if (status === 410 && postAgain(standing())) {
    waitForPage(ctx);
    return;
  }
  tell(headOf(status));
  ctx.response.raw.text().then((text) => {
    const said = new DOMParser().parseFromString(text, "text/html").querySelector("main p:not(.error-code)");
    if (said) tell(headOf(status), said.textContent.trim());
  });
}

export function startConnection() {
  document.addEventListener("htmx:before:request", (event) => {
    last = event.detail.ctx;
  });
  document.addEventListener("htmx:before:response", refuse);
  document.addEventListener("htmx:error", () => tell(SILENT));
  document.addEventListener("htmx:after:swap", untell);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-retry]") || !last) return;
    untell();
    if (last.sourceElement?.matches?.("form")) last.sourceElement.requestSubmit();
    else location.reload();
  });
}
