"""Cut outputs: the records of all cuts, of a sample, and what no right parser does at a cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from parsers.machine.machine import Machine
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.truncation import CutRecord, Cutter, _cut_problem, cut_records
from parsers.selection.registry import build, get_format, policies
from parsers.vocabulary.events import CallEnd, Event, Failure
from parsers.vocabulary.types import Context, Message, Piece, ToolCall

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
OUTPUT = f"Hi {CALL}{CALL}"


def replayer(text: str, fmt: str = "qwen") -> Replayer:
    return Replayer(lambda: build(get_format(fmt)), tuple(Piece(char) for char in text))


def whole(on: Replayer) -> Message:
    return on.outcome(WHOLE).message


def test_a_cut_output_is_the_beginning_ended_by_the_length_limit() -> None:
    cut = Cutter(replayer("one two")).at(3)
    assert (cut.text, cut.context.finish_reason) == ("one", "length")


def test_a_token_that_is_cut_is_text_and_those_before_it_stay() -> None:
    pieces = (Piece("one", 1), Piece("", 2, b"\xc3"), Piece("two", 3))
    cutter = Cutter(replayer("").with_pieces(pieces))
    assert cutter.at(2).pieces == (Piece("on"),)
    assert cutter.at(3).pieces == pieces[:2]
    assert cutter.at(5).pieces == (*pieces[:2], Piece("tw"))
    assert cutter.at(6).pieces == pieces


def test_every_cut_has_its_record() -> None:
    on = replayer(OUTPUT)
    found = cut_records(Cutter(on), whole(on))
    assert found.every
    assert [record.offset for record in found.records] == list(range(1, len(OUTPUT) + 1))
    assert not any(record.problem for record in found.records)
    assert [(record.calls, record.complete) for record in found.changes] == [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
    assert found.records[-1] == CutRecord(len(OUTPUT), 0, 3, 2, 2)


def test_a_sample_finds_the_same_changes_where_the_budget_allows() -> None:
    on = replayer("words go on " * 20 + CALL)
    every, sample = cut_records(Cutter(on), whole(on)), cut_records(Cutter(on), whole(on), budget=6_000)
    assert not sample.every
    assert len(sample.records) < len(every.records) / 2
    begins = [next(record.offset for record in found.records if record.calls) for found in (every, sample)]
    assert begins[0] == begins[1]


def test_a_budget_that_is_spent_leaves_changes_roughly_placed() -> None:
    on = replayer("words go on " * 20 + CALL)
    found = cut_records(Cutter(on), whole(on), budget=400)
    assert len(found.records) < 10
    assert found.changes[-1].complete == 1


def test_an_empty_output_cannot_be_cut() -> None:
    on = replayer("")
    found = cut_records(Cutter(on), whole(on))
    assert (found.records, found.changes, Cutter(on).settled(3)) == ([], [], 0)


@pytest.mark.parametrize(
    ("mode", "wanted", "offset"),
    [("ids", 0, 1), ("ids", 2, 2), ("ids", 3, 13), ("ids", 12, 13), ("ids", 14, 14), ("ids", 99, 15), ("text", 3, 3)],
)
def test_a_recorded_marker_is_cut_off_whole_or_not_at_all(mode: str, wanted: int, offset: int) -> None:
    pieces = (Piece("a "), Piece("<tool_call>", 7, None, "added", True), Piece("{}", 8, None, "text", True))
    on = Replayer(lambda: build(get_format("qwen")), pieces, Context(), mode=mode)  # type: ignore[arg-type]
    assert Cutter(on).settled(wanted) == offset


def test_a_sample_never_cuts_inside_a_recorded_marker() -> None:
    marker = Piece("<tool_call>" + "=" * 40, 7, None, "added", True)
    pieces = (*[Piece(char) for char in "words " * 5], marker, Piece("x"))
    on = Replayer(lambda: build(get_format("passthrough")), pieces, Context(), mode="ids")
    found = cut_records(Cutter(on), Message(), budget=100)
    assert [record.offset for record in found.records if 30 < record.offset < 81] == []
    assert found.records[-1].offset == 82


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(Message(), 1, Failure("ValueError", "no")), "The parser failed: ValueError: no"),
        (Outcome(Message(tool_calls=[ToolCall(None, "f", "{}")]), 1), "Call 0 (`f`) is reported as complete"),
        (Outcome(Message(tool_calls=[ToolCall(None, "g", '{"a": 1}')]), 1), "Call 0 (`g`) is reported as complete"),
        (Outcome(Message(tool_calls=[ToolCall(None, "f", "{}", complete=False)]), 1), None),
        (Outcome(Message(tool_calls=[ToolCall("other id", "f", '{"a": 1}')]), 1), None),
        (Outcome(Message(), 1), None),
    ],
)
def test_a_call_reported_complete_must_be_a_call_of_the_whole_output(outcome: Outcome, said: str | None) -> None:
    found = _cut_problem(outcome, Message(tool_calls=[ToolCall("x", "f", '{"a": 1}')]))
    assert found is None if said is None else (found or "").startswith(said)


class Guessing(Machine):
    """A parser that calls whatever it has at the end a complete call."""

    def finish(self, reason: str | None = None) -> list[Event]:
        events = super().finish(reason)
        return [structs.replace(event, complete=True) if isinstance(event, CallEnd) else event for event in events]


@pytest.mark.replays
def test_a_parser_that_guesses_the_rest_is_found_at_the_cuts_where_it_does() -> None:
    on = replayer(OUTPUT)
    right = cut_records(Cutter(on), whole(on))
    broken = on.with_parser(lambda: Guessing(get_format("qwen"), policies(get_format("qwen"))))
    wrong = [record.offset for record in cut_records(Cutter(broken), whole(on)).records if record.problem]
    open_calls = [record.offset for record in right.records if record.complete < record.calls]
    assert set(wrong) <= set(open_calls)
    assert wrong


def test_what_a_contract_decides_or_a_parser_cannot_say_is_no_problem() -> None:
    made_up = Outcome(Message(tool_calls=[ToolCall(None, "f", "{}")]), 1)
    assert _cut_problem(made_up, Message(), judged=False) is None
    assert _cut_problem(Outcome(Message(), 1, Failure("no")), Message(), judged=False) == "The parser failed: no"
    on = replayer(OUTPUT).with_parser(lambda: Guessing(get_format("qwen"), policies(get_format("qwen"))))
    inside = OUTPUT.index(": 1}")
    assert Cutter(on).result(inside, whole(on))[1] is not None
    assert Cutter(on, contract="truncated_call=close").result(inside, whole(on))[1] is None
    assert Cutter(replace(on, black_box=True)).result(inside, whole(on))[1] is None
