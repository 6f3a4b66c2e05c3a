"""A short search: the first chunking that reads an output otherwise, within a budget of work, for who waits for it.

The chunkings are those of the long search, cheap and telling ones first. Work is counted and not timed, so that the
same output has the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.compare.divergence import same_message
from parsers.replays.chunking import TRACED, WHOLE, Chunking, label
from parsers.replays.replayer import Replayer
from parsers.search.sweep import Sweep
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Span

_DELTA = 8  # what feeding one delta costs, in characters read


@dataclass(slots=True, frozen=True)
class ShortSearch:
    """What was found beside the replay token by token: so many chunkings were tried, and whether that were all.

    `other`: one that gives another message, or a failure. `lost`: characters that have no owner, and a chunking under
    which they have none.
    """

    tried: int
    complete: bool
    other: Chunking | None = None
    lost: tuple[Span, Chunking] | None = None

    def problems(self) -> list[str]:
        """One sentence for each thing that is wrong, without its full stop."""
        found = []
        if self.other is not None:
            found.append(f'With the chunking "{label(self.other)}" the message is not the one of {label(TRACED)}')
        if self.lost is not None:
            (start, end), chunking = self.lost
            found.append(f'With the chunking "{label(chunking)}" characters {start} to {end} have no owner')
        return found


def search_shortly(replayer: Replayer, base: Trace, work: int) -> ShortSearch:
    """Compare other chunkings with `base`, the replay token by token, until one differs or the work is done:
    characters that are read, each delta counting for eight. At least one is tried."""
    tried, other, complete = 0, None, True
    for trial in Sweep(replayer).trials():
        if tried and work <= 0:
            complete = False
            break
        outcome = replayer.outcome(trial.chunking)
        tried += 1
        work -= len(replayer.text) + _DELTA * outcome.deltas
        if outcome.raised is not None or not same_message(outcome.message, base.message):
            other, complete = trial.chunking, False
            break
    traces = [(TRACED, base), *[(one, replayer.trace(one)) for one in (WHOLE, other) if one is not None]]
    lost = [(Span(run.start, run.end), one) for one, trace in traces for run in trace.partition if run.reason == LOST]
    return ShortSearch(tried, complete, other, lost[0] if lost else None)
