/* Keeps an element in sight inside its own scrolling box; the page itself never moves. Of a box that goes on below the
   screen only the part on the screen counts. */
export function keepVisible(element, box) {
  if (!box || box.scrollHeight <= box.clientHeight) return;
  const outer = box.getBoundingClientRect();
  const inner = element.getClientRects()[0] ?? element.getBoundingClientRect();
  const onScreen = Math.min(outer.bottom, window.innerHeight);
  const bottom = onScreen > outer.top + 96 ? onScreen : outer.bottom;
  if (inner.top < outer.top + 32 || inner.bottom > bottom - 32) box.scrollTop += inner.top - (outer.top + bottom) / 2;
}
