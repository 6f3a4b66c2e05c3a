"""`find`: a search for what breaks a parser on one output, as a report or as JSON.

Built-in parsers run in this process. A parser that is not ours runs in a child, which can be ended where a call of it
does not return. Ctrl-C ends the search, and what was found by then is printed.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO

import click

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import ENGINES, engine_of
from parsers.cases.find import CaseFound, find_json
from parsers.search.found import Progress
from parsers.vocabulary.types import UsageError
from webapp.cli import BAD_INPUT, INTERRUPTED
from webapp.commands.find_report import find_report
from webapp.commands.inputs import read_given, say_notes, shown
from webapp.commands.options import Options, blamed, case_with, replay_options
from webapp.commands.running import service, within_limits
from webapp.commands.words import count
from webapp.engines.entered import entered
from webapp.jobs.search_program import Searching, case_search
from webapp.jobs.searches import SearchError
from webapp.jobs.watched_search import search_in_child
from webapp.runs.prepare import with_defaults
from webapp.settings import Settings

FOUND = 1


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def find(file: str, as_json: bool, **options: Any) -> int:
    """Search for a chunking that breaks the parser; exit 1 on an error.

    FILE is what `replay` takes; with what is no output of a model the exit code is 2. The output is replayed under
    hundreds of chunkings and in changed forms, checked, and cut down to the smallest case that still fails. Ctrl-C ends
    the search early; what was found by then is printed.
    """
    wanted = Options(**options)
    given = read_given(file, wanted.tokenizer)
    settings = service().settings
    try:
        with within_limits(given.name):
            found, stopped = _searched(with_defaults(case_with(given, wanted), settings), settings)
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    except SearchError as error:
        raise UsageError(f"{shown(given.name)}: {error}") from error
    if as_json:
        say_notes(given)
        sys.stdout.buffer.write(json.dumps(find_json(found), ensure_ascii=False).encode() + b"\n")
    else:
        click.echo(find_report(found, given, wanted))
    if not found.found.judged:
        return BAD_INPUT  # there was nothing to search, so nothing passed, and nothing was found either
    if any(finding.severity == "error" for finding in found.found.findings):
        return FOUND
    return INTERRUPTED if stopped else 0  # that no error was found says nothing where the search was ended early


def _searched(case: Case, settings: Settings) -> tuple[CaseFound, bool]:
    """What a search finds, and whether it was ended with Ctrl-C. It says how far it is where somebody watches."""
    line = _Line(sys.stderr) if sys.stderr.isatty() else None
    try:
        if engine_of(case) not in {*ENGINES, *entered().entries()}:  # entered engines are in processes of their own
            return _in_child(case, settings, partial(_show, line))
        search = case_search(case, settings)
        return _watched(search, partial(_show, line))
    finally:
        if line is not None:
            line.show("")


def _watched(search: Searching, show: Callable[[Progress], object]) -> tuple[CaseFound, bool]:
    try:
        for progress in search.run():
            show(progress)
    except KeyboardInterrupt:
        return search.result(), True
    return search.result(), False


def _in_child(case: Case, settings: Settings, show: Callable[[Progress], object]) -> tuple[CaseFound, bool]:
    """The first Ctrl-C asks the child for what it has; another one ends it."""
    stopped = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal stopped
        if stopped:
            raise KeyboardInterrupt
        stopped = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        return search_in_child(case, settings, show, lambda: stopped), stopped
    finally:
        signal.signal(signal.SIGINT, before)


def _show(line: _Line | None, progress: Progress) -> None:
    if line is not None:
        how_far = f"{progress.stage}: {progress.done:,} of {progress.total:,}; {progress.replays:,} replays"
        line.show(f"{how_far}, {count(progress.outcomes, 'outcome')} so far")


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
