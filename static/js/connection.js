/* When the server does not answer, or answers a partial request with an error, say so and keep what is loaded. A run
   that it holds no more (410) is posted again. */
import { disregard, standing, waitForPage } from "./cursor.js";
import { isOutdated, postAgain } from "./request.js";

let last = null;

function show(reason) {
  document.querySelector("[data-connection-reason]").textContent = reason;
  document.getElementById("connection").hidden = false;
}

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
  show(`It answered ${status}.`);
  ctx.response.raw.text().then((text) => {
    const said = new DOMParser().parseFromString(text, "text/html").querySelector("main p:not(.error-code)");
    if (said) show(said.textContent.trim());
  });
}

export function startConnection() {
  document.addEventListener("htmx:before:request", (event) => {
    last = event.detail.ctx;
  });
  document.addEventListener("htmx:before:response", refuse);
  document.addEventListener("htmx:error", () => show(""));
  document.addEventListener("htmx:after:swap", () => (document.getElementById("connection").hidden = true));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-retry]") || !last) return;
    document.getElementById("connection").hidden = true;
    if (last.sourceElement?.matches?.("form")) last.sourceElement.requestSubmit();
    else location.reload();
  });
}
