"""What an engine that hung is given from then on: little time for a while, and none where replays in a row hung.

Whoever asks an engine that never answers would wait for all that a replay may take, and all who ask for each other.
What it is given follows from what its answers took before, so a parser that is slow and right is not said to hang.
"""

from __future__ import annotations

from collections.abc import Hashable
from time import monotonic

from webapp.engines.health import Health

LITTLE_SECONDS = 1.0
LITTLE_TIMES = 10  # as long as the longest of its answers took
WARY_SECONDS = 60.0  # after a replay that hung
IN_A_ROW = 2  # replays that hung, and nothing was answered between them
REST_SECONDS = 30.0
MOST_RESTING = 3  # parsers, beside which others are asked
MOST_KEPT = 1_000  # parsers
_SHOWN = 3  # parsers that hang, of those that do
_QUICK_SECONDS = 1.0  # a start that fails so soon is tried whenever somebody asks
_AGAIN = "it is tried again in {:.0f} seconds, or at once by Ask again, under Engines"


class PatienceOfAll:
    """That with one engine. `full` is what a replay may take. Where one person `alone` asks it, it is asked whatever it
    did: nobody else waits."""

    def __init__(self, full: float, *, alone: bool) -> None:
        self._full = full
        self._alone = alone
        self.forget()

    def forget(self) -> None:
        """Whatever was, it is asked as if for the first time."""
        self._parsers: dict[Hashable, Patience] = {}
        self._failed_at: float | None = None
        self._failed = ""
        self._started = False

    @property
    def health(self) -> Health | None:
        """How it does; None where it was not asked since."""
        if self._failed:
            return Health("fails", self.no_start or self._failed)
        hung = [(parsers, one) for parsers, one in list(self._parsers.items()) if one.hangs]
        if resting := [(parsers, one) for parsers, one in hung if one.rest]:
            return Health("rests", "; ".join([f"{_named(parsers)}: {one.rest}" for parsers, one in resting[:_SHOWN]]))
        if hung:
            return Health("hangs", "; ".join([f"{_named(parsers)}: {one.hangs}" for parsers, one in hung[-_SHOWN:]]))
        return Health("answers", "") if self._started else None

    def of(self, *parsers: Hashable) -> Patience:
        """That with its parsers of these names, which read together: those that hang take nothing from others."""
        if len(self._parsers) > MOST_KEPT:
            self._parsers.clear()
        return self._parsers.setdefault(parsers, Patience(self._full, alone=self._alone))

    def rest(self, *parsers: Hashable) -> str:
        """Why these are not asked now; "" where they are. Where several rest, it is the engine that hangs."""
        resting = [words for one in self._parsers.values() if (words := one.rest)]
        if (own := self.of(*parsers).rest) or len(resting) < MOST_RESTING:
            return own
        return f"{len(resting)} of its parsers hang; of the one that did last: {resting[-1]}"

    @property
    def no_start(self) -> str:
        """Why it is not started now; "" where it is."""
        if self._alone or self._failed_at is None or (ago := monotonic() - self._failed_at) >= REST_SECONDS:
            return ""
        return f"{self._failed}. That was {ago:.0f} seconds ago; {_AGAIN.format(REST_SECONDS - ago)}"

    def started_not(self, words: str, took: float) -> None:
        """It did not come up, after so many seconds."""
        self._failed_at, self._failed = monotonic() if took > _QUICK_SECONDS else None, words

    def started(self) -> None:
        """It did."""
        self._started, self._failed_at, self._failed = True, None, ""


class Patience:
    """That with one parser of an engine."""

    def __init__(self, full: float, *, alone: bool) -> None:
        self._full = full
        self._alone = alone
        self._slowest = 0.0
        self._hung_at: float | None = None
        self._in_a_row = 0

    @property
    def seconds(self) -> float:
        """What a replay may take now."""
        return min(self._full, max(LITTLE_SECONDS, LITTLE_TIMES * self._slowest)) if self.wary else self._full

    @property
    def wary(self) -> bool:
        """Whether it hung lately."""
        return self._hung_at is not None and monotonic() < self._hung_at + WARY_SECONDS

    @property
    def rest(self) -> str:
        """Why it is not asked now; "" where it is."""
        if self._alone or self._hung_at is None or self._in_a_row < IN_A_ROW:
            return ""
        ago = monotonic() - self._hung_at
        if ago >= REST_SECONDS:
            return ""
        said = f"the last {self._in_a_row} replays hung, the latest {ago:.0f} seconds ago, so it was not asked"
        return f"{said}; {_AGAIN.format(REST_SECONDS - ago)}"

    @property
    def hangs(self) -> str:
        """That it hung, and has answered nothing since; "" where it has."""
        if self._hung_at is None or not self._in_a_row:
            return ""
        times = "the last replay" if self._in_a_row == 1 else f"the last {self._in_a_row} replays"
        return f"{times} hung, the latest {monotonic() - self._hung_at:.0f} seconds ago"

    def answered(self, took: float) -> None:
        """It answered, after so many seconds."""
        self._in_a_row = 0
        self._slowest = max(self._slowest, took)

    def hung(self) -> None:
        """A replay took all that it might."""
        self._hung_at = monotonic()
        self._in_a_row += 1


def _named(parsers: Hashable) -> str:
    """Parsers that read together."""
    return " behind ".join([str(one) for one in parsers if one]) if isinstance(parsers, tuple) else str(parsers)
