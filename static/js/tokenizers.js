/* The page of tokenizers: files dropped anywhere on it go into the upload form, and one that is too large is not sent. */
const form = () => document.getElementById("tokenizer-upload");

function say(words) {
  const error = document.getElementById("tokenizer_file-error");
  error.hidden = !words;
  error.querySelector("span").textContent = words;
  document.getElementById("tokenizer_file").toggleAttribute("aria-invalid", Boolean(words));
  if (words) document.getElementById("tokenizer_file").setAttribute("aria-invalid", "true");
}

function refusal(file, limit) {
  if (!file.size) return `${file.name} is empty, or a folder. Give the tokenizer.json itself.`;
  if (file.size <= limit) return "";
  return `${file.name} has ${file.size.toLocaleString("en")} bytes; the limit is ${limit.toLocaleString("en")} bytes (TOOLCALL_INSPECTOR_TOKENIZER_UPLOAD_BYTES).`;
}

function put(field, file) {
  const carrier = new DataTransfer();
  carrier.items.add(file);
  field.files = carrier.files;
}

function take(files) {
  const isConfig = (file) => /config.*\.json$/.test(file.name);
  const configs = files.filter(isConfig);
  const models = files.filter((file) => !isConfig(file));
  if (configs.length > 1 || models.length > 1 || !files.length) {
    say("Drop one tokenizer file, and its tokenizer_config.json with it if you have that.");
    return;
  }
  if (configs.length) put(document.getElementById("config_file"), configs[0]);
  if (models.length) put(document.getElementById("tokenizer_file"), models[0]);
  say("");
  if (models.length) form().requestSubmit();
}

export function startTokenizers() {
  const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (form() && hasFile(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!form() || !hasFile(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    take([...event.dataTransfer.files]);
  });
  document.addEventListener("submit", (event) => {
    if (event.target !== form()) return;
    const limit = Number(form().dataset.limit);
    const files = ["tokenizer_file", "config_file"].map((id) => document.getElementById(id).files[0]).filter(Boolean);
    const why = files.map((file) => refusal(file, limit)).find(Boolean) ?? "";
    say(why);
    if (!why) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}
