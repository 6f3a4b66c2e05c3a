"""Which lines of its source a parser ran at one step, as whoever runs it tells: what is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from parsers.replays.tapes import Asked
from parsers.vocabulary.types import MessageDelta

Channel = Literal["content", "reasoning", "name", "arguments"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)


@dataclass(slots=True, frozen=True)
class Sought:
    """A text that a step sent in one channel; of a call by its number. `at`: the character of it that somebody asks
    about, from 0; None: the last."""

    text: str = ""
    channel: Channel | None = None
    call: int | None = None
    at: int | None = None


@dataclass(slots=True, frozen=True)
class LinesAsked:
    """One step of a replay, from 1, the end of the output being the last one.

    `sought`: what the step sent, to be told which line put it there, and which returned it. `where`: a file as it was
    told and a line of it, to be told which other steps ran that line.
    """

    replay: Asked
    step: int
    sought: Sought = Sought()
    where: tuple[str, int] | None = None


@dataclass(slots=True, frozen=True)
class Changed:
    """A variable that a line changed, its values as they are shown. `before` None: it was not there."""

    name: str
    before: str | None
    after: str


@dataclass(slots=True, frozen=True)
class RanLine:
    """A line that ran, at one time. `depth`: in how many calls of the parser's own it stands."""

    function: int
    line: int
    depth: int
    changed: tuple[Changed, ...] = ()
    returned: str | None = None
    raised: str | None = None


@dataclass(slots=True, frozen=True)
class RanFunction:
    """A function that ran, with its source from line `first` of its file on; empty where that cannot be read."""

    name: str
    file: str
    first: int
    source: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class RanLines:
    """A step line by line, in the order in which they ran.

    `left_out`: how many more ran than are told. `sent_from`: the number of the one that returned what was sought;
    `put_at`: of the one before that put the text into what was returned, where that is another one. `steps`: those that
    ran the line that was asked about, in order. `sent`: what the step sent when its lines were looked at, where
    `is_told`.
    """

    functions: tuple[RanFunction, ...] = ()
    lines: tuple[RanLine, ...] = ()
    left_out: int = 0
    sent_from: int | None = None
    steps: tuple[int, ...] = ()
    put_at: int | None = None
    sent: MessageDelta | None = None
    is_told: bool = False


TellLines = Callable[[LinesAsked], RanLines]
