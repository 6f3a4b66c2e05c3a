"""The worked examples: case files of the package, named after the failure they show. The first opens the first page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from parsers.cases.case import Case
from parsers.cases.io import loads

ORDER = (
    "marker-split-across-tokens",
    "call-inside-reasoning",
    "unfinished-json",
    "unknown-tool",
    "two-calls-with-prose",
    "escape-split-and-marker-in-string",
)


@dataclass(slots=True, frozen=True)
class Example:
    """One example: its address, what its card says, and the case."""

    name: str
    title: str
    about: str
    parser: str
    case: Case


@cache
def examples() -> dict[str, Example]:
    """The examples by name, in the order of the cards."""
    return {name: _load(name) for name in ORDER}


def _load(name: str) -> Example:
    text = (resources.files("webapp.page.library") / "examples" / f"{name}.case.json").read_text(encoding="utf-8")
    case = loads(text)
    return Example(name, case.title or name, " ".join(case.notes), case.parser.name, case)
