"""Emission lag: what waits how long, why, and that a parser that claims nonsense changes nothing about the sums."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parsers.compare.lag import ChannelLag, Stay, channel_lags, longest_hold, stays, waits
from parsers.replays.partition import partition
from parsers.vocabulary.events import CallId, CallName, ContentText, Event, Segment
from parsers.vocabulary.trace import Hold, StateView, Step, Trace
from parsers.vocabulary.types import Owner, Span
from tests.growth import assert_linear, seconds
from tests.parsers.parsing import trace_of

CALL = ("<tool_call>", '{"name": "f', '", "arguments": {"a": ', '"b"}}', "</tool_call>")


def made(*steps: tuple[int, Sequence[Event]]) -> Trace:
    """A trace of (characters fed, events) per step."""
    trace = Trace("made", (), {}, "text", "x" * sum(fed for fed, _ in steps))
    at = 0
    for index, (fed, events) in enumerate(steps, 1):
        step = Step(index, Span(at, at + fed), (), "S", (), (), tuple(events), None, StateView("S"))
        trace.steps = [*trace.steps, step]
        at += fed
    trace.partition = partition([event for _, event in trace.events()], at)
    return trace


def told(trace: Trace) -> list[tuple[str, Owner, int, int, int]]:
    return [(trace.text[s.start : s.end], s.channel, s.arrived, s.left, s.lag) for s in stays(trace)]


def test_what_leaves_in_the_step_it_arrives_in_has_no_lag() -> None:
    trace = trace_of("passthrough", "one ", "", "two")
    assert told(trace) == [("one two", "content", 1, 1, 0)]
    assert (waits(trace, stays(trace), 1), longest_hold(trace)) == (([], 0), None)


def test_what_could_be_a_marker_waits_until_it_is_none() -> None:
    trace = trace_of("qwen", "a <too", "l", "-box")
    assert told(trace) == [
        ("a ", "content", 1, 1, 0),
        ("<too", "content", 1, 3, 5),
        ("l", "content", 2, 3, 4),
        ("-box", "content", 3, 3, 0),
    ]
    (wait,), count = waits(trace, stays(trace), 5)
    assert count == 1
    assert (wait.start, wait.end, wait.lag, wait.steps, wait.left) == (2, 7, 5, 2, 3)
    assert wait.hold is not None
    assert (wait.hold.start, wait.hold.end, wait.hold.kind) == (2, 7, "lexer")


def test_a_wait_ends_where_the_output_does_at_the_latest() -> None:
    trace = trace_of("qwen", "a ", "<", "to")
    assert told(trace)[1:] == [("<", "content", 2, 4, 2), ("to", "content", 3, 4, 0)]
    assert [step.steps for step in stays(trace)] == [0, 2, 1]


def test_markers_never_leave_and_each_channel_has_its_own_figures() -> None:
    trace = trace_of("qwen", *CALL)
    assert "".join(text for text, *_ in told(trace)) == 'f{"a": "b"}'
    assert channel_lags(stays(trace)) == [ChannelLag("name", 1, 22, 22), ChannelLag("arguments", 10, 0, 0)]


def test_the_longest_hold_is_the_first_of_its_size_and_names_its_reason() -> None:
    trace = trace_of("qwen", *CALL, *CALL)
    found = longest_hold(trace)
    assert found is not None
    assert (found.characters, found.step) == (max([end - start for _, start, end in trace.columns.held()]), 2)
    assert found.hold.kind == "tentative"


@pytest.mark.parametrize(
    ("lags", "median"), [([0], 0), ([0, 5], 0), ([0, 5, 5], 5), ([7, 1, 3], 3), ([4, 1, 2, 3], 2), ([2, 2, 2, 9], 2)]
)
def test_the_median_counts_characters(lags: list[int], median: int) -> None:
    found = [Stay(at, at + 1, "content", 1, 1, lag) for at, lag in enumerate(lags)]
    assert channel_lags(found) == [ChannelLag("content", len(lags), max(lags), median)]


def test_a_name_inside_an_id_is_the_names() -> None:
    output = ("<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0", "<|tool_call_argument_begin|>{}")
    trace = trace_of("kimik2", *output)
    assert [(text, channel) for text, channel, *_ in told(trace)][:3] == [
        ("functions.", "id"),
        ("f", "name"),
        (":0", "id"),
    ]


def test_a_name_may_be_the_beginning_or_the_end_of_an_id() -> None:
    first = made((4, [CallId(0, 4, "xxxx", call=0), CallName(0, 2, "xx", call=0)]))
    last = made((4, [CallId(0, 4, "xxxx", call=0), CallName(2, 4, "xx", call=0)]))
    assert [channel for _, channel, *_ in told(first)] == ["name", "id"]
    assert [channel for _, channel, *_ in told(last)] == ["id", "name"]


def test_a_parser_that_claims_characters_twice_or_too_early_is_counted_once() -> None:
    again: list[Event] = [ContentText(0, 4, "xxxx"), ContentText(2, 6, "xxxx")]
    trace = made((2, [ContentText(0, 2, "xx")]), (2, again), (2, []))
    assert told(trace) == [("xx", "content", 1, 1, 0), ("xx", "content", 2, 2, 0), ("xx", "content", 3, 2, 0)]
    assert [stay.steps for stay in stays(trace)] == [0, 0, 0]


def test_text_from_nowhere_or_beyond_the_output_has_no_place() -> None:
    events: list[Event] = [
        ContentText(0, 0, "!", (Segment("!", 0, 0, "synthetic"),)),
        ContentText(0, 3, "xyz", (Segment("xyz", 0, 3, "converted"),)),
        ContentText(3, 9, "xyzxyz"),
    ]
    assert told(made((4, events))) == [("xxx", "content", 1, 1, 0)]


def test_a_parser_that_shows_only_its_deltas_has_no_stays() -> None:
    trace = trace_of("passthrough", "words")
    trace.partition = []
    assert stays(trace) == []


def test_a_wait_nobody_explains_has_no_hold() -> None:
    trace = made((2, []), (1, [ContentText(0, 3, "xxx")]))
    (wait,), _ = waits(trace, stays(trace), 5)
    assert wait.hold is None
    trace.steps[0].holds = (Hold(1, 2, "codec", "Elsewhere."),)
    assert waits(trace, stays(trace), 1)[0][0].hold is None


@pytest.mark.linear
def test_overlapping_claims_cost_no_more_than_their_number() -> None:
    def timed(many: int) -> float:
        trace = made(*[(1, [ContentText(0, many, "x" * many)]) for _ in range(many)])
        assert len(stays(trace)) == many
        return seconds(lambda: stays(trace))

    assert_linear(timed, (2_000, 4_000, 8_000))


@pytest.mark.linear
def test_as_many_different_lags_as_characters_cost_no_more_than_their_number() -> None:
    def timed(many: int) -> float:
        trace = trace_of("qwen", "<tool_call>", *["\t \n"] * many)
        return seconds(lambda: channel_lags(stays(trace)))

    assert_linear(timed, (2_000, 4_000, 8_000, 16_000))
