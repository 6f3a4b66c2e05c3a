/* A file dropped anywhere on the page, or chosen, is the file of the form: one file, and not more than the server takes. */
function refusal(files, limit, setting) {
  if (!files.length) return "That is a folder or a link, not a file. Drop the file itself.";
  if (files.length > 1) return `${files.length} files at once: drop them one by one, or paste their texts one after the other.`;
  const [{ name, size }] = files;
  if (!size) return `${name} is empty, or a folder. Choose a file that holds something.`;
  if (size <= limit) return "";
  return `${name} has ${size.toLocaleString("en")} bytes; the limit is ${limit.toLocaleString("en")} bytes (TOOLCALL_INSPECTOR_${setting}).`;
}

/* Whether the server would take the files; says at the field why not. What is in the form stays as it is. */
function accepted(field, files, limit, setting) {
  const said = document.getElementById(`${field.id}-refused`);
  said.textContent = refusal(files, limit, setting);
  said.hidden = !said.textContent;
  if (said.textContent) field.value = "";
  return said.hidden;
}

/* A file to replay: posts the form with it. */
export function take(field, files) {
  if (!accepted(field, files, Number(field.form.dataset.limit), "MAX_REQUEST_BYTES")) return;
  if (field.files !== files) field.files = files;
  field.form.requestSubmit();
}

/* A tokenizer goes with the next post. */
export function takeTokenizer(field) {
  if (field.files.length) accepted(field, field.files, Number(field.dataset.limit), "TOKENIZER_UPLOAD_BYTES");
}

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
    document.getElementById("source").open = true;
    take(field, event.dataTransfer.files);
  });
}
