"""Threads in which somebody reported what a sweep finds: matched by signature, never by words.

Two signatures are of one kind where a parser is blamed for the same: the same check and topic, the same sort of
difference, the same place and marker. A thread is one of those about a parser where that is of its server and reads its
format. What a model or a request is blamed for has no thread: it is no parser's bug.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from parsers.selection.registry import known_format
from parsers.sweeps.signature import Signature

_ALIKE = ("check", "topic", "sort", "where", "marker")


@dataclass(slots=True, frozen=True)
class Thread:
    """A thread: the example that it is among the real failures, how it is called, what it is about, and where it is."""

    example: str
    words: str
    title: str
    link: str


Key = tuple[str, ...]
Threads = Callable[[Signature], Sequence[Thread]]  # of a signature of one sweep


def no_threads(_signature: Signature) -> Sequence[Thread]:
    """None is known."""
    return ()


def key_of(signature: Signature, server: str, fmt: str) -> Key | None:
    """What signatures of one kind share, of a parser of this server that reads this format; None where no parser is
    blamed."""
    if signature.about != "parser":
        return None
    return (server.lower(), fmt, *[getattr(signature, name) for name in _ALIKE])


def threads_by_key(found: Iterable[tuple[Key | None, Thread]]) -> Mapping[Key, tuple[Thread, ...]]:
    """Threads by what their signatures share, each once, in order."""
    known: dict[Key, dict[Thread, None]] = {}
    for key, thread in found:
        if key is not None:
            known.setdefault(key, {})[thread] = None
    return {key: tuple(threads) for key, threads in known.items()}


def threads_of(signature: Signature, server: str, known: Mapping[Key, tuple[Thread, ...]]) -> tuple[Thread, ...]:
    """The threads about a signature of a sweep by a parser of this server: it has the name ENGINE:PARSER there."""
    fmt = known_format(signature.parser.rpartition(":")[2])
    key = None if fmt is None else key_of(signature, server, fmt.name)
    return () if key is None else known.get(key, ())
