"""`replay`: one output through one parser, as a report or as JSON."""

from __future__ import annotations

import sys
from typing import Any

import click

from parsers.cases.model import CaseError
from parsers.cases.run import CaseRun
from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import Given, read_given, say_notes, shown
from webapp.commands.options import Options, blamed, case_with, replay_options
from webapp.commands.report import report
from webapp.commands.running import service, within_limits
from webapp.runs.exports import json_text
from webapp.runs.prepare import with_defaults


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as one JSON object.")
def replay(file: str, as_json: bool, **options: Any) -> None:
    """Replay one model output and say what came of it.

    FILE is raw model output, a case file, FILE::NAME for a case of a corpus, or a recording of a server (a curl log, a
    JSON answer, token ids, a log line ...); - is standard input. Token ids need --tokenizer. Bytes are taken as they
    are. The exit code is 0 whatever is found.
    """
    wanted = Options(**options)
    given = read_given(file, wanted.tokenizer)
    run = run_given(given, wanted)
    if as_json:
        say_notes(given)
        _write_json(run)
    else:
        click.echo(report(run, given))


def run_given(given: Given, options: Options) -> CaseRun:
    """The run of an input under the options."""
    case = case_with(given, options)
    with within_limits(shown(given.name)):
        try:
            return service().run_checked(with_defaults(case, service().settings))
        except CaseError as error:
            raise UsageError(blamed(error, given, options)) from error


def _write_json(run: CaseRun) -> None:
    """UTF-8 whatever the terminal's encoding: JSON is read by programs."""
    for part in json_text(run):
        sys.stdout.buffer.write(part.encode())
    sys.stdout.buffer.flush()
