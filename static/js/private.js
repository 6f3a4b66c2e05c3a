/* Opens a private link: unpacks the case after the `#` and replays it. It is posted, used, and not stored. */
import { decode } from "./codec.js";

async function open() {
  if (!location.hash.startsWith("#v1.") || location.pathname !== "/") return;
  let text;
  try {
    text = await decode(location.hash);
    JSON.parse(text);
  } catch {
    const banner = document.getElementById("connection");
    banner.querySelector("strong").textContent = "This private link is damaged.";
    banner.querySelector("[data-connection-reason]").textContent = "It may have been cut short; ask for it again, or for the case file.";
    banner.querySelector("[data-retry]").hidden = true;
    banner.hidden = false;
    return;
  }
  const values = { case: text, step: new URLSearchParams(location.search).get("step") ?? "", private: "1" };
  window.htmx.ajax("POST", "/run", { target: "#page", swap: "innerHTML", values });
}

export function startPrivate() {
  if (window.htmx) open();
  else window.addEventListener("load", open);
  window.addEventListener("hashchange", open);
}
