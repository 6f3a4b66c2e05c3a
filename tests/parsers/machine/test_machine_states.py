"""The machine goes back to any state it was in, and reads a long delta as if it came in parts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from parsers.machine.held_events import joined
from parsers.machine.machine import Machine
from parsers.replays.chunking import WHOLE, Chunking, apply
from parsers.replays.partition import partition
from parsers.replays.replayer import Replayer
from parsers.selection.registry import build, get_format, maker, policies
from parsers.vocabulary import states
from parsers.vocabulary.events import Diagnostic, Event
from parsers.vocabulary.states import Resumable, State
from parsers.vocabulary.types import Context, Delta, Message, Piece
from parsers.wire.assemble import Assembler
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.parsers.test_case_files import Output, outputs

CASES = case_names(without=("recorded", "decoding", "fallback", "response_template"))
CHUNKINGS = (Chunking(by="token"), Chunking(by="char", size=3), Chunking(by="random", unit="char", max=40, seed=5))
SHORT = 5


def machine(output: Output) -> Machine | None:
    """The parser of an output, begun; None where it holds all of it to the end, or there is none."""
    parser = output.make()
    assert isinstance(parser, Machine)
    parser.begin(output.context, mode=output.mode, markers=output.markers)
    return parser if output.pieces and parser.snapshot() is not None else None


def taken(parser: Machine) -> State:
    state = parser.snapshot()
    assert state is not None
    return state


def rest(parser: Machine, deltas: Sequence[Delta], output: Output, at: int) -> tuple[object, ...]:
    """What comes of the rest of an output, from the offset `at` on, in whatever events."""
    events = [event for delta in deltas for event in parser.feed(delta)]
    events += parser.finish(output.context.finish_reason)
    size = sum(len(piece.text) for piece in output.pieces)
    said = [(event.code, event.start, event.end) for event in events if isinstance(event, Diagnostic)]
    return message(events), partition(events, size), said, [type(event) for event in joined(owned(events, at))]


def owned(events: Sequence[Event], at: int) -> Iterator[Event]:
    """The events after an offset that are not text dropped: that may be dropped in one piece or in several."""
    yield from (event for event in events if event.end > at and event.kind != "Dropped")


def message(events: Sequence[Event]) -> Message:
    assembler = Assembler()
    assembler.absorb(events)
    return assembler.message()


@pytest.mark.replays
@pytest.mark.parametrize("name", every(24, CASES, start=7))
def test_from_a_state_that_was_gone_back_to_the_same_follows(name: str) -> None:
    for output in outputs(case_named(name)):
        source = random.Random(name)
        for chunking in CHUNKINGS:
            parser, deltas = machine(output), output.deltas(chunking)
            if parser is None:
                continue
            at = source.randint(0, len(deltas))
            for delta in deltas[:at]:
                parser.feed(delta)
            state, offset = taken(parser), sum(len(delta.text) for delta in deltas[:at])
            expected = rest(parser, deltas[at:], output, offset)
            parser.resume(state)
            assert taken(parser) == state
            for delta in deltas[at:][::-1]:  # another output, which must leave nothing behind
                parser.feed(delta)
            parser.finish(None)
            parser.resume(state)
            assert rest(parser, deltas[at:], output, offset) == expected


@pytest.mark.replays
def test_after_the_same_text_the_state_is_nearly_always_the_same_however_it_was_cut() -> None:
    alike = different = 0
    for name in every(40, CASES, start=2):
        for output in outputs(case_named(name)):
            parser, beginning = machine(output), output.pieces[: len(output.pieces) * 3 // 4]
            if parser is None:
                continue
            found = []
            for seed in range(6):
                parser.begin(output.context, mode=output.mode, markers=output.markers)
                fine = Chunking(by="random", unit="char", max=9, seed=seed)
                for delta in apply(fine, beginning, output.mode):
                    parser.feed(delta)
                found.append(taken(parser))
            alike += sum(state == found[0] for state in found[1:])
            different += sum(state != found[0] for state in found[1:])
    assert different < 0.01 * alike


@pytest.mark.replays
@pytest.mark.parametrize("name", every(30, CASES, start=4))
def test_a_long_delta_is_read_like_its_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "stride", SHORT)
    for output in outputs(case_named(name)):
        parser = machine(output)
        if parser is None:
            continue
        (whole,) = output.deltas(Chunking(by="whole"))
        at_once = parser.feed(whole)
        state = taken(parser)
        parser.begin(output.context, mode=output.mode, markers=output.markers)
        places = tuple(range(SHORT, len(whole.text), SHORT))
        *first, last = output.deltas(Chunking(by="cuts", cuts=places))
        parts = [event for part in first for event in parser.feed_part(part)] + parser.feed(last)
        assert taken(parser) == state
        assert message(parts) == message(at_once)
        assert partition(parts, len(whole.text)) == partition(at_once, len(whole.text))


@pytest.mark.replays
def test_every_attribute_of_a_part_is_there_from_the_beginning() -> None:
    """What is state of a class is known from the first part of it that is seen."""
    seen = set()
    for name in every(18, CASES, start=5):
        for output in outputs(case_named(name)):
            parser = machine(output)
            for delta in output.deltas(Chunking(by="char", size=3)) if parser is not None else ():
                assert parser is not None
                parser.feed(delta)
                for part in taken(parser).parts:
                    assert set(states._laid_out(part).names) == set(states._layout(part).names)
                    seen.add(type(part).__name__)
    assert {"Machine", "Calls", "JsonCall", "Tagged", "Pythonic", "KeyValue", "Elements", "Mistral"} <= seen


def test_a_delta_is_long_beyond_the_stride(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = build(get_format("qwen"))
    read: list[str] = []
    append = Machine._append

    def note(self: Machine, text: str) -> None:
        read.append(text)
        append(self, text)

    monkeypatch.setattr(Machine, "_append", note)
    parser.begin(Context())
    for text in ("a<" * 48, "b" * 97, "c" * 3):
        parser.feed(Delta(1, (Piece("<" + text),)))
    assert [len(text) for text in read] == [96, 1, 95, 3, 4]
    assert parser.stride == 96
    assert isinstance(parser, Resumable)


def test_in_open_text_a_long_delta_is_read_in_parts_too() -> None:
    parser = build(get_format("qwen"))
    parser.begin(Context())
    parser.feed(Delta(1, (Piece("Hello"),)))
    (event,) = parser.feed(Delta(2, (Piece("x" * 400),)))
    assert (event.start, event.end) == (5, 405)


def test_a_message_without_text_has_no_line_break_after_it_however_it_is_cut() -> None:
    """Where it begins, reasoning is open text of which nothing has come yet."""
    part = "<|start|>assistant<|channel|>analysis<|message|>"
    made = Replayer(maker(get_format("harmony")), (Piece(f"{part}<|end|>{part}x<|end|>{part}y<|end|>"),))
    assert {made.outcome(chunking).message.reasoning for chunking in (WHOLE, Chunking(by="char"))} == {"x\ny"}


def test_a_class_built_on_the_machine_cannot_say_its_state() -> None:
    class Counting(Machine):
        fed = 0

    fmt = get_format("qwen")
    parser = Counting(fmt, policies(fmt))
    parser.begin(Context())
    assert parser.snapshot() is None


def test_where_everything_waits_for_the_end_there_is_no_state_to_compare() -> None:
    parser = build(get_format("llama"), {"llama_content": "seed_literal"})
    parser.begin(Context())
    assert parser.snapshot() is None


def test_the_view_is_that_of_the_state_gone_back_to() -> None:
    parser = build(get_format("qwen"))
    parser.begin(Context())
    parser.feed(Delta(1, (Piece('<tool_call>{"name": "f", "arguments": {"a": "x'),)))
    state, view = taken(parser), parser.view()
    parser.feed(Delta(2, (Piece('"}}</tool_call> Hello'),)))
    parser.view()
    parser.resume(state)
    assert parser.view() == view
