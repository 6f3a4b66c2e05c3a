/* Asks the server for a part of this page, with the address or the form that works without script too. A newer request
   of the same source replaces the older one. */
export function ask(target, swap, extra, source = target) {
  const form = document.getElementById("cursor");
  if (!form) return;
  const values = Object.fromEntries(new FormData(form));
  for (const name of ["filter", "pasted", "pasted_as", "output"]) delete values[name];
  Object.assign(values, extra);
  const action = form.getAttribute("action");
  const common = { target, swap, source };
  if (form.method === "get") window.htmx.ajax("GET", `${action}?${new URLSearchParams(values)}`, common);
  else window.htmx.ajax("POST", action, { ...common, values });
}
