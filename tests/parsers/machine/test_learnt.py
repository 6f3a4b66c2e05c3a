"""Steps that are followed are those that the machine makes."""

from __future__ import annotations

import pytest

from parsers.machine import learnt
from parsers.replays import reading
from parsers.replays.chunking import Chunking
from parsers.replays.replay import parse, replay
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Delta, Message
from tests.corpus import case_named
from tests.parsers.machine.test_machine_states import CASES
from tests.parsers.test_case_files import Output, outputs

AGAIN = 4  # times each output is said
CHUNKINGS = (Chunking(by="token"), Chunking(by="char", size=3), Chunking(by="random", unit="char", max=7, seed=3))


@pytest.fixture
def _learns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    monkeypatch.setattr(learnt, "_CREDIT", 10**9)


def deltas_of(output: Output, chunking: Chunking) -> list[Delta]:
    """The deltas of an output that is said again and again; each time it is cut in the same places."""
    once = [delta.pieces for delta in output.deltas(chunking)]
    return [Delta(number, pieces) for number, pieces in enumerate(once * AGAIN, 1)]


def told(output: Output, deltas: list[Delta]) -> tuple[Trace, Message]:
    """What replays of an output come to, with every step and without."""
    trace = replay(output.make(), deltas, output.context, mode=output.mode, markers=output.markers)
    return trace, parse(output.make(), deltas, output.context, mode=output.mode, markers=output.markers)


@pytest.mark.replays
@pytest.mark.usefixtures("_learns_at_once")
@pytest.mark.parametrize("name", CASES[::7])
def test_steps_that_are_known_are_those_that_would_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for output in outputs(case_named(name)):
        for chunking in CHUNKINGS:
            deltas = deltas_of(output, chunking)
            monkeypatch.setattr(reading, "_WORTH", 10**9)
            trace, message = told(output, deltas)
            monkeypatch.setattr(reading, "_WORTH", 0)
            known, again = told(output, deltas)
            assert again == message == known.message
            for one, two in zip(trace.steps, known.steps, strict=True):
                assert one == two
            assert known.partition == trace.partition
            assert (known.rejected_calls, known.examined) == (trace.rejected_calls, trace.examined)
