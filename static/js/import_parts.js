/* The parts of a file to import. JSON Lines are sent a hundred lines at a time, each once; what is something else, such
   as an archive or a corpus, is one part. Nothing of a file is held but the bytes that are looked at. */
const NEWLINE = 10;
const LOOKED_AT = 4_000_000; // bytes of a first line

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/* Whether the first line is an object of its own, and another one follows. */
async function isLines(file) {
  const text = await file.slice(0, LOOKED_AT).text();
  const lines = text.split("\n").filter((line) => line.trim());
  if (lines.length < 2) return false;
  try {
    return isObject(JSON.parse(lines[0].replace(/^\uFEFF/, "")));
  } catch {
    return false;
  }
}

/* Where every so many lines end, in bytes. */
async function* ends(file, lines) {
  const reader = file.stream().getReader();
  let [at, many] = [0, 0];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (let place = read.value.indexOf(NEWLINE); place >= 0; place = read.value.indexOf(NEWLINE, place + 1)) {
      many += 1;
      if (many % lines === 0) yield at + place + 1;
    }
    at += read.value.length;
  }
  yield at;
}

/* Each part with the number of its first line, which a part that is the whole file has not; and the share of the file
   that comes behind it, from 0 to 1. */
export async function* partsOf(file, lines) {
  if (!(await isLines(file))) {
    yield { blob: file, line: null, left: 0 };
    return;
  }
  let [start, line] = [0, 1];
  for await (const end of ends(file, lines)) {
    if (end > start) yield { blob: file.slice(start, end), line, left: (file.size - end) / file.size };
    [start, line] = [end, line + lines];
  }
}
