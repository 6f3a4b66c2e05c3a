"""`attend`: cases are checked for a program that holds the pipes, and parsers that it serves are asked over them.

A line is one JSON object with one key. A task is done in the one thread there is; while it is done, a `run` may be
asked of whoever gave it, and the line that comes back is its answer (docs/pytest-plugin.md).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import click
from pydantic import BaseModel, ValidationError

from parsers.vocabulary.types import FormatError, UsageError
from webapp.guests.narrowed import find
from webapp.guests.requests import CaseAsked, OutputsAsked, refused
from webapp.guests.tasks import check, outputs
from webapp.release import installed_version
from webapp.settings import Settings, get_settings

PROTOCOL = 1
MOST_LINE = 50_000_000  # bytes
FIND_REPLAYS = 400

Task = Callable[[Any, Settings, Callable[[Mapping[str, Any]], Any]], BaseModel]


class HungUp(BaseException):
    """Nobody is there any more. Not an Exception: what a parser raises is caught as one."""


def _find(asked: CaseAsked, settings: Settings, ask: Callable[[Mapping[str, Any]], Any]) -> BaseModel:
    return find(asked, settings, ask, settings.find_seconds, FIND_REPLAYS)


TASKS: dict[str, tuple[type[BaseModel], Task]] = {
    "check": (CaseAsked, check),
    "find": (CaseAsked, _find),
    "outputs": (OutputsAsked, lambda asked, _settings, _ask: outputs(asked)),
}


@click.command()
def attend() -> None:
    """Check cases for a program that starts this one, such as the pytest plugin.

    It speaks in lines of JSON on standard input and output, asks that program for the replays of parsers that it
    serves, and ends when its input does.
    """
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no message
    sys.stdout = sys.stderr
    with source, sink:
        Attendant(source, sink, get_settings()).serve()


class Attendant:
    """Who does the tasks of one pair of pipes."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, settings: Settings) -> None:
        self._source = source
        self._sink = sink
        self._settings = settings

    def serve(self) -> None:
        """Answer a line with a line, until there are no more."""
        try:
            while True:
                self._tell(self._answer(self._heard()))
        except (HungUp, BrokenPipeError):
            return

    def _answer(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if "hello" in message:
            return {"answer": {"protocol": PROTOCOL, "version": installed_version()}}
        name = next(iter(message), "")
        if name not in TASKS:
            return {"failed": f"there is no task {name[:40]!r}; there are {', '.join(TASKS)}"}
        kind, task = TASKS[name]
        try:
            asked = kind.model_validate(message[name])
            return {"answer": task(asked, self._settings, self._asked).model_dump(mode="json")}
        except ValidationError as error:
            return {"failed": f"{name}: {refused(error)}"}
        except (UsageError, FormatError) as error:
            return {"failed": str(error)}

    def _asked(self, run: Mapping[str, Any]) -> Any:
        """What the parser that is served says to a run. Raises UsageError where it cannot answer."""
        self._tell({"run": run})
        answer = self._heard()
        if "answer" not in answer:
            raise UsageError(f"the parser that is served cannot answer: {str(answer.get('failed'))[:500]}")
        return answer["answer"]

    def _heard(self) -> Mapping[str, Any]:
        """The next message. Raises HungUp at the end, and for what is none: nobody knows what would follow it."""
        line = self._source.readline(MOST_LINE + 1)
        if not line.endswith(b"\n"):
            raise HungUp
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise HungUp from None
        if not isinstance(message, dict):
            raise HungUp
        return message

    def _tell(self, message: Mapping[str, Any]) -> None:
        self._sink.write(json.dumps(message).encode("ascii") + b"\n")
        self._sink.flush()
