"""`replay` and `find` with several engines: the first beside each other one, replayed or searched for a difference."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import click

from parsers.cases.between import SearchBetween, between_json, parted_json
from parsers.cases.case import Case, CaseError
from parsers.vocabulary.types import UsageError
from webapp.cli import INTERRUPTED
from webapp.commands.between_report import find_report, replay_report
from webapp.commands.engine_option import Named, several
from webapp.commands.inputs import Given, say_notes
from webapp.commands.options import Options, blamed, case_with
from webapp.commands.progress_line import progress_line
from webapp.commands.running import service, watched, within_limits
from webapp.commands.written import print_json
from webapp.engines import choose
from webapp.engines.entered import entered
from webapp.jobs.search_program import search_between
from webapp.runs.prepare import with_defaults

DIFFER = 1


class Sided(NamedTuple):
    """One engine of several, the case as it runs it, and what its parser is called in full."""

    named: Named
    case: Case
    title: str


def find_between(given: Given, options: Options, *, as_json: bool, seconds: float) -> int:
    """Print where the first engine differs from each other one, each searched for so many seconds by the clock at most;
    the exit code says whether it does."""
    sides = _sides(given, options)
    found, stopped = [], False
    for other in sides[1:]:
        search = _search((sides[0], other), given, options, seconds)
        with progress_line() as say:
            stopped = watched(search, say) or stopped
        found.append(search.result())
    if as_json:
        _print(given, sides, [between_json(one) for one in found])
    else:
        pairs = zip(sides[1:], found, strict=True)
        click.echo("\n\n".join([find_report((sides[0], other), one, given, options) for other, one in pairs]))
    if any(one.differ for one in found):
        return DIFFER
    return INTERRUPTED if stopped else 0


def replay_between(given: Given, options: Options, *, as_json: bool) -> None:
    """Print the messages of the first engine and each other one beside each other."""
    sides = _sides(given, options)
    found = [_search((sides[0], other), given, options).replayed() for other in sides[1:]]
    if as_json:
        _print(given, sides, [parted_json(parted) for parted in found])
        return
    pairs = zip(sides[1:], found, strict=True)
    click.echo("\n\n".join([replay_report((sides[0], other), one, given) for other, one in pairs]))


def _sides(given: Given, options: Options) -> list[Sided]:
    """Raises UsageError for what cannot be compared."""
    if options.python is not None:
        raise UsageError("--python: to compare classes of your own, enter each with `engines add`")
    found = []
    for one in several(options.engine):
        wanted, data = replace(options, engine=(one.word,)), dict(given.data)
        try:
            with within_limits(given.name):
                case = with_defaults(case_with(replace(given, data=data), wanted), service().settings)
                choice = choose(case)
        except CaseError as error:
            raise UsageError(blamed(error, given, wanted)) from error
        title = choice.format.title if choice.black_box else f"{choice.format.name}, built in"
        entry = entered(service().settings).entries().get(case.parser.engine or "")
        title += f", {entry.revision}" if entry is not None and entry.revision else ""
        found.append(Sided(one, case, title))
    return found


def _search(pair: tuple[Sided, Sided], given: Given, options: Options, seconds: float = math.inf) -> SearchBetween:
    first, second = pair
    try:
        with within_limits(given.name):
            return search_between((first.case, second.case), service().settings, seconds)
    except CaseError as error:
        wanted = replace(options, engine=(second.named.word,))
        raise UsageError(blamed(error, given, wanted)) from error


def _print(given: Given, sides: list[Sided], found: list[dict[str, Any]]) -> None:
    """One JSON object on one line: the engines, and what was found of each pair."""
    say_notes(given)
    first, *others = [one.named.label for one in sides]
    pairs = [{"pair": [first, other], **one} for other, one in zip(others, found, strict=True)]
    engines = [{"label": one.named.label, "engine": one.named.word, "parser": one.title} for one in sides]
    print_json({"engines": engines, "pairs": pairs})
