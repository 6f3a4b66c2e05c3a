"""The first step at which two replays of the same deltas send something else.

A step is fed the same text on both sides, so steps are compared one by one, in O(n). That two parsers send the same
characters at other steps is a difference here, though the messages may be one: where messages part says `divergence`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import zip_longest

from parsers.compare.divergence import EXACT, Rules
from parsers.vocabulary.events import Failure, Raised
from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import MessageDelta


@dataclass(slots=True, frozen=True)
class StepSent:
    """What one side did at a step: what it sent, what it failed with, and the state it was in afterwards."""

    delta: MessageDelta | None = None
    failure: Failure | None = None
    state: str = ""


@dataclass(slots=True, frozen=True)
class DeltaParting:
    """Step `index` is the first at which two replays do not send the same. `fed` is its text; `end`: it is the end of
    the output."""

    index: int
    fed: str
    end: bool
    sent: tuple[StepSent, StepSent]


def delta_parting(a: Trace, b: Trace, rules: Rules = EXACT) -> DeltaParting | None:
    """Return where two replays part first, or None where they send the same at every step."""
    for one, other in zip_longest(a.steps, b.steps):
        sides = _sent(one), _sent(other)
        if _key(sides[0], rules) != _key(sides[1], rules):
            step = one or other
            return DeltaParting(step.index, a.text[step.span.start : step.span.end], step.end, sides)
    return None


def step_sent(trace: Trace, index: int) -> StepSent:
    """What was done at a step, counted from 1."""
    return _sent(trace.steps[index - 1] if 0 < index <= len(trace.steps) else None)


def _sent(step: Step | None) -> StepSent:
    if step is None:
        return StepSent()
    failure = next((event.failure for event in step.events if isinstance(event, Raised)), None)
    return StepSent(step.delta, failure, step.state)


def _key(side: StepSent, rules: Rules) -> Hashable:
    """Equal for steps that send the same; absent text is empty text, and a call without any is none."""
    failed, delta = side.failure and side.failure.kind, side.delta or MessageDelta()
    calls = [(call.index, call.name or "", call.arguments or "", call.id or "") for call in delta.tool_calls]
    said = [call if rules.ids else call[:3] for call in calls if any(call[1:3])]
    return failed, delta.reasoning or "", delta.content or "", tuple(said)
