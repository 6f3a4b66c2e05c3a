"""What is entered: engines with their versions, and their parsers with the formats that they read. Nothing is started
for it: what an engine said of itself last is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.selection.registry import known_format
from webapp.engines.entered import Engines
from webapp.engines.protocol import Card
from webapp.page.engines.library_cases import library_cases

_KEPT = {"unknown": "not", "sent": "", "stop_strings": "where stop strings ask for it"}


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
class EngineRow:
    """An entry, its revision of a checkout, and what its engine said of itself; `card` None: it was not asked yet."""

    name: str
    card: Card | None
    revision: str = ""
    parsers: Sequence[ParserRow] = ()

    @property
    def title(self) -> str:
        """The engine with its version."""
        named = "" if self.card is None else f"{self.card.name} {self.card.version}".strip()
        return f"{named} at {self.revision}".strip() if self.revision else named

    @property
    def reasoning(self) -> list[str]:
        """Its parsers for reasoning."""
        return [] if self.card is None else self.card.names("reasoning")

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How it is fed, and what its server does, each as a name and words."""
        card = self.card
        if card is None:
            return []
        paths = "whole outputs only" if not card.streams else "deltas, and whole outputs" if card.whole else "deltas"
        does = {
            "holds text back": card.server.holds_text,
            "sends several tokens a delta": card.server.many_tokens,
            "sends deltas without text": card.server.empty_deltas,
        }
        said = [f"{words} {_KEPT[how]}".strip() for words, how in does.items() if how != "unknown"]
        return [
            ("Reads", f"{'text and token ids' if card.wants == 'ids' else 'text'}; {paths}"),
            ("Contract", card.contract or "none of its own"),
            ("Its server", ", ".join(said) or "says nothing of itself"),
        ]


def engine_rows(engines: Engines) -> list[EngineRow]:
    """All entered engines. Raises UsageError for a file of entries that cannot be used."""
    listed, entries = engines.listed(), engines.entries()
    return [
        EngineRow(name, card, entries[name].revision, _parsers(name, card, listed)) for name, card in listed.items()
    ]


def _parsers(name: str, card: Card | None, listed: dict[str, Card | None]) -> list[ParserRow]:
    return [] if card is None else [_parser(name, one, listed) for one in card.names("tool")]


def _parser(engine: str, name: str, listed: dict[str, Card | None]) -> ParserRow:
    fmt = known_format(name)
    others = {other: card for other, card in listed.items() if other != engine and card is not None}
    there = [other for other, card in others.items() if name in card.names("tool")]
    if fmt is None or not fmt.terminals:
        return ParserRow(name, "", (), 0, there)
    aliases = [one for one in (fmt.name, *fmt.aliases) if one != name]
    return ParserRow(name, fmt.name, aliases, len(library_cases(fmt.name)), there)
