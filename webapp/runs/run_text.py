"""A run as JSON text, whole or a part of it, in pieces: the object of a long output is many times the output.

`json_text` writes one object, `json_lines` the same as JSON Lines. Neither holds more than a piece at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from parsers.cases.jsontext import compact, plain
from parsers.cases.run import CaseRun, run_parts
from webapp.settings import ANSWER_TIMES, ENV_PREFIX

PIECE = 50_000  # characters; one item may be longer
STEP_KEYS = frozenset({"deltas", "steps"})
_LEAST_STEP_BYTES = 130  # no step takes fewer


@dataclass(slots=True, frozen=True)
class Part:
    """Says what of a run is wanted: its keys, and the places of its deltas and steps, from 0."""

    keys: frozenset[str]
    steps: range = range(sys.maxsize)

    def least_bytes(self, steps: int) -> int:
        """How many bytes its JSON takes at least, where the run has so many steps."""
        here = range(self.steps.start, min(self.steps.stop, steps))
        return _LEAST_STEP_BYTES * len(here) if "steps" in self.keys else 0


def json_text(run: CaseRun, part: Part | None = None) -> Iterator[str]:
    """The text of `run_json(run)`, or of a part of it, ended by a newline."""
    found = run_parts(run) if part is None else _chosen(run_parts(run, part.steps), part.keys)
    return _in_pieces(_object_text(found, plain))


def json_lines(run: CaseRun, part: Part, most: int = sys.maxsize) -> Iterator[str]:
    """JSON Lines: the object without deltas and steps, then a line for each step, which has its delta; up to `most`
    bytes of steps, after which a last line says so.

    Nothing but a line feed ends a line for any reader: what some take for line ends is escaped.
    """
    found = run_parts(run, part.steps)
    steps = found["steps"] if part.keys & STEP_KEYS else ()
    summary = _object_text(_chosen(found, part.keys - STEP_KEYS), compact)
    return _in_pieces(chain(summary, _within(most, steps)))


def _within(most: int, steps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    size = 0
    for step in steps:
        line = f"{compact(step)}\n"
        size += len(line.encode())
        if size > most:
            limit = f"{most:,} bytes ({ANSWER_TIMES} times {ENV_PREFIX}ANSWER_BYTES)"
            words = f"Steps take more than {limit}: ask for those from {step['index']:,} on by themselves."
            yield f"{compact({'error': words})}\n"
            return
        yield line


def _chosen(found: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key in keys}


def _object_text(parts: Mapping[str, Any], written: Callable[[Any], str]) -> Iterator[str]:
    """The text of an object, item by item where a value is an iterator."""
    yield "{"
    for place, (key, value) in enumerate(parts.items()):
        yield f"{', ' if place else ''}{written(key)}: "
        yield from _list_text(value, written) if isinstance(value, Iterator) else (written(value),)
    yield "}\n"


def _list_text(items: Iterator[Any], written: Callable[[Any], str]) -> Iterator[str]:
    lead = "["
    for item in items:
        yield f"{lead}{written(item)}"
        lead = ", "
    yield "[]" if lead == "[" else "]"


def _in_pieces(texts: Iterable[str]) -> Iterator[str]:
    piece: list[str] = []
    size = 0
    for text in texts:
        piece.append(text)
        size += len(text)
        if size >= PIECE:
            yield "".join(piece)
            piece, size = [], 0
    if piece:
        yield "".join(piece)
