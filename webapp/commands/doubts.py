"""Whether `check` shows what is wrong with an engine by one replay: not where that does not read alike every time.

What the replays of a case leave behind is found by reading two of them once more, and what cases before it left behind
by reading the first one that its engine ran.
"""

from __future__ import annotations

from typing import NamedTuple

from parsers.cases.steady import changed_words, unsteady_words
from parsers.cases.tested import CaseTest
from parsers.replays.replayer import Replayer
from webapp.cli import one_line


class Replayed(NamedTuple):
    """Holds a case that ran: what came of it, what replays it again, and the command that makes all of its replays."""

    title: str
    test: CaseTest
    replayer: Replayer
    command: str


class Doubts:
    """Those of one run of the command: the first case of each engine is kept."""

    def __init__(self) -> None:
        self._first: dict[str | None, Replayed] = {}

    def about(self, ran: Replayed, details: list[str], *, fails: bool) -> list[str]:
        """The lines of a case, the last of which is a command, with what is in doubt where it `fails`."""
        first = self._first.setdefault(ran.test.run.case.parser.engine, ran)
        if not fails:
            return details
        words = unsteady_words(ran.test, ran.replayer)
        if words:
            return [*details[:-1], one_line(words), ran.command]
        words = "" if first is ran else _words_of_first(first)
        return [*details[:-1], one_line(words), *details[-1:]] if words else details


def _words_of_first(first: Replayed) -> str:
    words = changed_words(first.test.replays[0], first.replayer, first.test.run.case.compare.rules())
    before = "what the cases before this one left behind may be why it fails, and alone it may not"
    return words and f"The parser does not read the same output alike every time: {first.title}, {words}; {before}."
