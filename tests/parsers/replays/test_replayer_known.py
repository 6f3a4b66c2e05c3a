"""What was replayed already is not replayed again: bounded, and only where the parser answers alike every time."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from parsers import make_parser
from parsers.machine.machine import Machine
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.replay import PART
from parsers.replays.replayer import Replayer, Replays
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Delta, Piece, UsageError

PIECES = tuple([Piece(text) for text in ("Hi ", "<tool", "_call>", '{"name": "f", "arguments": {}}', "</tool_call>")])


def counted(started: list[str], most: int = 32) -> Replayer:
    """A replayer that notes each parser it starts."""

    def make() -> StreamParser:
        started.append("qwen")
        return make_parser("qwen")

    return Replayer(make, PIECES, known=Replays(most))


def test_a_chunking_is_run_once_and_a_trace_answers_for_its_message() -> None:
    started: list[str] = []
    replayer = counted(started)
    trace = replayer.trace(TRACED)
    outcome = replayer.outcome(TRACED)
    assert (outcome.message, outcome.deltas, outcome.raised) == (trace.message, len(PIECES), None)
    assert outcome.examined == trace.examined > 0
    assert replayer.trace(TRACED).steps is trace.steps
    assert replayer.outcome(WHOLE) is replayer.outcome(WHOLE)
    assert len(started) == 2


@pytest.mark.replays
def test_an_outcome_in_parts_is_the_outcome() -> None:
    started: list[str] = []
    replayer = replace(counted(started), pieces=PIECES * PART)
    chunking = Chunking(by="token", size=2)
    done = list(replayer.in_parts(chunking))
    assert done[0] == 0.0
    assert done == sorted(done)
    assert 2 < len(done) < len(PIECES) * PART
    assert done[-1] < 1.0
    found = replayer.outcome(chunking)
    assert (list(replayer.in_parts(chunking)), len(started)) == ([], 1)
    assert found == replace(replayer, known=None).outcome(chunking)


def test_nothing_is_done_in_parts_where_nothing_is_kept() -> None:
    started: list[str] = []
    assert list(replace(counted(started), known=None).in_parts(TRACED)) == []
    assert started == []


@pytest.mark.parametrize(("error", "kept"), [(ValueError("x"), True), (UsageError("x"), False)])
def test_a_failure_in_parts_is_told_by_the_outcome(error: Exception, kept: bool) -> None:
    class Failing(Machine):
        __slots__ = ()

        def feed(self, delta: Delta) -> list[Event]:
            raise error

    replayer = counted([]).with_parser(lambda: Failing(get_format("qwen"), {**policies(get_format("qwen"), {})}))
    replayer = replace(replayer, known=Replays())
    with nullcontext() if kept else pytest.raises(UsageError):
        assert list(replayer.in_parts(TRACED)) == [0.0]
        assert str(replayer.outcome(TRACED).raised) != ""


def test_of_what_another_knows_one_trace_can_be_learnt_alone() -> None:
    other, started = counted([]), list[str]()
    for chunking in (TRACED, WHOLE):
        other.trace(chunking)
    own = counted(started)
    assert own.known is not None
    assert other.known is not None
    own.known.learn(other.known, TRACED)
    assert (own.trace(TRACED), started) == (other.trace(TRACED), [])
    assert (own.trace(WHOLE), started) == (other.trace(WHOLE), ["qwen"])


def test_each_replayer_has_its_own_reasons_and_findings() -> None:
    replayer = counted([])
    other = replace(replayer, reasons=("Another reason.",))
    assert other.trace(TRACED).reasons == ("Another reason.",)
    replayer.trace(TRACED).findings.append(None)  # type: ignore[arg-type]
    assert other.trace(TRACED).findings == []


def test_only_so_many_chunkings_are_kept() -> None:
    started: list[str] = []
    replayer = counted(started, most=1)
    for chunking in (TRACED, Chunking(by="char"), TRACED, Chunking(by="char")):
        replayer.trace(chunking)
        replayer.outcome(Chunking(by="token", size=2 + len(chunking.by)))
    assert len(started) == 3 + 3


def test_a_changed_output_begins_anew() -> None:
    replayer = counted([])
    assert replayer.with_pieces(PIECES[:2]).known is None
    assert replayer.with_context(replayer.context).known is None
    assert replayer.with_parser(lambda: make_parser("json")).known is None


def test_replays_learn_from_others_and_are_weighed_with_what_they_know() -> None:
    started: list[str] = []
    first = counted(started)
    trace, outcome = first.trace(TRACED), first.outcome(WHOLE)
    one, every = Replays(most=1), Replays()
    assert first.known is not None
    one.learn(first.known, TRACED)
    every.learn(first.known)
    again = replace(first, known=every)
    assert (again.trace(TRACED).steps, again.outcome(WHOLE)) == (trace.steps, outcome)
    assert replace(first, known=one).trace(TRACED).steps is trace.steps
    assert len(started) == 2
    assert 0 < one.nbytes < every.nbytes == first.known.nbytes
