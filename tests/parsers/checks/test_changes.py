"""What changed outputs show is told apart, and weighs what a table says."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from parsers.checks import CHECKS
from parsers.checks.changes import WEIGHTS, Differs, apart, weight_of
from parsers.checks.examples import examples
from parsers.checks.subject import VariantKind
from parsers.formats.contracts import Contract
from parsers.vocabulary.events import Severity
from tests.parsers.checks.subjects import subject


def test_only_changed_outputs_are_told_apart() -> None:
    changed = {
        "changed_output_raised", "truncation", "recovers", "escapes", "no_length_cap", "linear_arguments", "neighbours",
        "tool_choice", "linear_time",
    }  # fmt: skip
    own, others = apart([check.finding("Said.") for check in CHECKS.values()])
    assert {finding.check for finding in others} == changed
    assert {finding.check for finding in own} == CHECKS.keys() - changed


def test_a_note_of_a_parsers_own_is_about_the_output() -> None:
    note = replace(CHECKS["escapes"].finding("Said."), check="its_own")
    assert apart([note]) == ([note], [])


@pytest.mark.parametrize(
    ("kind", "differs", "sure", "weight"),
    [
        ("truncated", Differs.CALL_MADE_UP, True, "error"),
        ("truncated", Differs.CALL_MADE_UP, False, "warning"),
        ("neighbour", Differs.TEXT_LOST, True, "warning"),
        ("neighbour", Differs.TEXT_LOST, False, "warning"),
        ("padded", Differs.WORK, True, "warning"),
    ],
)
def test_a_difference_weighs_what_the_contract_says(
    kind: VariantKind, differs: Differs, sure: bool, weight: Severity
) -> None:
    assert weight_of(subject(examples()["escapes"].finds.trace), kind, differs, sure=sure) == weight


def test_another_contract_weighs_otherwise() -> None:
    mild = Contract(name="mild", robustness={"escaped.value": "info"})
    given = subject(examples()["escapes"].finds.trace, promised=mild)
    assert weight_of(given, "escaped", Differs.VALUE) == "info"
    assert weight_of(given, "escaped", Differs.VALUE, sure=False) == "info"


def test_the_table_knows_kinds_of_changes_only() -> None:
    assert {kind for kind, _ in WEIGHTS} <= {*get_args(VariantKind)}
