"""What is kept under a token for a while: within a budget of memory, and not for long after nobody asks for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")

LEFT_SECONDS = 120.0  # after its page was left a run is held yet: for who loads it anew, or comes back


class ByToken(ABC, Generic[T]):
    """Values by their tokens. Threads may share it.

    All take at most `most_bytes`, about; the one that was asked for longest ago goes first, and each goes `seconds`
    after somebody asked for it last, or soon after its page was left.
    """

    def __init__(self, most_bytes: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self.most_bytes = most_bytes
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[T, float]] = OrderedDict()
        self._used = 0

    @abstractmethod
    def _size(self, value: T) -> int:
        """About how many bytes of memory a value takes."""

    def get(self, token: str) -> T | None:
        """The value of a token; None where it is kept no more, or was not here."""
        with self._lock:
            self._forget_old()
            if token not in self._kept:
                return None
            found, _ = self._kept.pop(token)
            self._kept[token] = found, self._clock()
            return found

    def leave(self, token: str) -> None:
        """The page of a run was left: it goes within two minutes, unless somebody asks for it."""
        with self._lock:
            if token in self._kept:
                found, asked = self._kept[token]
                self._kept[token] = found, min(asked, self._clock() - self._seconds + LEFT_SECONDS)
                self._kept.move_to_end(token, last=False)

    @property
    def used(self) -> int:
        """About how many bytes of memory all take."""
        return self._used

    def keep_within(self, most_bytes: int) -> None:
        """Keep within another budget of memory from now on; what was asked for last stays."""
        with self._lock:
            self.most_bytes = most_bytes
            self._drop_oldest()

    @property
    def seconds_left(self) -> float:
        """For how long anything is kept yet if nobody asks for it; 0 where nothing is."""
        with self._lock:
            self._forget_old()
            if not self._kept:
                return 0.0
            return max([asked for _, asked in self._kept.values()]) + self._seconds - self._clock()

    def mend(self) -> None:
        """Count again after an exception that may have come anywhere, as an interrupt does."""
        with self._lock:
            self._used = sum([self._size(value) for value, _ in self._kept.values()])

    def _put(self, token: str, value: T) -> None:
        """Keep a value from now on, in place of what its token stood for."""
        if token in self._kept:
            self._drop(token)
        self._kept[token] = value, self._clock()
        self._used += self._size(value)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._used > self.most_bytes and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _forget_old(self) -> None:
        latest = self._clock() - self._seconds
        for token in [token for token, (_, asked) in self._kept.items() if asked < latest]:
            self._drop(token)

    def _drop(self, token: str) -> None:
        self._used -= self._size(self._kept.pop(token)[0])
