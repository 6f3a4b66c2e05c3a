/* Stop conditions: Enter asks the server at which steps they hold. From there on `r` runs to the next. */
import { standing, step } from "./cursor.js";
import { ask, choose } from "./request.js";

let focused = false;

export function startStops() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.id !== "until") return;
    event.preventDefault();
    choose("until", event.target.value);
    focused = true;
    ask("#stops", "outerHTML", { ...standing(), step: String(step()), until: event.target.value });
  });
  document.addEventListener("htmx:after:swap", () => {
    const field = document.getElementById("until");
    if (!focused || !field || field === document.activeElement) return;
    focused = false;
    if (document.activeElement === document.body) field.focus();
  });
}
