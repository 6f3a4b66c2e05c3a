"""A delta that a machine reads in parts, of which those are followed that say nothing new.

An output in one delta may be a million characters in which the same stands again and again. What comes of it is what
`feed` gives, with text that goes on in the same place as one event. The parts have a reading of their own: they are no
deltas, and what follows one is not looked at alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from parsers.machine.held_events import joined
from parsers.machine.lexer import slices
from parsers.machine.machine import Machine
from parsers.machine.moved import Move, with_id
from parsers.replays import reading
from parsers.replays.budget import Look
from parsers.replays.delta_columns import Deltas
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import StreamParser, Transition
from parsers.vocabulary.types import Delta, Piece
from parsers.wire.assemble import Assembler


def longest(parser: StreamParser) -> float:
    """How many characters a delta may have that a parser, which has begun, reads in one: no more would be in so many
    parts that they are learnt, by their text alone."""
    if not (isinstance(parser, Machine) and parser.can_be_learnt and parser.reads_text):
        return math.inf
    return max(reading.WORTH, 1) * parser.stride  # what is read in one is learnt as one step


class LongDelta:
    """The parts of a delta that is longer than `longest`, in order. `look` is called before each, and may raise."""

    def __init__(self, machine: StreamParser, text: str, look: Look | None) -> None:
        assert isinstance(machine, Machine), "no other parser reads in parts"
        start = machine.reached
        *parts, last = slices(text, start, machine.stride)
        self._machine, self._look = machine, look
        self._deltas, self._last = Deltas([Piece(part) for part in parts]), Delta(1, (Piece(last),))
        self._reading = reading.Reading(machine, self._deltas, parts, start)

    def absorbed(self, assembler: Assembler) -> Sequence[Event]:
        """Let an assembler take in what the machine tells of it. Returns the last of that."""
        parts, machine, number = self._reading, self._machine, 0
        while number < len(self._deltas):
            self._count()
            if followed := parts.follow(number):
                parts.absorb(assembler, followed)
                number += len(followed)
            else:
                events = machine.feed_part(self._deltas[number])
                assembler.absorb(events)
                parts.learn(number, events)
                number += 1
        parts.settle()
        events = machine.feed(self._last)
        assembler.absorb(events)
        return events

    def told(self) -> list[Event]:
        """What the machine tells of all of it; its transitions are those of all parts."""
        parts, machine, number = self._reading, self._machine, 0
        events, moves = list[Event](), list[Transition]()
        while number < len(self._deltas):
            self._count()
            followed = parts.follow(number)
            for known, at, calls, _, _ in followed:
                made = None if known.made is None else parts.made_id(known, calls)
                move = Move(at, calls)
                told = [move.event(event) for event in known.events]
                events += told if made is None else [with_id(event, made) for event in told]
                moves += [_moved(one, at) for one in known.recorded]
            number += len(followed)
            if not followed:
                at, said = machine.reached, machine.feed_part(self._deltas[number])
                events += said
                moved, machine.transitions = machine.transitions or [], []
                moves += moved
                if (learnt := parts.learn(number, said)) is not None:
                    learnt.recorded = [_moved(one, -at) for one in moved]
                number += 1
        parts.settle()
        events += machine.feed(self._last)
        moves += machine.transitions or []
        for sub, one in enumerate(moves, 1):
            one.sub = sub
        machine.transitions = moves
        return joined(events)

    def _count(self) -> None:
        if self._look is not None:
            self._look()


def _moved(one: Transition, by: int) -> Transition:
    return Transition(
        one.from_state, one.trigger, one.to_state, one.row, one.start + by, one.end + by, one.sub, one.note
    )
