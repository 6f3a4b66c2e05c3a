"""How many replays of one output somebody else is asked for who may be slow: whoever waits has an end to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Trace

ENGINE_SECONDS = 10.0  # of work on all comparisons of one output
NOT_MADE = (
    "{left} of {all} other chunkings were not run: the engine had worked for {spent:.0f} seconds on the others, and"
    f" {ENGINE_SECONDS:g} are what they may take."
)
REFUSED = "{left} of {all} other chunkings {were} not run. {failure}."  # which says why


class Patience:
    """That with one engine. `spent` tells for how many seconds it was at work; None: nobody else is asked."""

    def __init__(self, spent: Callable[[], float] | None) -> None:
        self._spent = spent
        self._began = 0.0 if spent is None else spent()
        self._made = self._ready = 0

    @property
    def spent(self) -> float:
        """For how many seconds it was at work since."""
        return 0.0 if self._spent is None else self._spent() - self._began

    def foreseen(self, replayer: Replayer, left: Sequence[Chunking]) -> bool:
        """Return whether the first of these is made. As many as there seems to be time for are asked for at once,
        after one that shows how long that takes."""
        if not self._ready:
            self._ready = min(self._affordable(), len(left))
            replayer.foresee(left[: self._ready])
        if not self._ready:
            return False
        self._ready, self._made = self._ready - 1, self._made + 1
        return True

    def _affordable(self) -> int:
        if self._spent is None:
            return 1_000_000
        if not self._made:
            return 1
        each = max(self.spent / self._made, 1e-6)
        return max(int((ENGINE_SECONDS - self.spent) / each), 0)


def refused_words(refused: Sequence[Trace], whole: Trace, others: Sequence[Chunking]) -> str:
    """That so many of the replays were not made, the one in one delta among them, for what the parser did in others."""
    beside = [whole] * (WHOLE not in others)
    left = [*refused, *[one for one in beside if not one.is_made]]
    if not left:
        return ""
    were, asked = "was" if len(left) == 1 else "were", len(others) + len(beside)
    return REFUSED.format(left=len(left), all=asked, were=were, failure=left[0].failure)
