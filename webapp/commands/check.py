"""`check`: case files as tests. Every case is replayed under every chunking and held to what it expects.

================  ====================  =========================================================================
outcome           exit code             when
================  ====================  =========================================================================
ok                0                     as expected under every chunking, and no check finds an error
FAIL              1                     otherwise
known bug         0                     it fails, and its verdict says known_bug
fixed             0                     it does not fail although its verdict says known_bug
differs           0                     not as expected, verdict implementation_defined; a check's error still fails
skip              0                     it asks for an engine that is not available here
unusable          2                     it is no case, or cannot be replayed
================  ====================  =========================================================================
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import traced_chunking
from parsers.cases.expect import Difference, differences
from parsers.cases.export.markdown import replay_command
from parsers.cases.run import CaseRun
from parsers.replays.chunking import WHOLE, label
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import UsageError
from webapp.cli import BAD_INPUT, one_line
from webapp.commands.engine_option import case_by_engine, named
from webapp.commands.inputs import STDIN, holds_cases, read_cases, shown
from webapp.commands.running import run_case_of
from webapp.commands.words import count, quoted

Outcome = Literal["ok", "FAIL", "known bug", "fixed", "differs", "skip", "unusable"]
SUFFIXES = (".case.json", ".cases.json")
LONGEST = 200


@dataclass(slots=True)
class _Replay:
    """One chunking of a case: how many deltas it fed, and in what its result is not as expected."""

    label: str
    chunking: dict[str, Any]
    deltas: int
    different: list[Difference]


@dataclass(slots=True)
class _Result:
    """Holds what came of one case file. `why`: why it did not run; `again`: the command that shows a failure."""

    name: str
    outcome: Outcome
    replays: int = 0
    held: int = 0
    why: str = ""
    failing: list[_Replay] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    again: str = ""


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--engine", metavar="NAME[:PARSER]", help="Run the cases by an engine that was entered.")
def check(paths: tuple[str, ...], engine: str | None) -> int:
    """Run case files; exit 1 when one fails.

    PATH is a case file, a corpus (*.cases.json, or a *.jsonl of cases), one case of it (FILE::NAME), or a folder, of
    which all of these are run, those in its subfolders too. Each case is replayed under its own chunkings or the usual
    ones and as a whole, compared with what it expects, and checked.
    """
    results = []
    if engine is not None:
        named(engine)
    for name in [name for path in paths for name in _case_files(path)]:
        for result in _results(name, engine):
            results.append(result)
            click.echo("\n".join(_told(result)))
    outcomes = Counter(result.outcome for result in results)
    click.echo(
        f"{count(len(results), 'case')}: " + ", ".join([f"{number:,} {what}" for what, number in outcomes.items()])
    )
    return BAD_INPUT if outcomes["unusable"] else int(outcomes["FAIL"] > 0)


def _case_files(path: str) -> list[str]:
    """The file itself, or the files of a folder that hold cases, in order. Raises UsageError where there are none."""
    if path == STDIN or not Path(path).is_dir():
        return [path]
    found = []
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))  # .git, .venv
        files = [str(Path(folder, name)) for name in sorted(names)]
        found += [file for file in files if file.endswith(SUFFIXES) or (file.endswith(".jsonl") and holds_cases(file))]
    if not found:
        kinds = "no *.case.json file and no corpus (*.cases.json, *.jsonl of cases)"
        raise UsageError(f"{path} holds {kinds}; give case files, or a folder that holds some")
    return found


def _results(name: str, engine: str | None) -> Iterator[_Result]:
    try:
        cases = read_cases(name)
    except UsageError as error:
        yield _Result(name, "unusable", why=_reason(str(error), name))
        return
    for title, again, case in cases:
        try:
            if isinstance(case, UsageError):
                raise case
            asked = case if engine is None else case_by_engine(case, engine)
            yield _checked(title, again, run_case_of(again, asked))
        except CaseError as error:
            yield _Result(title, "skip" if error.pointer == "/parser/engine" else "unusable", why=str(error))
        except UsageError as error:
            yield _Result(title, "unusable", why=_reason(str(error), again))


def _checked(title: str, name: str, run: CaseRun) -> _Result:
    replays = list(_replays(run))
    failing = [replay for replay in replays if replay.different]
    errors = [finding for finding in run.findings if finding.severity == "error"]
    outcome = _outcome(run.case, bool(failing), bool(errors))
    again = replay_command(_shortest(run, failing), name)
    return _Result(title, outcome, len(replays), len(run.holding), "", failing, errors, again)


def _reason(message: str, name: str) -> str:
    """The message without the name, which the line begins with anyway."""
    return message.removeprefix(shown(name)).removeprefix(":").strip()


def _shortest(run: CaseRun, failing: list[_Replay]) -> dict[str, Any]:
    """The chunking with the fewest deltas that shows what is wrong."""
    if failing:
        return min(failing, key=lambda replay: replay.deltas).chunking
    other = min((other for other in run.compared if not other.same), key=lambda other: other.deltas, default=None)
    return (other or run).trace.chunking_json


def _outcome(case: Case, different: bool, broken: bool) -> Outcome:
    verdict = case.known.verdict
    if verdict == "known_bug":
        return "known bug" if different or broken else "fixed"
    if verdict == "implementation_defined" and different and not broken:
        return "differs"
    return "FAIL" if different or broken else "ok"


def _replays(run: CaseRun) -> Iterator[_Replay]:
    yield _replay(run, label(traced_chunking(run.case)), run.trace, len(run.trace.steps) - 1)
    if not run.plays:
        yield _replay(run, label(WHOLE), run.whole, len(run.whole.steps) - 1)
    for other in run.compared:
        if other.chunking != WHOLE:
            yield _replay(run, other.label, other.trace, other.deltas)


def _replay(run: CaseRun, words: str, trace: Trace, deltas: int) -> _Replay:
    expect, compare = run.case.known.expect, run.case.compare
    found = [] if expect is None else differences(expect, trace.message, trace.finish_reason, compare)
    return _Replay(words, trace.chunking_json, deltas, found)


def _told(result: _Result) -> Iterator[str]:
    """The line of a case, and for one that fails the lines that say where."""
    numbers = f"{count(result.replays, 'replay')}, {count(result.held, 'check holds', 'checks hold')}"
    notes = {"fixed": "passes; set its verdict to required", "skip": result.why, "unusable": result.why}
    yield f"{result.outcome:<9}  {one_line(result.name)}  ({one_line(notes.get(result.outcome, numbers))})"
    if result.outcome in ("FAIL", "known bug", "differs"):
        yield from (f"           {line}" for line in _details(result))


def _details(result: _Result) -> Iterator[str]:
    if result.failing:
        first = min(result.failing, key=lambda replay: replay.deltas)
        number = f"{len(result.failing):,} of {count(result.replays, 'replay')}"
        yield f"not as expected in {number}; the one of fewest deltas: {first.label}"
        for one in first.different:
            yield f"{one.field}: expected {quoted(one.expected, LONGEST)}"
            yield f"{' ' * len(one.field)}    actual {quoted(one.actual, LONGEST)}"
    for finding in result.errors:
        place = "" if finding.step is None else f" at step {finding.step:,}"
        yield f"check {finding.check}{place}: {one_line(finding.message)}"
    yield result.again
