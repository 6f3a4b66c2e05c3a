"""Which chunking a verdict and the finding under it show."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.search.found import Verdict, VerdictKind
from parsers.search.verdict_cuts import shown_first
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding, Proof

SHOWN: dict[str, Any] = {"by": "cuts", "cuts": []}
COMMON: dict[str, Any] = {"by": "token", "size": 64}


def parted_by(chunking: dict[str, Any], *follows: Finding, severity: Severity = "error") -> Finding:
    return Finding("chunking", severity, "parser", f"With {chunking}.", id="C1", proof=Proof(chunking), follows=follows)


@pytest.mark.parametrize(
    ("kind", "follows", "order"),
    [
        ("chunk_boundary", [parted_by(SHOWN)], [SHOWN, COMMON]),
        ("chunk_boundary", [parted_by({"by": "char"}), parted_by(SHOWN)], [SHOWN, COMMON, {"by": "char"}]),
        ("chunk_boundary", [parted_by(SHOWN, severity="info")], [COMMON, SHOWN]),
        ("chunk_boundary", [], [COMMON]),
        ("parser_flawed", [parted_by(SHOWN)], [COMMON, SHOWN]),
    ],
)
def test_the_chunking_of_the_verdict_is_that_of_the_finding_it_rests_on(
    kind: VerdictKind, follows: list[Finding], order: list[dict[str, Any]]
) -> None:
    said = Verdict(kind, "error", "parser", "So it is.", findings=(1,), proof=Proof(SHOWN))
    other = parted_by({"by": "whole"})
    before, found = shown_first([other, parted_by(COMMON, *follows)], said)
    assert before is other
    assert [one.proof and one.proof.chunking for one in (found, *found.follows)] == order


def test_a_verdict_that_rests_on_no_finding_leaves_them_as_they_are() -> None:
    assert shown_first([], Verdict("chunk_boundary", "error", "parser", "So it is.")) == []
