"""What is entered: engines with their versions, and their parsers with the formats that they read. Nothing is started
for it: what an engine said of itself last is known."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from parsers.selection.registry import known_format
from webapp.engines.entered import Engines
from webapp.engines.entries import Entry, card_written
from webapp.engines.health import Health, HealthKind, LibraryRun
from webapp.engines.protocol import Card, EmptyDeltas, HoldsText, ManyTokens, Server
from webapp.page.engines.library_cases import library_cases

HIDDEN = "why is told to those who may write here"  # for it names files
_HEALTH: Mapping[HealthKind, tuple[str, str]] = {
    "answers": ("pass", "answers"),
    "hangs": ("warning", "hung"),
    "rests": ("warning", "rests"),
    "fails": ("error", "not running"),
}
_LOG = logging.getLogger(__name__)

# What a server does, in words, for every value that the protocol has; "": it says nothing of it.
_HOLDS_TEXT: Mapping[HoldsText, str] = {
    "unknown": "",
    "sent": "holds text back",
    "stop_strings": "holds text back where stop strings ask for it",
}
_MANY_TOKENS: Mapping[ManyTokens, str] = {
    "unknown": "",
    "sent": "sends several tokens a delta",
    "never": "sends every token in a delta of its own",
}
_EMPTY_DELTAS: Mapping[EmptyDeltas, str] = {"unknown": "", "sent": "sends deltas without text"}


@dataclass(slots=True, frozen=True)
class ParserRow:
    """A parser for tool calls: the format that it reads, "" where that is not known, its other names there, how many
    cases of the library are in that format, and the other engines that have a parser of that name."""

    name: str
    format: str
    aliases: Sequence[str]
    cases: int
    elsewhere: Sequence[str]


@dataclass(slots=True, frozen=True)
class ShownHealth:
    """How an engine does: how bad that is, in a word or two, and more of it."""

    severity: str
    words: str
    detail: str


@dataclass(slots=True, frozen=True)
class EngineRow:
    """An entry, its revision of a checkout, and what its engine said of itself; `card` None: it was not asked yet.

    `facts`: how it is fed, and what its server does, each as a name and words. `problem`: why none of it can be shown.
    `where`: what is run, for those who may see that; `health` and `runs`: how it does, and what it made of the library.
    """

    name: str
    card: Card | None
    revision: str = ""
    parsers: Sequence[ParserRow] = ()
    facts: Sequence[tuple[str, str]] = ()
    problem: str = ""
    where: str = ""
    health: ShownHealth = ShownHealth("info", "not asked", "")
    runs: Sequence[LibraryRun] = ()

    @property
    def title(self) -> str:
        """The engine with its version."""
        named = "" if self.card is None else f"{self.card.name} {self.card.version}".strip()
        return f"{named} at {self.revision}".strip() if self.revision else named

    @property
    def reasoning(self) -> list[str]:
        """Its parsers for reasoning."""
        return [] if self.card is None else self.card.names("reasoning")


def engine_rows(engines: Engines) -> list[EngineRow]:
    """All entered engines. Raises UsageError for a file of entries that cannot be used."""
    listed, entries = engines.listed(), engines.entries()
    return [_row(name, card, entries[name].revision, listed) for name, card in listed.items()]


def told_rows(engines: Engines, *, places: bool) -> list[EngineRow]:
    """The same with how they do, what they made of the library, and with `places` what is run. Raises as that."""
    entries = engines.entries()
    return [_told(row, entries[row.name], engines, places=places) for row in engine_rows(engines)]


def _told(row: EngineRow, entry: Entry, engines: Engines, *, places: bool) -> EngineRow:
    known, asked = engines.known(row.name), card_written(engines.settings, row.name)
    health = _health(known.health, row.card, asked)
    if not places and known.health is not None and known.health.kind == "fails":
        health = replace(health, detail=HIDDEN)
    return replace(row, where=_where(entry) if places else "", health=health, runs=known.runs)


def _where(entry: Entry) -> str:
    """What is run, as one would type it; no variable of its environment, which may be a secret."""
    words = [*(entry.command or (entry.python or "",)), *([entry.own] if entry.own else [])]
    more = {"plugin": entry.plugin, "in": entry.folder, "with": entry.path, "tokenizer": entry.tokenizer}
    return "; ".join([shlex.join(words), *[f"{key} {value}" for key, value in more.items() if value]])


def _health(known: Health | None, card: Card | None, asked: int) -> ShownHealth:
    if known is not None:
        severity, words = _HEALTH[known.kind]
        noticed = known.kind == "answers" and known.words
        return ShownHealth("warning" if noticed else severity, words, known.words)
    if card is None:
        return ShownHealth("info", "not asked yet", "")
    when = datetime.fromtimestamp(asked / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return ShownHealth("pass", "answered", f"on {when}, and was not asked since this server started")


def _row(name: str, card: Card | None, revision: str, listed: dict[str, Card | None]) -> EngineRow:
    """The row of an entry. One that cannot be made is no reason to show nobody the others."""
    if card is None:
        return EngineRow(name, None, revision)
    try:
        parsers = [_parser(name, one, listed) for one in card.names("tool")]
        return EngineRow(name, card, revision, parsers, _facts(card))
    except Exception as error:
        _LOG.exception("the card of engine %s cannot be shown", name)
        problem = f"What it says of itself cannot be shown ({type(error).__name__}: {error})."
        return EngineRow(name, card, revision, problem=problem)


def _facts(card: Card) -> list[tuple[str, str]]:
    paths = "whole outputs only" if not card.streams else "deltas, and whole outputs" if card.whole else "deltas"
    return [
        ("Reads", f"{'text and token ids' if card.wants == 'ids' else 'text'}; {paths}"),
        ("Contract", card.contract or "none of its own"),
        ("Its server", server_words(card.server) or "says nothing of itself"),
    ]


def server_words(server: Server) -> str:
    """What an engine says that its server does to deltas; empty where it says nothing."""
    said = (
        _HOLDS_TEXT[server.holds_text],
        _MANY_TOKENS[server.many_tokens],
        _EMPTY_DELTAS[server.empty_deltas],
    )
    return ", ".join(filter(None, said))


def _parser(engine: str, name: str, listed: dict[str, Card | None]) -> ParserRow:
    fmt = known_format(name)
    others = {other: card for other, card in listed.items() if other != engine and card is not None}
    there = [other for other, card in others.items() if name in card.names("tool")]
    if fmt is None or not fmt.terminals:
        return ParserRow(name, "", (), 0, there)
    aliases = [one for one in (fmt.name, *fmt.aliases) if one != name]
    return ParserRow(name, fmt.name, aliases, len(library_cases(fmt.name)), there)
