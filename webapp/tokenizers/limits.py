"""What the process of a tokenizer may take, and in which words its failures reach people."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from parsers.vocabulary.types import UsageError
from webapp.children.endings import ChildError, Ending
from webapp.children.program import Program
from webapp.settings import ENV_PREFIX, Settings

# How a process ends that could not allocate memory: by the library's own abort, or by the kernel.
_OUT_OF_MEMORY = (-getattr(signal, "SIGABRT", 6), -getattr(signal, "SIGKILL", 9))
_NO_MEMORY = (
    "{label} needs more memory than {prefix}TOKENIZER_MEMORY_BYTES allows ({memory:,}); take a smaller tokenizer or a"
    " shorter text"
)
_AGAIN = frozenset((Ending.LATE, Ending.MEMORY, Ending.LARGE, Ending.PANIC))  # it would end so again
_WORDS = {
    Ending.REFUSED: "{message}",
    Ending.LATE: "{label} took longer than {seconds:g} seconds; take a simpler tokenizer or a shorter text, or give"
    " {prefix}TOKENIZER_SECONDS a larger number",
    Ending.MEMORY: _NO_MEMORY,
    Ending.LARGE: _NO_MEMORY,
    Ending.PANIC: "{label} makes the tokenizers library crash: {message}; take another file",
    Ending.ERROR: "the tokenizers library refuses {label}: {message}",
    Ending.BUSY: "{label} has to wait: two other tokenizers are at work; try again in a moment",
    Ending.ABSENT: "the process of {label} cannot be started ({message}); try again",
    Ending.CLOSED: "{label} was closed while it was at work; try again",
}


class HopelessError(UsageError):
    """What a tokenizer was asked is too much for it, and would be again."""


def program(settings: Settings) -> Program:
    """Return what every process of a tokenizer does."""
    quiet = {"TOKENIZERS_PARALLELISM": "false", "RUST_BACKTRACE": "0"}
    limits = {"AS": settings.tokenizer_memory_bytes}
    return Program("webapp.vocabularies.vocabulary_program", limits=limits, environment=quiet, patience=3)


@contextmanager
def worded(label: str, settings: Settings, seconds: float) -> Iterator[None]:
    """What goes wrong in a process inside the block is a UsageError that says what to do, a HopelessError where nothing
    else would come of it."""
    try:
        yield
    except ChildError as error:
        ending = Ending.MEMORY if error.code in _OUT_OF_MEMORY else error.ending
        words = _WORDS.get(ending, "the process of {label} ended without an answer (exit code {code}); try again")
        given = {"memory": settings.tokenizer_memory_bytes, "message": error.message, "code": error.code}
        raise (HopelessError if ending in _AGAIN else UsageError)(
            words.format(label=label, prefix=ENV_PREFIX, seconds=seconds, **given)
        ) from None
