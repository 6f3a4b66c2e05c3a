"""Which lines of an engine's parser ran at one step of a run, and which of them sent what the step sent."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.cases.engines import Choice
from parsers.replays.chunking import Chunking
from parsers.replays.ran_lines import LinesAsked, RanLines
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import MessageDelta, UsageError


@dataclass(slots=True, frozen=True)
class StepLines:
    """A step of a replay, what it sent, and the lines that did it."""

    step: int
    total: int
    sent: str
    found: RanLines


def step_lines(
    choice: Choice,
    replayer: Replayer,
    trace: Trace,
    chunking: Chunking,
    step: int,
    *,
    sought: str = "",
    where: tuple[str, int] | None = None,
) -> StepLines:
    """The lines of a step, from 1, of the replay under a chunking. `sought` is the part of what it sent that
    somebody asks about; else all of it.

    Raises UsageError for a parser that has no lines to show, and for a step that is not there.
    """
    if choice.lines is None:
        raise UsageError("only parsers of entered engines show the lines that ran")
    total = len(trace.steps)
    if not 1 <= step <= total:
        raise UsageError(f"there is no step {step:,}: the replay has {total:,}, the end of the output being the last")
    sent = sent_text(trace.steps[step - 1].delta)
    asked = LinesAsked(replayer.asked(chunking), step, sought or sent, where)
    return StepLines(step, total, sent, choice.lines(asked))


def sent_text(delta: MessageDelta | None) -> str:
    """The longest text that a delta carries: it is found in the parser's variables most surely."""
    if delta is None:
        return ""
    shares = [text for call in delta.tool_calls for text in (call.arguments, call.name)]
    return max([delta.content or "", delta.reasoning or "", *[text or "" for text in shares]], key=len)
