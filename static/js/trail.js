/* The runs of this tab in the order they were opened, for Undo: the address of each, and the entry of the browser's
   history that shows it. Whoever goes Back has the runs ahead no more behind them: those leave the trail, and join it
   again when Forward leads there. A browser that does not tell its entries keeps all. */
const TRAIL = "trail";
const MOST = 30;

function read() {
  try {
    const found = JSON.parse(sessionStorage.getItem(TRAIL) ?? "[]");
    return Array.isArray(found) ? found.filter(({ address }) => address) : [];
  } catch {
    return [];
  }
}

function write(trail) {
  try {
    sessionStorage.setItem(TRAIL, JSON.stringify(trail.slice(-MOST)));
  } catch {
    /* there is no Undo */
  }
}

/* The entries that Forward leads to, by key. */
function ahead() {
  const { navigation } = window;
  const now = navigation?.currentEntry;
  return new Set(
    now
      ? navigation
          .entries()
          .slice(now.index + 1)
          .map(({ key }) => key)
      : [],
  );
}

/* The run that the page shows is the last of the trail. */
export function follow(address) {
  const left = ahead();
  const trail = read().filter(({ key }) => !left.has(key));
  if (trail.at(-1)?.address !== address) trail.push({ address, key: window.navigation?.currentEntry?.key ?? "" });
  write(trail);
}

/* Whether there is a run before the one shown; beside a comparison, which is none, it is the run it was opened from. */
export const hasBefore = (now) => read().some(({ address }) => address !== now);

/* Takes the run that is shown off the trail; the address of the one before it, or undefined. */
export function stepBack(now) {
  const trail = read();
  while (trail.length && trail.at(-1).address === now) trail.pop();
  if (trail.length) write(trail);
  return trail.at(-1)?.address;
}

export function forgetTrail() {
  try {
    sessionStorage.removeItem(TRAIL);
  } catch {
    /* there is nothing */
  }
}
