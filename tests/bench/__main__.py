"""`make bench`: measures everything, prints it, and writes docs/performance.md.

`python -m tests.bench [--quick] [--vllm PYTHON] [--sglang PYTHON]`. A quick run takes fewer grammars, sizes and seconds
and writes nothing.
"""

from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from parsers.cases.written.dialects import DIALECTS
from parsers.vocabulary.types import Mode
from tests.bench import tables
from tests.bench.document import Document, machine
from tests.bench.engine import figures
from tests.bench.load import health, throughput
from tests.bench.outputs import COMMON, DENSE, LARGE, MIDDLE, SMALL, Output, kinds_of
from tests.bench.page import opened
from tests.bench.peers import GIVEN, OWN, Peer, beside, is_known, started
from tests.bench.people import visits
from tests.bench.searching import search

LONGEST = 250_000  # tokens
LONG = COMMON[:2]  # the grammars that are measured at LARGE
SWEPT = 20_000  # characters, of which only the chunkings are searched
SECONDS = (10, 25)  # of throughput on so many processes, and of the worst inputs
QUICK_SECONDS = (4, 8)


def main() -> None:
    """Measure."""
    parser = ArgumentParser(prog="python -m tests.bench", description="Measure everything.")
    parser.add_argument("--quick", action="store_true", help="fewer grammars, sizes and seconds; writes nothing")
    for engine in GIVEN:
        parser.add_argument(f"--{engine.package}", metavar="PYTHON", help=f"an interpreter that has {engine.title}")
    options = vars(parser.parse_args())
    document, quick = Document(), options.pop("quick")
    with _peers(options) as peers:
        document.word("machine", machine())
        document.word("peers", tables.peers(peers))
        gc.collect()
        gc.freeze()  # as in the processes of the server: what was loaded is not looked at again and again
        _measure(document, peers, quick)
    if not quick:
        document.write()


@contextmanager
def _peers(pythons: dict[str, str | None]) -> Iterator[list[Peer]]:
    """Our own peers and those whose interpreters are given. One that cannot be loaded ends it all before it began."""
    with ExitStack() as stack:
        found = [stack.enter_context(started(engine, sys.executable)) for engine in OWN]
        given = [(engine, python) for engine in GIVEN if (python := pythons[engine.package])]
        found += [stack.enter_context(started(engine, python)) for engine, python in given]
        for peer in found:
            if not peer.version:
                sys.exit(f"{peer.engine.title} cannot be loaded: {peer.error}")
        yield found


def _is_shared(grammar: str) -> bool:
    return any(grammar in engine.names for engine in (*OWN, *GIVEN))


def _sizes(grammar: str, quick: bool) -> list[int]:
    """So many tokens are measured: every grammar at SMALL, those that peers know at MIDDLE, a few at LARGE."""
    sizes = [SMALL, *[MIDDLE] * _is_shared(grammar), *[LARGE] * (grammar in LONG)]
    return sizes[:1] * (grammar in COMMON) if quick else sizes


def _modes(output: Output) -> list[Mode]:
    return ["text", "ids"] if _is_shared(output.grammar) else ["text"]


def _measure(document: Document, peers: list[Peer], quick: bool) -> None:
    page = opened(LONGEST // (10 if quick else 1))
    document.word("steps", f"{page.steps:,}")
    document.table("page", tables.costs(page))
    document.table("memory", tables.memory(page))
    outputs = [
        Output(name, kind, tokens)
        for name, dialect in DIALECTS.items()
        for tokens in _sizes(name, quick)
        for kind in kinds_of(dialect)
    ]
    ours = [figures(output, mode) for output in outputs for mode in _modes(output)]
    document.table("engine", tables.engine(ours))
    document.table("grammars", tables.grammars(ours))
    shared = [output for output in outputs if output.tokens < LARGE or output.kind not in DENSE]
    theirs = [beside(peer, output) for output in shared for peer in peers if is_known(peer.engine, output)]
    document.table("peer_medians", tables.peer_medians(theirs))
    document.table("peer_grammars", tables.peer_grammars(theirs))
    named = [name for name in DIALECTS if SMALL in _sizes(name, quick)]
    found = [search(name) for name in named] + [search(name, SWEPT, only_sweep=True) for name in COMMON[: len(named)]]
    document.table("searches", tables.searches(found))
    fresh, worst = QUICK_SECONDS if quick else SECONDS
    document.table("throughput", tables.throughput([throughput(processes, fresh) for processes in (1, 2)]))
    document.table("people", tables.people(visits()))
    document.table("health", tables.health(list(health(worst))))


if __name__ == "__main__":
    main()
