"""The entered engines of this process: where their workers run, and what a case that names one is parsed with.

One process of a server has the workers; its children ask it, so that no engine is started twice. `use_engines` says
which this is; without it, workers are started here.
"""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from typing import Any, NamedTuple

from parsers.cases.engines import Engine
from parsers.replays.ran_lines import RanLines
from parsers.vocabulary.types import UsageError
from webapp.engines.engine_host import EngineHost
from webapp.engines.entries import Entry, KnownCard, card_written, entries, keep_card, known_card
from webapp.engines.foreign import engine_for
from webapp.engines.health import Known, LibraryRuns, read_known
from webapp.engines.lines import lines_of
from webapp.engines.protocol import Card, EngineError, Replayed, read
from webapp.settings import Settings, get_settings

AT_ONCE = frozenset(("known", "note_run"))  # what is asked of no engine, and so waits for none
AskOther = Callable[[dict[str, Any]], Mapping[str, Any]]


class Engines:
    """The entered engines, with workers of this process. `own`: entries of the command line alone. `alone`: one person
    asks them, and nobody else waits."""

    def __init__(self, settings: Settings, more: Mapping[str, Entry] | None = None, *, alone: bool = True) -> None:
        self.settings = settings
        self._alone = alone
        self.own = dict(more or {})
        self._hosts: dict[str, tuple[Entry, str, EngineHost]] = {}
        self._spent_before = 0.0  # by hosts that were ended for a change
        self._cards: dict[str, tuple[Entry, int, KnownCard]] = {}
        self._ran: dict[str, LibraryRuns] = {}
        self._lock = Lock()

    @property
    def spent(self) -> float:
        """For how many seconds engines were at work so far."""
        return self._spent_before + sum([host.spent for *_, host in list(self._hosts.values())])

    def entries(self) -> dict[str, Entry]:
        """All of them by name."""
        return {**entries(self.settings), **self.own}

    def listed(self) -> dict[str, Card | None]:
        """All of them with what is known of them; nothing is started."""
        known = [(name, known_card(self.settings, name, entry)) for name, entry in self.entries().items()]
        return {name: None if found is None else found.card for name, found in known}

    def card(self, name: str) -> Card:
        """Who an engine is, as it said last, or says now where it was not asked yet or its sources are others by now.
        Raises UsageError."""
        entry = self._entry(name)
        known = self._known(name, entry)
        return self._asked(name, entry) if known is None or known.is_stale(entry) else known.card

    def renew(self, name: str) -> Card:
        """Who an engine says it is now, started anew for that. Raises UsageError."""
        return self._asked(name, self._entry(name), anew=True)

    def stamp(self, name: str) -> str:
        """What changes with the entry, the version and the sources of an engine, and whenever it was asked who it is:
        what it did before may be asked again then. "" for what is not entered."""
        entry = self.entries().get(name)
        if entry is None:
            return ""
        asked = card_written(self.settings, name)
        return hashlib.sha256(f"{entry!r} {self._version(name, entry)} {asked}".encode()).hexdigest()

    def play(self, name: str, run: Mapping[str, Any]) -> list[Replayed]:
        """The replays of a run. Raises UsageError for an engine that is not there, or does not start."""
        return self.timed(name, run)[0]

    def timed(
        self, name: str, run: Mapping[str, Any], cancelled: Callable[[], bool] = bool
    ) -> tuple[list[Replayed], float]:
        """The same, and for how many seconds the engine was at work for this alone: many may ask it at a time. Raises
        ChildError once it is `cancelled`."""
        host = self._host(name, self._entry(name))
        before = host.spent_here
        return host.play(run, cancelled), host.spent_here - before

    def lines(self, name: str, run: Mapping[str, Any]) -> RanLines:
        """The lines that a step executed. Raises UsageError for an engine that is not there, or does not tell them."""
        return self._host(name, self._entry(name)).lines(run)

    def known(self, name: str) -> Known:
        """How an engine does, and what its parsers made of the library, as far as that is known without asking it."""
        host, runs = self._hosts.get(name), self._ran.get(name)
        same = host is not None and host[0] == self.entries().get(name)
        health = host[2].health if host is not None and same else None
        return Known(health, () if runs is None else runs.latest())

    def note_run(self, name: str, parser: str, cells: Mapping[str, Sequence[str]]) -> None:
        """A parser made this of cases of the library: of each a word and how bad it is."""
        if name in self.entries():
            self._ran.setdefault(name, LibraryRuns()).note(parser, cells)

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            for *_, host in self._hosts.values():
                host.close()
            self._hosts.clear()

    def _known(self, name: str, entry: Entry) -> KnownCard | None:
        """Its card as this process read it, until another one was written."""
        kept, written = self._cards.get(name), card_written(self.settings, name)
        if kept is not None and kept[:2] == (entry, written):
            return kept[2]
        known = known_card(self.settings, name, entry)
        if known is not None:
            self._cards[name] = entry, written, known
        return known

    def _version(self, name: str, entry: Entry) -> str:
        """What changes with the version and the sources of an engine; "" where it was not asked yet."""
        known = self._known(name, entry)
        return "" if known is None else f"{known.card.version} {known.stamp_now(entry)}"

    def _asked(self, name: str, entry: Entry, *, anew: bool = False) -> Card:
        host = self._host(name, entry)
        if anew:
            host.begin_anew()
        known = keep_card(self.settings, name, entry, host.card())
        self._cards[name] = entry, card_written(self.settings, name), known
        with self._lock:
            self._hosts[name] = entry, self._version(name, entry), host  # what it said just now is no change of it
        return known.card

    def _entry(self, name: str) -> Entry:
        found = self.entries().get(name)
        if found is None:
            raise EngineError(unknown(name, self.entries()))
        return found

    def _host(self, name: str, entry: Entry) -> EngineHost:
        """The host of an entry; one of an entry, a version or sources that were changed is ended."""
        stamp = self._version(name, entry)
        with self._lock:
            known = self._hosts.get(name)
            if known is None or known[0] != entry or (known[1] and known[1] != stamp):
                if known is not None:
                    known[2].close()
                    self._spent_before += known[2].spent
                known = entry, stamp, EngineHost(name, entry, alone=self._alone)
            self._hosts[name] = entry, stamp, known[2]
            return known[2]


