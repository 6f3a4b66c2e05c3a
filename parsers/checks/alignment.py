"""Sent text laid over the output: which of it can have come from what had arrived by then.

Content and reasoning are copies of the output with some of it left out, so what is sent, whitespace aside, is found
in the output in order. `align` matches greedily: each character takes the first place after the one before. If that
fails, every way fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.compare import Channel, Stretch
from parsers.trace import Trace


@dataclass(slots=True)
class Alignment:
    """`ends`: for each stretch that fits, the place after its last character. `misfit` is the first that does not fit,
    and `offset` where in its text it stops fitting."""

    ends: list[int]
    misfit: Stretch | None = None
    offset: int = 0


def align(trace: Trace, sent: Channel, start: int = 0) -> Alignment:
    """Lay what was sent over the output from `start` on, each stretch over what had arrived by its step."""
    arrived = {step.index: step.span.end for step in trace.steps}
    text, place, ends = trace.text, start, list[int]()
    for stretch in sent.stretches:
        limit = arrived[stretch.step]
        for offset, char in enumerate(stretch.text):
            if char.isspace():
                continue
            found = text.find(char, place, limit)
            if found < 0:
                return Alignment(ends, stretch, offset)
            place = found + 1
        ends.append(place)
    return Alignment(ends)
