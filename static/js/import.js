/* The import of many cases: the file is sent again and again, each time for the next hundred, and what came of them is
   said as it comes. Without this the form is posted once and takes what it has time for. */
const AT_ONCE = 100;
const SHOWN = 200; // failures that are named

const part = (form, name) => form.querySelector(`[data-import-${name}]`);

function say(form, done, left) {
  const words = `${done.stored} stored, ${done.known} known already, ${done.failed} failed`;
  part(form, "status").textContent = left ? `${words}; ${left} to come` : `${words}.`;
  const bar = form.querySelector("progress");
  bar.hidden = !left;
  bar.max = done.all + left;
  bar.value = done.all;
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

/* What came of the next cases. Throws with the server's sentence where it takes none. */
async function next(form, file, skip) {
  const values = new URLSearchParams({ name: file.name, tags: form.tags.value, most: AT_ONCE });
  if (skip) values.set("skip", skip);
  if (form.listed.checked) values.set("listed", "1");
  const sent = { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } };
  const answer = await fetch(`${form.dataset.import}?${values}`, sent);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

async function run(form) {
  const file = form.file.files[0];
  const done = { stored: 0, known: 0, failed: 0, all: 0 };
  part(form, "failures").textContent = "";
  for (let left = 1; left;) {
    const came = await next(form, file, done.all);
    told(form, came.failed, done.failed);
    done.stored += came.stored;
    done.known += came.known;
    done.failed += came.failed.length;
    done.all = done.stored + done.known + done.failed;
    left = came.left;
    say(form, done, left);
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
