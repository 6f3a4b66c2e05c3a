"""A run as a file for other people's tools: which exports there are, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from parsers.cases.case import Case
from parsers.cases.corpus import jsonl
from parsers.cases.expect import accept as accepted
from parsers.cases.export.markdown import markdown
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.io import dumps, identified, outcome_digest
from parsers.cases.run import CaseRun, sent_of, settled_case, sse
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import UsageError
from parsers.wire.chunks import Dialect
from webapp.engines import ENGINES
from webapp.runs.prepare import error_place, stored_form
from webapp.runs.runner import Run, Runner
from webapp.store import CaseStore, Saved

NAME = "toolcall-inspector"


@dataclass(slots=True, frozen=True)
class Target:
    """One export: its name in addresses, its words in the menu, the file it makes. `tells`: it says what the checks
    found, which take a dozen replays."""

    name: str
    words: str
    about: str
    suffix: str
    mimetype: str
    tells: bool = False


_PYTEST_NEEDS = "needs pytest, and this package until you put in a parser"
TARGETS = {
    target.name: target
    for target in (
        Target("case", "Case file", "opens here and in the command line", ".case.json", "application/json"),
        Target("pytest", "pytest file", _PYTEST_NEEDS, "_test.py", "text/x-python"),
        Target("markdown", "Markdown report", "for an issue tracker", ".md", "text/markdown", tells=True),
        Target("jsonl", "JSON line", "for a corpus", ".jsonl", "application/jsonl"),
        Target("sse", "SSE transcript", "what a client receives", ".sse", "text/event-stream"),
    )
}


@dataclass(slots=True, frozen=True)
class _Exported:
    """A file to hand out."""

    filename: str
    text: str
    mimetype: str


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


def save(store: CaseStore, run: Run, findings: Sequence[Finding] | None, *, told: Case | None = None) -> Saved:
    """Store the case of a run with its outcome; `told` is that case with what its sharer says of it. `findings` are
    None where nobody waited for the checks. Raises CaseError for a case that can have no id (floats in it)."""
    stored = stored_form(run if told is None else replace(run, case=told))
    digest = outcome_digest(run.trace.message, run.trace.finish_reason, findings)
    return store.save(*identified(stored), digest, installed_version())


def run_for(runner: Runner, case: Case, target: str, began: float) -> CaseRun:
    """The run of a case as an export takes it: with the checks only where it tells of them. `began` is when the work on
    it did. Raises what `Runner.run` and `Runner.checked_in_time` raise."""
    run = runner.run(case)
    return runner.checked_in_time(run, began) if TARGETS[target].tells else runner.unchecked(run)


def exported(
    run: CaseRun, target: str, *, accept: bool = False, permalink: str | None = None, dialect: Dialect = "reasoning"
) -> _Exported:
    """The file for `target`; `accept` takes today's result for the right one where the case expects nothing.

    `dialect` is the name reasoning goes by in an SSE transcript.
    Raises UsageError for an unknown target, CaseError at /expect for a pytest file that would test nothing.
    """
    if target not in TARGETS:
        raise UsageError(f"there is no export {target!r}; choose one of: {', '.join(TARGETS)}")
    form, case = TARGETS[target], stored_form(run)
    if target == "pytest" and run.plays:
        words = "a pytest file feeds a raw output to a parser, and here a recorded stream is played back"
        raise UsageError(f"{words}: export it under the parser that is to read the output, or as a case file")
    expect = accepted(run.trace.message) if accept and case.known.expect is None else None
    if target in ("case", "jsonl"):
        whole = case if expect is None else case.model_copy(update={"expect": expect})
        text = dumps(whole) if target == "case" else jsonl(whole)
    elif target == "markdown":
        text = markdown(replace(run, case=case), versions={NAME: installed_version()}, permalink=permalink)
    elif target == "sse":
        text = sse(run, dialect)
    else:
        builtin = None if case.parser.format is not None else run.format.name
        with error_place("/expect"):
            ours = case.parser.engine in ENGINES
            text = _pytest_file(run, case, expect=expect, parser=builtin, keep_engine=ours)
    return _Exported(filename(case.title or run.format.name, form.suffix), text, form.mimetype)


def _pytest_file(run: CaseRun, case: Case, **how: Any) -> str:
    """The test file of a case. It holds the tokens as they were decoded, and when their text came."""
    due, sent = run.decoded.due if run.decoded else None, sent_of(case)
    told = settled_case(case, run.pieces) if case.decode else case
    return pytest_file(told, told.pieces() if case.decode else run.pieces, due=due, sent=sent, **how)