class SharedEngines(Engines):
    """The same, with workers in the process that `other` asks, whose `answer` replies."""

    def __init__(self, settings: Settings, other: AskOther) -> None:
        super().__init__(settings)
        self._other = other
        self._spent = 0.0

    @property
    def spent(self) -> float:
        return self._spent

    def timed(
        self, name: str, run: Mapping[str, Any], _cancelled: Callable[[], bool] = bool
    ) -> tuple[list[Replayed], float]:
        """The other process knows whether it is cancelled."""
        reply = self._told({"do": "play", "name": name, "run": dict(run)})
        self._spent += reply["spent"]
        return [read(Replayed, one) for one in reply["replays"]], reply["spent"]

    def lines(self, name: str, run: Mapping[str, Any]) -> RanLines:
        return lines_of(self._told({"do": "lines", "name": name, "run": dict(run)})["lines"])

    def note_run(self, name: str, parser: str, cells: Mapping[str, Sequence[str]]) -> None:
        self._told(
            {"do": "note_run", "name": name, "parser": parser, "cells": {case: [*one] for case, one in cells.items()}}
        )

    def known(self, name: str) -> Known:
        return read_known(self._told({"do": "known", "name": name})["known"])

    def _told(self, question: dict[str, Any]) -> Mapping[str, Any]:
        try:
            return self._other(question)
        except UsageError as error:
            raise EngineError(str(error)) from error

    def _asked(self, name: str, entry: Entry, *, anew: bool = False) -> Card:
        return read(Card, self._told({"do": "renew" if anew else "card", "name": name})["card"])


