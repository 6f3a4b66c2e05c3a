"""Who comes first is served first: a lock that nobody takes twice in a row while somebody else waits for it."""

from __future__ import annotations

from collections import deque
from threading import Lock


class Turns:
    """The lock. One of the library's own may be had again and again by whoever has it, as by a replay that hangs and is
    made once more."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken = False
        self._waiting: deque[Lock] = deque()

    def __enter__(self) -> None:
        turn = Lock()
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            turn.acquire()
            self._waiting.append(turn)
        try:
            turn.acquire()
        except BaseException:  # somebody does not want to wait any longer
            self._gone(turn)
            raise

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def _gone(self, turn: Lock) -> None:
        with self._lock:
            waits = turn in self._waiting
            if waits:
                self._waiting.remove(turn)
        if not waits:  # it was its turn by then
            self.__exit__()
