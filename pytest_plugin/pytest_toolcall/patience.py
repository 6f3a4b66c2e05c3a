"""How long a parser is waited for: so many seconds each replay, and after a few replays of a test that hung not at all.

A replay that hung is answered the second time as the first time. One that is not made is marked as such: it is no
failure of the parser, for nobody has tried it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sysconfig
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

from pytest_toolcall.workers.engine_worker import Hangs

MOST_HANGING = 2  # replays of one test that are waited for
LIKE = ("parser", "reasoning_parser", "request", "template_kwargs", "finish_reason", "path")
_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_ENTRY = os.path.join(_OURS, "served.py")  # what calls it is no parser any more
_LIBRARY = os.path.join(sysconfig.get_path("stdlib"), "")
_PACKAGES = ("site-packages", "dist-packages")


class Patience:
    """That of one test at a time, whose runs go through `begin`, `within` for each replay, and `told`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._hung: dict[str, Any] = {}  # answers, by what was fed
        self._run: Mapping[str, Any] = {}
        self._begun = 0
        self._hanging: list[tuple[int, str]] = []  # replays of this run that hang, and those that are not made
        self._left: list[tuple[int, str]] = []

    def renew(self) -> None:
        """Another test begins."""
        self._hung.clear()

    def begin(self, run: Mapping[str, Any]) -> None:
        """Its replays are made now, in their order."""
        self._run, self._begun = run, 0
        self._hanging.clear()
        self._left.clear()

    @contextmanager
    def within(self) -> Iterator[None]:
        """The next replay. Raises Hangs inside where it takes too long, and before it where it is not made."""
        number, self._begun = self._begun, self._begun + 1
        known = {**self._hung, **{key: None for _, key in self._hanging}}
        key = self._key(number) if known else ""
        if key in known or len(known) >= MOST_HANGING:
            self._left.append((number, key))
            raise _hangs(f"{len(known)} replays of this test did not return, so it was not asked again")
        try:
            with at_most(self._seconds):
                yield
        except Hangs:
            self._hanging.append((number, self._key(number)))
            raise

    def told(self, answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to the replays of the run."""
        found = list(answers)
        self._hung.update({key: found[number] for number, key in self._hanging})
        for number, key in self._left:
            found[number]["raised"]["unasked"] = True
            found[number] = self._hung.get(key, found[number])
        return found

    def _key(self, number: int) -> str:
        """The same for replays that are alike."""
        asked = [self._run.get(name) for name in LIKE]
        return hashlib.sha256(json.dumps([asked, self._run["replays"][number]]).encode("ascii")).hexdigest()


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise Hangs inside the block after so many seconds, where the system has alarms and this is the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, frame: FrameType | None) -> None:
        raise _hangs(f"it did not return in {seconds:g} seconds", _place(frame))

    began, before = monotonic(), signal.signal(signal.SIGALRM, ring)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:  # somebody else's alarm, such as pytest-timeout's
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - began), 0.001), again)


def _hangs(words: str, place: str = "") -> Hangs:
    error = Hangs(words)
    error.told_place = place  # type: ignore[attr-defined]
    return error


def _place(frame: FrameType | None) -> str:
    """The line of the parser that is executed: the innermost one that is neither ours nor of the standard library."""
    while frame is not None and frame.f_code.co_filename != _ENTRY:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS) and not _is_of_library(file):
            return f"{frame.f_code.co_name}, line {frame.f_lineno} of {os.path.basename(file)}"
        frame = frame.f_back
    return ""


def _is_of_library(file: str) -> bool:
    return file.startswith("<frozen ") or (file.startswith(_LIBRARY) and not any(one in file for one in _PACKAGES))
