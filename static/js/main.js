/* Starts every part once. All of them listen on the document, so that what htmx swaps in works without being wired
   up. */
import { startAgain } from "./again.js";
import { startBanner } from "./banner.js";
import { comparisonDrawer, startCompare } from "./compare.js";
import { startComplete } from "./complete.js";
import { startConnection } from "./connection.js";
import { startCopy } from "./copy.js";
import { startCursor } from "./cursor.js";
import { startDialogs } from "./dialogs.js";
import { startDraft } from "./draft.js";
import { startFiles } from "./files.js";
import { startFilter } from "./filter.js";
import { startFormatDraft } from "./format_draft.js";
import { startFormats } from "./formats.js";
import { startFocus } from "./focus.js";
import { startFrame } from "./frame.js";
import { startHistory } from "./history.js";
import { inspectorDrawer } from "./inspector.js";
import { startImport } from "./import.js";
import { startIntake } from "./intake.js";
import { startKeys } from "./keys.js";
import { startLag } from "./lag.js";
import { startLive } from "./live.js";
import { startMachine } from "./machine.js";
import { startPalette } from "./palette.js";
import { startPick } from "./pick.js";
import { startPlay } from "./play.js";
import { startPreferences } from "./preferences.js";
import { startPrivate } from "./private.js";
import { startProvenance } from "./provenance.js";
import { startSearch } from "./search.js";
import { startSetup } from "./setup.js";
import { startShare } from "./share.js";
import { startSplitters } from "./splitters.js";
import { startStops } from "./stops.js";
import { startStrip } from "./strip.js";
import { startTruncation } from "./truncation.js";
import { startVerdict } from "./verdict.js";
import { startViews } from "./views.js";
import { startWatch } from "./watch.js";
import { startWho } from "./who.js";
import { startLines } from "./lines.js";

startPreferences();
startFrame();
startBanner();
startVerdict();
startConnection();
startDialogs();
startCursor(inspectorDrawer, comparisonDrawer);
startFocus();
startViews();
startKeys();
startProvenance();
startComplete();
startFilter();
startPlay();
startLive();
startMachine();
startSetup();
startIntake();
startImport();
startFiles();
startShare();
startPrivate();
startAgain();
startHistory();
startFormats();
startFormatDraft();
startLag();
startStrip();
startSplitters();
startCopy();
startDraft();
startPalette();
startStops();
startTruncation();
startSearch();
startCompare();
startWatch();
startPick();
startWho();
startLines();

/* Controls that only work with script are hidden until script runs; those that are there for want of it go. */
function reveal() {
  for (const element of document.querySelectorAll(".unscripted")) element.hidden = true;
  for (const element of document.querySelectorAll(".scripted[hidden]:not([data-working])")) element.hidden = false;
}
reveal();
document.addEventListener("htmx:after:swap", reveal);

/* htmx gives what comes in the style attribute of what has the same id, be it empty, and the policy of the page forbids
   such attributes: nobody has one when its place is taken. */
document.addEventListener("htmx:before:swap", () => {
  for (const element of document.querySelectorAll("#page [id][style]")) element.removeAttribute("style");
});

/* From here on every control answers by script. htmx starts at the same event and is loaded before. */
document.addEventListener("DOMContentLoaded", () => document.documentElement.toggleAttribute("data-ready", true));
