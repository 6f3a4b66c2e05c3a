/* The form of the view (`#cursor`): it asks the server for a part of this page, with the address or the form that works
   without script too, and carries what was chosen in the page. A newer request of the same source replaces the
   older. */
const form = () => document.getElementById("cursor");

export function ask(target, swap, extra, source = target) {
  if (!form()) return;
  const values = Object.fromEntries(new FormData(form()));
  for (const name of ["filter", "pasted", "pasted_as", "output"]) delete values[name];
  Object.assign(values, extra);
  const action = form().getAttribute("action");
  const common = { target, swap, source };
  if (form().method === "get") window.htmx.ajax("GET", `${action}?${new URLSearchParams(values)}`, common);
  else window.htmx.ajax("POST", action, { ...common, values });
}

/* Keeps a choice for the next request and the address; false where the page has no such choice. */
export function choose(name, value) {
  const field = form()?.querySelector(`[data-view="${name}"]`);
  if (!field) return false;
  field.value = value;
  field.dataset.changed = "1";
  return true;
}

/* The choices that are not the default, by name. */
export function chosen() {
  const fields = [...form().elements].filter((field) => field.dataset.view && field.value);
  const other = fields.filter((field) => field.value !== field.defaultValue || field.dataset.changed);
  return other.map((field) => [field.dataset.view, field.value]);
}
