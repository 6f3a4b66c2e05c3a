"""Outcomes of a few compared chunkings, for a verdict where no search was made."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.compare.divergence import EXACT, Rules, grade, message_key
from parsers.replays.chunking import Chunking, label
from parsers.replays.replay import raised_in
from parsers.replays.replayer import Replayer
from parsers.search.found import OutcomeClass
from parsers.search.outcomes import Compared, fitting
from parsers.vocabulary.trace import Trace


def outcomes_of(
    replayer: Replayer, chunking: Chunking, trace: Trace, compared: Sequence[Compared], rules: Rules = EXACT
) -> list[OutcomeClass]:
    """The different messages of a traced replay under `chunking` and of those it is compared with."""
    chosen = fitting(rules, replayer)
    first = OutcomeClass(
        0, trace.message, trace.finish_reason, 1, 1, chunking, label(chunking), raised=raised_in(trace)
    )
    found = {(message_key(trace.message, chosen), first.raised): first}
    for other in compared:
        message, raised = other.trace.message, raised_in(other.trace)
        key = message_key(message, chosen), raised
        if key not in found:
            reason = other.trace.finish_reason
            found[key] = OutcomeClass(len(found), message, reason, 0, 0, other.chunking, other.label)
            found[key].grade = grade(trace.message, message, chosen)
            found[key].divergence, found[key].raised = other.divergence, raised
        one = found[key]
        one.count += other.chunkings
        one.honest += other.chunkings * (other.chunking.by != "char" and other.chunking.unit != "char")
    return list(found.values())
