"""Exports of a replayed case: files that other people's tools take."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from parsers.cases.expect import accept
from parsers.cases.export.casefile import casefile
from parsers.cases.export.jsonl import jsonl
from parsers.cases.export.markdown import markdown
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.model import Expect
from parsers.cases.run import run_case
from parsers.types import UsageError
from webapp.page.running import Run

NAME = "toolcall-inspector"


@dataclass(slots=True, frozen=True)
class Target:
    """One export: its name in addresses, its words in the menu, the file it makes."""

    name: str
    words: str
    about: str
    suffix: str
    mimetype: str


TARGETS = {
    target.name: target
    for target in (
        Target("case", "Case file", "opens here and in the command line", ".case.json", "application/json"),
        Target("pytest", "pytest file", "stands alone, one parser to replace", "_test.py", "text/x-python"),
        Target("markdown", "Markdown report", "for an issue tracker", ".md", "text/markdown"),
        Target("jsonl", "JSON line", "for a corpus", ".jsonl", "application/jsonl"),
    )
}


@dataclass(slots=True, frozen=True)
class Exported:
    """A file to hand out."""

    filename: str
    text: str
    mimetype: str


def export(run: Run, target: str, *, expect: Expect | None = None, permalink: str | None = None) -> Exported:
    """The file for `target`. Raises UsageError for an unknown target, and for a pytest file without expectation."""
    if target not in TARGETS:
        raise UsageError(f"there is no export {target!r}; choose one of: {', '.join(TARGETS)}")
    form, case = TARGETS[target], run.case
    if target == "case":
        text = casefile(case, run.pieces, expect)
    elif target == "jsonl":
        text = jsonl(case, run.pieces, expect)
    elif target == "pytest":
        text = pytest_file(
            case, run.pieces, expect=expect, parser=run.format.name if case.parser.format is None else None
        )
    else:
        found = run_case(case, pieces=run.pieces)
        text = markdown(found, versions={NAME: installed_version()}, permalink=permalink)
    return Exported(filename(run.case.title or run.format.name, form.suffix), text, form.mimetype)


def needs_expectation(run: Run, target: str) -> bool:
    """Whether the user has to say what is right before `target` makes sense."""
    return target == "pytest" and run.case.expect is None


def todays(run: Run) -> Expect:
    """The expectation that today's result meets."""
    return accept(run.trace.message)


def filename(title: str, suffix: str) -> str:
    """A file name out of a title: plain letters, digits and hyphens (underscores before `_test.py`)."""
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in title.lower()).split()
    joint = "_" if suffix.startswith("_") else "-"
    return (joint.join(words)[:60].strip(joint) or "case") + suffix


def installed_version() -> str:
    """The version of this program, as installed."""
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"
