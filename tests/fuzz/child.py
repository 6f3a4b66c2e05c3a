"""One target under libFuzzer, in a process of its own: libFuzzer never comes back from its work.

`python -m tests.fuzz.child TARGET FOLDER FLAG...`: FOLDER has the folders `seeds` and `found` and the file `words`; the
flags are libFuzzer's. What is counted stands in the file `counts` at any moment, also where the process is killed; each
fault is a file in `faults`, named after its place, with the input in hexadecimal digits, and the run goes on.
"""

from __future__ import annotations

import mmap
import sys
import traceback
from pathlib import Path
from types import FunctionType

import atheris

with atheris.instrument_imports(include=["parsers", "webapp.formats"]):
    from parsers.formats.model import builtin_formats, row_ids
    from tests.fuzz.targets import TARGETS

from tests.fuzz.json_mutation import JsonMutation

COUNTS = 2  # executions, and rows of formats that fired
BYTES = 8  # of a count


class Watched:
    """A target whose executions, faults and reached rows are written down."""

    def __init__(self, name: str, folder: Path) -> None:
        self._target = TARGETS[name]
        self._faults = folder / "faults"
        with (folder / "counts").open("w+b") as file:
            file.truncate(COUNTS * BYTES)
            self._counts = memoryview(mmap.mmap(file.fileno(), COUNTS * BYTES)).cast("Q")
        self._rows = _branches() if name == "parsers" else {}
        self._reached: set[tuple[str, str]] = set()

    def __call__(self, data: bytes) -> None:
        """Run it once."""
        self._counts[0] += 1
        try:
            self._target.run(data, self._mark)
        except Exception as error:
            self._write_down(error, data)

    def _mark(self, name: str, row: str) -> None:
        branch = self._rows.get((name, row))
        if branch is None:
            return
        branch()
        if (name, row) not in self._reached:
            self._reached.add((name, row))
            self._counts[1] = len(self._reached)

    def _write_down(self, error: Exception, data: bytes) -> None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        file = self._faults / f"{type(error).__name__}-{Path(frame.filename).stem}-{frame.lineno}"
        if not file.exists():
            file.write_text(f"{data.hex()}\n{''.join(traceback.format_exception(error))}", "utf-8")


def _branches() -> dict[tuple[str, str], FunctionType]:
    """A branch for every row of every format: parsers are tables, and their lines say little of what was reached."""
    return {
        (name, row): atheris.instrument_func(FunctionType(_nothing.__code__, {}))
        for name, fmt in builtin_formats().items()
        for row in row_ids(fmt).values()
    }


def _nothing() -> None:
    return


def main() -> None:
    """Fuzz."""
    name, folder, flags = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    target, watched = TARGETS[name], Watched(name, folder)
    places = [str(folder / "found"), str(folder / "seeds")]
    if not target.is_json:
        atheris.Setup([sys.argv[0], *flags, *places], watched)
    else:
        mutation = JsonMutation(target.seeds())

        def changed(data: bytes, most: int, seed: int) -> bytes:
            """Half of the changes are libFuzzer's own, so that what is no JSON is tried as well."""
            found = None if seed & 2 else mutation.changed(data, most, seed)
            return atheris.Mutate(data, most) if found is None else found

        atheris.Setup([sys.argv[0], *flags, *places], watched, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
