"""`replay` and `export`: one output through one parser, as a report, as JSON, or as a file for another tool."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from parsers.cases.case import CaseError
from parsers.cases.engines import traced_chunking
from parsers.cases.run import CaseRun, replayer_of
from parsers.vocabulary.types import UsageError
from webapp.commands.between import replay_between
from webapp.commands.inputs import named, read_cases, read_given, say_notes, shown
from webapp.commands.options import Options, blamed, case_with, given_words, replay_options
from webapp.commands.ran_lines import lines_report
from webapp.commands.report import report
from webapp.commands.running import run_case_of
from webapp.engines import choose
from webapp.runs.exports import TARGETS, exported
from webapp.runs.run_text import json_text
from webapp.runs.step_lines import step_lines


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as one JSON object.")
@click.option("--lines", "step", type=int, metavar="STEP", help="Show the lines that an engine's parser ran then.")
def replay(file: str, as_json: bool, step: int | None, **options: Any) -> None:
    """Replay one model output and say what came of it.

    FILE is raw model output, a case file, FILE::NAME for a case of a corpus, or a recording of a server (a curl log, a
    JSON answer, token ids, a log line ...); - is standard input. Token ids need --tokenizer. Bytes are taken as they
    are. The exit code is 0 whatever is found. With --engine given again the messages stand beside each other.
    """
    wanted = Options(**options)
    given = read_given(file, wanted.tokenizer)
    if len(wanted.engine) > 1:
        if step is not None:
            raise UsageError("--lines: show the lines of one engine at a time; leave the other --engine out")
        replay_between(given, wanted, as_json=as_json)
        return
    try:
        run = run_case_of(given.name, case_with(given, wanted))
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    if step is not None:
        click.echo(_lines(run, step))
        return
    if not as_json:
        click.echo(report(run, given, given_words(wanted)))
        return
    say_notes(given)
    for part in json_text(run):  # UTF-8 whatever the terminal's encoding: JSON is read by programs
        sys.stdout.buffer.write(part.encode())
    sys.stdout.buffer.flush()


def _lines(run: CaseRun, step: int) -> str:
    """Raises UsageError where there are none."""
    choice = choose(run.case)
    try:
        shown = step_lines(
            choice, replayer_of(run.case, choice, run.stored), run.trace, traced_chunking(run.case), step
        )
    except UsageError as error:
        raise UsageError(f"--lines {step}: {error}") from error
    return lines_report(run.format.title, shown)


@click.command()
@click.argument("case", metavar="CASE|-")
@click.option("--to", "target", metavar="TARGET", required=True, help=f"What to write: {', '.join(TARGETS)}.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of standard output.")
def export(case: str, target: str, output: str | None) -> None:
    """Write a case as a file for another tool.

    CASE is a case file, FILE::NAME for a case of a corpus, or a recording of a server; - is standard input. A pytest
    file is refused for a case that expects nothing: it would test nothing.
    """
    if target not in TARGETS:
        raise UsageError(f"--to {target}: there is no such export; choose one of: {', '.join(TARGETS)}")
    (_, name, found), *others = read_cases(case, one=True)
    if isinstance(found, UsageError):
        raise found
    if others:
        click.echo(f"{shown(case)}: it holds {len(others) + 1:,} outputs; the first is written", err=True)
    with named(name):
        made = exported(run_case_of(name, found), target)
    data = made.text.encode()
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_bytes(data)
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from error
