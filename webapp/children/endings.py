"""Why a child gives no answer."""

from __future__ import annotations

from enum import Enum


class Ending(Enum):
    """Why there is no answer."""

    LATE = "late"  # interrupted or killed at the deadline
    CANCELLED = "cancelled"  # interrupted or killed because nobody wanted the answer any more
    CLOSED = "closed"  # closed by another thread
    BUSY = "busy"  # not asked: there was no place for one more child
    ABSENT = "absent"  # not asked: the system started no process, and says why
    ENDED = "ended"  # the process is gone
    MEMORY = "memory"
    LARGE = "large"  # a message was larger than it may be
    REFUSED = "refused"  # the task said no, in a sentence
    ERROR = "error"  # the task raised an exception
    PANIC = "panic"  # the task raised what is no Exception, as libraries written in Rust do; or what came is no message


ENDINGS = [ending.value for ending in Ending]


class ChildError(Exception):
    """There is no answer. `message` is the task's own, `detail` a traceback or the last words on standard error.

    `code` is the exit code of a process that ended, negative for a signal; `size` that of a large message, in bytes.
    `begun` False: the process had ended before it was asked.
    """

    def __init__(
        self,
        ending: Ending,
        message: str = "",
        *,
        detail: str = "",
        code: int | None = None,
        size: int = 0,
        begun: bool = True,
    ) -> None:
        super().__init__(ending.value, message)
        self.ending = ending
        self.message = message
        self.detail = detail
        self.code = code
        self.size = size
        self.begun = begun
