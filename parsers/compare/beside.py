"""One replay beside another: whether another chunking gives the same message, and where it parts if not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.compare.divergence import EXACT, Divergence, Rules, divergence, same_message
from parsers.replays.chunking import Chunking, label, to_json, with_numbers
from parsers.replays.cut_grades import CutGrade
from parsers.replays.replay import finish_reason
from parsers.replays.replayer import Outcome, Replayer
from parsers.vocabulary.trace import Trace


@dataclass(slots=True)
class Compared:
    """Another chunking of the same output: whether its message is the same, and where it parts if not.

    `deltas` is how many deltas it fed. `trace` has steps only where the message differs, or where they are wanted.
    `chunkings`: how many of them this one stands for, itself included; `cuts`: the grade of the surest of these, where
    somebody has worked it out.
    """

    chunking: Chunking
    label: str
    trace: Trace
    deltas: int
    same: bool
    divergence: Divergence | None = None
    chunkings: int = 1
    cuts: CutGrade | None = None


def compare_chunking(
    replayer: Replayer, chunking: Chunking, trace: Trace, rules: Rules = EXACT, *, in_full: bool = False
) -> Compared:
    """Another chunking beside `trace`: only its message, unless that differs, or all of it is wanted (`in_full`)."""
    outcome, rules = replayer.outcome(chunking), rules_for(replayer, rules)
    if outcome.raised is None and same_message(outcome.message, trace.message, rules):
        found = alike(replayer, chunking, trace, outcome)
        return replace(found, trace=replayer.trace(chunking)) if in_full else found
    other = replayer.trace(chunking)
    if (other.failure is None) != (outcome.raised is None) or not same_message(other.message, outcome.message, rules):
        other = replayer.trace_of_outcome(chunking) or other
    return Compared(chunking, label(chunking), other, outcome.deltas, False, divergence(trace, other, rules))


def alike(replayer: Replayer, chunking: Chunking, trace: Trace, outcome: Outcome) -> Compared:
    """A chunking whose message is that of `trace`: without steps."""
    cuts = with_numbers(to_json(chunking, replayer.deltas(chunking)))
    light = Trace(trace.parser, trace.reasons, cuts, trace.mode, trace.text)
    light.message = outcome.message
    light.finish_reason = finish_reason(outcome.message, replayer.context.finish_reason)
    return Compared(chunking, label(chunking), light, outcome.deltas, True)


def rules_for(replayer: Replayer, rules: Rules) -> Rules:
    """The rules for the messages of a parser: those of a black box count where the contract says so."""
    return replace(rules, ids=False) if replayer.black_box and replayer.contract.ids == "any" else rules
