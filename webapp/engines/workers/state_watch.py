"""What a parser keeps in its attributes, step by step: which changed, how, and in which state that leaves it.

Only plain values are looked at, and the items of short lists by themselves. A long text that grew is told by what was
added to it. Everything is bounded: what comes back is for a reader, not for a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

MOST_ATTRIBUTES = 200
MOST_CHANGES = 40  # attributes of one step
MOST_ITEMS = 12  # of a list that are looked at one by one
MOST_LENGTH = 64  # of a list or mapping that is spelled at all
MOST_TOLD = 2_000_000  # characters of values in one replay; behind that only states are told

_TEXTS = (str, bytes)
_HOLDERS = (list, tuple, dict, set, frozenset)
_PLAIN = (bool, int, float, type(None), *_TEXTS)


class StateWatch:
    """The attributes of a replay's parsers, and what became of them since somebody looked last.

    An adapter's replay has `watched()`, the objects to look at, and may have `table()`, which gives the transitions
    {(state, terminal): what has a `next_state`}, the terminals and the first state that the parser declares, and
    `moved()`, the transitions [state, terminal, state] that it made since it was asked last.
    """

    def __init__(self, spelled: Callable[[Any], str], fields_of: Callable[[Any], Mapping[str, Any]]) -> None:
        self._spelled = spelled
        self._fields_of = fields_of
        self._replay: Any = None
        self._objects: list[Any] = []
        self._before: dict[str, tuple[Any, str]] = {}
        self._begun: dict[str, str] = {}
        self._table: Any = None
        self._room = MOST_TOLD

    def begin(self, replay: Any) -> None:
        """Look at the parsers of this replay from now on."""
        self._replay = replay
        watched = replay.watched() if hasattr(replay, "watched") else []
        self._objects = list(watched)
        self._table = replay.table() if hasattr(replay, "table") else None
        self._before = {name: (value, self._spell(value)) for name, value in self._values()}
        self._begun = {name: shown for name, (_, shown) in self._before.items()}

    def told(self) -> dict[str, Any]:
        """What there was before the first step."""
        table = {} if self._table is None else {"table": _declared(*self._table)}
        return {"attributes": self._begun, **table}

    def step(self) -> dict[str, Any]:
        """What a step did: [name, before or None, after, what was added or None] of each attribute that changed."""
        changed = []
        for name, value in self._values():
            known = self._before.get(name)
            if known is not None and _same(known[0], value):
                continue
            shown = self._spell(value)
            self._before[name] = value, shown
            if known is None or known[1] != shown or isinstance(value, _TEXTS):
                before = None if known is None else known[1]
                changed.append([name, before, shown, None if known is None else self._grown(known[0], value)])
        kept = changed[:MOST_CHANGES] if self._room > 0 else []
        self._room -= sum(len(text or "") for one in kept for text in one)
        told: dict[str, Any] = {"changed": kept, "state": _standing(map(self._fields_of, self._objects))}
        moves = self._replay.moved() if hasattr(self._replay, "moved") else []
        return {**told, "moves": moves} if moves else told

    def _grown(self, before: Any, after: Any) -> str | None:
        texts = isinstance(before, str) and isinstance(after, str)
        return self._spelled(after[len(before) :]) if texts and before and after.startswith(before) else None

    def _values(self) -> list[tuple[str, Any]]:
        return list(_some(_attributes((type(one).__name__, self._fields_of(one)) for one in self._objects)))

    def _spell(self, value: Any) -> str:
        if isinstance(value, Enum):
            return value.name
        if isinstance(value, _HOLDERS) and len(value) > MOST_LENGTH:
            return "<" + type(value).__name__ + " of " + str(len(value)) + ">"
        return self._spelled(value)


def _same(before: Any, after: Any) -> bool:
    """Whether nothing changed, as far as that can be told without spelling: what can be changed in place is spelled."""
    return isinstance(after, _PLAIN) and type(before) is type(after) and bool(before == after)


def _some(values: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for _, found in zip(range(MOST_ATTRIBUTES), values):
        yield found


def _attributes(objects: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Any]]:
    for kind, fields in objects:
        for key, value in list(fields.items()):
            if key.endswith("_cache"):
                continue  # what is kept there is not where the parser stands
            name = kind + "." + key
            if isinstance(value, list) and 0 < len(value) <= MOST_ITEMS and not isinstance(value[0], int):
                for at, item in enumerate(list(value)):
                    if isinstance(item, (*_TEXTS, *_HOLDERS)):
                        yield name + "[" + str(at) + "]", item
            elif isinstance(value, (Enum, *_PLAIN, *_HOLDERS)):
                yield name, value


def _standing(objects: Iterable[Mapping[str, Any]]) -> str:
    """The state that a parser declares: a member of an enumeration in an attribute that is called a state."""
    found = (value.name for fields in objects for key, value in list(fields.items())
             if isinstance(value, Enum) and "state" in key.lower())  # fmt: skip
    return str(next(found, ""))


def _declared(transitions: Mapping[Any, Any], terminals: Mapping[str, Any], initial: Any) -> dict[str, Any]:
    texts = {name: text if isinstance(text, str) else next(iter(text), "") for name, text in terminals.items()}
    rows = [[state.name, terminal, found.next_state.name] for (state, terminal), found in transitions.items()]
    return {"initial": initial.name, "rows": rows, "terminals": texts}
