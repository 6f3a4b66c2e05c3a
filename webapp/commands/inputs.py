"""What a person names on the command line, read: a case, a recording or raw output, recognised and never guessed.

Bytes are taken as they are: no line end is changed. What cannot be replayed is a UsageError that begins with the
name that was given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsers.cases import jsontext
from parsers.cases.io import loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError
from parsers.intake import recognise
from parsers.types import Recording, UsageError

STDIN = "-"
LARGEST = 256_000_000  # bytes; a recorded stream is up to a hundred times the text in it


@dataclass(slots=True)
class Given:
    """An input as decoded JSON of a case, with what to say about it. `name` is what the person typed."""

    name: str
    data: dict[str, Any]
    is_case: bool = False
    title: str = ""
    notes: tuple[str, ...] = field(default=())


def read_bytes(name: str) -> bytes:
    """All bytes of a file, or of standard input for `-`. Raises UsageError: not there, not readable, too large."""
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LARGEST + 1)
    except IsADirectoryError as error:
        raise UsageError(f"{name} is a folder; give a file, or - for standard input") from error
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"{shown(name)} cannot be read: {why}; give a file, or - for standard input") from error
    if len(data) > LARGEST:
        raise UsageError(f"{shown(name)} has more than {LARGEST:,} bytes; cut out the part that matters")
    return data


def read_given(name: str) -> Given:
    """The input called `name`. Raises UsageError for what holds no model output, and for a case that is wrong."""
    found = recognise(read_bytes(name), pasted=False, filename=None if name == STDIN else name)
    if not found.usable:
        raise UsageError(f"{shown(name)}: {found.message}")
    if found.case is not None:
        with named(name):
            return Given(name, to_data(loads(found.case)), is_case=True, title=found.title, notes=found.notes)
    recording = found.recording or Recording("")
    return Given(name, recorded(recording), title=found.title, notes=found.notes)


def read_case(name: str) -> Case:
    """The case file called `name`. Raises UsageError for anything else."""
    data = read_bytes(name)
    found = recognise(data, pasted=False, filename=None if name == STDIN else name)
    if found.kind not in ("case", "raw_text"):
        raise UsageError(f"{shown(name)} is no case file but {found.title}; `replay` takes what can be replayed")
    try:
        return loads(found.case if found.case is not None else data)
    except CaseError as error:
        raise UsageError(f"{shown(name)} is no case file: {error}") from error


def read_json(option: str, name: str) -> Any:
    """The JSON file that an option names. Raises UsageError that begins with `option`, with line and column."""
    try:
        return jsontext.read(read_bytes(name).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {shown(name)}: not UTF-8 text: byte {error.start:,} is not") from error
    except JsonError as error:
        raise UsageError(f"{option} {shown(name)}: {error.message}") from error


def recorded(recording: Recording) -> dict[str, Any]:
    """A recording as a case for a parser yet to be chosen, with the deltas a server sent where it has them."""
    data: dict[str, Any] = {"schema": 1, "parser": {"name": "auto"}, "input": {"text": recording.text}}
    if recording.deltas is not None:
        data["source"] = {"kind": recording.kind}
        data["input"]["deltas"] = [
            {"text": delta.text} | ({"ids": list(delta.ids)} if delta.ids is not None else {})
            for delta in recording.deltas
        ]
    if recording.finish_reason:
        data["context"] = {"finish_reason": recording.finish_reason}
    return data


@contextmanager
def named(name: str) -> Iterator[None]:
    """Errors of a case raised inside begin with the name of its file."""
    try:
        yield
    except CaseError as error:
        raise UsageError(f"{shown(name)}: {error}") from error


def shown(name: str) -> str:
    """How an input is called in a sentence."""
    return "standard input" if name == STDIN else name
