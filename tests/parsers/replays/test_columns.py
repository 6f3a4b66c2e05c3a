"""Deltas and steps as columns are the sequences they stand for, and say by themselves what their objects would say."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from parsers.compare.lag import stays
from parsers.machine.machine import Machine
from parsers.replays.chunking import Chunking
from parsers.replays.columns import Steps
from parsers.replays.delta_columns import Deltas, keys_of
from parsers.replays.event_columns import Events, Spans
from parsers.replays.partition import claims_on, partition
from parsers.replays.replay import replay
from parsers.replays.replayer import Replayer
from parsers.selection.registry import build, get_format
from parsers.vocabulary.channels import Channels
from parsers.vocabulary.events import CallArguments, CallEnd, ContentText, Diagnostic, Event, TextEvent
from parsers.vocabulary.seen import Seen
from parsers.vocabulary.stretches import Stretch
from parsers.vocabulary.trace import StateView, Trace, parts_of
from parsers.vocabulary.types import Context, Delta, Piece
from tests.amount import every
from tests.corpus import CORPORA, case_named, case_names
from tests.parsers.parsing import trace_of
from webapp.runs.prepare import prepare
from webapp.settings import Settings

PIECES = tuple([Piece(char, number) for number, char in enumerate("abcdef")])
CHUNKINGS = (Chunking(by="token"), Chunking(by="char", size=2), Chunking(by="random", seed=3), Chunking(by="whole"))
CALL = ("Hi. ", "<tool_call>", '{"name": "f", "arguments": {"a": "', "b ", "c ", '"}}', "</tool_call>", " Bye ", "\n")


def test_deltas_are_a_sequence_of_deltas() -> None:
    deltas = Deltas(PIECES, [2, 2, 6], [(0,), (), (1, 2)])
    made = [Delta(1, PIECES[:2], (0,)), Delta(2, (), ()), Delta(3, PIECES[2:], (1, 2))]
    assert deltas == made
    assert list(deltas) == made
    assert (deltas[-1], deltas[1:], deltas.texts) == (made[2], made[1:], ["ab", "", "cdef"])
    assert Deltas(PIECES) == [Delta(number, (piece,)) for number, piece in enumerate(PIECES, 1)]
    assert Deltas(PIECES) != made
    assert Deltas(PIECES) != "abcdef"
    assert Deltas(PIECES).__eq__(6) is NotImplemented
    with pytest.raises(IndexError):
        deltas[3]


def test_steps_without_an_end_have_the_text_of_the_last_ones() -> None:
    deltas = [Delta(1, PIECES[:1]), Delta(2, PIECES[1:3])]
    steps, seen = Steps(deltas, "abc"), Seen.of(StateView("S"))
    steps.add([(1, [ContentText(0, 1, "a")], (), seen, 1), (1, [ContentText(1, 3, "bc")], (), seen, 2)])
    steps.close()
    assert [event.text for _, event in steps.events() if isinstance(event, TextEvent)] == ["a", "bc"]


def require_columns(trace: Trace) -> None:
    """What the columns say is what the steps say."""
    steps = list(trace.steps)
    other = Trace(trace.parser, (), {}, trace.mode, trace.text, steps, trace.message, partition=trace.partition)
    columns, listed = trace.columns, other.columns
    listed.work_out()
    assert columns is not listed
    assert [step.index for step in steps] == [*range(1, len(steps) + 1)]
    assert list(columns.ends) == list(listed.ends)
    for name in ("events", "ids", "sent", "holding", "held", "moves", "fired", "senders", "diagnostics"):
        assert list(getattr(columns, name)()) == list(getattr(listed, name)()), name
    for one in (columns, listed):
        rows = list(one.event_runs())
        assert one.event_rows == len(rows)
        for kinds in ((TextEvent,), (Diagnostic, CallEnd)):
            assert list(one.event_runs(*kinds)) == [row for row in rows if isinstance(row[2], kinds)]
        texts = [(first, last, event) for first, last, event in rows if isinstance(event, TextEvent)]
        told = [(first, last, *part) for first, last, event in texts for part in parts_of(event)]
        assert list(one.text_parts()) == told
    require_partition(trace)
    assert [columns.holds(step.index) for step in steps] == [step.holds for step in steps]
    for one in (columns, other.columns):
        assert [one.state(step.index) for step in steps] == [step.state for step in steps]
    assert lags(trace) == lags(other)
    require_channels(trace.channels, other.channels, len(steps))
    require_channels(trace.streamed, other.streamed, len(steps))


def require_partition(trace: Trace) -> None:
    """The owners by the columns are the owners by the events."""
    claims = [(run.start, run.end, run.owner, run.reason) for run in trace.partition]
    assert [*claims_on(trace.partition)] == [*claims_on(list(trace.partition))] == claims
    assert trace.partition == partition([event for _, event in trace.events()], len(trace.text))


def require_channels(found: Channels, listed: Channels, steps: int) -> None:
    """Both say the same of every character and of every step."""
    assert found == listed
    for channel, text in listed.items():
        mine, other = found[channel].stretches, text.stretches
        assert list(map(known, mine)) == list(map(known, other))
        assert [mine.place(at) for at in range(mine.length + 2)] == [other.place(at) for at in range(other.length + 2)]
        assert list(map(known, mine.between(2, 5))) == list(map(known, other.between(2, 5)))
        assert [known(mine.at(at)) for at in range(mine.length)] == [known(other.at(at)) for at in range(other.length)]
        assert [mine.length_at(step) for step in range(steps + 1)] == [
            other.length_at(step) for step in range(steps + 1)
        ]


def lags(trace: Trace) -> list[tuple[int, str, int]]:
    """The lag of every character: how many characters its neighbours share a stay with says nothing."""
    return [(at, stay.channel, stay.lag) for stay in stays(trace) for at in range(stay.start, stay.end)]


def known(stretch: Stretch) -> Stretch:
    """Where nobody says how it was made, its place in the output means nothing."""
    return stretch if stretch.kind is not None else replace(stretch, start=-1, end=-1)


@pytest.mark.parametrize("parser", ["qwen", "qwen3", "llama", "passthrough"])
def test_columns_say_what_the_steps_say(parser: str) -> None:
    trace = trace_of(parser, *CALL)
    require_columns(trace)
    assert (trace.steps[-1].reasoning_length, trace.steps[-1].content_length, trace.steps[-1].calls) == (
        len(trace.message.reasoning or ""),
        len(trace.message.content or ""),
        len(trace.message.tool_calls),
    )


class Stumbling(Machine):
    """Raises at an x."""

    __slots__ = ()

    def feed(self, delta: Delta) -> list[Event]:
        if "x" in delta.text:
            raise ValueError("x")
        return super().feed(delta)


def test_what_a_parser_held_that_raised_is_held_to_the_end() -> None:
    known = build(get_format("qwen"))
    assert isinstance(known, Machine)
    deltas = [Delta(number, (Piece(text),)) for number, text in enumerate(("a <to", "x", "y", "z"), 1)]
    trace = replay(Stumbling(known.format, known.policy), deltas, Context())
    require_columns(trace)
    assert list(trace.columns.held()) == [(number, 2, 5) for number in range(1, 6)]


def test_open_text_whose_end_waits_is_told_step_by_step() -> None:
    trace = trace_of("qwen3", "<think>", "one", " two ", " three", "\n", "four", "</think>", "ok")
    require_columns(trace)
    said = [
        (step.delta and step.delta.reasoning, [(hold.start, hold.end) for hold in step.holds]) for step in trace.steps
    ]
    assert said[1:6] == [
        ("one", []),
        (" two", [(14, 15)]),
        ("  three", []),
        (None, [(21, 22)]),
        ("\nfour", []),
    ]
    assert [step.reasoning_length for step in trace.steps][1:6] == [3, 7, 14, 14, 19]


def test_what_a_first_look_at_open_text_finds_can_be_found_before() -> None:
    pieces = ("<think>", "one", " two ", "three", "</think>", "<tool_call>", '{"name": "f", "arguments": {"a": [')
    columns = trace_of("qwen3", *pieces, *"1, 2, 3, 4", "]}}", "</tool_call>").columns
    assert isinstance(columns, Steps)
    columns.work_out()
    found = len(columns._known_codecs), len(columns._known_reaches)
    assert min(found) > 0
    for number in range(len(columns.ends)):
        columns._make(number)
    assert (len(columns._known_codecs), len(columns._known_reaches)) == found


def test_a_delta_without_text_tells_nothing_amid_open_text() -> None:
    trace = trace_of("qwen", "one", " two", "", " three", "")
    require_columns(trace)
    assert [number for number, _ in trace.columns.events()] == [1, 2, 4]


def test_white_space_before_reasoning_waits_while_the_reasoning_is_open_text() -> None:
    pieces = ("Well, ", "<think>", "one", " two ", "three", " ", "</think>", "So.")
    trace = trace_of("internlm", *pieces, policy={"content_before_calls": "strip"})
    require_columns(trace)
    held = [[(hold.start, hold.end) for hold in step.holds] for step in trace.steps]
    assert held[2:6] == [[(5, 6)], [(20, 21), (5, 6)], [(5, 6)], [(26, 27), (5, 6)]]


def replayer_of(name: str) -> Replayer:
    return prepare(case_named(name), Settings()).replayer


@pytest.mark.replays
@pytest.mark.parametrize("corpus", [corpus for corpus in CORPORA if corpus != "recorded"])
def test_columns_of_cases_say_what_their_steps_say(corpus: str) -> None:
    for name in every(30, case_names(corpus), start=len(corpus)):
        replayer = replayer_of(name)
        for chunking in CHUNKINGS:
            require_columns(replayer.trace(chunking))


@pytest.mark.parametrize(
    ("parser", "begin", "unit", "end", "most"),
    [
        ("qwen", "", "The quick brown fox. ", "", 20),
        ("qwen3", "<think>", "The quick brown fox. ", "</think>", 30),
        ("qwen", '<tool_call>\n{"name": "f", "arguments": {"a": "', "some words ", '"}}\n</tool_call>', 30),
        ("qwen", '<tool_call>\n{"name": "f", "arguments": {"a": [', '{"k": 12, "b": true}, ', "]}}\n</tool_call>", 100),
        ("pythonic", "[", 'f(a="b"), ', "]", 1_000),  # a call in five characters
    ],
)
@pytest.mark.replays
def test_a_step_takes_few_bytes(parser: str, begin: str, unit: str, end: str, most: int) -> None:
    text = begin + unit * (20_000 // len(unit)) + end
    deltas = Deltas([Piece(text[at : at + 4]) for at in range(0, len(text), 4)])
    machine = build(get_format(parser))
    replay(machine, deltas, Context())  # what is kept once is there
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    trace = replay(build(get_format(parser)), deltas, Context())
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken / len(trace.steps) < most


def test_an_event_that_is_kept_as_it_is_is_kept_wherever_it_stands() -> None:
    events, odd = Events("0123456789"), ContentText(2, 4, "other")
    kept = events.kept_of(odd, 2, 0)
    events.add_kept(0, [kept], 5, 0, None)
    events.settle()
    assert events.at(0) == ContentText(5, 7, "other")
    assert list(events.parts([0], [1])) == [(1, 1, *part) for part in parts_of(ContentText(5, 7, "other"))]


def test_arguments_are_of_the_call_that_they_say() -> None:
    events, told = Events("0123"), [[CallArguments(at, at + 1, str(at), None, at // 2)] for at in range(4)]
    events.add(0, told)
    events.settle()
    assert [[events.at(place)] for place in range(4)] == told


def test_spans_are_of_any_number_of_kinds() -> None:
    spans, count = Spans(), 70_000
    spans.add([(number, (number,), number, number + 1) for number in range(count)])
    assert [spans.at(place)[2] for place in (0, 65_535, 65_536, count - 1)] == [(0,), (65_535,), (65_536,), (69_999,)]
    assert [code for _, code, _, _ in spans.rows()] == list(range(count))


@pytest.mark.parametrize("stops", [None, (1, 3)])
def test_what_may_be_a_marker_has_another_key_than_its_text(stops: tuple[int, ...] | None) -> None:
    pieces = (Piece("a"), Piece("<b>", 7, kind="special", recorded=True), Piece("c"))
    deltas = Deltas(pieces, stops)
    assert keys_of(deltas) == keys_of(list(deltas))
    assert [isinstance(key, str) for key in keys_of(deltas)] == (
        [True, False, True] if stops is None else [True, False]
    )
