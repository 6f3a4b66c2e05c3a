"""A child process seen from here: started when needed, asked with a deadline, killed by its id when it does not answer.

Everything that can go wrong in the child ends in one UsageError that says what to do. The next call starts a new child.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Timer
from typing import Any, BinaryIO, cast

from parsers.vocabulary.types import UsageError
from webapp.children import bare_environment
from webapp.settings import ENV_PREFIX, Settings
from webapp.vocabularies.child import Answer, receive, send

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (
    sys.executable,
    *("-P", "-c"),
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from webapp.vocabularies.child import main; main()",
)
PACKAGES = ("HOME", "USERPROFILE", "APPDATA", "PYTHONPATH", "PYTHONUSERBASE")  # where Python may find the library
ALARM = -getattr(signal, "SIGALRM", 0)


@dataclass(slots=True, frozen=True)
class Limits:
    """What a child may take."""

    seconds: float
    memory: int
    cache: int

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(settings.tokenizer_seconds, settings.tokenizer_memory_bytes, settings.tokenizer_cache_bytes)


class _GoneError(Exception):
    """The child ended without an answer."""


class Host:
    """One child and the file it has loaded; `path` None is a child that prepares files. Calls wait for each other."""

    def __init__(
        self, label: str, limits: Limits, path: Path | None = None, command: tuple[str, ...] = COMMAND
    ) -> None:
        self.label = label
        self.rss = 0
        self._limits = limits
        self._path = path
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        self._end: Callable[[], object] = _nothing

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        return self._process.pid if self._process is not None else None

    def call(self, task: str, seconds: float | None = None, **request: Any) -> Answer:
        """The child's answer. Raises UsageError where there is none in time, or where it says no."""
        with self._lock:
            idle = self._process is not None
            try:
                return self._call(task, seconds, request)
            except _GoneError:
                if idle and self._ended() == ALARM:  # it ended itself, out of boredom, just before
                    return self._again(task, seconds, request)
                raise self._failure(self._ended()) from None

    def close(self) -> None:
        """End the child, if there is one."""
        process, self._process = self._process, None
        self.rss = 0
        if process is not None:
            self._end()

    def _again(self, task: str, seconds: float | None, request: dict[str, Any]) -> Answer:
        self.close()
        try:
            return self._call(task, seconds, request)
        except _GoneError:
            raise self._failure(self._ended()) from None

    def _call(self, task: str, seconds: float | None, request: dict[str, Any]) -> Answer:
        process = self._process
        if process is None:
            process = self._start()
            if self._path is not None:
                self._ask(process, "load", self._limits.seconds, {"path": str(self._path)})
        return self._ask(process, task, seconds or self._limits.seconds, request)

    def _start(self) -> subprocess.Popen[bytes]:
        environ = bare_environment(*PACKAGES) | {"TOKENIZERS_PARALLELISM": "false", "RUST_BACKTRACE": "0"}
        command = [*self._command, str(self._limits.memory)]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environ)  # noqa: S603
        self._end = weakref.finalize(self, end, process)
        self._process = process
        return process

    def _ask(self, process: subprocess.Popen[bytes], task: str, seconds: float, request: dict[str, Any]) -> Answer:
        late = Event()
        timer = Timer(seconds, _kill_late, (process, late))
        timer.daemon = True
        timer.start()
        try:
            answer = _exchange(process, {"task": task, "seconds": seconds} | request)
        finally:
            timer.cancel()
        if late.is_set():
            self.close()
            raise UsageError(
                f"{self.label} took longer than {seconds:g} seconds; take a simpler tokenizer or a shorter text, or"
                f" give {ENV_PREFIX}TOKENIZER_SECONDS a larger number"
            )
        if answer is None:
            raise _GoneError
        self.rss = answer["rss"]
        return self._checked(answer)

    def _checked(self, answer: Answer) -> Answer:
        """The answer, if it is one; what the child says instead becomes an error here."""
        failed = answer.get("failed")
        if failed is None:
            return answer
        if failed == "refused":
            raise UsageError(answer["message"])
        self.close()
        if failed == "memory":
            raise self._no_memory()
        if failed == "panic":
            raise UsageError(f"{self.label} makes the tokenizers library crash: {answer['message']}; take another file")
        raise UsageError(f"the tokenizers library refuses {self.label}: {answer['message']}")

    def _ended(self) -> int | None:
        """Take leave of a child that is gone; its exit code."""
        process = self._process
        self.close()
        return process.returncode if process is not None else None

    def _failure(self, code: int | None) -> UsageError:
        """What the end of a child means; without a code it was ended from here, by another thread."""
        if code is None:
            return UsageError(f"{self.label} was closed while it was at work; try again")
        if code in (-getattr(signal, "SIGABRT", 6), -getattr(signal, "SIGKILL", 9)):
            return self._no_memory()
        return UsageError(f"the process of {self.label} ended without an answer (exit code {code}); try again")

    def _no_memory(self) -> UsageError:
        return UsageError(
            f"{self.label} needs more memory than {ENV_PREFIX}TOKENIZER_MEMORY_BYTES allows"
            f" ({self._limits.memory:,}); take a smaller tokenizer or a shorter text"
        )


def _exchange(process: subprocess.Popen[bytes], request: dict[str, Any]) -> Any:
    try:
        send(cast("BinaryIO", process.stdin), request)
        return receive(cast("BinaryIO", process.stdout))
    except (OSError, ValueError):  # the pipe broke; half a message came
        return None


def _kill_late(process: subprocess.Popen[bytes], late: Event) -> None:
    late.set()
    process.kill()


def _nothing() -> None:
    """The end of a child that never began."""


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a child by its id and forget it."""
    process.kill()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            cast("BinaryIO", stream).close()
    process.wait()
