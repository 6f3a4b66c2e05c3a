"""`replay`: one output through one parser, as a report or as JSON."""

from __future__ import annotations

import sys
from typing import Any

import click

from parsers.cases.model import CaseError
from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import read_given, say_notes
from webapp.commands.options import Options, blamed, case_with, replay_options
from webapp.commands.report import report
from webapp.commands.running import run_case_of
from webapp.runs.exports import json_text


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
    try:
        run = run_case_of(given.name, case_with(given, wanted))
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    if not as_json:
        click.echo(report(run, given))
        return
    say_notes(given)
    for part in json_text(run):  # UTF-8 whatever the terminal's encoding: JSON is read by programs
        sys.stdout.buffer.write(part.encode())
    sys.stdout.buffer.flush()
