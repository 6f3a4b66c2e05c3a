"""Posted runs that can be asked for again by an address nobody can guess, for a while and nowhere on disk.

What is held is the case and what its page was made from; the replay is in the cache of the runner, or is made again.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any

from parsers.cases.case import Case

HELD_HEADER = "X-Held-Run"  # of answers about a held run: its token
LEFT_SECONDS = 120.0  # after its page was left a run is held yet: for who loads it anew, or comes back
_FIXED_BYTES = 5_000
_TIMES = 6  # as much memory as the JSON of a case has characters, for the case, its form, and the JSON itself


@dataclass(slots=True, frozen=True)
class SharedAs:
    """What a held run was shared as: the id of the stored case, and its heading."""

    case_id: str
    heading: str


@dataclass(slots=True, frozen=True)
class HeldRun:
    """A case that was posted, `line`: its JSON as the page carries it, and what else its page was made from.

    `beside` are the other outputs it is compared with, as JSON too. `edited` is the run that it was edited from.
    `shared`: somebody who has the page shared it, as this; it may have been deleted since.
    """

    token: str
    case: Case
    line: str
    setup: Any = None  # of the form, and the case it came from: what the page knows them as
    origin: Any = None
    beside: tuple[str, ...] = ()
    edited: Any = None
    shared: SharedAs | None = None


class HeldRuns:
    """The runs of this process that were posted, by their tokens: 128 random bits in hex. Threads may share it.

    All take at most `most_bytes`, about; the one that was asked for longest ago goes first, and each goes `seconds`
    after somebody asked for it last, or soon after its page was left.
    """

    def __init__(self, most_bytes: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self.most_bytes = most_bytes
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._runs: OrderedDict[str, tuple[HeldRun, float]] = OrderedDict()
        self._used = 0

    def hold(
        self,
        case: Case,
        line: str,
        *,
        setup: Any = None,
        origin: Any = None,
        known: str = "",
        beside: tuple[str, ...] = (),
        edited: Any = None,
    ) -> HeldRun:
        """Hold a case from now on, under the token it is `known` by where that holds the same case: then it stays
        edited from what it was, and shared."""
        with self._lock:
            self._forget_old()
            token, shared = secrets.token_hex(16), None
            if known in self._runs and _is_same(self._runs[known][0], line, beside):
                token, shared, edited = known, self._runs[known][0].shared, edited or self._runs[known][0].edited
                self._drop(known)
            found = HeldRun(token, case, line, setup, origin, beside, edited, shared)
            self._runs[found.token] = found, self._clock()
            self._used += _size(found)
            self._drop_oldest()
            return found

    def get(self, token: str) -> HeldRun | None:
        """The run of a token; None where it is held no more, or was not here."""
        with self._lock:
            self._forget_old()
            if token not in self._runs:
                return None
            found, _ = self._runs.pop(token)
            self._runs[token] = found, self._clock()
            return found

    def leave(self, token: str) -> None:
        """The page of a run was left: it goes within two minutes, unless somebody asks for it."""
        with self._lock:
            if token in self._runs:
                found, asked = self._runs[token]
                self._runs[token] = found, min(asked, self._clock() - self._seconds + LEFT_SECONDS)
                self._runs.move_to_end(token, last=False)

    def note_shared(self, token: str, shared: SharedAs) -> None:
        """Know from now on what a run was shared as, if it is held."""
        with self._lock:
            if token in self._runs:
                found, asked = self._runs[token]
                self._runs[token] = replace(found, shared=shared), asked

    @property
    def used(self) -> int:
        """About how many bytes of memory all take."""
        return self._used

    def keep_within(self, most_bytes: int) -> None:
        """Keep within another budget of memory from now on; the run that was asked for last stays."""
        with self._lock:
            self.most_bytes = most_bytes
            self._drop_oldest()

    @property
    def seconds_left(self) -> float:
        """For how long any run is held yet if nobody asks for one; 0 where none is."""
        with self._lock:
            self._forget_old()
            if not self._runs:
                return 0.0
            return max([asked for _, asked in self._runs.values()]) + self._seconds - self._clock()

    def mend(self) -> None:
        """Count again after an exception that may have come anywhere, as an interrupt does."""
        with self._lock:
            self._used = sum([_size(run) for run, _ in self._runs.values()])

    def _drop_oldest(self) -> None:
        while self._used > self.most_bytes and len(self._runs) > 1:
            self._drop(next(iter(self._runs)))

    def _forget_old(self) -> None:
        latest = self._clock() - self._seconds
        for token in [token for token, (_, asked) in self._runs.items() if asked < latest]:
            self._drop(token)

    def _drop(self, token: str) -> None:
        self._used -= _size(self._runs.pop(token)[0])


def _is_same(run: HeldRun, line: str, beside: tuple[str, ...]) -> bool:
    return run.line == line and run.beside == beside


def _size(run: HeldRun) -> int:
    before = len(run.edited.line) if run.edited is not None else 0
    return _TIMES * (len(run.line) + before) + sum(map(len, run.beside)) + _FIXED_BYTES
