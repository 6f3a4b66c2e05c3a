"""What the process of a tokenizer may take, and in which words its failures reach people."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from parsers.vocabulary.types import UsageError
from webapp.children.child import ChildError, Ending, Program
from webapp.settings import ENV_PREFIX, Settings

# How a process ends that could not allocate memory: by the library's own abort, or by the kernel.
_OUT_OF_MEMORY = (-getattr(signal, "SIGABRT", 6), -getattr(signal, "SIGKILL", 9))


@dataclass(slots=True, frozen=True)
class Limits:
    """Seconds for one answer, bytes of addresses of one process, and bytes that all may take between their answers."""

    seconds: float
    memory: int
    cache: int

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """The limits that the settings name."""
        return cls(settings.tokenizer_seconds, settings.tokenizer_memory_bytes, settings.tokenizer_cache_bytes)

    @property
    def program(self) -> Program:
        """What every process of a tokenizer does."""
        quiet = {"TOKENIZERS_PARALLELISM": "false", "RUST_BACKTRACE": "0"}
        return Program("webapp.vocabularies.vocabulary_program", limits={"AS": self.memory}, environment=quiet)


@contextmanager
def worded(label: str, limits: Limits, seconds: float) -> Iterator[None]:
    """What goes wrong in a process inside the block is a UsageError that says what to do."""
    try:
        yield
    except ChildError as error:
        raise UsageError(_words(error, label, limits, seconds)) from None


def _words(error: ChildError, label: str, limits: Limits, seconds: float) -> str:
    ending = Ending.MEMORY if error.code in _OUT_OF_MEMORY else error.ending
    match ending:
        case Ending.REFUSED:
            return error.message
        case Ending.LATE:
            return (
                f"{label} took longer than {seconds:g} seconds; take a simpler tokenizer or a shorter text, or give"
                f" {ENV_PREFIX}TOKENIZER_SECONDS a larger number"
            )
        case Ending.MEMORY | Ending.LARGE:
            return (
                f"{label} needs more memory than {ENV_PREFIX}TOKENIZER_MEMORY_BYTES allows ({limits.memory:,}); take a"
                " smaller tokenizer or a shorter text"
            )
        case Ending.PANIC:
            return f"{label} makes the tokenizers library crash: {error.message}; take another file"
        case Ending.ERROR:
            return f"the tokenizers library refuses {label}: {error.message}"
        case Ending.BUSY:
            return f"{label} has to wait: two other tokenizers are at work; try again in a moment"
        case Ending.ABSENT:
            return f"the process of {label} cannot be started ({error.message}); try again"
        case Ending.CLOSED:
            return f"{label} was closed while it was at work; try again"
    return f"the process of {label} ended without an answer (exit code {error.code}); try again"
