"""How much longer somebody may work on what can be left off in the middle, and is kept or told as far as it is."""

from __future__ import annotations

import math
from time import monotonic, thread_time

from webapp.settings import PATIENCE, Settings


class TimeLeft:
    """So much work of this thread, from `thread_time` at `began` on (None: from now on), and so long by the clock from
    now on, in seconds."""

    def __init__(self, work: float, clock: float = math.inf, began: float | None = None) -> None:
        self._worked = work + (thread_time() if began is None else began)
        self._late = monotonic() + clock

    @classmethod
    def of_request(cls, settings: Settings, share: float, began: float | None = None) -> TimeLeft:
        """A share of what a request may take. Over its time by the clock it is ended, and nothing of it is kept."""
        work = share * settings.replay_seconds
        return cls(work, PATIENCE * work, began)

    @property
    def seconds(self) -> float:
        """How many seconds are left, none below 0."""
        return max(min(self._worked - thread_time(), self._late - monotonic()), 0.0)
