/* Files that are chosen, or dropped anywhere on the page: the recording of the setup form, which is posted at once; the
   tokenizer that goes with its next post; on the page of tokenizers the two files of the upload form. None is sent that
   the server would refuse; what is in the form stays as it is. */
const upload = () => document.getElementById("tokenizer-upload");
const tokenizer = () => document.getElementById("tokenizer_file");
const GGUF_HEADER = 32_000_000; // bytes: the largest vocabularies take some twenty million
const TOKENIZER_LIMIT = "TOKENIZER_UPLOAD_BYTES";

/* Why the server would not take a file; "" if it would. */
function refusal({ name, size }, limit, setting, instead = "Choose a file that holds something.") {
  if (!size) return `${name} is empty, or a folder. ${instead}`;
  if (size <= limit) return "";
  const [has, may] = [size, limit].map((bytes) => `${bytes.toLocaleString("en")} bytes`);
  return `${name} has ${has}; the limit is ${may} (TOOLCALL_INSPECTOR_${setting}).`;
}

/* Says at a field of the setup form why its file is refused, and empties it. */
function refuse(field, why) {
  const said = document.getElementById(`${field.id}-refused`);
  said.textContent = why;
  said.hidden = !why;
  if (why) field.value = "";
  return Boolean(why);
}

function wrongNumber(count) {
  if (!count) return "That is a folder or a link, not a file. Drop the file itself.";
  if (count === 1) return "";
  return `${count} files at once: drop them one by one, or paste their texts one after the other.`;
}

function takeRecording(field, files) {
  const limit = Number(field.form.dataset.limit);
  if (refuse(field, wrongNumber(files.length) || refusal(files[0], limit, "MAX_REQUEST_BYTES"))) return;
  if (field.files !== files) field.files = files;
  field.form.requestSubmit();
}

/* Of a model file of gigabytes only the beginning is sent: the tokenizer stands before the tensors. */
function shorten(field) {
  const file = field.files[0];
  const most = Math.min(Number(field.dataset.limit || field.form.dataset.limit), GGUF_HEADER);
  if (file?.name.endsWith(".gguf") && file.size > most) put(field, new File([file.slice(0, most)], file.name));
}

function takeTokenizer(field) {
  if (field.files.length) refuse(field, refusal(field.files[0], Number(field.dataset.limit), TOKENIZER_LIMIT));
}

function changed({ target }) {
  if (target.id === "file" && target.files.length) takeRecording(target, target.files);
  if (target.id === "tokenizer_file") shorten(target);
  if (target.matches("#setup #tokenizer_file")) takeTokenizer(target);
}

/* Says in the upload form what is wrong with its files. */
function complain(why) {
  const error = document.getElementById("tokenizer_file-error");
  error.hidden = !why;
  error.querySelector("span").textContent = why;
  if (why) tokenizer().setAttribute("aria-invalid", "true");
  else tokenizer().removeAttribute("aria-invalid");
}

function put(field, file) {
  const carrier = new DataTransfer();
  carrier.items.add(file);
  field.files = carrier.files;
}

function takeUpload(files) {
  const isConfig = (file) => /config.*\.json$/.test(file.name);
  const configs = files.filter(isConfig);
  const models = files.filter((file) => !isConfig(file));
  if (configs.length > 1 || models.length > 1 || !files.length) {
    complain("Drop one tokenizer file, and its tokenizer_config.json with it if you have that.");
    return;
  }
  if (configs.length) put(document.getElementById("config_file"), configs[0]);
  if (models.length) {
    put(tokenizer(), models[0]);
    shorten(tokenizer());
  }
  complain("");
  if (models.length) upload().requestSubmit();
}

function submit(event) {
  if (event.target !== upload()) return;
  const limit = Number(upload().dataset.limit);
  const files = [...tokenizer().files, ...document.getElementById("config_file").files];
  const whys = files.map((file) => refusal(file, limit, TOKENIZER_LIMIT, "Give the tokenizer.json itself."));
  const why = whys.find(Boolean) ?? "";
  complain(why);
  if (!why) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

function showDropping(on) {
  document.body.classList.toggle("dropping", on);
  document.getElementById("drop")?.classList.toggle("over", on);
}

function drop(event) {
  const field = document.getElementById("file");
  if (!hasFile(event) || !(field || upload())) return;
  event.preventDefault();
  showDropping(false);
  if (upload()) takeUpload([...event.dataTransfer.files]);
  else {
    document.getElementById("source").open = true;
    takeRecording(field, event.dataTransfer.files);
  }
}

function openFile(event) {
  const field = document.getElementById("file");
  if (!field || !event.target.closest("[data-open-file]")) return;
  event.preventDefault();
  document.getElementById("source").open = true;
  field.click();
}

export function startFiles() {
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    showDropping(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) showDropping(false);
  });
  document.addEventListener("drop", drop);
  document.addEventListener("change", changed);
  document.addEventListener("click", openFile);
  document.addEventListener("submit", submit, { capture: true });
}
