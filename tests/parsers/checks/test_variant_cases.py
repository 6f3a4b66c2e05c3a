"""Over all case files, the checks of changed outputs blame no parser that is right.

Every file is tried with a few cuts and mutants and no long values, every hundredth one with all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from parsers.cases.io import loads
from parsers.cases.run import replayer_of
from parsers.checks import CHECKS, Subject, run_checks
from parsers.chunking import TRACED
from parsers.replay import raised_in
from parsers.search.variants import BOUNDS, KINDS, Bounds, variants
from parsers.types import Piece
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
    blamed = []
    for index, path in list(enumerate(FILES))[share::SHARES]:
        found = findings(path, FEW, SHORT) if index % 101 else findings(path, BOUNDS, list(KINDS))
        blamed += [f"{path.parent.name}/{path.name}: {words}" for words in found]
    assert blamed == []


def findings(path: Path, bounds: Bounds, kinds: Collection[str]) -> list[str]:
    case = loads(path.read_bytes())
    pieces = case.pieces() or tuple([Piece(char) for char in case.text()])
    replayer = replayer_of(case, choose(case), pieces)
    trace = replayer.trace(TRACED)
    made = tuple(variants(replayer, trace, bounds=bounds, kinds=kinds))
    assert len(made) > 4 or len(case.text()) < 2 or raised_in(trace) is not None, path
    subject = Subject(trace, replayer.context, variants=made, black_box=replayer.black_box)
    found = run_checks(subject, NAMES).findings
    return [f"{one.check}: {one.message}" for one in found if one.severity != "info"]
