"""Seconds that a search takes, for every grammar and stage: the sweep of chunkings, changed outputs, and all of it.

The sweep tries every cut in two, all sizes, random chunkings and the rest of the sweep set; the cuts in two are timed
alone, too.
"""

from __future__ import annotations

from collections import defaultdict
from time import perf_counter, process_time
from typing import NamedTuple

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.cases.find import CaseSearch
from parsers.cases.run import replayer_of
from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Spoken
from parsers.replays.replayer import Replayer
from parsers.replays.resumed import Resumed
from parsers.vocabulary.types import Piece
from tests.bench.outputs import TOKEN, prose

OTHERS = 350  # characters beside the long value
SWEEP = ("replay", "sweep")


class Seconds(NamedTuple):
    """Wall time of the stages of a search of an output of so many characters, and processor time of every cut in
    two."""

    grammar: str
    characters: int
    halves: float
    sweep: float
    changed: float
    all: float
    only_sweep: bool


def search(grammar: str, characters: int = 2_000, *, only_sweep: bool = False) -> Seconds:
    """The seconds of one search of an output that is read rightly: there is nothing to shrink."""
    calls = [Call("write", {"path": "a.py", "text": prose(characters - OTHERS)}), Call("f", {"a": 3})]
    dialect = DIALECTS[grammar]
    text = dialect.write(Spoken(["Let me do that. ", "", ""], calls))
    pieces = tuple([Piece(text[at : at + TOKEN]) for at in range(0, len(text), TOKEN)])
    data = {"schema": 1, "parser": {"name": dialect.parser, "policy": dialect.policy}, "input": {"text": [text]}}
    found = CaseSearch(Case.model_validate(data), pieces=pieces)
    spent: defaultdict[str, float] = defaultdict(float)
    start = perf_counter()
    for progress in found.run():
        if only_sweep and progress.stage not in SWEEP:
            break
        now = perf_counter()
        spent[progress.stage] += now - start
        start = now
    else:
        found.result()
        spent["done"] += perf_counter() - start
    sweep = sum([spent[one] for one in SWEEP])
    halves = _halves(replayer_of(found.case, choose(found.case), pieces), len(text))
    return Seconds(grammar, len(text), halves, sweep, spent["variants"], sum(spent.values()), only_sweep)


def _halves(replayer: Replayer, size: int) -> float:
    """The processor seconds of every cut in two."""
    start, resumed = process_time(), Resumed(replayer)
    assert all(resumed.outcome((cut,)) for cut in range(1, size))
    return process_time() - start
