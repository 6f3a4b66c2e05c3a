"""`find`: a search for what breaks a parser on one output, as a report or as JSON.

It runs in this process and knows no clock, so the same input gives the same answer anywhere. Ctrl-C ends the search,
and what was found by then is printed.
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any, TextIO

import click

from parsers.cases.case import CaseError
from parsers.cases.find import find_json
from parsers.vocabulary.types import UsageError
from webapp.cli import INTERRUPTED
from webapp.commands.find_report import find_report
from webapp.commands.inputs import read_given, say_notes
from webapp.commands.options import Options, blamed, case_with, replay_options
from webapp.commands.running import service, within_limits
from webapp.commands.words import count
from webapp.jobs.search_program import Searching, case_search
from webapp.runs.prepare import with_defaults

FOUND = 1


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def find(file: str, as_json: bool, **options: Any) -> int:
    """Search for a chunking that breaks the parser; exit 1 on an error.

    FILE is what `replay` takes. The output is replayed under hundreds of chunkings and in changed forms, checked, and
    cut down to the smallest case that still fails. Ctrl-C ends the search early; what was found by then is printed.
    """
    wanted = Options(**options)
    given = read_given(file, wanted.tokenizer)
    settings = service().settings
    try:
        with within_limits(given.name):
            search = case_search(with_defaults(case_with(given, wanted), settings), settings)
            stopped = _watched(search, sys.stderr)
            found = search.result()
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    if as_json:
        say_notes(given)
        sys.stdout.buffer.write(json.dumps(find_json(found), ensure_ascii=False).encode() + b"\n")
    else:
        click.echo(find_report(found, given, wanted))
    if any(finding.severity == "error" for finding in found.found.findings):
        return FOUND
    return INTERRUPTED if stopped else 0  # that no error was found says nothing where the search was ended early


def _watched(search: Searching, errors: TextIO) -> bool:
    """Run a search and say how far it is where somebody watches; whether it was ended with Ctrl-C."""
    line = _Line(errors) if errors.isatty() else None
    try:
        for progress in search.run():
            if line is not None:
                how_far = f"{progress.stage}: {progress.done:,} of {progress.total:,}; {progress.replays:,} replays"
                line.show(f"{how_far}, {count(progress.outcomes, 'outcome')} so far")
    except KeyboardInterrupt:
        return True
    finally:
        if line is not None:
            line.show("")
    return False


class _Line:
    """One line of a terminal, written over again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def show(self, text: str) -> None:
        """Put this text into the line, instead of what was there."""
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{text.ljust(self._width)}\r{text}" if self._width else text)
        self._stream.flush()
        self._width = len(text)
