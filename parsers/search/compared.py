"""One replay beside another: whether another chunking gives the same message, and where it parts if not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.chunking import Chunking, label, to_json
from parsers.compare import EXACT, Divergence, Rules, divergence, same_message
from parsers.replay import finish_reason
from parsers.replayer import Outcome, Replayer
from parsers.trace import Trace


@dataclass(slots=True)
class Compared:
    """Another chunking of the same output: whether its message is the same, and where it parts if not.

    `deltas` is how many deltas it fed. `trace` has steps only where the message differs. `chunkings`: how many of them
    this one stands for, itself included.
    """

    chunking: Chunking
    label: str
    trace: Trace
    deltas: int
    same: bool
    divergence: Divergence | None = None
    chunkings: int = 1


def compared(replayer: Replayer, chunking: Chunking, trace: Trace, rules: Rules = EXACT) -> Compared:
    """Another chunking beside `trace`: only its message, unless that differs."""
    outcome = replayer.outcome(chunking)
    if same_message(outcome.message, trace.message, fitting(rules, replayer)) and outcome.raised is None:
        return same_as(replayer, chunking, trace, outcome)
    other = replayer.trace(chunking)
    parting = divergence(trace, other, fitting(rules, replayer))
    return Compared(chunking, label(chunking), other, outcome.deltas, False, parting)


def same_as(replayer: Replayer, chunking: Chunking, trace: Trace, outcome: Outcome) -> Compared:
    """A chunking whose message is that of `trace`: without steps."""
    cuts = to_json(chunking, replayer.deltas(chunking))
    light = Trace(trace.parser, trace.reasons, cuts, trace.mode, trace.text)
    light.message = outcome.message
    light.finish_reason = finish_reason(outcome.message, replayer.context.finish_reason)
    return Compared(chunking, label(chunking), light, outcome.deltas, True)


def fitting(rules: Rules, replayer: Replayer) -> Rules:
    """The rules for a replayer: a black box makes up its ids, so they never count."""
    return replace(rules, ids=False) if replayer.black_box else rules
