"""The page that shows a case before and after its words were replaced, for somebody to read before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from parsers.cases.case import Case
from parsers.cases.io import dumps
from parsers.cases.redaction.redact import Stays, Why
from webapp.jobs.redacting import RedactedCase

_PARTS = re.compile(r"[^\W_]+|[\W_]+")
_MOST = 20_000  # characters of a text that are shown
_FILE = 60_000  # and of a case file


@dataclass(slots=True, frozen=True)
class Shown:
    """A part of a text; `new`: it is another one on the other side."""

    text: str
    new: bool


@dataclass(slots=True, frozen=True)
class RedactedPage:
    """Holds what the page shows: the output and the case file on both sides, what stays, and the case to go on with.

    `same`: the finding stays. `line` is that case as a form carries it. `clipped` and `files_clipped`: texts and
    files go on behind what is shown.
    """

    before: list[Shown]
    after: list[Shown]
    files: tuple[str, str]
    clipped: bool
    files_clipped: bool
    replaced: int
    runs: int
    needed: list[Stays]
    untried: list[Stays]
    same: bool
    line: str


def redacted_page(made: RedactedCase, written: Callable[[Case], str]) -> RedactedPage:
    """What the page shows; `written` is a case as a form carries it."""
    before, case = made.before.text(), made.made.case
    after, files = case.text(), (dumps(made.before), dumps(case))
    return RedactedPage(
        before=[*_parts(before[:_MOST], after[:_MOST])],
        after=[*_parts(after[:_MOST], before[:_MOST])],
        files=(files[0][:_FILE], files[1][:_FILE]),
        clipped=len(before) > _MOST,
        files_clipped=max(map(len, files)) > _FILE,
        replaced=made.made.replaced,
        runs=made.made.runs,
        needed=[one for one in made.made.stays if one.why is not Why.UNTRIED],
        untried=[one for one in made.made.stays if one.why is Why.UNTRIED],
        same=made.same,
        line=written(case),
    )


def _parts(text: str, other: str) -> Iterator[Shown]:
    """A text in parts that are the same as on the other side and such that are not; both are as long."""
    for match in _PARTS.finditer(text):
        yield Shown(match[0], match[0] != other[match.start() : match.end()])
