"""What came of a case as a test: the word for it, its replays, and the one to show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, run_case
from parsers.cases.tested import as_test, outcome_of
from parsers.replays.chunking import label


@pytest.mark.parametrize(
    ("verdict", "different", "broken", "word"),
    [
        ("required", False, False, "ok"),
        ("required", True, False, "FAIL"),
        ("required", False, True, "FAIL"),
        ("known_bug", True, False, "known bug"),
        ("known_bug", False, True, "known bug"),
        ("known_bug", False, False, "not seen"),
        ("implementation_defined", False, False, "ok"),
        ("implementation_defined", True, False, "differs"),
        ("implementation_defined", True, True, "FAIL"),
    ],
)
def test_what_is_known_of_a_case_decides_what_a_difference_is(
    verdict: str, different: bool, broken: bool, word: str
) -> None:
    case = load_case({"schema": 1, "verdict": verdict, "parser": {"name": "qwen"}, "input": {"text": "x"}})
    assert outcome_of(case, different=different, broken=broken) == word


@pytest.mark.parametrize(
    ("expect", "word"), [({"content": "x"}, "fixed"), ({"content": None}, "fixed"), ({}, "not seen")]
)
def test_a_known_bug_is_fixed_where_what_is_expected_came(expect: dict[str, Any], word: str) -> None:
    keys = {"verdict": "known_bug", "expect": expect, "parser": {"name": "qwen"}, "input": {"text": "x"}}
    assert outcome_of(load_case({"schema": 1, **keys}), different=False, broken=False) == word


def ran(*replay: str, **keys: Any) -> CaseRun:
    asked = {"replay": [{"by": one} for one in replay]} if replay else {}
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi there"}, "checks": [], **asked, **keys}
    return run_case(load_case(case))


@pytest.mark.parametrize(
    ("replay", "labels"),
    [
        (("char", "token"), ["character by character", "whole", "token by token"]),
        (("char", "token", "whole"), ["character by character", "whole", "token by token"]),
        (("whole", "char"), ["whole", "character by character"]),
    ],
)
def test_the_whole_output_counts_once_whoever_asks_for_it(replay: tuple[str, ...], labels: list[str]) -> None:
    assert [label(one.chunking) for one in as_test(ran(*replay)).replays] == labels


def test_a_stream_that_is_played_back_is_one_replay() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    played = ran(parser={"name": "recorded", "engine": "recorded"}, input={"stream": [chunk]})
    assert [label(one.chunking) for one in as_test(played).replays] == ["as recorded"]


def test_the_replay_under_study_may_count_alone() -> None:
    found = as_test(ran("char", expect={"content": "Ho"}), alone=True)
    assert ([label(one.chunking) for one in found.failing], found.outcome) == (["character by character"], "FAIL")


def test_the_replay_of_fewest_deltas_that_shows_what_is_wrong_is_the_smallest() -> None:
    wrong, run = as_test(ran("char", "token", expect={"content": "Ho"})), ran("char", "token")
    assert (wrong.smallest.deltas, len(wrong.failing)) == (1, 3)
    assert label(as_test(run).smallest.chunking) == "character by character"
    run.compared[-1].same = False
    assert label(as_test(run).smallest.chunking) == "token by token"


def test_of_what_checks_find_only_errors_count() -> None:
    run = ran(input={"text": "</tool_call>"}, checks=None)
    assert ([one.severity for one in run.findings], as_test(run).errors) == (["warning"], ())
    run.findings = [*run.findings, replace(run.findings[0], severity="error")]
    assert (as_test(run).errors, as_test(run).outcome) == ((run.findings[1],), "FAIL")
