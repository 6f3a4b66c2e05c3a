"""Over all case files, the checks of changed outputs blame no parser that is right.

Every file is tried with every other kind of change, in small numbers and without long values; every hundredth one with
all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from parsers.cases.io import loads
from parsers.cases.run import replayer_of
from parsers.checks import CHECKS, Subject, run_checks
from parsers.replays.chunking import TRACED
from parsers.search.variants import BOUNDS, KINDS, Bounds, variants
from parsers.vocabulary.types import Piece
from webapp.engines import choose

pytestmark = pytest.mark.replays

ROOT = Path(__file__).parents[2] / "cases"
FILES = sorted(path for path in ROOT.rglob("*.case.json") if path.parent.name != "recorded")
FEW = Bounds(cut=500, streamed=100, mutants=2)
NAMES = [name for name, check in CHECKS.items() if any(need.startswith("variants") for need in check.needs)]
SHORT = [kind for kind in KINDS if kind != "padded"]
SHARES = 20


@pytest.mark.parametrize("share", range(SHARES))
def test_no_right_parser_is_blamed_for_a_changed_output(share: int) -> None:
    blamed, tried, files = [], 0, list(enumerate(FILES))[share::SHARES]
    for index, path in files:
        every = index % 101 == 0
        made, found = judged(path, BOUNDS if every else FEW, list(KINDS) if every else SHORT[index % 2 :: 2])
        blamed += [f"{path.parent.name}/{path.name}: {words}" for words in found]
        tried += made
    assert blamed == []
    assert tried > 5 * len(files)


def judged(path: Path, bounds: Bounds, kinds: Collection[str]) -> tuple[int, list[str]]:
    """How many changed outputs were replayed, and what the checks blame the parser for."""
    case = loads(path.read_bytes())
    pieces = case.pieces() or tuple([Piece(char) for char in case.text()])
    replayer = replayer_of(case, choose(case), pieces)
    trace = replayer.trace(TRACED)
    made = tuple(variants(replayer, trace, bounds=bounds, kinds=kinds))
    subject = Subject(trace, replayer.context, variants=made, black_box=replayer.black_box)
    found = run_checks(subject, NAMES).findings
    return len(made), [f"{one.check}: {one.message}" for one in found if one.severity != "info"]
