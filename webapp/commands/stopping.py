"""The end of a server that is told to stop: what it is answering is finished or told, and nothing new is begun.

==============  ======================================  ================  =====================================
since SIGTERM   a request that is being answered        a new request     a new connection
==============  ======================================  ================  =====================================
first           goes on                                 503, Retry-After  waits in vain
stop_seconds    is given up and answered with 503       503               waits in vain
a moment later  its connection is closed                is closed         is refused: the program has ended
==============  ======================================  ================  =====================================

The program ends as soon as nothing is being answered. A second SIGTERM, and Ctrl-C, end it at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable
from threading import Thread, main_thread
from time import monotonic, sleep
from types import FrameType
from typing import Any

from werkzeug.exceptions import ServiceUnavailable

LAST_SECONDS = 3.0  # for what is given up to be told so
RETRY_SECONDS = 5
_LOOK_SECONDS = 0.05


class Stopping:
    """Whether a server is to stop, and whether what it is answering is given up. `connections` are those it has open,
    as waitress has them; `seconds` are for answers to end."""

    def __init__(self, connections: Callable[[], Iterable[Any]], seconds: float) -> None:
        self.told = False
        self.gives_up = False
        self._connections = connections
        self._seconds = seconds

    def begin(self, _signal: int, _frame: FrameType | None) -> None:
        """What a signal calls."""
        if self.told:
            sys.exit(0)
        self.told = True
        Thread(target=self._end, daemon=True).start()

    @property
    def refusal(self) -> ServiceUnavailable | None:
        """What a new request is answered with; None while there is no reason to."""
        words = "This server is being stopped. Try again in a moment."
        return ServiceUnavailable(words, retry_after=RETRY_SECONDS) if self.told else None

    def _end(self) -> None:
        self._wait(self._seconds)
        self.gives_up = True
        self._wait(LAST_SECONDS)
        signal.pthread_kill(main_thread().ident or 0, signal.SIGTERM)  # wakes the loop, which then ends

    def _wait(self, seconds: float) -> None:
        latest = monotonic() + seconds
        while monotonic() < latest and any(map(_is_busy, self._connections())):
            sleep(_LOOK_SECONDS)


def _is_busy(connection: Any) -> bool:
    return bool(connection.requests or connection.total_outbufs_len)
