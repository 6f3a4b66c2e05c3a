"""Whether a parser that somebody else runs gives the same once more: one that keeps something between replays does not.

Of such a parser one replay alone shows nothing: what shows it are all that were made, in their order.
"""

from __future__ import annotations

from dataclasses import replace

from parsers.cases.tested import CaseTest, Tried
from parsers.checks.second_reading import second_reading
from parsers.compare.beside import rules_for
from parsers.compare.divergence import Rules, same_message
from parsers.replays.chunking import label
from parsers.replays.replayer import Replayer
from parsers.vocabulary.events import Failure

READINGS = 2  # of each, in a row: a parser may be right every other time
SPOILT = "what one replay leaves behind may spoil the next, so that all of them show it and one alone may not"


def unsteady_words(found: CaseTest, replayer: Replayer) -> str:
    """In a sentence, that a case which failed is not read alike every time; "" where it is, and where that is not
    asked: of parsers that run here, and of those that are slow. The replay under study is read once more, and the one
    that is shown."""
    if found.run.late or not all(_is_quick(one.trace.failure) for one in found.replays):
        return ""
    first, smallest = found.replays[0], found.smallest
    asked = [first, *[smallest] * (smallest.chunking != first.chunking)]
    again = (changed_words(one, replayer, found.run.case.compare.rules()) for one in asked for _ in range(READINGS))
    words = next(filter(None, again), "")
    return words and f"The parser does not read the same output alike every time: {words}; {SPOILT}."


def changed_words(before: Tried, replayer: Replayer, rules: Rules) -> str:
    """How a replay that is made once more differs from what it was; "" where it does not."""
    if replayer.tapes is None:
        return ""
    now = replace(replayer, known=None).trace(before.chunking)
    failed, fails = before.trace.failure, now.failure
    if not _is_quick(fails):
        return ""
    kinds = [None if one is None else one.kind for one in (failed, fails)]
    loose = replace(rules_for(replayer, rules), ids=False)  # a server makes ids up
    if kinds[0] == kinds[1] and (fails is not None or same_message(before.trace.message, now.message, loose)):
        return ""
    how, _, _ = second_reading(before.trace.message, now.message, failed, fails if kinds[0] != kinds[1] else None)
    return f"read once more ({label(before.chunking)}), {how}"


def _is_quick(failure: Failure | None) -> bool:
    """Whether it was tried, in a process that is still there."""
    return failure is None or not (failure.slow or failure.ended or failure.unasked or failure.rests)
