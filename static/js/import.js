/* The import of many cases: the parts of the file are sent one after the other, and what came of them is said as it
   comes. A part that takes more time than a request may is sent again, for the rest of it. Without this the form is
   posted once and takes what it has time for. */
import { partsOf } from "./import_parts.js";

const AT_ONCE = 100;
const SHOWN = 200; // failures that are named

const part = (form, name) => form.querySelector(`[data-import-${name}]`);

/* `left`: how many of this part are to come; `behind`: the share of the file behind it. */
function say(form, done, left, behind) {
  const words = `${done.stored} stored, ${done.known} known already, ${done.failed} failed`;
  const more = behind ? `; ${Math.ceil(100 * behind)} % of the file to come` : `; ${left} to come`;
  part(form, "status").textContent = left || behind ? `${words}${more}` : `${words}.`;
  const bar = form.querySelector("progress");
  bar.hidden = !(left || behind);
  bar.max = 1;
  bar.value = behind ? 1 - behind : done.all / (done.all + left);
}

function told(form, failed, before) {
  for (const one of failed.slice(0, Math.max(SHOWN - before, 0))) {
    const line = document.createElement("li");
    const code = document.createElement("code");
    code.textContent = one.name;
    line.append(code, `: ${one.why}`);
    part(form, "failures").append(line);
  }
}

/* Keys are told once: they stay on the page until it is left. */
function kept(form, cases) {
  const lines = cases.filter((one) => one.delete_key).map((one) => `${one.id} ${one.delete_key}\n`);
  part(form, "keys").value += lines.join("");
  if (lines.length) part(form, "kept").hidden = false;
}

/* What came of the next cases of a part. Throws with the server's sentence where it takes none. */
async function next(form, name, { blob, line }, skip) {
  const values = new URLSearchParams({ name, tags: form.tags.value, most: AT_ONCE });
  if (skip) values.set("skip", skip);
  if (line) values.set("line", line);
  if (form.listed.checked) values.set("listed", "1");
  const sent = { method: "POST", body: blob, headers: { "Content-Type": "application/octet-stream" } };
  const answer = await fetch(`${form.dataset.import}?${values}`, sent);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

async function run(form) {
  const file = form.file.files[0];
  const done = { stored: 0, known: 0, failed: 0, all: 0 };
  part(form, "failures").textContent = "";
  part(form, "keys").value = "";
  for await (const one of partsOf(file, AT_ONCE)) {
    const before = done.all;
    for (let left = 1; left;) {
      const came = await next(form, file.name, one, done.all - before);
      told(form, came.failed, done.failed);
      kept(form, came.cases);
      done.stored += came.stored;
      done.known += came.known;
      done.failed += came.failed.length;
      done.all = done.stored + done.known + done.failed;
      left = came.left;
      say(form, done, left, one.left);
    }
  }
}

async function submitted(event) {
  const form = event.target.closest("form[data-import]");
  if (!form || !form.file.files.length) return;
  event.preventDefault();
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  part(form, "status").textContent = "Importing …";
  try {
    await run(form);
  } catch (error) {
    part(form, "status").textContent = `It stopped: ${error.message}`;
    form.querySelector("progress").hidden = true;
  }
  button.disabled = false;
}

export function startImport() {
  document.addEventListener("submit", submitted);
}
