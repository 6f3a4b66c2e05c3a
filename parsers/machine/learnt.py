"""Steps of a machine that it made before are followed, not worked out again.

A machine whose state is the same but for where it stands makes the same of the same text. So a replay of many small
calls soon makes steps that were made before. A `Learner` beside a machine knows them: the states it was in (`moved`),
and what each made of which delta. It follows what is known as far as it goes, and only then puts the machine where that
led. What is new is read by the machine as ever, and learnt.

To learn takes as long as to read some deltas. It begins once an output is long, and is paid out of
what following saves: where nothing is said again nothing is learnt, but for another try now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsers.machine.machine import Machine
from parsers.machine.moved import Move, key_of, made_up
from parsers.vocabulary.events import CallId, Event
from parsers.vocabulary.states import State
from parsers.vocabulary.trace import RejectedCall

_COST, _VALUES = 30, 4  # to learn a state takes as long as to read so many deltas, and one for each so many values
_RETURN = 12  # and so many to go back to one
_CREDIT_OF_CALLS, _CREDIT, _MOST_CREDIT = 20_000, 600, 30_000  # deltas
_PAUSE = 2_000  # deltas until the next try
_HOPE = 8  # calls from the first try on within which something is said again, or nothing ever is
_DELTAS = 16_000  # that were read before anything is learnt: what a first try in vain costs is little beside them
_OF_REJECTED = 20  # to find that a call is none takes as long as to read so many deltas
_HOPELESS = 50_000  # deltas until the next try where calls are none of them alike
_MOST_PLACES = 4_096
_TOGETHER = 512  # steps are followed at once


@dataclass(slots=True)
class Place:
    """A state that stands behind so many characters and calls, with the steps from there that are known, by the key of
    the delta.

    In open text `disturbs` searches a delta for what may matter, and `passed` is the step where there is nothing.
    """

    state: State
    characters: int
    calls: int
    known: dict[Hashable, Known] = field(default_factory=dict)
    disturbs: Callable[[str], object] | None = None
    passed: Known | None = None


@dataclass(slots=True)
class Known:
    """A step that was made before, relative to where it `begins`, behind so many characters and calls: where it leads,
    how many calls were committed in it, how many characters were looked at, what it told and which calls were rejected
    in it. `made` names the call whose id was made up, where one was.

    In open text the one event has the text of the deltas. `recorded` is what a trace keeps of it.
    """

    to: Place
    calls: int
    examined: int
    events: tuple[Event, ...]
    rejected: tuple[RejectedCall, ...] = ()
    made: str | None = None
    is_open: bool = False
    begins: tuple[int, int] = (0, 0)
    recorded: Any = None


# A step that is known, the offset and the number of calls where it begins, and how many deltas of which text it takes
Followed = tuple[Known, int, int, int, str]


class Learner:
    """What is known of the steps of one machine in one output, of which it was fed so many characters."""

    def __init__(self, machine: Machine, at: int = 0) -> None:
        self._machine = machine
        self._places: dict[Hashable, Place] = {}
        self.place: Place | None = None  # where the machine stands, if that is known
        self._at, self._calls, self._examined, self._rejected = at, 0, 0, 0  # where that is in the output
        if at:
            self._calls, self._examined, self._rejected = machine.calls, machine.examined, len(machine.rejected)
        self._is_ahead = False  # of the machine, which has to be put there
        self._credit, self._pause, self._waits = _CREDIT, _PAUSE, _DELTAS
        self._has_tried = False
        self._hopes = 0  # the calls within which something has to be followed, while nothing was

    def follow(self, texts: Sequence[str], keys: Sequence[Hashable], start: int, stop: int) -> list[Followed]:
        """The steps from the delta at `start` on that are known, in order, up to the one at `stop`. Of each delta there
        is the text, and what is known of it is found by its key: where that is a text, that is all of it."""
        place, found = self.place, list[Followed]()
        if place is None:
            return found
        at, calls, examined, number = self._at, self._calls, self._examined, start
        stop, stride = min(stop, start + _TOGETHER), self._machine.stride
        while number < stop:
            text, count = texts[number], 1
            known = place.known.get(keys[number])
            if known is None:
                known = place.passed
                if known is None:
                    break
                count = _passed(keys, number, stop, place.disturbs, stride)
                text = "".join(texts[number : number + count])
                if not text:
                    break
                examined += len(text)
            elif known.rejected:
                self._reject(known, at)
            found.append((known, at, calls, count, text))
            number += count
            at, calls, place = at + len(text), calls + known.calls, known.to
            examined += known.examined
        if found:
            self._at, self._calls, self._examined, self.place, self._is_ahead = at, calls, examined, place, True
            self._credit = min(self._credit + len(found), _MOST_CREDIT)
            self._hopes = 0
        return found

    def _reject(self, known: Known, at: int) -> None:
        """Calls are rejected in a step that begins at an offset."""
        for one in known.rejected:
            self._machine.rejected.append(_moved(one, at))
        self._rejected = len(self._machine.rejected)

    def settle(self) -> None:
        """Put the machine where the steps that were followed led."""
        place = self.place
        if self._is_ahead and place is not None:
            move = Move(self._at - place.characters, self._calls - place.calls, self._machine.made_id)
            self._machine.resume(move.state(place.state))
            self._machine.examined = self._examined
            self._is_ahead = False
            self._credit -= _RETURN

    def learn(self, text: str, key: Hashable, events: Sequence[Event]) -> Known | None:
        """The machine read a delta of this text and key. Returns the step if it is known from now on."""
        if self._waits > 0:
            self._at += len(text)
            self._wait()
            return None
        before, start, calls, examined = self.place, self._at, self._calls, self._examined
        number = self._rejected
        self._go_on(len(text))
        rejected = self._machine.rejected[number:]
        if before is None or self.place is None or len(text) > self._machine.stride:
            return None
        if any(one.start == 0 for one in rejected):
            return None  # what stands at the very beginning is judged by that
        made = made_up(events)
        if len(made) > 1:
            return None  # a step tells of one id that was made up
        is_open = bool(text) and _passed((key,), 0, 1, before.disturbs, self._machine.stride) == 1
        known = Known(
            self.place,
            self._calls - calls,
            0 if is_open else self._examined - examined,
            tuple([Move(-start, -calls).event(event) for event in events]),
            tuple([_moved(one, -start) for one in rejected]),
            made[0][2] if made else None,
            is_open,
            (start, calls),
        )
        if is_open:
            before.passed = known
        else:
            before.known[key] = known
        return known

    def pass_over(self, characters: int) -> None:
        """The machine read many deltas of which nothing is learnt."""
        self._at, self.place = self._at + characters, None

    def _wait(self) -> None:
        """One delta less until something is learnt, or what takes as long. Where calls stand, more may follow."""
        self._waits -= 1
        if (rejected := len(self._machine.rejected)) > self._rejected:
            self._waits -= _OF_REJECTED * (rejected - self._rejected)
            self._rejected = rejected
        if self._waits <= 0 and not self._has_tried and self._machine.calls > 1:
            self._credit, self._hopes = _CREDIT_OF_CALLS, self._machine.calls + _HOPE

    def made_id(self, known: Known, calls: int) -> str:
        """The id that is made up in a step with so many calls before it."""
        number = next(event.call for event in known.events if isinstance(event, CallId))
        return self._machine.made_id(number + calls, known.made or "")

    def _go_on(self, characters: int) -> None:
        """The machine read on. Where it is now is known if that is worth while."""
        machine = self._machine
        self._at, self._calls, self._examined = self._at + characters, machine.calls, machine.examined
        self._rejected = len(machine.rejected)
        self.place = self._learnt_place() if machine.is_settled else None

    def _learnt_place(self) -> Place | None:
        """The state in which the machine is."""
        state = self._machine.snapshot(exact=True)
        if state is None:
            return None
        key, size = key_of(state, self._at, self._calls)
        self._credit -= _COST + (size + state.weight) // _VALUES
        if 0 < self._hopes <= self._calls:
            self._credit, self._hopes, self._pause = -1, 0, _HOPELESS
        if self._credit < 0:
            self._credit, self._waits, self._pause = _CREDIT, self._pause, 2 * self._pause
            self._has_tried = True
            return None
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= _MOST_PLACES:
                self._places.clear()
            place = Place(state, self._at, self._calls, disturbs=self._machine.disturbs)
            self._places[key] = place
        return place


def _moved(call: RejectedCall, by: int) -> RejectedCall:
    return RejectedCall(call.start + by, call.end + by, call.name, call.reason)


def _passed(
    keys: Sequence[Hashable], start: int, stop: int, disturbs: Callable[[str], object] | None, stride: int
) -> int:
    """How many deltas are text in which nothing matters."""
    at = start
    while disturbs is not None and at < stop:
        text = keys[at]
        if not isinstance(text, str) or len(text) > stride or disturbs(text) is not None:
            break
        at += 1
    return at - start
