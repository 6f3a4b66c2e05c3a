/* A file dropped anywhere on the page is the file of the form. */
export function startDrop() {
  const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const over = (on) => {
    document.body.classList.toggle("dropping", on);
    document.getElementById("drop")?.classList.toggle("over", on);
  };
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) over(false);
  });
  document.addEventListener("drop", (event) => {
    const field = document.getElementById("file");
    if (!hasFile(event) || !field) return;
    event.preventDefault();
    over(false);
    field.files = event.dataTransfer.files;
    document.getElementById("source").open = true;
    field.form.requestSubmit();
  });
}
