"""The checks of changed outputs, where the outcome depends on more than their examples show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.checks import CHECKS, Subject, run_checks
from parsers.checks.check import Variant, VariantKind
from parsers.checks.examples_variants import VARIANTS
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Context, Message, Tool, ToolCall

Build = Callable[..., Trace]
TOOLS = Context((Tool("f", {"type": "object"}),))
PLAIN: dict[str, Any] = {
    "call": 0,
    "key": "a",
    "was": "x",
    "value": "a}b",
    "plant": "}",
    "marker": False,
    "syntax": "bare",
}
LONG: dict[str, Any] = {**PLAIN, "value": "xxxx", "size": 4, "work": (), "times": ()}
LATER: dict[str, Any] = {"expected": [("f", "{}")], "already": 0, "changed": False, "bare": False}


def message(*calls: str, content: str | None = None, reasoning: str | None = None) -> Message:
    return Message(reasoning, content, [ToolCall(None, "f", call) for call in calls])


def variant(kind: VariantKind, now: Message, base: Message, **facts: Any) -> Variant:
    raised = facts.pop("raised", None)
    proof = Proof({"by": "whole"}, facts.pop("edits", ((0, 1, ""),)))
    return Variant(kind, facts.pop("label", "changed"), proof, "text", now, raised, facts, base)


def run(check: str, *variants: Variant, black_box: bool = False, trace: Trace | None = None) -> list[Finding]:
    shown = trace or next(one for one in VARIANTS if one.check == check).finds.trace
    return run_checks(Subject(shown, TOOLS, variants=variants, black_box=black_box), [check]).findings


def levels(findings: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.severity, one.policy) for one in findings]


X = message('{"a": "x"}')
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
    assert levels(run("escapes", variant("escaped", now, X, **{**PLAIN, **facts}))) == expected


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
    assert [one.message for one in run("escapes", *made)] == [
        "Read with }, the output gives another message than with a plain word there; 1 more text does the same.",
        "Read with <c>, the output gives another message than with a plain word there; 1 more text does the same.",
    ]
    for one in made:
        one.facts = {**one.facts, "syntax": "bare"}
    assert run("escapes", *made)[-1].message == (
        "The format has no escapes: an argument that contains `<c>`, `</c>` cannot round-trip."
    )


def test_a_call_in_arguments_that_are_no_object_is_left_alone() -> None:
    assert run("escapes", variant("escaped", message(), message("[1]"), **PLAIN)) == []


@pytest.mark.parametrize(
    ("now", "words"),
    [(message('{"a": "xx"}'), "one: 2 of 4 arrive."), (message(), "one."), (message('{"a": "yyyy"}'), "one.")],
)
def test_a_value_that_is_too_long_is_said_with_what_arrived(now: Message, words: str) -> None:
    [found] = run("no_length_cap", variant("padded", now, X, **LONG), variant("padded", now, X, **{**LONG, "size": 9}))
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
    assert len(run("linear_arguments", made)) == found


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
    assert levels(run("recovers", made, black_box=black_box)) == [expected]


def test_a_call_that_was_there_before_does_not_count_as_found() -> None:
    assert run("recovers", variant("followed", message("{}"), message("{}"), **{**LATER, "already": 1}))
    assert not run("recovers", variant("followed", message("{}", "{}"), message("{}"), **{**LATER, "already": 1}))


@pytest.mark.parametrize(
    ("facts", "black_box", "expected"),
    [
        ({"bare": False}, True, [("error", None)]),
        ({"bare": True}, True, [("warning", None)]),
        ({"bare": False, "policy": "recovery=fail"}, False, [("info", "recovery=fail")]),
    ],
)
def test_a_neighbour_that_changes_the_first_call(
    facts: dict[str, Any], black_box: bool, expected: list[tuple[str, str | None]]
) -> None:
    made = variant("neighbour", message(), X, **facts)
    assert levels(run("neighbours", made, black_box=black_box)) == expected


@pytest.mark.parametrize(
    ("before", "after", "kept", "expected"),
    [
        ("Hm.", "Hm. That is all.", True, []),
        ("Hm.", "Hm.That is\nall.", True, []),
        ("That is all.", "That is all.\n\nThat is all.", True, []),
        ("Hm.", "Hm. That is all.That is all.", False, [("error", None)]),
        ("Hm.", "Hm. That is", True, [("warning", None)]),
        ("That is all.", "That is all.", True, [("warning", None)]),
        ("Hm.", "Hm.", False, []),  # the format itself, or its policy, makes no content of it
    ],
)
def test_prose_beside_the_output_is_sent_once(
    before: str, after: str, kept: bool, expected: list[tuple[str, str | None]]
) -> None:
    base, said = (Message(None, text, X.tool_calls) for text in (before, after))
    made = variant("neighbour", said, base, bare=False, prose="That is all.", kept=kept)
    assert levels(run("neighbours", made, black_box=True)) == expected


def test_a_first_call_that_is_cut_off_may_change() -> None:
    base = Message(None, None, [ToolCall(None, "f", '{"a', complete=False)])
    assert run("neighbours", variant("neighbour", message(), base, bare=False)) == []


@pytest.mark.parametrize(
    ("policy", "black_box", "expected"),
    [(None, False, "error"), (None, True, "warning"), ("engine=fallback", True, "info")],
)
def test_a_guess_counts_by_what_the_parser_can_say(policy: str | None, black_box: bool, expected: str) -> None:
    cuts = [variant("truncated", A, X, label=f"cut off after character {cut}", policy=policy) for cut in (4, 5)]
    [found] = run("truncation", *cuts, black_box=black_box)
    assert found.severity == expected
    assert found.message.startswith("Cut off after character 5, ")
    assert found.message.endswith("; 1 more cut does the same.")


def test_whole_calls_of_a_cut_output_are_compared_in_order() -> None:
    both, other = message('{"a": 1}', '{"a": 2}'), message('{"a": 2}', '{"a": 1}')
    assert run("truncation", variant("truncated", message('{"a": 2}'), both)) == []
    [found] = run("truncation", variant("truncated", other, both))
    assert found.actual == 'f({"a": 1})'
    [more] = run("truncation", variant("truncated", both, message('{"a": 1}')))
    assert more.expected == "no such call"


def test_failures_are_told_apart_by_their_place_and_shown_at_the_shortest_change() -> None:
    places = [
        "KeyError: 'a' (in feed, line 3)",
        "KeyError: 'b' (in feed, line 3)",
        "KeyError: 'a' (in end, line 9)",
        "ValueError",
    ]
    made = [variant("mutated", message(), X, raised=place, label=f"with {place[-3:-1]}") for place in places]
    found = run("changed_output_raised", *made)
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
    [found] = run("reusable", variant("reused", now, X, edits=()))
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
    [found] = run("reusable", variant("reused", X, X, failures=failures))
    assert found.message == f"Read once more in the same way by a new parser instance, {says}"


def test_ids_of_a_black_box_are_not_compared() -> None:
    now = Message(None, None, [ToolCall("id", "f", '{"a": "x"}')])
    assert run("reusable", variant("reused", now, X), black_box=True) == []


@pytest.mark.parametrize(
    ("now", "channel", "found"),
    [(message(content="Hello"), "content", 0), (message(reasoning="Hello"), "content", 1), (message(), "reasoning", 1)],
)
def test_a_plain_word_shows_where_the_parser_begins(now: Message, channel: str, found: int) -> None:
    assert len(run("start_state", variant("start_state", now, X, expected=channel, probe="Hello"))) == found


def test_two_starts_that_give_the_same_leave_no_doubt() -> None:
    assert run("start_state", variant("start_state", X, X, open=True, doubt="</think>")) == []
    [found] = run("start_state", variant("start_state", message(reasoning="x"), X, open=True, doubt="</think>"))
    assert (found.severity, found.about) == ("info", "request")
    assert (found.expected, found.actual) == ("reasoning 'x'", 'calls \'f({"a": "x"})\'')
    [empty] = run("start_state", variant("start_state", message(), X, open=False, doubt="</think>"))
    assert empty.expected == "nothing"


@pytest.mark.parametrize(
    ("typed", "plain", "found"),
    [
        ('{"a": 1, "b": 2}', '{"a": "1", "b": 2}', 1),
        ('{"a": true}', '{"a": 1}', 1),
        ('{"a": 1}', '{"b": 1}', 0),
        ('{"a": 1}', "[1]", 0),
        ("[1]", '{"a": 1}', 0),
    ],
)
def test_only_arguments_that_the_schema_changes_are_noted(typed: str, plain: str, found: int) -> None:
    notes = run("schema_changes", variant("no_tools", message(plain), message(typed)))
    assert [one.severity for one in notes] == ["info"] * found


def test_text_that_is_lost_with_tool_choice_none_is_found() -> None:
    [found] = run("tool_choice", variant("no_calls", message(), X))
    assert found.message == "Read changed, the output gives no text at all."
    assert run("tool_choice", variant("no_calls", message(content="text"), X)) == []


def test_a_call_that_is_lost_without_tools_is_found() -> None:
    kept = variant("no_calls", message(content="text"), X)
    [found] = run("tool_choice", kept, variant("no_tools", message(content="text"), X))
    assert found.message == "Read changed, the output does not give call 0 (`f`)."
    assert run("tool_choice", kept, variant("no_tools", X, X)) == []


def test_a_check_that_needs_a_kind_of_variants_says_so() -> None:
    shown = VARIANTS[0].finds.trace
    skipped = dict(run_checks(Subject(shown)).skipped)
    assert skipped["changed_output_raised"] == "no changed output was replayed"
    assert skipped["escapes"] == "no string argument was found to plant anything in"
    raised = variant("escaped", message(), X, raised="KeyError", **PLAIN)
    assert "escapes" in dict(run_checks(Subject(shown, variants=(raised,))).skipped)
    assert [name for name in CHECKS if name in skipped and not CHECKS[name].needs] == []
