"""One cause is one finding: what follows from another finding stands under it, by checks and places."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.checks import CHECKS
from parsers.checks.causes import by_cause, flattened
from parsers.vocabulary.trace import Finding, Proof, Topic
from parsers.vocabulary.types import Span


def finding(name: str, **more: Any) -> Finding:
    return CHECKS[name].finding(f"Said by {name}.", **{"severity": "error", "about": "parser", **more})


def shape(findings: list[Finding]) -> list[tuple[str, list[str]]]:
    return [(one.check, [other.check for other in one.follows]) for one in findings]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], []),
        (["monotone", "index_dense", "deltas_build_message"], [("index_dense", ["monotone", "deltas_build_message"])]),
        (["index_dense", "index_dense", "id_once"], [("index_dense", ["index_dense", "id_once"])]),
        (["deltas_build_message", "monotone", "id_once"], [("monotone", ["deltas_build_message"]), ("id_once", [])]),
        (
            ["arguments_json", "arguments_closed", "arguments_prefix"],
            [("arguments_prefix", ["arguments_json", "arguments_closed"])],
        ),
        (["tool_call_dropped", "spans_cover_input"], [("tool_call_dropped", ["spans_cover_input"])]),
        (["chunking", "whole_equals_streamed"], [("chunking", ["whole_equals_streamed"])]),
        (["no_empty_delta", "known_tool"], [("no_empty_delta", []), ("known_tool", [])]),
        (["parser_raised", "no_empty_delta", "id_once"], [("parser_raised", ["no_empty_delta", "id_once"])]),
    ],
)  # fmt: skip
def test_what_follows_stands_under_its_cause(given: list[str], wanted: list[tuple[str, list[str]]]) -> None:
    found = by_cause([finding(name) for name in given])
    assert shape(found) == wanted


@pytest.mark.parametrize(
    ("cause", "given", "wanted"),
    [
        (Topic.CHANCE, [("chunking", "warning"), ("index_dense", "error"), ("no_early_leak", "error")],
         ["chunking", "index_dense"]),
        (Topic.SERVER_ERROR, [("arguments_json", "error"), ("known_tool", "warning")], ["arguments_json"]),
        (Topic.RULE, [("chunking", "warning"), ("arguments_json", "error")], []),
    ],
)  # fmt: skip
def test_some_causes_explain_whatever_has_a_topic(
    cause: Topic, given: list[tuple[str, str]], wanted: list[str]
) -> None:
    others = [finding(name, severity=severity) for name, severity in given]
    (first, *_) = by_cause([finding("reusable", topic=cause), *others])
    assert (first.check, [one.check for one in first.follows]) == ("reusable", wanted)


def test_where_the_output_begins_explains_that_no_answer_follows() -> None:
    start = finding("channels_kept", severity="warning", about="request", topic=Topic.START)
    none = finding("answer_only_in_reasoning", severity="info", about="request")
    assert shape(by_cause([start, none])) == [("channels_kept", ["answer_only_in_reasoning"])]


@pytest.mark.parametrize(
    ("inner", "outer", "follows"),
    [
        ((3, 5), (2, 9), True),
        ((2, 9), (2, 9), True),
        ((1, 5), (2, 9), False),
        (None, (2, 9), False),
        ((3, 5), None, False),
    ],
)
def test_a_changed_value_explains_only_the_words_that_stand_in_it(
    inner: tuple[int, int] | None, outer: tuple[int, int] | None, follows: bool
) -> None:
    value, words = (None if span is None else Span(*span) for span in (outer, inner))
    found = by_cause([finding("values_kept", span=value), finding("spans_cover_input", span=words)])
    assert shape(found)[0] == ("values_kept", ["spans_cover_input"] * follows)


def test_that_a_recording_is_cut_is_said_once() -> None:
    ends = [finding(name, about="request", topic=Topic.CUT) for name in ("finish_reason", "arguments_json")]
    assert shape(by_cause([*ends, finding("id_once")])) == [("finish_reason", ["arguments_json"]), ("id_once", [])]


def test_flaws_of_an_output_have_causes_of_their_own() -> None:
    flaws = [finding("arguments_schema", about="output"), finding("arguments_schema", about="output")]
    assert shape(by_cause(flaws)) == [("arguments_schema", []), ("arguments_schema", [])]


def test_a_marker_that_a_lost_call_left_is_not_the_models() -> None:
    left = finding("no_terminal_leak", severity="warning", about="output")
    assert shape(by_cause([left, finding("tool_call_dropped")])) == [("tool_call_dropped", ["no_terminal_leak"])]


def test_what_a_contract_allows_explains_nothing_and_follows_from_nothing() -> None:
    allowed = finding("index_dense", policy="a=b")
    assert shape(by_cause([allowed, finding("monotone")])) == [("index_dense", []), ("monotone", [])]
    assert shape(by_cause([finding("index_dense"), allowed])) == [("index_dense", []), ("index_dense", [])]


def test_a_lesser_finding_explains_no_graver_one() -> None:
    note = finding("index_dense", severity="info")
    assert shape(by_cause([note, finding("monotone")])) == [("index_dense", []), ("monotone", [])]
    alike = [finding("id_once", severity="warning"), finding("id_once")]
    assert shape(by_cause(alike)) == [("id_once", []), ("id_once", [])]


def test_a_failure_explains_only_what_comes_after_it_in_the_same_replay() -> None:
    late, early = finding("no_empty_delta", step=9), finding("known_tool", step=2)
    assert shape(by_cause([finding("parser_raised", step=5), late, early])) == [
        ("parser_raised", ["no_empty_delta"]),
        ("known_tool", []),
    ]
    elsewhere = finding("parser_raised", proof=Proof({"by": "char"}))
    assert shape(by_cause([elsewhere, late])) == [("parser_raised", []), ("no_empty_delta", [])]


def test_folding_again_changes_nothing_and_nothing_is_lost() -> None:
    given = [finding(name) for name in ("monotone", "index_dense", "deltas_build_message", "no_empty_delta")]
    once = by_cause(given)
    assert by_cause(once) == once
    assert sorted(one.check for one in flattened(once)) == sorted(one.check for one in given)
    assert [row["check"] for row in once[0].to_json()["follows"]] == ["monotone", "deltas_build_message"]
    assert "follows" not in once[0].to_json()["follows"][0]


def test_a_call_that_other_chunkings_find_is_a_matter_of_chunks() -> None:
    missed = finding("tool_call_dropped", topic=Topic.CHUNKS)
    assert shape(by_cause([missed, finding("chunking")])) == [("chunking", ["tool_call_dropped"])]
    assert len(by_cause([missed, finding("spans_cover_input", topic=Topic.LOSS)])) == 1
    assert len(by_cause([finding("no_empty_delta"), missed])) == 2
