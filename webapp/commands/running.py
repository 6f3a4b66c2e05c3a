"""Running a case for a command: the settings of this process, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from parsers.vocabulary.types import UsageError
from webapp.runs.runner import Runner
from webapp.security import TooLarge
from webapp.settings import get_settings


@cache
def service() -> Runner:
    """The service of this process. Raises UsageError for settings that are wrong."""
    return Runner(get_settings(), keep=False)


@contextmanager
def within_limits(name: str) -> Iterator[None]:
    """An output over a limit, raised inside, is a UsageError that begins with the name of its file."""
    try:
        yield
    except TooLarge as error:
        raise UsageError(f"{name}: {error.description} Set the variable to a larger number to replay it.") from error
