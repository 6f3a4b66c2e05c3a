"""The formats folder: `*.json` files of a folder of the user's, listed and chosen like the built-in formats.

It is read once, when the program starts. A file that is no usable format, or whose names are taken, is refused with
one sentence; the rest stays usable and the program starts. A file may extend a built-in format or another file of the
folder. `parsers` knows nothing of the folder: a case that names one of its formats gets the format written into it
before it runs, so it runs the same anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import Case
from parsers.cases.engines import BUILTIN
from parsers.cases.engines import ENGINES as OWN_ENGINES
from parsers.cases.jsontext import JsonError
from parsers.formats.model import Format, builtin_formats, builtin_sources
from webapp.engines import ENGINES
from webapp.formats.format_text import MOST_CHARACTERS, CheckedText, check_text
from webapp.settings import ENV_PREFIX, Settings

_RESERVED = {"auto": "the choice that finds a parser out", "check": "the command `parsers check`"}


@dataclass(slots=True, frozen=True)
class _Refused:
    """A file that gives no format, and why, in one sentence that says what to do."""

    file: str
    reason: str


@dataclass(slots=True)
class FormatsFolder:
    """The formats of a folder by name, expanded; the texts of their files; and what was refused.

    `sources` holds the decoded JSON of every file with a name, refused or not: what another file may extend.
    """

    path: Path | None = None
    formats: dict[str, Format] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Any] = field(default_factory=dict)
    refused: list[_Refused] = field(default_factory=list)

    def find(self, name: str) -> Format | None:
        """The format of that name or alias."""
        wanted = name.strip()
        return next((fmt for fmt in self.formats.values() if wanted == fmt.name or wanted in fmt.aliases), None)

    def source(self, name: str) -> Any:
        """The decoded file of a format as it is written, built in or of the folder; None where there is none."""
        return builtin_sources().get(name, self.sources.get(name))


def formats_folder(settings: Settings) -> FormatsFolder:
    """The formats of the folder that the settings name, as it was when this program first asked."""
    return load_folder(settings.formats) if settings.formats is not None else FormatsFolder()


def all_formats(settings: Settings) -> dict[str, Format]:
    """Every format that can be chosen by name: the built-in ones, then those of the folder."""
    return {**builtin_formats(), **formats_folder(settings).formats}


def check_among(text: str, settings: Settings) -> CheckedText:
    """Check the text of a format that may extend any format there is, and whose names others may go by."""
    return check_text(text, formats_folder(settings).source, all_formats(settings))


def file_text(name: str, settings: Settings) -> str:
    """The text of the file of a format, built in or of the formats folder, as its author laid it out."""
    own = formats_folder(settings).texts.get(name)
    file = resources.files("parsers.formats") / "data" / f"{name}.json"
    return file.read_text(encoding="utf-8") if own is None else own


def with_folder_format(case: Case, settings: Settings) -> Case:
    """The case with its format written into it, where it names one of the folder; else the case itself."""
    found = None
    if case.parser.format is None and (case.parser.engine or BUILTIN) in OWN_ENGINES:
        found = formats_folder(settings).find(case.parser.name)
    if found is None:
        return case
    parser = case.parser.model_copy(update={"name": found.name, "format": found})
    return case.model_copy(update={"parser": parser})


def refusals(folder: FormatsFolder) -> list[str]:
    """One line for each file that was refused: the file, why, and what to do."""
    return [f"formats folder: {one.file} is not used: {one.reason.removesuffix('.')}." for one in folder.refused]


@cache
def load_folder(path: Path) -> FormatsFolder:
    """Read a folder, in the order of its file names: of two files that claim one name the first has it."""
    folder = FormatsFolder(path)
    owners = {name: f"the built-in parser {fmt.name}" for fmt in builtin_formats().values() for name in _names(fmt)}
    owners |= {**_RESERVED, **{name: f"the engine {name}" for name in ENGINES}}
    try:
        files = sorted(file for file in path.iterdir() if file.suffix == ".json")
    except OSError as error:
        reason = f"the folder cannot be read ({error.strerror}); create it, or correct {ENV_PREFIX}FORMATS"
        folder.refused.append(_Refused(str(path), reason))
        return folder
    texts = {}
    for file in files:
        try:
            texts[file.name] = _text(file)
        except (OSError, ValueError) as error:
            folder.refused.append(_Refused(file.name, f"it cannot be read: {error}"))
    folder.sources = dict(filter(None, map(_source, reversed(texts.values()))))
    for name, text in texts.items():
        _add(folder, name, text, owners)
    return folder


def _source(text: str) -> tuple[str, Any] | None:
    """The name of a format file and its decoded JSON; None for a text that has none."""
    try:
        data = jsontext.read(text)
        jsontext.check(data)
    except JsonError:
        return None
    name = data.get("name") if isinstance(data, dict) else None
    return (name, data) if isinstance(name, str) else None


def _add(folder: FormatsFolder, file: str, text: str, owners: dict[str, str]) -> None:
    found = check_text(text, folder.source)
    fmt = found.runs
    if fmt is None:
        first = found.findings[0]
        reason = f"line {first.place.line}, {first.pointer or '/'}: {first.message}"
        folder.refused.append(_Refused(file, reason))
        return
    clash = next(((name, owners[name]) for name in _names(fmt) if name in owners), None)
    if clash is not None:
        reason = f"the name {clash[0]} belongs to {clash[1]}; give the format another name or alias"
        folder.refused.append(_Refused(file, reason))
        return
    owners.update(dict.fromkeys(_names(fmt), f"the format of {file}"))
    folder.formats[fmt.name], folder.texts[fmt.name] = fmt, text


def _names(fmt: Format) -> Iterator[str]:
    yield fmt.name
    yield from fmt.aliases


def _text(file: Path) -> str:
    """The text of a file. Raises ValueError for one that is too large or not UTF-8."""
    data = file.read_bytes() if file.stat().st_size <= 4 * MOST_CHARACTERS else b""
    if not data:
        raise ValueError(f"it is empty, or larger than {4 * MOST_CHARACTERS:,} bytes")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text: byte {error.start:,} is not") from error
