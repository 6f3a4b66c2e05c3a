"""A question to a child, and the watch over the process that is at it: its deadline, and whether it is wanted yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

from webapp.children.endings import Ending
from webapp.children.family import sleeps
from webapp.children.process import Process
from webapp.children.program import Program
from webapp.children.resident import resident_bytes

_LOOK_SECONDS = 0.2  # how long a child may work on when nobody wants that any more


@dataclass(slots=True, frozen=True)
class Question:
    """A task with its request, and what whoever asks wishes meanwhile."""

    task: str
    request: Mapping[str, Any]
    seconds: float
    on_progress: Callable[[dict[str, Any]], object] | None = None
    on_question: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    cancelled: Callable[[], bool] | None = None
    steps: int = 0  # of the replays that are asked for, where they are


class Watch(Thread):
    """Interrupts a task at the deadline of a question, or when nobody wants the answer any more, or kills its process.

    `ending` says why, once it has done so; `killed`, whether the process was.
    """

    def __init__(self, process: Process, question: Question, program: Program) -> None:
        super().__init__(daemon=True)
        self.ending: Ending | None = None
        self.killed = False
        self._process = process
        self._seconds = question.seconds
        self._end = monotonic() + question.seconds
        self._latest = monotonic() + program.patience * question.seconds
        self._hurried = monotonic() + program.hurry * question.seconds
        self._before = process.worked() if program.patience > 1 else math.inf
        self._cancelled = question.cancelled
        self._grace = program.grace_seconds
        self._looks = bool(question.cancelled or program.command)
        self._own = not program.command
        self._most = program.resident_bytes
        self._slept, self._looked = 0.0, (monotonic(), self._before)
        self._rests = False
        self._done = Event()
        self.start()

    def run(self) -> None:
        while self.ending is None:
            left = max(self._end - monotonic(), _LOOK_SECONDS if self._rests else 0)
            if self._done.wait(min(left, _LOOK_SECONDS) if self._looks else left):
                return
            if self._rests:
                continue
            if not self._own:
                self._process.descendants.living()  # they are known when it is gone
            if not self._own:
                self._note_sleep()
            if not self._own and self._process.wait(0) is not None:
                self._process.kill()  # what it started, which holds its end of our pipes
                return
            if self._most and resident_bytes(self._process.pid) > self._most:
                self.ending = Ending.MEMORY
                break
            if monotonic() >= self._end and not self._goes_on():
                self.ending = Ending.LATE
            elif self._is_unwanted():
                self.ending = Ending.CANCELLED
        if self._grace and self._process.interrupt() and self._done.wait(self._grace):
            return
        self.killed = True
        self._process.kill()

    def _is_unwanted(self) -> bool:
        """Whether nobody wants the answer. Who cannot say so is not asked again: the deadline has to be kept."""
        try:
            return self._cancelled is not None and self._cancelled()
        except Exception:
            self._cancelled = None
            return False

    def _note_sleep(self) -> None:
        """Count what it slept since that was looked at last, as far as it did not work then."""
        (before, worked_before), (now, worked) = self._looked, (monotonic(), self._process.worked())
        self._looked = now, worked
        if worked < math.inf and sleeps(self._process.pid):
            self._slept += max(now - before - (worked - worked_before), 0.0)

    def _goes_on(self) -> bool:
        """Whether the task has more time, since it had no processor for all of it."""
        worked = self._process.worked() - self._before + self._slept
        now = monotonic()
        hurries = now >= self._hurried
        enough = self._seconds / 2 if hurries else self._seconds
        if not worked < enough:  # which is also so where nobody can tell
            return False
        until = self._latest if hurries else min(self._latest, self._hurried)
        self._end = min(now + max(enough - worked, _LOOK_SECONDS), until)
        return now < self._end

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Inside the block the process waits for us, and has that time besides."""
        began, self._rests = monotonic(), True
        try:
            yield
        finally:
            rested = monotonic() - began
            self._end, self._latest = self._end + rested, self._latest + rested
            self._hurried += rested
            self._rests = False

    def stop(self) -> None:
        """The question is over."""
        self._done.set()
        self.join()
