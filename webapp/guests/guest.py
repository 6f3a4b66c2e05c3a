"""A guest as an engine: its replays are asked of whoever serves it, many at a time.

What it says goes through the models of the protocol, like the answers of any engine. It is not started here, so that
nothing can be ended here: whoever serves it sees to the time that a replay may take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import Engine
from parsers.formats.model import Format
from parsers.replays.ran_lines import RanLines
from webapp.engines.entries import TAKEN
from webapp.engines.foreign import engine_for
from webapp.engines.protocol import Card, EngineError, ProtocolError, Replayed, read_replays

Ask = Callable[[Mapping[str, Any]], Any]

BATCH = 128  # replays in one message
MOST_CHARACTERS = 2_000_000  # that are fed in one
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


class Guest:
    """One guest. `ask` gives its answer to a `run` of the protocol, as it says it."""

    def __init__(self, card: Card, ask: Ask) -> None:
        self._card = card
        self._ask = ask
        title = _NO_NAME.sub("_", card.name)[:40]
        self.name = f"guest_{title}"[:40] if title in TAKEN else title or "guest"

    def card(self, name: str) -> Card:
        """Who it is."""
        return self._card

    def play(self, name: str, run: Mapping[str, Any]) -> list[Replayed]:
        """Every replay of a run, in order. Raises EngineError where what it says is no answer."""
        found: list[Replayed] = []
        for replays in _batches(run["replays"]):
            steps = [1 if run.get("path") == "whole" else len(deltas) + 1 for deltas in replays]
            try:
                answer = self._ask({**run, "replays": replays})
                made = [one.bounded() for one in read_replays(answer, steps)]
                found += map(_marked, made, answer["replays"])
            except ProtocolError as error:
                raise EngineError(f"the parser that is served does not speak the protocol: {error}") from error
        return found

    def timed(self, name: str, run: Mapping[str, Any]) -> tuple[list[Replayed], float]:
        """The same, and for how many seconds it was waited for."""
        began = monotonic()
        return self.play(name, run), monotonic() - began

    def lines(self, name: str, run: Mapping[str, Any]) -> RanLines:
        """No lines of a guest are told: they are of files elsewhere."""
        raise EngineError("a parser that is served tells no lines")

    def engine(self, grammar: Format | None) -> Engine:
        """What runs a case that `case_for` gives. `grammar`: what it reads, where its name does not say that."""
        return engine_for(self.name, self, grammar)

    def case_for(self, case: Case) -> Case:
        """The case as this guest runs it, held to what the case says of it."""
        tool = self._card.names("tool")
        ref = ParserRef(name=tool[0] if tool else self._card.parsers[0].name, engine=self.name)
        return case.model_copy(update={"parser": ref, "contract": None})


def _marked(replayed: Replayed, said: Mapping[str, Any]) -> Replayed:
    """A replay that was not made, for others of the same test hung, is marked so: of a guest, which is no process of
    ours, nobody else knows."""
    fault = replayed.raised
    if fault is None or not said["raised"].get("unasked"):
        return replayed
    return replayed.model_copy(update={"raised": fault.model_copy(update={"unasked": True})})


def _batches(replays: Sequence[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    characters = 0
    for deltas in replays:
        fed = sum([len(delta[0]) + 20 for delta in deltas])
        if batch and (len(batch) == BATCH or characters + fed > MOST_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(deltas)
        characters += fed
    if batch:
        yield batch
