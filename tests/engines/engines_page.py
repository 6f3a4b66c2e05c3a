"""Writes docs/engines.md: what was set up, what each engine says, and what `find` says of its parsers."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from docs.generate import cell, code, table
from tests.engines.engine_sets import EngineSet
from tests.engines.library import Passes
from tests.engines.program import Searched
from webapp.engines.protocol import Card

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines.md"
HEAD = """# Engines that were tried

`make test-engines` sets each engine up in an environment of its own, from the locked sets of `requirements/engines/`,
enters it by [`engines add`](cli.md#engines-add), plays the conformance script at it, runs the examples of the formats
through its parsers and searches for known bugs, with nothing said of them. It writes this page. `ENGINES=FOLDER` is
kept between runs; `ARGS="--only vllm,go"` takes some, `ARGS="--python vllm=PATH"` an interpreter that is there already,
`ARGS=--print` writes nothing. The sets are locked for CPython 3.11 on Linux; vLLM's takes a torch for CPUs.
"""


@dataclass(slots=True)
class Tried:
    """One engine: what it said of itself, or why it is absent."""

    set: EngineSet
    card: Card | None = None
    absent: str = ""
    checked: str = ""
    passes: Passes = field(default_factory=Passes)


WORDS = ("holds", "paths", "differs", "raises", "lacks", "unread")
COUNTED = """`holds`, `paths`, `differs`, `raises`: parsers that read a format of ours, by what came of its example,
behind the reasoning parser of that name where it reasons, under the chunkings that a case is compared by. `paths`: all
that differs is what the code path for whole outputs gives from what is streamed, whatever the cuts; `lacks`: the set
has no package that it needs; `unread`: its name is no format's here. An engine may read less than the format of that
name, or more of it than its model writes: what differs is looked into by a search of an output of the model's own.
"""
BUGS = """\
The output and the tools are all that `find` was given. A bug stands here by the number of its report only where
the output of that report, or one like it, was searched. vLLM #48342 has no search of its own: its report is in
no index of threads that was at hand, nor is its number in the sources of vLLM 0.33.0, so nothing is claimed of it. The
reports of the same days, #48294 and #48347, tell of calls that are lost in one delta, and so does what is found here.
"""
RIGHT = "Errors that a search of an ordinary output says of them, under the contract of the engine.\n"


def page(tried: list[Tried], bugs: list[Searched], right: list[Searched]) -> str:
    """The whole page."""
    where = f"Python {platform.python_version()}, {platform.system()}, {platform.machine()}"
    parts = [HEAD, f"Made on {date.today():%d %B %Y} with {where}.\n", "## What is there\n", _engines(tried)]
    parts += ["\n" + COUNTED, _parsers(tried), "\n## Known bugs that a search finds\n"]
    parts += [BUGS, _bugs(bugs)]
    return "\n".join([*parts, "\n## Parsers that are right\n", RIGHT, _right(right)]).rstrip("\n") + "\n"


def _engines(tried: list[Tried]) -> str:
    rows = [_row(one) for one in tried]
    return table(["engine", "version", "parsers", "reasoning", "protocol", *WORDS], rows)


def _row(one: Tried) -> list[str]:
    if one.card is None:
        return [one.set.title, f"absent: {cell(one.absent)}", *[""] * (3 + len(WORDS))]
    card, passes = one.card, one.passes
    counts = [str(len(getattr(passes, word))) for word in WORDS]
    known = [str(len(card.names("tool"))), str(len(card.names("reasoning"))), one.checked]
    return [one.set.title, f"{card.name} {card.version}".strip(), *known, *counts]


def _parsers(tried: list[Tried]) -> str:
    rows = [
        [one.set.name, word, ", ".join(map(code, found))]
        for one in tried
        for word in WORDS[:-1]
        if (found := getattr(one.passes, word))
    ]
    return table(["engine", "example", "parsers"], rows)


def _bugs(found: list[Searched]) -> str:
    rows = [
        [code(one.search.parser), one.search.known or "not reported, as far as known", _said(one), *_cost(one)]
        for one in found
    ]
    return table(["parser", "known as", "what `find` says", "replays", "seconds"], rows)


def _right(found: list[Searched]) -> str:
    rows = [[code(one.search.parser), str(one.errors), _said(one), *_cost(one)] for one in found]
    return table(["parser", "errors", "what `find` says", "replays", "seconds"], rows)


def _said(one: Searched) -> str:
    return " ".join((one.failed or one.headline).split())


def _cost(one: Searched) -> list[str]:
    return [f"{one.replays:,}", f"{one.seconds:.0f}"]
