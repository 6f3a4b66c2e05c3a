"""What an engine says of the lines that one step ran, as docs/engine-protocol.md has it. Nothing of it is believed."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, TypeAdapter, model_validator

from parsers.replays.ran_lines import Changed, RanFunction, RanLine, RanLines
from parsers.vocabulary.types import MessageDelta
from webapp.engines.protocol import MOST_STEPS, Count, Said, Sent, Sentence, Short, read

MOST_EVENTS = 1_500
MOST_FUNCTIONS = 60
MOST_SOURCE = 400  # lines of one function
MOST_CHANGES = 20  # of one line


class _Event(Said):
    """A line that ran: in which function, how deep in calls, and what it changed, returned or raised."""

    function: int = Field(ge=0, lt=MOST_FUNCTIONS)
    line: Count
    depth: Count
    changed: Annotated[
        list[Annotated[tuple[Short, Sentence, Sentence], Field(strict=False)]], Field(max_length=MOST_CHANGES)
    ] = []  # noqa: RUF012 - pydantic gives each its own
    returned: Sentence = None
    raised: Sentence = None


class _Function(Said):
    """A function with its source, as far as it can be read."""

    name: Annotated[str, Field(max_length=300)]
    file: Annotated[str, Field(max_length=500)]
    first: Count
    source: Annotated[list[Sentence], Field(max_length=MOST_SOURCE)] = []  # noqa: RUF012 - as above


class _Lines(Said):
    """What one step ran, line by line. `sent_from`: the event that returned what was sought, `put_at`: the one before
    that put it there; `steps`: those that ran the line that was asked about."""

    functions: Annotated[list[_Function], Field(max_length=MOST_FUNCTIONS)]
    events: Annotated[list[_Event], Field(max_length=MOST_EVENTS)]
    left_out: Count = 0
    sent_from: int | None = Field(default=None, ge=0, lt=MOST_EVENTS)
    put_at: int | None = Field(default=None, ge=0, lt=MOST_EVENTS)
    steps: Annotated[list[Count], Field(fail_fast=True, max_length=MOST_STEPS)] = []  # noqa: RUF012 - as above

    @model_validator(mode="after")
    def _fits(self) -> Self:
        known = len(self.functions)
        if any(event.function >= known for event in self.events):
            raise ValueError("an event names a function that is not there")
        for name in ("sent_from", "put_at"):
            at = getattr(self, name)
            if at is not None and at >= len(self.events):
                raise ValueError(f"{name} names an event that is not there")
        return self

    def value(self, sent: MessageDelta | None, *, is_told: bool) -> RanLines:
        """The same without what it was read with, and with what the step sent."""
        functions = [RanFunction(one.name, one.file, one.first, tuple(map(str, one.source))) for one in self.functions]
        lines = [
            RanLine(
                one.function,
                one.line,
                one.depth,
                tuple([Changed(*change) for change in one.changed]),
                one.returned,
                one.raised,
            )
            for one in self.events
        ]
        return RanLines(
            tuple(functions),
            tuple(lines),
            self.left_out,
            self.sent_from,
            tuple(self.steps),
            self.put_at,
            sent,
            is_told,
        )


class _Traced(Said):
    """A replay of which one step was traced."""

    lines: _Lines | None = None  # a worker need not tell them
    sent: Annotated[list[Any], Field(max_length=MOST_STEPS)] = []  # noqa: RUF012 - as above

    def at(self, step: int) -> tuple[MessageDelta | None, bool]:
        """What it sent at a step, from 1, and whether it says so. Raises ProtocolError."""
        if not 1 <= step <= len(self.sent):
            return None, False
        said = self.sent[step - 1]
        return None if said is None else read(Sent, said).delta(), True


class _Answers(Said):
    """The one replay of such a message."""

    replays: Annotated[list[_Traced], Field(min_length=1, max_length=1)]


_VALUES = TypeAdapter(RanLines)


def lines_of(data: Any) -> RanLines:
    """The value that another process of ours made of an answer."""
    return _VALUES.validate_python(data)


def read_lines(answer: Any, step: int) -> RanLines | None:
    """The lines of a step, from 1, of the one replay that was asked for; None where they are not told. Raises
    ProtocolError."""
    traced = read(_Answers, answer).replays[0]
    if traced.lines is None:
        return None
    sent, is_told = traced.at(step)
    return traced.lines.value(sent, is_told=is_told)
