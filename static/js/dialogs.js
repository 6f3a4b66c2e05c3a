/* Dialogs: links that lead to a page without script open the same content over this one. */
export function openDialog(name) {
  const dialog = document.getElementById(`${name}-dialog`);
  if (dialog && !dialog.open) dialog.showModal();
  return dialog;
}

export function startDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener && !event.ctrlKey && !event.metaKey) {
      if (openDialog(opener.dataset.dialog)) event.preventDefault();
    } else if (event.target.matches("dialog[open]")) event.target.close();
    else if (!event.target.closest("details.menu")) {
      for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    }
  });
}
