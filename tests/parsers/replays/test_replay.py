"""Replays: a step a delta and one for the end, and the owners of every character."""

from __future__ import annotations

import pytest

from parsers.machine.machine import Machine
from parsers.replays.chunking import WHOLE
from parsers.replays.partition import partition
from parsers.replays.replay import failure_of, finish_reason, parse, replay
from parsers.replays.replayer import Replayer
from parsers.selection.registry import build, get_format
from parsers.vocabulary.drops import stated
from parsers.vocabulary.events import (
    CallArguments,
    CallId,
    CallName,
    ContentText,
    Dropped,
    Event,
    Failure,
    Marker,
    Segment,
)
from parsers.vocabulary.types import (
    Context,
    Delta,
    FormatError,
    Message,
    MessageDelta,
    Piece,
    Span,
    ToolCall,
    UsageError,
)
from tests.parsers.parsing import deltas, trace_of

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


@pytest.mark.parametrize(
    ("calls", "given", "seen"),
    [
        ([], None, "stop"),
        ([], "stop", "stop"),
        ([], "length", "length"),
        (["f"], None, "tool_calls"),
        (["f"], "stop", "tool_calls"),
        (["f"], "length", "length"),
        ([], "content_filter", "content_filter"),
    ],
)
def test_the_finish_reason_the_client_sees(calls: list[str], given: str | None, seen: str) -> None:
    message = Message(tool_calls=[ToolCall(None, name, "{}") for name in calls])
    assert finish_reason(message, given) == seen


def test_there_is_a_step_for_each_delta_and_one_for_the_end() -> None:
    trace = trace_of("qwen", "hi ", "<tool", "_call>", context=Context(finish_reason="length"))
    assert [(step.index, step.span, step.end) for step in trace.steps] == [
        (1, Span(0, 3), False),
        (2, Span(3, 8), False),
        (3, Span(8, 14), False),
        (4, Span(14, 14), True),
    ]
    assert [step.state for step in trace.steps] == ["CONTENT", "CONTENT", "TOOL_CALL", "TOOL_CALL"]
    assert trace.held_text(trace.steps[1]) == "<tool"
    assert trace.finish_reason == "length"


def test_an_output_without_deltas_has_only_its_end() -> None:
    trace = trace_of("qwen")
    assert [(step.span, step.end) for step in trace.steps] == [(Span(0, 0), True)]
    assert (trace.message, trace.partition) == (Message(), [])


def test_steps_know_how_long_the_message_is_by_then() -> None:
    trace = trace_of("qwen", "<think>ab</think>", "cd", CALL, CALL)
    lengths = [(step.reasoning_length, step.content_length, step.calls) for step in trace.steps]
    assert lengths == [(2, 0, 0), (2, 2, 0), (2, 2, 1), (2, 2, 2), (2, 2, 2)]


def test_transitions_are_counted_anew_in_each_step() -> None:
    trace = trace_of("qwen", f"{CALL}<think>", "x</think>")
    assert [[row.sub for row in step.transitions] for step in trace.steps] == [[1, 2, 3], [1], [1]]


def test_a_replay_keeps_what_it_was_told() -> None:
    parser = build(get_format("qwen"))
    ids = [Delta(1, (Piece("a", 7),)), Delta(2, (Piece("b", 8),), early_ids=(8, 9))]
    trace = replay(parser, ids, Context(), chunking={"by": "token"}, reasons=["it was asked for"])
    assert (trace.parser, trace.chunking, trace.reasons) == ("qwen", {"by": "token"}, ("it was asked for",))
    assert [step.ids for step in trace.steps] == [(7,), (8, 9), ()]


def test_parsing_gives_the_message_of_the_replay_and_traces_nothing() -> None:
    parser = build(get_format("qwen"))
    message = parse(parser, deltas(*CALL), Context())
    assert parser.transitions is None
    assert message == trace_of("qwen", CALL).message


