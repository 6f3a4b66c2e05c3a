"""What somebody else's parser showed of itself while it was replayed: its attributes, its states, its transitions.

Where it declares no state, one is derived: the names of its attributes that are true, of those that change on the way;
where none of these is true or false, the names of the attributes that the last step changed which changed any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

UNKNOWN_STATE = "UNKNOWN"
_FLAGS = ("True", "False")
_AND = "+"  # between the names of a derived state
NO_FLAG = "no_flag"  # the derived state of a parser none of whose attributes is true


@dataclass(slots=True, frozen=True)
class Attribute:
    """An attribute that a step changed, Class.name, with its values as they are shown. `before` None: it was not
    there. `grown`: what was added at the end of a text."""

    name: str
    before: str | None
    after: str
    grown: str | None = None

    @property
    def short(self) -> str:
        """The name without its class."""
        return self.name.partition(".")[2] or self.name


@dataclass(slots=True, frozen=True)
class Move:
    """A transition as a parser declares or makes it."""

    state: str
    on: str
    to: str


@dataclass(slots=True, frozen=True)
class Table:
    """The transitions that a parser declares, where it begins, and the texts of its terminals. Rows of one state stand
    together."""

    initial: str
    rows: tuple[Move, ...]
    terminals: Mapping[str, str] = field(default_factory=dict)

    @property
    def states(self) -> list[str]:
        """All states, the first one first."""
        named = [self.initial, *[row.state for row in self.rows], *[row.to for row in self.rows]]
        return list(dict.fromkeys(named))


@dataclass(slots=True, frozen=True)
class ObservedStep:
    """What one step changed, the state that it left the parser in, "" where that is not declared, and the transitions
    that it made."""

    changed: tuple[Attribute, ...] = ()
    state: str = ""
    moves: tuple[Move, ...] = ()


@dataclass(slots=True, frozen=True)
class Observed:
    """A replay, step by step. `begun` are the attributes before the first; `micros` how long each step took."""

    begun: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[ObservedStep] = ()
    table: Table | None = None
    micros: Sequence[int] = ()

    @property
    def declared(self) -> bool:
        """Return whether the parser says which state it is in."""
        return any(step.state for step in self.steps)

    def states(self) -> list[str]:
        """The state after each step: as declared, else derived, else unknown."""
        return [step.state or UNKNOWN_STATE for step in self.steps] if self.declared else list(self._derived())

    def values(self, number: int) -> dict[str, tuple[str, int]]:
        """Every attribute after a step, with the step that changed it last; 0: none did. A list whose items stand by
        themselves is left out."""
        found = {name: (value, 0) for name, value in self.begun.items()}
        for at, step in enumerate(self.steps[:number], start=1):
            found.update({one.name: (one.after, at) for one in step.changed})
        lists = {name.partition("[")[0] for name in found if "[" in name}
        return {name: value for name, value in found.items() if name not in lists}

    def _derived(self) -> Iterator[str]:
        flags = {name: value for name, value in self.begun.items() if value in _FLAGS}
        later = [one for step in self.steps[1:] for one in step.changed]
        moving = {one.name for one in later if one.after in _FLAGS}
        often = Counter([one.name for one in later])
        busy = {name for name, times in often.items() if 2 * times > len(self.steps)}
        last = UNKNOWN_STATE
        for step in self.steps:
            flags.update({one.name: one.after for one in step.changed if one.after in _FLAGS})
            true = [name for name, value in flags.items() if value == "True" and name in moving]
            last = _joined([one.name for one in step.changed if one.name not in busy]) or last
            yield (_joined(true) or NO_FLAG) if moving else last


def brief(state: str) -> str:
    """A state for narrow places: of one that is made of the names of attributes the first, and how many more."""
    first, *more = state.split(_AND)
    return f"{first} {_AND}{len(more)}" if more and all([first, *more]) else state


def _joined(names: Iterable[str]) -> str:
    """Names of attributes as one word, without their classes and places."""
    return _AND.join(dict.fromkeys(name.partition(".")[2].partition("[")[0].strip("_") for name in names))
