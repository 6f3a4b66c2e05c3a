"""What changed between two sweeps: matched by what is wrong, whatever the engine is called, and wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.sweeps.changes import changes_json, checked_report
from parsers.vocabulary.types import UsageError


def signature(count: int, check: str = "chunking", **more: Any) -> dict[str, Any]:
    usual = {"severity": "error", "about": "parser", "topic": "CHUNKS", "sort": "calls", "where": "", "state": "s"}
    texts = {"parser": "a:hermes", "marker": "</tool_call>", "id": f"{check}{count}", "words": "it depends"}
    return {"check": check, "count": count, **usual, **texts, **more}


def report(*signatures: dict[str, Any], outputs: int = 100) -> dict[str, Any]:
    return {"schema": 1, "outputs": outputs, "signatures": [*signatures]}


NAMED = ("new", "gone", "more", "fewer")


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        ([], [signature(3)], (1, 0, 0, 0, 0)),
        ([signature(3)], [], (0, 1, 0, 0, 0)),
        ([signature(3)], [signature(4)], (0, 0, 1, 0, 0)),
        ([signature(3)], [signature(2)], (0, 0, 0, 1, 0)),
        ([signature(3)], [signature(3)], (0, 0, 0, 0, 1)),
        ([signature(3)], [signature(3, parser="b:hermes", state="elsewhere", id="x")], (0, 0, 0, 0, 1)),
        ([signature(3)], [signature(3, parser="a:qwen3")], (1, 1, 0, 0, 0)),
        ([signature(3)], [signature(3, marker="<tool_call>")], (1, 1, 0, 0, 0)),
        ([signature(1, state="s"), signature(2, state="t")], [signature(3)], (0, 0, 0, 0, 1)),
    ],
)
def test_signatures_are_matched_by_what_is_wrong(
    before: list[dict[str, Any]], after: list[dict[str, Any]], counts: tuple[int, ...]
) -> None:
    found = changes_json(report(*before), report(*after))
    assert (*[len(found[name]) for name in NAMED], found["same"]) == counts
    assert found["comparable"]


def test_a_row_says_both_counts_and_where_it_is_told() -> None:
    found = changes_json(report(signature(3)), report(signature(7), outputs=90))
    (row,) = found["more"]
    assert (row["before"], row["after"], row["ids"], row["words"]) == (3, 7, ["chunking7"], "it depends")
    assert not found["comparable"]


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"schema": 2, "outputs": 1, "signatures": []}, {"schema": 1, "outputs": 1, "signatures": [{}]}],
)
def test_what_is_no_report_is_refused(data: Any) -> None:
    with pytest.raises(UsageError, match="x is no report of a sweep"):
        checked_report(data, "x")


def test_a_report_is_one() -> None:
    data = report(signature(1))
    assert checked_report(data, "x") is data
