"""Over all case files, the checks of changed outputs blame no parser that is right.

One file in 36 is tried with every other kind of change, in small numbers and without long values; every hundredth of
these with all of them.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from parsers.cases.run import replayer_of
from parsers.checks import CHECKS, run_checks
from parsers.replays.chunking import TRACED
from parsers.search.variants import BOUNDS, KINDS, Bounds, variants
from parsers.vocabulary.types import Piece
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.parsers.checks.subjects import subject
from webapp.engines import choose

pytestmark = pytest.mark.replays

CASES = every(36, case_names(without=("recorded",)))
FEW = Bounds(cut=500, streamed=100, mutants=2)
NAMES = [name for name, check in CHECKS.items() if any(need.is_metamorphic for need in check.needs)]
SHORT = [kind for kind in KINDS if kind != "padded"]
SHARES = 10


@pytest.mark.parametrize("share", range(SHARES))
def test_no_right_parser_is_blamed_for_a_changed_output(share: int) -> None:
    blamed, tried, files = [], 0, list(enumerate(CASES))[share::SHARES]
    for index, name in files:
        in_full = index % 101 == 0
        made, found = judged(name, BOUNDS if in_full else FEW, list(KINDS) if in_full else SHORT[index % 2 :: 2])
        blamed += [f"{name}: {words}" for words in found]
        tried += made
    assert blamed == []
    assert tried > 5 * len(files)


def judged(name: str, bounds: Bounds, kinds: Collection[str]) -> tuple[int, list[str]]:
    """How many changed outputs were replayed, and what the checks blame the parser for."""
    case = case_named(name)
    pieces = case.pieces() or tuple([Piece(char) for char in case.text()])
    replayer = replayer_of(case, choose(case), pieces)
    trace = replayer.trace(TRACED)
    made = tuple(variants(replayer, trace, bounds=bounds, kinds=kinds))
    seen = subject(trace, replayer.context, variants=made, black_box=replayer.black_box)
    found = run_checks(seen, NAMES).findings
    return len(made), [f"{one.check}: {one.message}" for one in found if one.severity != "info"]
