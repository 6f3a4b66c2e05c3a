"""`make faults`: a server on this machine is hurt in many ways; what came of it goes to docs/reliability.md.

`python -m tests.faults [--writes N] [--only FAULT]`. A run of `--only` writes nothing. Ends with 1 where an
acknowledged case was lost, or where an answer was neither good nor a refusal in words.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from tests.bench.document import RELIABILITY, Document, machine
from tests.faults.outcome import Outcome, UntriedError
from tests.faults.process_faults import PROCESSES
from tests.faults.storage_faults import STORAGE

TEMPLATE = Path(__file__).with_name("faults.md")
FAULTS = {one.__name__: one for one in (*STORAGE, *PROCESSES)}


def main() -> None:
    """Make faults."""
    parser = ArgumentParser(prog="python -m tests.faults", description="Hurt a server and see.")
    parser.add_argument("--writes", type=int, default=300, help="acknowledged writes of a fault under load")
    parser.add_argument("--only", choices=[*FAULTS], help="one fault; writes nothing")
    options = parser.parse_args()
    found = [tried(FAULTS[name], options.writes) for name in ([options.only] if options.only else FAULTS)]
    document = Document(TEMPLATE, RELIABILITY)
    told(document, found)
    if not options.only:
        document.write_section()
    sys.exit(not all(one.is_good for one in found))


def tried(fault: Callable[[int], Outcome], writes: int) -> Outcome:
    """What comes of a fault, also of one that cannot be made here or does not end."""
    name = fault.__name__.replace("_", " ").capitalize()
    try:
        found = fault(writes)
    except UntriedError as error:
        found = Outcome(name, "", untried=str(error))
    except TimeoutError as error:
        found = Outcome(name, "did not end", wrong=[str(error)])
    print(" | ".join(found.cells()), flush=True)
    return found


def told(document: Document, found: list[Outcome]) -> None:
    """Fill a document with what came."""
    document.word("machine", machine())
    document.word("acknowledged", f"{sum([len(one.book.acknowledged) for one in found]):,}")
    document.word("lost", str(sum([one.lost for one in found])))
    document.table("faults", [one.cells() for one in found])


if __name__ == "__main__":
    main()
