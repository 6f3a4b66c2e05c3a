/* Starts every part once. All of them listen on the document, so that what htmx swaps in works without being wired up. */
import { startAppearance } from "./appearance.js";
import { startCompare } from "./compare.js";
import { startConnection } from "./connection.js";
import { startDialogs } from "./dialogs.js";
import { startDrop } from "./drop.js";
import { startEqual } from "./equal.js";
import { startFilter } from "./filter.js";
import { startFormats } from "./formats.js";
import { startIntake } from "./intake.js";
import { startKeys } from "./keys.js";
import { startLag } from "./lag.js";
import { startOwnership } from "./ownership.js";
import { startPlay } from "./play.js";
import { startPrivate } from "./private.js";
import { startProvenance } from "./provenance.js";
import { startSearch } from "./search.js";
import { startSetup } from "./setup.js";
import { startShare } from "./share.js";
import { startStepper } from "./stepper.js";
import { startTabs } from "./tabs.js";
import { startTokenizers } from "./tokenizers.js";
import { startTruncation } from "./truncation.js";
import { startWire } from "./wire.js";

for (const start of [
  startAppearance, startConnection, startDialogs, startStepper, startTabs, startKeys, startProvenance, startFilter,
  startPlay, startSetup, startIntake, startDrop, startShare, startPrivate, startFormats, startWire, startLag,
  startOwnership, startEqual, startTruncation, startCompare, startSearch, startTokenizers,
]) start();

/* Controls that only work with script are hidden until script runs; those that are there for want of it go. */
export function reveal(root) {
  for (const element of root.querySelectorAll(".unscripted")) element.hidden = true;
  for (const element of root.querySelectorAll(".scripted[hidden]:not([data-working])")) element.hidden = false;
}
reveal(document);
document.addEventListener("htmx:after:swap", () => reveal(document));

/* From here on every control answers by script. htmx starts at the same event and is loaded before. */
document.addEventListener("DOMContentLoaded", () => document.documentElement.toggleAttribute("data-ready", true));
