"""States and events relative to where a text stands are the same wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from parsers.machine.call_life import CallState
from parsers.machine.machine import Machine
from parsers.machine.moved import Move, key_of
from parsers.replays.chunking import Chunking
from parsers.vocabulary.events import CallId, CallName, Segment
from parsers.vocabulary.types import Delta
from tests.amount import every
from tests.corpus import case_named
from tests.parsers.machine.test_machine_states import CASES, machine
from tests.parsers.test_case_files import Output, outputs

BEFORE, FURTHER, MORE = 7, 1_000, 5  # characters, and calls before: at 0 it is known that no marker was
CHUNKINGS = (Chunking(by="token"), Chunking(by="char", size=3))


def begin(parser: Machine, output: Output, characters: int, calls: int) -> None:
    """The parser of an output begins behind so many characters and calls."""
    parser.begin(output.context, mode=output.mode, markers=output.markers)
    parser._base = characters
    parser._calls._number = parser._calls._count = calls


def told(parser: Machine, deltas: Sequence[Delta], at: int) -> Iterator[tuple[object, ...]]:
    """What a parser makes of each delta, the first of which stands at an offset, relative to that; and its state."""
    for delta in deltas:
        move = Move(-at, -parser._calls._count)
        events = [move.event(event) for event in parser.feed(delta) if not isinstance(event, CallId)]
        at += len(delta.text)
        state, here = parser.snapshot(exact=True), (at, parser._calls._count)
        assert state is not None
        assert Move(-FURTHER, -MORE).state(Move(FURTHER, MORE).state(state)).value == state.value
        waits = parser._calls.state is CallState.NAMED  # with an id that was made from the number of the call
        yield events, None if waits else key_of(state, *here)


def test_of_calls_that_are_held_the_ids_that_were_made_up_are_those_of_where_they_come_to_stand() -> None:
    made = [CallId(3, 3, "f-0", (Segment("f-0", 3, 3, "synthetic"),), call=0), CallName(3, 4, "f", call=0)]
    sent = [CallId(5, 8, "own", call=1), CallName(8, 9, "g", call=1)]
    held = Move(10, 2, lambda number, name: f"{name}-{number}")._held([*made, *sent])
    assert [getattr(event, "text", None) for event in held] == ["f-2", "f", "own", "g"]
    assert [(event.start, getattr(event, "call", None)) for event in held] == [(13, 2), (13, 2), (15, 3), (18, 3)]
    assert [getattr(event, "text", None) for event in Move(10, 2)._held(made)] == ["f-0", "f"], "as it is known"


@pytest.mark.replays
@pytest.mark.parametrize("name", every(40, CASES, start=3))
def test_what_a_text_comes_to_does_not_depend_on_where_it_stands(name: str) -> None:
    for output in outputs(case_named(name)):
        parser = machine(output)
        for chunking in CHUNKINGS if parser is not None else ():
            assert parser is not None
            deltas = output.deltas(chunking)
            begin(parser, output, BEFORE, 0)
            here = list(told(parser, deltas, BEFORE))
            begin(parser, output, FURTHER, MORE)
            assert list(told(parser, deltas, FURTHER)) == here
