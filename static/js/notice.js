/* The notice above the page: what happened, why, and whether asking again makes sense. */
const notice = () => document.getElementById("connection");

export function tell(head, reason = "", { again = true } = {}) {
  const part = (name) => notice().querySelector(`[data-connection-${name}]`);
  part("head").textContent = head;
  part("reason").textContent = reason;
  notice().querySelector("[data-retry]").hidden = !again;
  notice().hidden = false;
}

export function untell() {
  notice().hidden = true;
}
