"""Suites of others on the command line: their cases, the columns of their rows, and what of them is not read.

Cases are asked for by `check`, by `export`, and by whoever names one as FILE::NAME; else a recording is what it was.
What a Python file imports is looked for in the folders above it, as it is where its tests are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from parsers.intake import Intake, recognise
from parsers.intake.column_rows import columns_of
from parsers.intake.dynamo_cases import read_dynamo
from parsers.intake.evidence import Kind
from parsers.intake.layers import LAYERS
from parsers.intake.own_tests import read_own_test
from parsers.intake.python_modules import LARGEST, Modules
from parsers.intake.suites import suite_in, with_cases
from parsers.intake.vllm_suites import read_vllm_suite
from parsers.vocabulary.types import UsageError

_OF_CASES = ("case", "corpus")
# Texts that code quotes as it quotes any other; a recorded answer is one whatever the name of its file ends with.
_QUOTES: frozenset[Kind] = frozenset({"raw_text", "text_literal", "chunk_list", "code_block", "conversation"})

column_option = click.option(
    "--column",
    multiple=True,
    metavar="KEY=PATH",
    help="Of a suite in rows: the column that is text, tools, expect.content ... May be given again.",
)


def named_columns(words: Sequence[str]) -> dict[str, str]:
    """The columns of --column. Raises UsageError."""
    try:
        return columns_of(words)
    except UsageError as error:
        raise UsageError(f"--column {error}") from error


def named_layers(words: str | None) -> tuple[str, ...] | None:
    """The layers of --layers; None where nobody asked. Raises UsageError for one that there is not."""
    names = None if words is None else tuple([name for name in words.split(",") if name and name != "none"])
    known = dict.fromkeys([layer.name for layer in LAYERS])
    if unknown := [name for name in names or () if name not in known]:
        raise UsageError(f"--layers {unknown[0]}: there is no such layer; there are {', '.join(known)}")
    return names


def recognised(
    file: str | None,
    data: bytes,
    columns: Mapping[str, str],
    *,
    as_cases: bool,
    layers: Sequence[str] | None = None,
) -> Intake:
    """What a file holds without these layers; `as_cases`: what is a suite becomes cases."""
    modules = modules_of(Path(file)) if file is not None else None
    if columns:
        return suite_in(data, filename=file, columns=columns)
    found = recognise(data, pasted=False, filename=file, modules=modules, layers=layers)
    if as_cases and found.kind == "dynamo_yaml":
        return with_cases(found)
    return suite_in(data, filename=file) if as_cases and _is_quoted(found, file) else found


def _is_quoted(found: Intake, file: str | None) -> bool:
    """Return whether what was found is raw text, or an output that code quotes."""
    if Path(file or "").suffix != ".py":
        return found.kind == "raw_text"
    return found.kind in _QUOTES or any(warn.code == "other_text" for warn in found.warnings)


def modules_of(file: Path) -> Modules:
    """The text of the modules that a file imports: of those beside it, or in the folders above it."""

    def text_of(name: str) -> str | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.split(".") if part]
        above = list(file.resolve().parents)
        folders = above[dots - 1 : dots] if dots else above
        for folder in folders if parts else ():
            place = folder.joinpath(*parts)
            for one in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if one.is_file() and one.stat().st_size <= LARGEST:
                    return one.read_text("utf-8", errors="replace")
        return None

    return text_of


def is_suite(file: str) -> bool:
    """Return whether a file of a folder holds cases, be they right or not, or a suite that is made into some."""
    kind = Path(file).suffix
    if kind not in (".jsonl", ".py", ".yaml", ".yml"):
        return False
    try:
        data = Path(file).read_bytes()
    except OSError:
        return False
    if kind == ".jsonl":
        return recognise(data, pasted=False).kind in _OF_CASES
    text = data.decode("utf-8", errors="replace")
    found = read_own_test(text) or read_vllm_suite(text) if kind == ".py" else read_dynamo(text)
    return found is not None and bool(found.cases or found.outputs or found.skipped)


def say_suite(name: str, found: Intake) -> None:
    """Say on standard error which columns were taken, what to know of the cases, and which are not read and why."""
    if found.columns:
        said = [f"{one.key}={one.path}{' (guessed)' if one.guessed else ''}" for one in found.columns]
        click.echo(f"{name}: columns: {', '.join(said)}", err=True)
    for warn in found.warnings if found.cases else ():
        if warn.code != "skipped":
            click.echo(f"{name}: Warning: {warn.words}", err=True)
    for one in found.skipped:
        click.echo(f"{name}:{one.line}: not read: {one.why}", err=True)
