"""Posted runs that can be asked for again by an address nobody can guess, for a while and nowhere on disk.

What is held is the case and what its page was made from; the replay is in the cache of the runner, or is made again.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from parsers.cases.case import Case
from webapp.children.worker import LargeError
from webapp.runs.by_token import ByToken

HELD_HEADER = "X-Held-Run"  # of answers about a held run: its token
_TOKEN = re.compile(r"[0-9a-f]{32}")
_FIXED_BYTES = 5_000
_TIMES = 6  # as much memory as the JSON of a case has characters, for the case, its form, and the JSON itself

Ask = Callable[[dict[str, Any]], Mapping[str, Any]]


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


class HeldRuns(ByToken[HeldRun]):
    """The runs of this process that were posted, by their tokens: 128 random bits in hex.

    `ask` tells the process before this one of each run, where there is one, and asks it for what others hold.
    """

    def __init__(
        self, most_bytes: int, seconds: float, clock: Callable[[], float] = monotonic, ask: Ask | None = None
    ) -> None:
        super().__init__(most_bytes, seconds, clock)
        self._ask = ask

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
            if known in self._kept and _is_same(self._kept[known][0], line, beside):
                token, shared, edited = known, self._kept[known][0].shared, edited or self._kept[known][0].edited
            found = HeldRun(token, case, line, setup, origin, beside, edited, shared)
            self._put(token, found)
        if self._ask is not None:
            with suppress(LargeError):  # longer than a message may be: it is known here alone
                self._ask({"do": "keep", "token": token, "raw": line.encode("utf-8", "surrogatepass")})
        return found

    def line_elsewhere(self, token: str) -> str | None:
        """The case, as JSON, of a run that another process of this server holds; None where no such run is known."""
        if self._ask is None or not _TOKEN.fullmatch(token):
            return None
        found = self._ask({"do": "read", "token": token})
        return found["raw"].decode("utf-8", "surrogatepass") if "raw" in found else None

    def leave(self, token: str) -> None:
        """The page of a run was left, here and in the process before this one."""
        super().leave(token)
        if self._ask is not None:
            self._ask({"do": "leave", "token": token})

    def note_shared(self, token: str, shared: SharedAs) -> None:
        """Know from now on what a run was shared as, if it is held."""
        with self._lock:
            if token in self._kept:
                found, asked = self._kept[token]
                self._kept[token] = replace(found, shared=shared), asked

    def _size(self, value: HeldRun) -> int:
        return _size(value)


def _is_same(run: HeldRun, line: str, beside: tuple[str, ...]) -> bool:
    return run.line == line and run.beside == beside


def _size(run: HeldRun) -> int:
    before = len(run.edited.line) if run.edited is not None else 0
    return _TIMES * (len(run.line) + before) + sum(map(len, run.beside)) + _FIXED_BYTES
