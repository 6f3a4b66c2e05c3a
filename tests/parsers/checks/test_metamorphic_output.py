"""The checks of changed outputs, where the outcome depends on more than their examples show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.checks.check import Need
from parsers.checks.examples import examples
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import Message, ToolCall
from tests.parsers.checks.subjects import LATER, LONG, PLAIN, TOOLS, X, findings, levels, message, subject, variant

A = message('{"a": "a}b"}')


@pytest.mark.parametrize(
    ("now", "facts", "expected"),
    [
        (message('{"a": "a}b"}'), {}, []),
        (message('{"a":"a}b"}'), {}, []),
        (message('{"a": "a"}'), {}, [("error", None)]),
        (message('{"a": "a}b"}', content="b"), {}, [("error", None)]),
        (message(), {}, [("error", None)]),
        (message("[1]"), {}, [("error", None)]),
        (message('{"a": "a'), {}, [("error", None)]),
        (message(), {"marker": True}, [("info", None)]),
        (message(), {"marker": True, "syntax": "json"}, [("error", None)]),
        (message(), {"policy": "engine=fallback"}, [("info", "engine=fallback")]),
        (message(), {"was": "other"}, []),
        (message(), {"call": 1}, []),
    ],
)
def test_a_planted_text_must_arrive_and_change_nothing_else(
    now: Message, facts: dict[str, Any], expected: list[tuple[str, str | None]]
) -> None:
    assert levels(findings("escapes", variant("escaped", now, X, **{**PLAIN, **facts}))) == expected


def test_signs_and_markers_are_a_finding_each_with_how_many_there_are() -> None:
    plants = [("}", False), ("{", False), ("<c>", True), ("</c>", True)]
    made = [
        variant(
            "escaped",
            message(),
            X,
            label=f"with {plant}",
            **{**PLAIN, "plant": plant, "marker": marker, "syntax": "json"},
        )
        for plant, marker in plants
    ]
    assert [one.message for one in findings("escapes", *made)] == [
        "Read with }, the output gives another message than with a plain word there; 1 more text does the same.",
        "Read with <c>, the output gives another message than with a plain word there; 1 more text does the same.",
    ]
    for one in made:
        one.facts = {**one.facts, "syntax": "bare"}
    assert findings("escapes", *made)[-1].message == (
        "The format has no escapes: an argument that contains `<c>`, `</c>` cannot round-trip."
    )


def test_a_call_in_arguments_that_are_no_object_is_left_alone() -> None:
    assert findings("escapes", variant("escaped", message(), message("[1]"), **PLAIN)) == []


@pytest.mark.parametrize(
    ("now", "words"),
    [(message('{"a": "xx"}'), "one: 2 of 4 arrive."), (message(), "one."), (message('{"a": "yyyy"}'), "one.")],
)
def test_a_value_that_is_too_long_is_said_with_what_arrived(now: Message, words: str) -> None:
    [found] = findings(
        "no_length_cap", variant("padded", now, X, **LONG), variant("padded", now, X, **{**LONG, "size": 9})
    )
    assert found.message.endswith(words)


@pytest.mark.parametrize(
    ("work", "timed", "found"),
    [
        (((2_000, 10), (8_000, 40)), False, 0),
        (((2_000, 10), (8_000, 160)), False, 1),
        (((2_000, 10), (8_000, 160)), True, 0),
        (((2_000, 10_000), (8_000, 160_000)), True, 1),
        (((2_000, 20_000), (8_000, 80_000)), True, 0),
        ((), False, 0),
    ],
)
def test_work_may_grow_with_the_length_and_short_times_say_nothing(work: Any, timed: bool, found: int) -> None:
    made = variant("padded", message('{"a": "xxxx"}'), X, **{**LONG, "times" if timed else "work": work})
    assert len(findings("linear_arguments", made)) == found


@pytest.mark.parametrize(
    ("facts", "black_box", "expected"),
    [
        ({}, False, ("error", None)),
        ({}, True, ("error", None)),
        ({"bare": True}, True, ("warning", None)),
        ({"bare": True}, False, ("error", None)),
        ({"changed": True}, True, ("warning", None)),
        ({"changed": True}, False, ("error", None)),
        ({"policy": "recovery=fail"}, False, ("info", "recovery=fail")),
    ],
)
def test_a_lost_call_is_an_error_where_no_server_may_differ(
    facts: dict[str, Any], black_box: bool, expected: tuple[str, str | None]
) -> None:
    made = variant("followed", message(), X, **{**LATER, **facts})
    assert levels(findings("recovers", made, black_box=black_box)) == [expected]


def test_a_call_that_was_there_before_does_not_count_as_found() -> None:
    given = {**LATER, "given": [("f", "{}")]}
    (lost,) = findings("recovers", variant("followed", message("{}"), message("{}"), **given))
    assert "the output does not give that call once more" in lost.message
    assert (lost.expected, lost.actual) == ("f({}), f({})", "f({})")
    assert not findings("recovers", variant("followed", message("{}", "{}"), message("{}"), **given))


def test_all_calls_that_were_appended_are_expected() -> None:
    facts = {**LATER, "expected": [("f", "{}"), ("f", "[1]")], "given": [("f", "{}")]}
    (lost,) = findings("recovers", variant("followed", message("{}", "[1]"), message("{}"), **facts))
    assert "the output does not give the call to f once more" in lost.message
    assert lost.expected == "f({}), f({}), f([1])"
    assert not findings("recovers", variant("followed", message("{}", "{}", "[1]"), message("{}"), **facts))
    damaged = {**facts, "changed": True}  # it may take the first one with it
    assert not findings("recovers", variant("followed", message("{}", "[1]"), message("{}"), **damaged))


@pytest.mark.parametrize(("depends", "many"), [(True, 0), (False, 1)])
def test_a_call_lost_under_one_chunking_is_no_second_fault_where_the_message_depends_on_them(
    depends: bool, many: int
) -> None:
    shown = examples()["recovers"].finds.trace
    other = replace(shown, message=message("[2]")) if depends else shown
    made = [variant("followed", now, X, **LATER) for now in (message(), message("{}"))]
    said = subject(shown, TOOLS, variants=made, compared=[("in one delta", other)])
    assert len(run_checks(said, ["recovers"]).findings) == many


@pytest.mark.parametrize(
    ("policy", "black_box", "expected"),
    [(None, False, "error"), (None, True, "warning"), ("engine=fallback", True, "info")],
)
def test_a_guess_counts_by_what_the_parser_can_say(policy: str | None, black_box: bool, expected: str) -> None:
    cuts = [variant("truncated", A, X, label=f"cut off after character {cut}", policy=policy) for cut in (4, 5)]
    [found] = findings("truncation", *cuts, black_box=black_box)
    assert found.severity == expected
    assert found.message.startswith("Cut off after character 5, ")
    assert found.message.endswith("; 1 more cut does the same.")


def test_whole_calls_of_a_cut_output_are_compared_in_order() -> None:
    both, other = message('{"a": 1}', '{"a": 2}'), message('{"a": 2}', '{"a": 1}')
    assert findings("truncation", variant("truncated", message('{"a": 2}'), both)) == []
    [found] = findings("truncation", variant("truncated", other, both))
    assert found.actual == 'f({"a": 1})'
    [more] = findings("truncation", variant("truncated", both, message('{"a": 1}')))
    assert more.expected == "no such call"


def test_failures_are_told_apart_by_their_place_and_shown_at_the_shortest_change() -> None:
    failures = [
        Failure("KeyError", "'a'", "feed, line 3"),
        Failure("KeyError", "'b'", "feed, line 3"),
        Failure("KeyError", "'a'", "end, line 9"),
        Failure("ValueError"),
    ]
    made = [variant("mutated", message(), X, raised=failure, label=f"with {failure}") for failure in failures]
    found = findings("changed_output_raised", *made)
    assert [one.message.endswith("; 1 more changed output does the same.") for one in found] == [True, False, False]


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (message(), "the number of calls differs"),
        (message('{"a": "y"}'), "call 0 (`f`) differs"),
        (message('{"a": "x"}', content="y"), "the content differs"),
        (message('{"a": "x"}', reasoning="y"), "the reasoning differs"),
        (Message(None, None, [ToolCall("id", "f", '{"a": "x"}')]), "the id or the end of a call differs"),
    ],
)
def test_what_an_instance_kept_is_said_by_channel(now: Message, says: str) -> None:
    [found] = findings("reusable", variant("reused", now, X, edits=()))
    assert says in found.message
    assert (found.step, found.span) == (None, None)


@pytest.mark.parametrize(
    ("failures", "says"),
    [
        (("E: x", None), "the parser does not fail, as it did before with E: x."),
        ((None, "E: x"), "the parser fails with E: x."),
        (("E: x", "E: y"), "the parser fails with E: y."),
    ],
)
def test_a_failure_that_comes_and_goes_is_a_difference(failures: tuple[str | None, str | None], says: str) -> None:
    [found] = findings("reusable", variant("reused", X, X, failures=failures))
    assert found.message == f"Read once more in the same way by a new parser instance, {says}"


def test_ids_of_a_black_box_are_not_compared() -> None:
    now = Message(None, None, [ToolCall("id", "f", '{"a": "x"}')])
    assert findings("reusable", variant("reused", now, X), black_box=True) == []


def test_a_check_that_needs_a_kind_of_variants_says_so() -> None:
    shown = examples()["escapes"].finds.trace
    skipped = dict(run_checks(subject(shown)).skipped)
    assert skipped["changed_output_raised"] is Need.VARIANTS
    assert skipped["escapes"] is Need.ESCAPED
    raised = variant("escaped", message(), X, raised=Failure("KeyError"), **PLAIN)
    assert "escapes" in dict(run_checks(subject(shown, variants=(raised,))).skipped)
    assert [name for name in CHECKS if name in skipped and not CHECKS[name].needs] == []
