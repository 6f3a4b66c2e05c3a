"""Seconds that a search of a 2,000-character output takes, stage by stage, for every grammar. Nothing is asserted.

Run with `make bench`. The target is 1.5 seconds for "sweep": every cut in two, all sizes, the random chunkings and the
rest of the sweep set. "changed" are the changed outputs and the checks, "all" is the whole search of an output that is
read rightly, which has nothing to shrink.
"""

from __future__ import annotations

import time
from collections import defaultdict

import pytest

from parsers.cases.case import Case
from parsers.cases.find import CaseSearch
from parsers.vocabulary.types import Piece
from tests.parsers.properties.dialects import DIALECTS
from tests.parsers.properties.render import Call, Spoken

pytestmark = pytest.mark.bench

CHARACTERS = 2_000
TARGET = 1.5
SENTENCE = "The quick brown fox jumps over 13 lazy dogs. "


def output(name: str) -> str:
    """Prose and two calls of about 2,000 characters."""
    value = (SENTENCE * 40)[: CHARACTERS - 350]
    calls = [Call("write", {"path": "a.py", "text": value}), Call("f", {"a": 3})]
    return DIALECTS[name].write(Spoken(["Let me do that. ", "", ""], calls))


def seconds(name: str) -> defaultdict[str, float]:
    """Wall time by stage."""
    text, dialect = output(name), DIALECTS[name]
    pieces = tuple([Piece(text[at : at + 4]) for at in range(0, len(text), 4)])
    data = {"schema": 1, "parser": {"name": dialect.parser, "policy": dialect.policy}, "input": {"text": [text]}}
    search = CaseSearch(Case.model_validate(data), pieces=pieces)
    spent: defaultdict[str, float] = defaultdict(float)
    start = time.perf_counter()
    for progress in search.run():
        now = time.perf_counter()
        spent[progress.stage] += now - start
        start = now
    search.result()
    spent["done"] += time.perf_counter() - start
    return spent


def test_seconds_of_a_search() -> None:
    print(f"\n{'grammar':<22}{'characters':>12}{'sweep':>10}{'changed':>10}{'all':>10}")
    for name in DIALECTS:
        spent = seconds(name)
        sweep, changed = spent["replay"] + spent["sweep"], spent["variants"]
        mark = "" if sweep <= TARGET else "  over the target"
        print(f"{name:<22}{len(output(name)):>12,}{sweep:>10.2f}{changed:>10.2f}{sum(spent.values()):>10.2f}{mark}")