def answer(engines: Engines, question: Mapping[str, Any], cancelled: Callable[[], bool] = bool) -> dict[str, Any]:
    """What a process of `SharedEngines` is told. Raises UsageError where it would have, and ChildError once nobody
    waits for it."""
    name = question["name"]
    if question["do"] == "note_run":
        engines.note_run(name, question["parser"], question["cells"])
        return {}
    if question["do"] == "known":
        return {"known": engines.known(name).told()}
    if question["do"] == "card":
        return {"card": engines.card(name).model_dump()}
    if question["do"] == "renew":
        return {"card": engines.renew(name).model_dump()}
    if question["do"] == "lines":
        return {"lines": asdict(engines.lines(name, question["run"]))}
    replays, spent = engines.timed(name, question["run"], cancelled)
    return {"replays": [one.model_dump() for one in replays], "spent": spent}


def engine_reply(question: Mapping[str, Any], cancelled: Callable[[], bool] = bool) -> Mapping[str, Any]:
    """What a child is told that asks for an engine of this process. What it gave wrong is raised over there. Raises
    ChildError once it is `cancelled`."""
    try:
        return answer(entered(), question, cancelled)
    except UsageError as error:
        return {"refused": str(error)}


def engine_stamp(name: str | None) -> str:
    """What changes when the engine of a case does, for those who keep what came of it; "" for one of ours."""
    if name is None:
        return ""
    try:
        return entered().stamp(name)
    except UsageError:
        return ""  # the file of the entries cannot be used: whoever runs the case is told


def engine_title(name: str | None) -> str:
    """`vllm 0.33.0 at main (0123456789)`, as far as it is known; nothing is started for that. Empty for one of ours,
    and where the file of the entries cannot be used."""
    try:
        entry = entered().entries().get(name or "")
    except UsageError:
        return ""
    card = None if entry is None else entered().listed()[name or ""]
    words = "" if card is None else f"{card.name} {card.version}".strip()
    return f"{words} at {entry.revision}".strip() if entry is not None and entry.revision else words


class EnteredParser(NamedTuple):
    """A parser of an entered engine, by the name that lists have it under: ENGINE:PARSER."""

    name: str
    title: str
    version: str


def entered_parsers() -> list[EnteredParser]:
    """The parsers for tool calls of all engines that were asked who they are. No engine is started for that.

    Where the file of the entries cannot be used there are none; whoever names one is told.
    """
    try:
        listed = entered().listed()
    except UsageError:
        return []
    known = [(name, card) for name, card in listed.items() if card is not None]
    return [
        EnteredParser(f"{name}:{one}", f"{card.name} {card.version}".strip(), card.version)
        for name, card in known
        for one in card.names("tool")
    ]


def unknown(name: str, known: Iterable[str]) -> str:
    """What is said of a name that is not entered."""
    there = ", ".join(known) or "none"
    return f"engine {name!r} is not entered here; entered: {there}. Enter one with `toolcall-inspector engines add`"


_current: Engines | None = None


def use_engines(
    settings: Settings, other: AskOther | None = None, more: Mapping[str, Entry] | None = None, *, alone: bool = True
) -> Engines:
    """Run entered engines by these settings from now on, in the process that `other` asks, else in this one. `alone`:
    for one person."""
    global _current
    if _current is not None:
        _current.close()
    _current = Engines(settings, more, alone=alone) if other is None else SharedEngines(settings, other)
    return _current


def entered(settings: Settings | None = None) -> Engines:
    """The entered engines of this process."""
    if _current is None or (settings is not None and settings != _current.settings):
        return use_engines(settings or get_settings())
    return _current


@atexit.register
def _close() -> None:
    if _current is not None:
        _current.close()


def engines_entered(settings: Settings | None = None) -> dict[str, Engine]:
    """An engine for each entry, by its name."""
    found = entered(settings)
    return {name: engine_for(name, found) for name in found.entries()}
