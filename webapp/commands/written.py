"""What a command writes for programs and files: UTF-8, whatever the terminal's encoding, with nothing left out.

UTF-8 lacks halves of surrogate pairs, which model output may have: they are spelled as JSON escapes them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

from parsers.cases.jsontext import plain, utf8
from parsers.vocabulary.types import UsageError

STDOUT = "-"


def print_parts(parts: Iterable[str]) -> None:
    """Print a text that comes in parts."""
    for part in parts:
        sys.stdout.buffer.write(utf8(part))
    sys.stdout.buffer.flush()


def print_json(value: Any, indent: int | None = None) -> None:
    """Print a JSON value and end the line."""
    print_parts([plain(value, indent), "\n"])


def write(text: str, output: str | None) -> None:
    """Write a text to the file of --output, or print it where there is none, or `-`. Raises UsageError."""
    if output is None or output == STDOUT:
        print_parts([text])
        return
    try:
        Path(output).write_bytes(utf8(text))
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from error


def must_be_files(named: Mapping[str, str | None]) -> None:
    """Raise UsageError for an option that names standard output where that has something else in it."""
    option = next((option for option, name in named.items() if name == STDOUT), None)
    if option is not None:
        raise UsageError(f"{option} {STDOUT}: standard output has the lines of the command; give a name")


def put(option: str, file: str, text: str, *, append: bool = False) -> None:
    """Write a text to the file of an option, in a folder that need not be there. Raises UsageError."""
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with Path(file).open("ab" if append else "wb") as out:
            out.write(utf8(text))
    except OSError as error:
        raise UsageError(f"{option} {file}: it cannot be written: {error.strerror}") from error


def put_copy(option: str, file: str, source: Path) -> None:
    """Copy a file to that of an option, in a folder that need not be there. Raises UsageError."""
    target = Path(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (target.exists() and target.samefile(source)):
            copyfile(source, target)
    except OSError as error:
        raise UsageError(f"{option} {file}: it cannot be written: {error.strerror}") from error
