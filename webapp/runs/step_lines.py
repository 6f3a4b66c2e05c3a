"""Which lines of an engine's parser ran at one step of a run, and which of them sent what the step sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from parsers.cases.engines import Choice
from parsers.replays.chunking import Chunking
from parsers.replays.ran_lines import Channel, LinesAsked, RanLines, Sought
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import MessageDelta, UsageError


@dataclass(slots=True, frozen=True)
class StepLines:
    """A step of a replay, what of what it sent was looked for, and the lines that did it. `repeats` False: when its
    lines were looked at it sent something else."""

    step: int
    total: int
    sought: Sought
    found: RanLines
    repeats: bool = True

    @property
    def sent(self) -> str:
        """The text that was looked for; empty where the step sent none."""
        return self.sought.text


def step_lines(
    choice: Choice,
    replayer: Replayer,
    trace: Trace,
    chunking: Chunking,
    step: int,
    *,
    sought: Sought | None = None,
    where: tuple[str, int] | None = None,
) -> StepLines:
    """The lines of a step, from 1, of the replay under a chunking. `sought` is the part of what it sent that somebody
    asks about; else its longest text.

    Raises UsageError for a parser that has no lines to show, and for a step that is not there.
    """
    delta = sent_at(choice, trace, step)
    sought = sought or longest(delta)
    found = choice.lines(LinesAsked(replayer.asked(chunking), step, sought, where)) if choice.lines else RanLines()
    repeats = not found.is_told or parts(found.sent) == parts(delta)
    return StepLines(step, len(trace.steps), sought, found, repeats)


def sent_at(choice: Choice, trace: Trace, step: int) -> MessageDelta | None:
    """What a step sent of a replay whose lines can be shown. Raises UsageError as `step_lines`."""
    if choice.lines is None:
        raise UsageError("only parsers of entered engines show the lines that ran")
    total = len(trace.steps)
    if not 1 <= step <= total:
        raise UsageError(f"there is no step {step:,}: the replay has {total:,}, the end of the output being the last")
    return trace.steps[step - 1].delta


def longest(delta: MessageDelta | None) -> Sought:
    """The longest text that a delta carries: it is found in the parser's variables most surely."""
    return max(parts(delta), key=lambda one: len(one.text), default=Sought())


def part_with(delta: MessageDelta | None, text: str) -> Sought | None:
    """The first part of a delta that has a text, which is asked about by its first character; None where none has."""
    found = next((one for one in parts(delta) if text in one.text), None)
    return None if found is None else replace(found, at=found.text.index(text))


def parts(delta: MessageDelta | None) -> list[Sought]:
    """What a delta carries, channel by channel, of each call by itself. Ids are left out: they are made up anew."""
    if delta is None:
        return []
    texts: dict[tuple[Channel, int | None], list[str]] = {}
    for channel, call, text in _texts(delta):
        texts.setdefault((channel, call), []).append(text)
    return [Sought("".join(found), channel, call) for (channel, call), found in texts.items()]


def _texts(delta: MessageDelta) -> Iterator[tuple[Channel, int | None, str]]:
    if delta.content:
        yield "content", None, delta.content
    if delta.reasoning:
        yield "reasoning", None, delta.reasoning
    for call in delta.tool_calls:
        if call.arguments:
            yield "arguments", call.index, call.arguments
        if call.name:
            yield "name", call.index, call.name
