"""ends_idle, held_bounded, finish_reason, parser_raised, linear_time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import CHECKS, Subject, run_checks
from parsers.checks.known import Known
from parsers.vocabulary.events import Failure, Raised
from parsers.vocabulary.trace import Finding, Hold, HoldKind, Trace
from parsers.vocabulary.types import Context
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
CALL = [("name", "f"), ("arguments", "{}"), ("end",)]


def found(name: str, seen: Subject) -> list[Finding]:
    return run_checks(seen, [name]).findings


def test_a_hold_that_is_let_go_leaves_the_parser_idle(build: Build) -> None:
    trace = build(
        [("content", "a<")], holds={1: [Hold(1, 2, "lexer", "`<t>` may begin")], 2: [Hold(2, 2, "lexer", "")]}
    )
    assert found("ends_idle", subject(trace)) == []
    assert found("ends_idle", subject(Trace("demo", (), {}, "text", ""))) == []


def test_text_that_is_held_after_the_end_is_an_error(build: Build) -> None:
    trace = build([("content", "a<")], holds={2: [Hold(1, 2, "lexer", "`<t>` may begin")]})
    (finding,) = found("ends_idle", subject(trace))
    assert finding.message == "Characters 1 to 2 of the output are still held after the end: `<t>` may begin."
    assert (finding.severity, finding.step, finding.span, finding.actual) == ("error", 2, (1, 2), "<")


def test_a_replay_without_an_end_is_found(build: Build) -> None:
    (finding,) = found("ends_idle", subject(build([("content", "a")], ended=False)))
    assert finding.message == "The parser was never told that the output ended."


@pytest.mark.parametrize(
    ("kind", "length", "longest", "count"),
    [
        ("lexer", 3, 4, 0),
        ("lexer", 4, 4, 1),
        ("lexer", 1, 0, 1),
        ("lexer", 0, 0, 0),
        ("codec", 6, 4, 0),
        ("policy", 6, 4, 0),
        ("tentative", 6, 4, 0),
    ],
)
def test_only_holds_for_a_marker_are_bounded(
    build: Build, kind: HoldKind, length: int, longest: int, count: int
) -> None:
    trace = build([("content", "abcdefg")], holds={1: [Hold(1, 1 + length, kind, "why")]})
    assert len(found("held_bounded", subject(trace, longest_terminal=longest))) == count


def test_the_first_long_hold_is_shown_and_the_longest_is_told(build: Build) -> None:
    holds = {1: [Hold(0, 5, "lexer", "x")], 2: [Hold(0, 7, "lexer", "x")]}
    trace = build([("content", "abcde")], [("content", "fg")], holds=holds)
    (finding,) = found("held_bounded", subject(trace, longest_terminal=4))
    assert finding.message == "Up to 7 characters are held for a marker, though the longest has 4."
    assert (finding.step, finding.span, finding.actual) == (1, (0, 5), "abcde")


@pytest.mark.parametrize(
    ("calls", "said", "reason", "choice", "wanted"),
    [
        (False, None, "stop", "auto", None),
        (False, "stop", "stop", "auto", None),
        (False, "length", "length", "auto", None),
        (False, "content_filter", "content_filter", "auto", None),
        (True, None, "tool_calls", "auto", None),
        (True, "length", "length", "auto", None),
        (True, "stop", "stop", "named", None),
        (True, "stop", "tool_calls", "named", None),
        (True, "stop", "stop", "auto", "tool_calls"),
        (True, "length", "tool_calls", "named", "length"),
        (False, None, "tool_calls", "auto", "stop"),
        (False, "length", "stop", "auto", "length"),
    ],
)
def test_the_finish_reason_follows_from_calls_and_length(
    build: Build, calls: bool, said: str | None, reason: str, choice: str, wanted: str | None
) -> None:
    trace = build(CALL if calls else [("content", "Hi")], finish_reason=reason)
    context = Context(finish_reason=said, tool_choice=choice)  # type: ignore[arg-type]
    findings = found("finish_reason", subject(trace, context))
    assert [(f.expected, f.actual, f.severity, f.step) for f in findings] == (
        [(wanted, reason, "error", 2)] if wanted else []
    )


@pytest.mark.parametrize(("tools", "severity"), [(False, "warning"), (True, "error")])
def test_of_a_recording_nobody_knows_whether_the_request_named_the_tool(
    build: Build, tools: bool, severity: str
) -> None:
    played = subject(build(CALL, finish_reason="stop"), plays=True, known=Known(tools=tools))
    (finding,) = found("finish_reason", played)
    assert finding.severity == severity
    assert ("unless the request named the tool" in finding.message) == (severity == "warning")


def test_calls_that_only_the_server_saw_are_a_warning(build: Build) -> None:
    trace = build([("content", "Hi")], finish_reason="tool_calls")
    (finding,) = found("finish_reason", subject(trace, Context(finish_reason="tool_calls")))
    assert finding.message == "The server ended with `tool_calls`, but the parser found no call."
    assert (finding.severity, finding.about) == ("warning", "parser")


def test_an_empty_replay_ends_with_stop() -> None:
    assert found("finish_reason", subject(Trace("demo", (), {}, "text", ""))) == []


def test_a_failure_is_found_once_in_whatever_replay_has_it(build: Build) -> None:
    fine, broken = build([("content", "a")]), build([("content", "a")], [("raised", "b", "it broke")])
    other = build([("content", "a"), ("note", "b", "orphan_marker", "It is alone.")])
    seen = subject(broken, whole=fine, compared=[("whole", fine), ("char", other), ("3 tokens", broken)])
    assert [(f.message, f.step, f.span) for f in found("parser_raised", seen)] == [
        ("The parser failed at step 2, on the delta `b`: it broke", 2, (1, 2)),
    ]
    seen = subject(fine, compared=[("char", other), ("3 tokens", broken), ("5 tokens", broken)])
    assert [(f.message, f.step, f.span) for f in found("parser_raised", seen)] == [
        ('With the chunking "3 tokens", the parser failed at step 2, on the delta `b`: it broke', None, (1, 2)),
    ]


@pytest.mark.parametrize(
    ("failure", "words", "step"),
    [
        (Failure("E", before=True), "at step 0, before the first delta", 1),
        (Failure("E", unplaced=True), "at a step that is not known", None),
    ],
)
def test_a_failure_of_no_delta_is_told_as_one(build: Build, failure: Failure, words: str, step: int | None) -> None:
    broken = build([("raised", "b", "it broke")])
    event = broken.steps[0].events[-1]
    assert isinstance(event, Raised)
    event.failure = failure
    broken.steps[0].events = (event,)
    (finding,) = found("parser_raised", subject(broken))
    assert (finding.message, finding.step) == (f"The parser failed {words}: it broke", step)
    assert (finding.span is None) is (step is None)


@pytest.mark.parametrize(
    ("counters", "message"),
    [
        ((100, 200), None),
        ((100, 260), None),
        ((100, 400), "An output of twice the length makes the parser examine 4.0 times the characters."),
        ((0, 0), None),
        ((0, 7), "An output of twice the length makes the parser examine 7 instead of no the characters."),
    ],
)
def test_twice_the_output_may_not_cost_much_more_than_twice(
    good: Trace, counters: tuple[int, int], message: str | None
) -> None:
    findings = found("linear_time", subject(good, examined=counters))
    assert [finding.message for finding in findings] == ([message] if message else [])
    assert all((finding.severity, finding.about) == ("warning", "parser") for finding in findings)


@pytest.mark.parametrize(
    ("timings", "message"),
    [
        (((1_000, 100_000), (2_000, 200_000)), None),
        (((1_000, 1_000), (2_000, 19_000)), None),  # too short to be measured
        (
            ((1_000, 100_000), (2_000, 400_000)),
            "For 1,000 characters the parser takes 100,000 µs, for 2,000 it takes 400,000 µs.",
        ),
    ],
)
def test_where_nothing_is_counted_a_clock_may_be_asked(
    good: Trace, timings: tuple[tuple[int, int], ...], message: str | None
) -> None:
    findings = found("linear_time", subject(good, times=timings))
    assert [finding.message for finding in findings] == ([message] if message else [])


def test_without_counters_nothing_is_claimed(good: Trace) -> None:
    assert CHECKS["linear_time"](subject(good)) == []


def test_text_that_waits_without_a_reason_is_found(build: Build) -> None:
    trace = build([("content", "abcd")], [("content", "efgh")], holds={1: [Hold(0, 4, "policy", "why")]})
    late = trace.steps[0].events + trace.steps[1].events
    trace.steps[0].events, trace.steps[1].events, trace.steps[2].events = (), (), late
    (finding,) = found("emission_lag", subject(trace, longest_terminal=3))
    assert finding.message == "4 characters have arrived and are neither sent nor held for a stated reason."
    assert (finding.severity, finding.step, finding.span) == ("warning", 2, (4, 8))
    assert found("emission_lag", subject(trace, longest_terminal=4)) == []
