"""The chunks of a recording as they were pasted: the text of each, where the log still stands in the form.

A case keeps what the chunks say and not how they were spaced or escaped. The text is read once, object after object,
and an object is a chunk's where it says the same; a chunk that the log has in another way (cut over lines, one of
several choices) has no text. What is no JSON costs a line each, and after some of those nothing more is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from webapp.runs.runner import Run

_READS = json.JSONDecoder()
_BROKEN = 200  # objects that do not end, each read to where it breaks


def pasted_chunks(run: Run, text: str) -> Sequence[str | None]:
    """The text of every chunk of a run; None where it is not in the text that was pasted. Kept beside the run."""
    stream = run.case.input.stream or ()
    name = f"pasted {hashlib.blake2b(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return run.beside.get(name, lambda: matched(text, stream), size=_weight)


def matched(text: str, stream: Sequence[Any]) -> list[str | None]:
    """The text of each object of a stream in a text that has them in the same order."""
    found: list[str | None] = [None] * len(stream)
    at = 0
    for value, written in _objects(text):
        place = next((number for number in range(at, min(at + 2, len(stream))) if stream[number] == value), None)
        if place is not None:
            found[place], at = written, place + 1
    return found


def _objects(text: str) -> Iterator[tuple[Any, str]]:
    at, broken = text.find("{"), 0
    while at >= 0 and broken < _BROKEN:
        try:
            value, end = _READS.raw_decode(text, at)
        except (ValueError, RecursionError):
            broken, end = broken + 1, text.find("\n", at)
            if end < 0:
                return
        else:
            yield value, text[at:end]
        at = text.find("{", end)


def _weight(texts: Sequence[str | None]) -> int:
    return sum([len(text or "") + 60 for text in texts])
