"""`make fuzz`: coverage-guided fuzzing of whatever reads what strangers send; writes to docs/reliability.md.

`python -m tests.fuzz [--executions N] [--seconds S] [--only TARGET] [--folder FOLDER]`. A run of `--only` writes
nothing. Ends with 1 where a fault was found; what it takes to see one again is printed.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tests.bench.document import NOTHING, RELIABILITY, Document, machine
from tests.fuzz.fuzzing import Counted, fuzzed
from tests.fuzz.targets import TARGETS

TEMPLATE = Path(__file__).with_name("fuzzing.md")
GOAL = 10_000_000  # executions before a release
NICE = 19  # others on this machine go first


def main() -> None:
    """Fuzz."""
    parser = ArgumentParser(prog="python -m tests.fuzz", description="Fuzz what reads the input of strangers.")
    parser.add_argument("--executions", type=int, default=GOAL, help="of all targets together")
    parser.add_argument("--seconds", type=float, default=24 * 3600, help="at most, of all targets together")
    parser.add_argument("--only", choices=[*TARGETS], help="one target, with all executions; writes nothing")
    parser.add_argument("--folder", type=Path, default=Path(".venv", "fuzz"), help="keeps what was found for next time")
    options = parser.parse_args()
    os.nice(NICE)
    shares = {options.only: 100} if options.only else {name: one.share for name, one in TARGETS.items()}
    found = [
        fuzzed(name, options.folder.resolve(), options.executions * share // 100, options.seconds * share / 100)
        for name, share in shares.items()
    ]
    document = Document(TEMPLATE, RELIABILITY)
    told(document, found, options.executions)
    if not options.only:
        document.write_section()
    for one in found:
        for fault in one.faults:
            print(f"{one.target}: {fault}: see {options.folder / one.target}")
    sys.exit(any(one.faults for one in found))


def told(document: Document, found: Sequence[Counted], wanted: int) -> None:
    """Fill a document with what was counted."""
    document.word("machine", machine())
    document.word("executions", f"{sum([one.executions for one in found]):,}")
    document.word("wanted", f"{wanted:,}")
    document.word("goal", f"{GOAL:,}")
    document.word("faults", str(sum([len(one.faults) for one in found])) if any(one.faults for one in found) else "no")
    document.table("targets", [_row(one) for one in found])


def _row(one: Counted) -> list[str]:
    rows = NOTHING if one.rows is None else f"{one.rows[0]:,} of {one.rows[1]:,}"
    counts = [f"{count:,}" for count in (one.executions, round(one.seconds), one.seeds, one.branches, one.inputs)]
    return [f"`{one.target}`", TARGETS[one.target].about, *counts, rows, str(len(one.faults))]


if __name__ == "__main__":
    main()
