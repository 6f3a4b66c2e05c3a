"""The examples of the formats through all parsers of an engine that read one of them: every chunking that a case is
compared by, checked as the program checks a replay."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
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
PATHS = "whole_equals_streamed"
DEPENDS = ("chunking", PATHS)  # what may suppose how the model cuts its text into tokens
NOT_THERE = ("ImportError", "ModuleNotFoundError")
RAISES, LACKS = "parser_raised", "lacks"


@dataclass(slots=True)
class Passes:
    """Parsers by what came of their example. `paths`: all that differs is what the code path for whole outputs gives
    from what is streamed, in whatever deltas. `lacks`: a package that the parser needs is not in the set. `unread`: no
    format of ours has that name."""

    holds: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    raises: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def of(self, errors: set[str]) -> list[str]:
        """Those of which these checks find something."""
        first = [(RAISES, self.raises), (LACKS, self.lacks)]
        told = next((found for word, found in first if word in errors), None)
        return (
            told
            if told is not None
            else self.holds
            if not errors
            else self.paths
            if errors == {PATHS}
            else self.differs
        )


def passes(settings: Settings, name: str, card: Card, tools: list[Any]) -> Passes:
    """What comes of the example of each parser's format."""
    found, own = Passes(), examples()
    for parser in card.names("tool"):
        fmt = known_format(parser)
        if fmt is None or not fmt.example:
            found.unread.append(parser)
            continue
        ref = {"name": parser, "engine": name, "options": _reasoning(card, fmt)}
        text = own.get(f"{name}:{parser}", fmt.example)
        case = load_case({"schema": 1, "parser": ref, "input": {"text": text}, "tools": tools})
        found.of(_errors(case, settings)).append(parser)
    return found


def examples() -> dict[str, str]:
    """The outputs of parsers that read less than the format that has their name, of searches.json: its example is one
    of another model."""
    found: dict[str, str] = json.loads(Path(__file__).with_name("searches.json").read_text("utf-8"))["examples"]
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
        return {RAISES}
    if run.trace.failure is not None and run.trace.failure.kind in NOT_THERE:
        return {LACKS}
    return {
        one.check
        for one in run.findings
        if one.severity == "error" or (one.check in DEPENDS and one.severity != "info")
    }
