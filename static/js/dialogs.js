/* Dialogs and menus. Links that lead to a page without script open the same content over this one; of the menus one is
   open at a time, and none after a click beside it. */
export function openDialog(name) {
  const dialog = document.getElementById(`${name}-dialog`);
  if (dialog && !dialog.open) dialog.showModal();
  return dialog;
}

function closeMenus(but = null) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
}

/* What asks for a text opens where it can be seen, with the caret in it. */
function showField({ target }) {
  if (!target.matches?.("details.settle[open]")) return;
  target.scrollIntoView({ block: "nearest" });
  target.lastElementChild.scrollIntoView({ block: "nearest" });
  target.querySelector("textarea").focus({ preventScroll: true });
}

/* Beside a run the text opens over it: the caret is in it, and a click beside it closes it. */
const CHIP = "#setup:not(.at-home) .source";

function startText({ target }) {
  if (!target.matches?.(`${CHIP}[open]`) || !document.getElementById("inspector")) return;
  document.getElementById("text").focus({ preventScroll: true });
}

function closeText({ target }) {
  const chip = document.querySelector(`#page:has(#inspector) ${CHIP}[open]`);
  if (chip && target.isConnected && !chip.contains(target) && !target.closest("#setup")) chip.open = false;
}

export function startDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener && !event.ctrlKey && !event.metaKey) {
      if (openDialog(opener.dataset.dialog)) event.preventDefault();
    } else if (event.target.matches("dialog[open]")) event.target.close();
    else if (!event.target.closest("details.menu")) closeMenus();
  });
  const opened = (event) => event.target.matches?.("details.menu[open]") && closeMenus(event.target);
  document.addEventListener("toggle", opened, true);
  document.addEventListener("toggle", showField, true);
  document.addEventListener("toggle", startText, true);
  document.addEventListener("click", closeText);
}