def test_no_delta_goes_out_with_a_step_that_says_nothing() -> None:
    trace = trace_of("qwen", *CALL)
    sent = [delta for delta in trace.deltas if delta is not None]
    assert all(delta != MessageDelta() for delta in sent)
    assert len(sent) < len(trace.steps)


COPY = ContentText(0, 3, "abc")


@pytest.mark.parametrize(
    ("events", "size", "runs"),
    [
        ([], 0, []),
        ([], 2, [(0, 2, "dropped", "lost")]),
        ([COPY], 5, [(0, 3, "content", None), (3, 5, "dropped", "lost")]),
        ([Marker(1, 2)], 2, [(0, 1, "dropped", "lost"), (1, 2, "marker", None)]),
        ([COPY, ContentText(3, 4, "d")], 4, [(0, 4, "content", None)]),
        ([Dropped(0, 1, stated("a")), Dropped(1, 2, stated("b"))], 2, [(0, 1, "dropped", "a"), (1, 2, "dropped", "b")]),
        ([COPY, Marker(1, 4)], 4, [(0, 3, "content", None), (3, 4, "marker", None)]),
        ([COPY, Marker(1, 2)], 3, [(0, 3, "content", None)]),
        ([Event(0, 1)], 1, [(0, 1, "dropped", "lost")]),
        (
            [CallId(0, 5, "x.f:0"), CallName(2, 3, "f")],
            5,
            [(0, 2, "id", None), (2, 3, "name", None), (3, 5, "id", None)],
        ),
        ([CallId(0, 3, "f:0"), CallName(0, 1, "f")], 3, [(0, 1, "name", None), (1, 3, "id", None)]),
        ([CallId(0, 1, "f"), CallName(0, 1, "f")], 1, [(0, 1, "name", None)]),
        (
            [CallArguments(0, 2, '{"1"}', (Segment("{", 0, 0, "synthetic"), Segment('"1"', 0, 2, "converted")))],
            2,
            [(0, 2, "arguments", None)],
        ),
    ],
)
def test_every_character_has_one_owner(
    events: list[Event], size: int, runs: list[tuple[int, int, str, str | None]]
) -> None:
    assert [(run.start, run.end, run.owner, run.why or None) for run in partition(events, size)] == runs


class Failing(Machine):
    """Fails before anything is fed."""

    error: Exception = ValueError("no start")
    examined = 0

    def begin(self, *args: object, **more: object) -> None:
        raise self.error


def failing(error: Exception) -> Machine:
    parser = Failing(get_format("qwen"), get_format("qwen").policy.model_dump())
    parser.error = error
    return parser


def test_a_parser_that_cannot_begin_fails_in_its_first_step() -> None:
    trace = replay(failing(ValueError("no start")), deltas("a", "b"), Context())
    assert [step.state for step in trace.steps] == ["FAILED"] * 3
    assert [len(step.diagnostics) for step in trace.steps] == [1, 0, 0]
    failure = trace.failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("ValueError", "no start")
    assert failure.place.startswith("Failing.begin, line ")
    assert str(failure) == f"ValueError: no start (in {failure.place})"


def test_a_parser_that_cannot_begin_fails_at_the_end_of_no_output() -> None:
    trace = replay(failing(ValueError("no start")), [], Context())
    assert [(step.end, len(step.diagnostics)) for step in trace.steps] == [(True, 1)]


@pytest.mark.parametrize("error", [UsageError("not so"), FormatError("no such state"), MemoryError()])
def test_what_is_not_the_parser_s_fault_is_no_failure_of_it(error: Exception) -> None:
    with pytest.raises(type(error)):
        replay(failing(error), deltas("a"), Context())


def test_a_limit_of_memory_is_no_failure_of_the_parser_in_a_replay_without_steps() -> None:
    with pytest.raises(MemoryError):
        Replayer(lambda: failing(MemoryError()), (Piece("a"),)).outcome(WHOLE)


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert failure_of(ValueError()) == Failure("ValueError")
    assert str(failure_of(ValueError())) == "ValueError"
