"""One replay beside another: whether another chunking gives the same message, and where it parts if not."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.chunking import Chunking, label, to_json
from parsers.compare import Divergence, divergence, same_message
from parsers.replay import finish_reason
from parsers.replayer import Replayer
from parsers.trace import Trace


@dataclass(slots=True)
class Compared:
    """Another chunking of the same output: whether its message is the same, and where it parts if not.

    `deltas` is how many deltas it fed. `trace` has steps only where the message differs.
    """

    chunking: Chunking
    label: str
    trace: Trace
    deltas: int
    same: bool
    divergence: Divergence | None = None


def compared(replayer: Replayer, chunking: Chunking, trace: Trace) -> Compared:
    """Another chunking beside `trace`: only its message, unless that differs."""
    outcome = replayer.outcome(chunking)
    if same_message(outcome.message, trace.message, ids=not replayer.black_box) and outcome.raised is None:
        cuts = to_json(chunking, replayer.deltas(chunking))
        light = Trace(trace.parser, trace.reasons, cuts, trace.mode, trace.text)
        light.message = outcome.message
        light.finish_reason = finish_reason(outcome.message, replayer.context.finish_reason)
        return Compared(chunking, label(chunking), light, outcome.deltas, True)
    other = replayer.trace(chunking)
    return Compared(chunking, label(chunking), other, outcome.deltas, False, divergence(trace, other))
