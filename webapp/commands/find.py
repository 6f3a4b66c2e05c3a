"""`find`: a search for what breaks a parser on one output, as a report or as JSON.

Built-in parsers run in this process. A parser that is not ours runs in a child, which can be ended where a call of it
does not return. Ctrl-C ends the search, and what was found by then is printed.
"""

from __future__ import annotations

import signal
from typing import Any

import click

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import ENGINES, engine_of
from parsers.cases.find import CaseFound, find_json
from parsers.search.shrink import SHRINKS
from parsers.vocabulary.types import UsageError
from webapp.cli import BAD_INPUT, INTERRUPTED
from webapp.commands.between import find_between
from webapp.commands.find_export import export_option, refuse_with, write_smallest
from webapp.commands.find_report import find_report, said_of
from webapp.commands.inputs import read_given, say_notes, shown
from webapp.commands.options import Options, blamed, case_with, replay_options
from webapp.commands.progress_line import Say, progress_line
from webapp.commands.running import service, watched, within_limits
from webapp.commands.suites import named_columns, named_layers
from webapp.commands.written import print_json
from webapp.engines.entered import entered
from webapp.jobs.search_program import case_search
from webapp.jobs.searches import SearchError
from webapp.jobs.watched_search import search_in_child
from webapp.runs.prepare import with_defaults
from webapp.settings import Settings

FOUND = 1
SECONDS = 120


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
@export_option
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    default=SECONDS,
    show_default=True,
    help="By the clock, which a search of an engine may take; then it says what was not tried.",
)
def find(file: str, as_json: bool, target: str | None, seconds: int, **options: Any) -> int:
    """Search for a chunking that breaks the parser; exit 1 on an error.

    FILE is what `replay` takes; with what is no output of a model the exit code is 2. The output is replayed under
    hundreds of chunkings and in changed forms, checked, and cut down to the smallest case that still fails. Ctrl-C ends
    the search early; what was found by then is printed. With --engine given again it is an output and chunking on which
    the two differ, and the exit code 1 says that they do.
    """
    wanted = Options(**options)
    given = read_given(file, wanted.tokenizer, named_columns(wanted.column), named_layers(wanted.layers))
    if target is not None:
        refuse_with(target, as_json=as_json, engines=wanted.engine)
    if len(wanted.engine) > 1:
        return find_between(given, wanted, as_json=as_json, seconds=seconds)
    settings = service().settings
    try:
        with within_limits(given.name):
            found, stopped = searched(with_defaults(case_with(given, wanted), settings), settings, seconds)
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    except SearchError as error:
        raise UsageError(f"{shown(given.name)}: {error}") from error
    if target is not None:
        say_notes(given)
        click.echo(said_of(found).headline, err=True)
        write_smallest(given.name, found, target)
    elif as_json:
        say_notes(given)
        print_json(find_json(found))
    else:
        click.echo(find_report(found, given, wanted))
    if not found.found.judged:
        return BAD_INPUT  # there was nothing to search, so nothing passed, and nothing was found either
    if found.fails:
        return FOUND
    return INTERRUPTED if stopped else 0  # that no error was found says nothing where the search was ended early


def searched(
    case: Case, settings: Settings, seconds: float = SECONDS, *, shrinks: int = SHRINKS
) -> tuple[CaseFound, bool]:
    """What a search finds, and whether it was ended with Ctrl-C. It says how far it is where somebody watches. That of
    an entered engine is left after so many seconds; with no `shrinks` nothing is made small here."""
    with progress_line() as say:
        if engine_of(case) not in {*ENGINES, *entered().entries()}:  # entered engines are in processes of their own
            return _in_child(case, settings, say)
        search = case_search(case, settings, seconds, shrinks=shrinks)
        stopped = watched(search, say)
        return search.result(), stopped


def _in_child(case: Case, settings: Settings, show: Say) -> tuple[CaseFound, bool]:
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
