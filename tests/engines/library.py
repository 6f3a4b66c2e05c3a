"""The examples of the formats through all parsers of an engine that read one of them: every chunking that a case is
compared by, checked as the program checks a replay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.cases.run import checked_run
from parsers.formats.model import Format
from parsers.machine.reasoning import reasoning_markers
from parsers.selection.registry import known_format
from parsers.vocabulary.types import UsageError
from webapp.engines.protocol import Card
from webapp.runs.prepare import prepare
from webapp.settings import Settings

USUAL = ("default", "think")
DEPENDS = ("chunking", "whole_equals_streamed")  # what may suppose how the model cuts its text into tokens


@dataclass(slots=True)
class Passes:
    """Parsers by what came of their example. `unread`: no format of ours has that name."""

    holds: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    raises: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def passes(settings: Settings, name: str, card: Card, tools: list[Any]) -> Passes:
    """What comes of the example of each parser's format."""
    found = Passes()
    for parser in card.names("tool"):
        fmt = known_format(parser)
        if fmt is None or not fmt.example:
            found.unread.append(parser)
            continue
        ref = {"name": parser, "engine": name, "options": _reasoning(card, fmt)}
        case = load_case({"schema": 1, "parser": ref, "input": {"text": fmt.example}, "tools": tools})
        errors = _errors(case, settings)
        (found.raises if "parser_raised" in errors else found.differs if errors else found.holds).append(parser)
    return found


def _reasoning(card: Card, fmt: Format) -> dict[str, str]:
    """The reasoning parser that goes with a parser, where the example of its format reasons."""
    if not any(marker in (fmt.example or "") for marker in reasoning_markers(fmt).closers):
        return {}
    named = [one for one in card.names("reasoning") if one in (fmt.name, *fmt.aliases)]
    usual = [one for one in card.names("reasoning") if one in USUAL]
    found = [*named, *usual]
    return {"reasoning_parser": found[0]} if found else {}


def _errors(case: Case, settings: Settings) -> set[str]:
    try:
        made = prepare(case, settings)
        run = checked_run(made.case, made.choice, made.replayer, made.stored)
    except UsageError:
        return {"parser_raised"}
    return {
        one.check
        for one in run.findings
        if one.severity == "error" or (one.check in DEPENDS and one.severity != "info")
    }
