"""Running a case for a command: the settings of this process, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Protocol

from parsers.cases.case import Case
from parsers.cases.run import CaseRun
from parsers.replays.replayer import Replayer
from parsers.search.found import Progress
from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import shown
from webapp.commands.progress_line import Say
from webapp.runs.prepare import Prepared, prepare, with_defaults
from webapp.runs.runner import Runner
from webapp.security import TooLarge
from webapp.settings import get_settings


@cache
def service() -> Runner:
    """The service of this process. Raises UsageError for settings that are wrong."""
    return Runner(get_settings(), keep=False)


def run_case_of(name: str, case: Case) -> CaseRun:
    """The run of a case that was read from the input `name`. Raises UsageError, and CaseError for the case itself."""
    return replayed_case_of(name, case)[0]


def replayed_case_of(name: str, case: Case) -> tuple[CaseRun, Replayer]:
    """The same, and what replays it again."""
    with within_limits(name):
        run = service().run(with_defaults(case, service().settings))
        return service().checked(run), run.replayer


def prepared_case_of(name: str, case: Case) -> Prepared:
    """The same before it is replayed, so that no engine is started for it."""
    settings = service().settings
    with within_limits(name):
        return prepare(with_defaults(case, settings), settings)


@contextmanager
def within_limits(name: str) -> Iterator[None]:
    """An output over a limit, raised inside, is a UsageError that begins with the name of its file."""
    try:
        yield
    except TooLarge as error:
        words = f"{shown(name)}: {error.description} Set the variable to a larger number to replay it."
        raise UsageError(words) from error


class _Runs(Protocol):
    """Holds a search."""

    def run(self) -> Iterator[Progress]: ...


def watched(search: _Runs, say: Say) -> bool:
    """Search to the end; returns whether Ctrl-C ended it."""
    try:
        for progress in search.run():
            say(progress)
    except KeyboardInterrupt:
        return True
    return False
