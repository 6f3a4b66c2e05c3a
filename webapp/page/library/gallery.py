"""The gallery: real failures that were reported in public, each a case of the package with the words of its tile.

A tile is red where the thread quotes what the server answered. That answer is the recorded side of the case, and what
is wrong with it is computed: the answer is played back, the output is read by the format's own parser, and the two are
compared. Nothing of the verdict or of the band is written down anywhere; both are computed once per process.

The cases are in `gallery/gallery.cases.json`. Their notes are the two sentences of the tile: what went wrong, and what
ended it. What a case has no place for is in `gallery/tiles.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from parsers.cases.case import Case, ParserRef
from parsers.cases.corpus import case_texts
from parsers.cases.departure import Departure, departure
from parsers.cases.engines import RECORDED, choose
from parsers.cases.io import loads
from parsers.cases.run import characters, replayer_of
from parsers.replays.chunking import RECORDED as AS_RECORDED
from parsers.replays.chunking import WHOLE
from parsers.vocabulary.trace import Trace
from webapp.page.drawing import percent, runs
from webapp.page.library.band import BandBar, role_of
from webapp.page.search.lost import lost_characters

STRIP = (  # what the first page shows: engine after engine, one kind of failure each
    "sglang-24147-value-ends-like-a-tag",
    "vllm-46183-text-comes-twice",
    "dynamo-9536-calls-with-a-semicolon",
    "lmstudio-1979-call-as-a-message",
    "vllm-mlx-677-half-a-marker-each",
    "llamacpp-23838-documented-format-refused",
)
FAILURES = {
    "chunk_boundary": "chunk boundary",
    "lost_call": "lost call",
    "lost_text": "lost text",
    "broken_arguments": "broken arguments",
    "wrong_type": "wrong type",
    "marker_leak": "leaked marker",
    "wrong_channel": "wrong channel",
    "index_or_id": "index or id",
    "quoted_marker": "quoted marker",
    "raised": "error raised",
    "doubled": "sent twice",
}


@dataclass(slots=True, frozen=True)
class Tile:
    """One failure: its address, what its tile says, and the case. `version` is "" where the thread names none, `fix`
    says whether what ended it is known."""

    name: str
    title: str
    wrong: str
    ended: str
    engine: str
    version: str
    format: str
    failure: str
    fix: str
    rebuilt: bool
    link: str
    thread: str
    case: Case

    @property
    def kind(self) -> str:
        """The kind of failure in words."""
        return FAILURES[self.failure]

    @property
    def facts(self) -> TileFacts:
        """What is computed of it."""
        return tile_facts(self.name)


@dataclass(slots=True, frozen=True)
class TileFacts:
    """What the product finds: the departure of the quoted answer, None where none is quoted, and the band."""

    departure: Departure | None
    bars: list[BandBar]


@cache
def gallery() -> dict[str, Tile]:
    """All tiles by name."""
    texts, more = case_texts(_read("gallery.cases.json")), json.loads(_read("tiles.json"))
    return {name: _tile(name, loads(text), more[name]) for name, text in texts.items()}


def strip() -> list[Tile]:
    """The tiles of the first page."""
    return [gallery()[name] for name in STRIP]


@cache
def tile_facts(name: str) -> TileFacts:
    """What is computed of the tile of that name."""
    tile = gallery()[name]
    text, right = tile.case.text(), _trace(tile.case, tile.format)
    kinds = _roles(right)
    if tile.case.input.stream is None:
        return TileFacts(None, _bars(kinds))
    answer = _trace(tile.case, RECORDED)
    for at in lost_characters(text, right, answer):
        kinds[at] = "lost"
    return TileFacts(departure(tile.case, answer), _bars(kinds))


def _read(name: str) -> str:
    return (resources.files("webapp.page.library") / "gallery" / name).read_text(encoding="utf-8")


def _tile(name: str, case: Case, more: Mapping[str, Any]) -> Tile:
    source = case.source
    if source is None or source.engine is None or source.link is None:
        raise ValueError(f"the case {name} of the gallery does not say where it is from")
    engine, _, version = source.engine.rpartition(" ")
    if not version[:1].isdigit():
        engine, version = source.engine, ""
    wrong, ended = case.notes
    return Tile(
        name=name,
        title=case.title or name,
        wrong=wrong,
        ended=ended,
        engine=engine,
        version=version,
        format=more["format"],
        failure=more["failure"],
        fix=more["fix"],
        rebuilt=more["output"] == "rebuilt",
        link=source.link,
        thread=f"{source.project} #{source.link.rpartition('/')[2]}",
        case=case,
    )


def _trace(case: Case, parser: str) -> Trace:
    """The replay of a case by this parser, unchecked."""
    read = case.model_copy(update={"parser": ParserRef(name=parser)})
    replayer = replayer_of(read, choose(read), characters(case.text()))
    return replayer.trace(AS_RECORDED if parser == RECORDED else WHOLE)


def _roles(trace: Trace) -> list[str]:
    """The role of each character of the output, "" for what is neither text nor part of a call."""
    kinds = [""] * len(trace.text)
    for run in trace.partition:
        kinds[run.start : run.end] = [role_of(run.owner)] * (run.end - run.start)
    return kinds


def _bars(kinds: Sequence[str]) -> list[BandBar]:
    many = len(kinds)
    return [BandBar(kind, percent(start, many), percent(end - start, many)) for kind, start, end in runs(kinds) if kind]


# The filters of the page: by engine, by format, by kind of failure.

FACETS = {"engine": "Engine", "format": "Format", "failure": "Failure", "fix": "Fix"}
SHOWN = 12  # tiles at a time


@dataclass(slots=True, frozen=True)
class Choice:
    """One value of a filter, how many tiles it leaves, and the filters of the page that it leads to."""

    value: str
    words: str
    many: int
    chosen: bool
    query: dict[str, str]


@dataclass(slots=True, frozen=True)
class Facet:
    """One filter: what it is called, what is chosen ("" for all) and what may be."""

    name: str
    words: str
    chosen: str
    choices: list[Choice]


def filtered(asked: Mapping[str, str]) -> list[Tile]:
    """The tiles that every filter lets through, those with an answer first."""
    tiles = [tile for tile in gallery().values() if all(getattr(tile, name) == asked[name] for name in asked)]
    return sorted(tiles, key=lambda tile: tile.case.input.stream is None)


def facets(asked: Mapping[str, str]) -> list[Facet]:
    """The filters as they stand. A filter counts what the others let through."""
    return [_facet(name, asked) for name in FACETS]


def _facet(name: str, asked: Mapping[str, str]) -> Facet:
    others = {other: value for other, value in asked.items() if other != name}
    left = [str(getattr(tile, name)) for tile in filtered(others)]
    values = sorted(set(left) | ({asked[name]} if name in asked else set()), key=str.lower)
    choices = [Choice("", "all", len(left), name not in asked, others)]
    choices += [
        Choice(value, _in_words(name, value), left.count(value), asked.get(name) == value, {**others, name: value})
        for value in values
    ]
    return Facet(name, FACETS[name], _in_words(name, asked[name]) if name in asked else "", choices)


@dataclass(slots=True, frozen=True)
class Shelf:
    """The first tiles of what the filters leave, and how many there are; `more` is how many the next link shows, 0
    where all are there."""

    tiles: list[Tile]
    total: int
    more: int


def shelf(asked: Mapping[str, str], shown: int | None) -> Shelf:
    """The first `shown` tiles that the filters let through, SHOWN where nobody said."""
    tiles, many = filtered(asked), max(1, shown or SHOWN)
    return Shelf(tiles[:many], len(tiles), many + SHOWN if len(tiles) > many else 0)


def _in_words(name: str, value: str) -> str:
    return FAILURES.get(value, value) if name == "failure" else value
