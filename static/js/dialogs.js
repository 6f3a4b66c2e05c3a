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
}
