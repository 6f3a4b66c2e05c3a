"""What is said of a soak: nothing of one that went well, and a sentence for each thing that did not."""

from __future__ import annotations

import pytest

from tests.bench.soak import judged
from tests.bench.visitors import Ledger

FLAT = [(float(second), 300_000_000, 4) for second in range(40)]
GROWING = [(float(second), 300_000_000 + 20_000_000 * second, 4) for second in range(40)]


def ledger(**statuses: int) -> Ledger:
    found = Ledger()
    for status, count in statuses.items():
        for _ in range(count):
            found.note("GET /", status.removeprefix("_"), 0.1, "It broke." * (status == "_500"))
    return found


@pytest.mark.parametrize(
    ("answers", "memory", "said"),
    [
        ({"_200": 80, "_303": 5, "_503": 15}, FLAT, []),
        ({"_200": 80}, [], []),
        ({"_200": 80, "_500": 2}, FLAT, ["There were 2 faults."]),
        ({"_200": 8, "_503": 2, "_429": 1}, FLAT, ["3 of 11 answers were that the server is busy."]),
        ({"_200": 8}, GROWING, ["Memory grew from 590 to 990 MB."]),
    ],
)
def test_a_soak_is_judged_by_faults_by_who_was_sent_away_and_by_memory(
    answers: dict[str, int], memory: list[tuple[float, int, int]], said: list[str]
) -> None:
    assert judged(ledger(**answers), memory) == said
