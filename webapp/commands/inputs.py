"""What a person names on the command line, read: a case, a recording or raw output, recognised and never guessed.

FILE::NAME is one case of a corpus. Bytes are taken as they are: no line end is changed. What cannot be replayed is a
UsageError that begins with the name that was given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError
from parsers.cases.corpus import jsonl
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.intake import Intake
from parsers.vocabulary.types import UsageError
from webapp.commands.suites import recognised, say_suite
from webapp.recordings import RecordingError, taken

STDIN = "-"
LARGEST = 256_000_000  # bytes; a recorded stream is up to a hundred times the text in it
OF_CORPUS = "::"
_NAMES_SHOWN = 8


class _Read(NamedTuple):
    """A case as it was found: what it is called, how the command line names it, and the case or why it is none."""

    title: str
    name: str
    case: Case | UsageError

    @property
    def by_name(self) -> bool:
        """Return whether it has a name in its file, as outputs of a recording have not."""
        return OF_CORPUS in self.name and self.title == self.name


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


def _read_bytes(name: str) -> bytes:
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


def read_given(
    name: str,
    tokenizer: str | None = None,
    columns: Mapping[str, str] | None = None,
    layers: Sequence[str] | None = None,
) -> Given:
    """The input called `name`; `tokenizer` gives recorded ids their text, `columns` are those of rows, `layers` come
    off before it is read.

    Raises UsageError for what holds no output that can be replayed, for a case that is wrong, and where one of the
    cases of a corpus has to be named.
    """
    found, cases = _recognised(name, columns=columns, layers=layers)
    if found.cases:
        chosen = _only(name, cases)
        with named(chosen):
            data = to_data(titled(loads(cases[chosen]), chosen))
            return Given(chosen, data, is_case=True, title=found.title, notes=found.notes)
    return _givens(name, found, tokenizer)[0]


def read_cases(
    name: str, *, one: bool = False, columns: Mapping[str, str] | None = None, every_row: bool = False
) -> list[_Read]:
    """The case of a case file, all of a corpus or suite (`one`: the one that is named), or one for each output of a
    recording. What of a suite is not read is said on standard error; with `every_row` such a row is a wrong case.

    Raises UsageError for anything else, and for a recording that cannot be replayed.
    """
    found, cases = _recognised(name, raw=False, columns=columns)
    file, wanted = _parted(name)
    say_suite(file, found)
    if found.cases:
        chosen = [_only(name, cases)] if one else cases
        lost = found.skipped if every_row and wanted is None and found.columns else ()
        return [
            *[_Read(title, title, _case(title, cases[title])) for title in chosen],
            *[_Read(f"{file}:{row.line}", file, UsageError(f"the row is not read: {row.why}")) for row in lost],
        ]
    with named(name):
        return [_Read(made.name, name, load_case(made.data)) for made in _givens(name, found, None, every=True)]


def files_in(folder: str) -> Iterator[str]:
    """The files of a folder and of those in it, in order. Hidden folders, such as .git and .venv, are passed over."""
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from [str(Path(place, name)) for name in sorted(names)]


def jsonl_of(cases: Sequence[_Read]) -> str:
    """Cases of a corpus or suite, one a line, each with a title. Raises UsageError for one that is wrong."""
    lines = []
    for title, _, case in cases:
        if isinstance(case, UsageError):
            raise case
        lines.append(jsonl(titled(case, title)))
    return "".join(lines)


def titled(case: Case, name: str) -> Case:
    """A case that was read as FILE::NAME, which is called NAME where it has no title: an export is named by that."""
    _, of_corpus = _parted(name)
    return case if case.title or not of_corpus else case.model_copy(update={"title": of_corpus})


def _recognised(
    name: str,
    *,
    raw: bool = True,
    columns: Mapping[str, str] | None = None,
    layers: Sequence[str] | None = None,
) -> tuple[Intake, dict[str, str]]:
    """Return what the file holds, and the JSON text of the cases that are meant, by what names each of them here.

    Raises UsageError for nothing, for raw text where that is not meant (`raw`), and for a case that is not there.
    """
    file, wanted = _parted(name)
    data = _read_bytes(file)
    as_cases = not raw or wanted is not None
    found = recognised(None if file == STDIN else file, data, columns or {}, as_cases=as_cases, layers=layers)
    if found.kind == "raw_text" and not raw and isinstance(error := _case(file, data), UsageError):
        raise UsageError(f"{error}; raw model output is for replay and find") from error
    if not found.cases and not found.outputs:
        raise UsageError(" ".join([f"{shown(file)}: {found.message}", *_offers(found)]))
    if wanted is not None and wanted not in found.cases:
        known = f"; it holds {_names(found.cases)}" if found.kind == "corpus" else ", as it is no corpus"
        raise UsageError(f"{shown(file)} holds no case called {wanted}{known}")
    kept = found.cases if wanted is None else {wanted: found.cases[wanted]}
    return found, {f"{file}{OF_CORPUS}{key}" if key else file: text for key, text in kept.items()}


def _parted(name: str) -> tuple[str, str | None]:
    """The file of FILE::NAME and the name of the case, None where there is none; a file with such a name goes first."""
    file, colons, case = name.partition(OF_CORPUS)
    return (file, case) if colons and not Path(name).is_file() else (name, None)


def _only(name: str, cases: Mapping[str, str]) -> str:
    if len(cases) > 1:
        keys = [title.removeprefix(f"{name}{OF_CORPUS}") for title in cases]
        raise UsageError(f"{shown(name)} holds {len(keys):,} cases; name one as {name}{OF_CORPUS}NAME: {_names(keys)}")
    return next(iter(cases))


def _names(keys: Collection[str]) -> str:
    shown, more = list(keys)[:_NAMES_SHOWN], len(keys) - _NAMES_SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _case(name: str, text: str | bytes) -> Case | UsageError:
    try:
        return loads(text)
    except CaseError as error:
        return UsageError(f"{shown(name)} is no case file: {error}")


def _givens(name: str, found: Intake, tokenizer: str | None, *, every: bool = False) -> list[Given]:
    """The first output of a recording, or every one that can be replayed."""
    outputs, at, givens = found.outputs, found.at, []
    notes = [*[f"Warning: {warn.words}" for warn in found.warnings], *_offers(found)]
    if len(outputs) > 1:
        named = f" ({outputs[at].label})" if outputs[at].label else ""
        which = f"the first{' that says something' if at else ''}{named} is replayed"
        notes.append(f"It holds {len(outputs):,} outputs; {which}: cut the others out, or choose in the page.")
    for index, output in enumerate(outputs if every else outputs[at : at + 1]):
        try:
            made = taken(output, tokenizer)
        except RecordingError as error:
            option = "; give --tokenizer NAME" if error.field == "tokenizer" else ""
            raise UsageError(f"{shown(name)}: {found.title}: {error.message}{option}") from error
        label = f"{name} ({output.label or index + 1})" if len(outputs) > 1 and every else name
        told = tuple(dict.fromkeys([*found.notes, *made.notes, *notes]))
        givens.append(Given(label, made.data, title=found.title, notes=told, decoded=made.decoded))
    return givens


def _offers(found: Intake) -> list[str]:
    """What it could be read as without a layer, a sentence each, with the option that takes that off."""
    return [f"Offered: {one.title}, by --layers {','.join(one.names)}." for one in found.offers]


def say_notes(given: Given) -> None:
    """Say what was recognised and noted, on standard error: where standard output is for programs."""
    if not given.is_case and given.data["input"].keys() != {"text"}:
        click.echo(f"{shown(given.name)}: recognised as {given.title}", err=True)
    for note in given.notes:
        click.echo(f"{shown(given.name)}: {note}", err=True)


def read_json(option: str, name: str) -> Any:
    """The JSON file that an option names. Raises UsageError that begins with `option`, with line and column."""
    try:
        return jsontext.read(_read_bytes(name).decode("utf-8-sig"))
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
    """Return how an input is called in a sentence."""
    return "standard input" if name == STDIN else name
