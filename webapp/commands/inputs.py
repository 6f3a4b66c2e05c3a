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

import click

from parsers.cases import jsontext
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError
from parsers.intake import Intake, recognise
from parsers.vocabulary.types import Recording, UsageError
from webapp.recordings import RecordingError, taken

STDIN = "-"
LARGEST = 256_000_000  # bytes; a recorded stream is up to a hundred times the text in it


@dataclass(slots=True)
class Given:
    """An input as decoded JSON of a case, with what to say about it. `name` is what the person typed.

    `decoded`: its tokens were made of recorded ids, with the tokenizer that was asked for.
    """

    name: str
    data: dict[str, Any]
    is_case: bool = False
    title: str = ""
    notes: tuple[str, ...] = field(default=())
    decoded: bool = False


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


def read_given(name: str, tokenizer: str | None = None) -> Given:
    """The input called `name`; `tokenizer` gives recorded ids their text.

    Raises UsageError for what holds no output that can be replayed, and for a case that is wrong.
    """
    found = _recognised(name)
    if found.case is not None:
        with named(name):
            return Given(name, to_data(loads(found.case)), is_case=True, title=found.title, notes=found.notes)
    return _givens(name, found, tokenizer)[0]


def read_cases(name: str) -> list[tuple[str, Case]]:
    """The cases in the file called `name`, each with what it is called: a case file's own, or every output of a
    recording. Raises UsageError for anything else."""
    found = _recognised(name, raw=False)
    if found.case is not None:
        return [(name, _case(name, found.case))]
    with named(name):
        return [(given.name, load_case(given.data)) for given in _givens(name, found, None, every=True)]


def _recognised(name: str, *, raw: bool = True) -> Intake:
    """What the file holds. Raises UsageError for nothing, and for raw text where that is not meant (`raw`)."""
    data = read_bytes(name)
    found = recognise(data, pasted=False, filename=None if name == STDIN else name)
    if found.kind == "raw_text" and not raw:
        _case(name, data)
    if found.case is None and not found.outputs:
        raise UsageError(f"{shown(name)}: {found.message}")
    return found


def _case(name: str, text: str | bytes) -> Case:
    try:
        return loads(text)
    except CaseError as error:
        raise UsageError(f"{shown(name)} is no case file: {error}") from error


def _givens(name: str, found: Intake, tokenizer: str | None, *, every: bool = False) -> list[Given]:
    """The first output of a recording, or every one that can be replayed."""
    outputs, givens = found.outputs, []
    for index, output in enumerate(outputs if every else outputs[:1]):
        try:
            made = taken(output, tokenizer)
        except RecordingError as error:
            raise UsageError(f"{shown(name)}: {found.title}: {_with_option(error)}") from error
        label = f"{name} ({output.label or index + 1})" if len(outputs) > 1 and every else name
        notes = (*found.notes, *made.notes, *[f"Warning: {warn.words}" for warn in found.warnings], *_which(outputs))
        givens.append(
            Given(label, made.data, title=found.title, notes=tuple(dict.fromkeys(notes)), decoded=made.decoded)
        )
    return givens


def _with_option(error: RecordingError) -> str:
    """The message, with the option that completes the recording."""
    return f"{error.message}; give --tokenizer NAME" if error.field == "tokenizer" else error.message


def _which(outputs: tuple[Recording, ...]) -> tuple[str, ...]:
    """Which of several outputs is replayed."""
    if len(outputs) < 2:
        return ()
    label = f" ({outputs[0].label})" if outputs[0].label else ""
    return (
        f"It holds {len(outputs):,} outputs; the first{label} is replayed: cut the others out, or choose in the page.",
    )


def say_notes(given: Given) -> None:
    """What was recognised and noted, on standard error: where standard output is for programs."""
    if not given.is_case and given.data["input"].keys() != {"text"}:
        click.echo(f"{shown(given.name)}: recognised as {given.title}", err=True)
    for note in given.notes:
        click.echo(f"{shown(given.name)}: {note}", err=True)


def read_json(option: str, name: str) -> Any:
    """The JSON file that an option names. Raises UsageError that begins with `option`, with line and column."""
    try:
        return jsontext.read(read_bytes(name).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {shown(name)}: not UTF-8 text: byte {error.start:,} is not") from error
    except JsonError as error:
        raise UsageError(f"{option} {shown(name)}: {error.message}") from error


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
