"""How an engine does, and what it made of the library last: known to the process that has the workers, while it runs.

Nothing is started to find out, and nothing is stored: whoever asks it again sees for himself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import TypeAdapter

HealthKind = Literal["answers", "hangs", "rests", "fails"]
MOST_PARSERS = 200  # of one engine, with what they made of the library
MOST_CELLS = 1_000  # cases of one of them
MOST_TOLD = 5  # of these parsers


@dataclass(slots=True, frozen=True)
class Health:
    """`answers`: it did when it was asked last, and what `words` say besides. `hangs`: some parser of it did not return
    the last time. `rests`: so often that it is not asked for a while. `fails`: it does not start. `words` say of which,
    why and until when."""

    kind: HealthKind
    words: str


@dataclass(slots=True)
class LibraryRun:
    """What a parser made of cases of the library: by the name of each a word and how bad it is; and when that was."""

    parser: str
    when: datetime
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def counted(self) -> list[tuple[str, str, int]]:
        """How many cases have each word, with how bad that is."""
        return [(*cell, many) for cell, many in Counter(self.cells.values()).most_common()]


@dataclass(slots=True, frozen=True)
class Known:
    """Both of an engine. `health` None: it was not asked since the server runs; `runs`: the latest first."""

    health: Health | None = None
    runs: tuple[LibraryRun, ...] = ()

    def told(self) -> Any:
        """The same for another process of ours."""
        return _KNOWN.dump_python(self, mode="json")


_KNOWN = TypeAdapter(Known)


def read_known(data: Any) -> Known:
    """What another process of ours made of it."""
    return _KNOWN.validate_python(data)


class LibraryRuns:
    """The last runs of one engine, by its parsers."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, LibraryRun] = OrderedDict()

    def note(self, parser: str, cells: Mapping[str, Sequence[str]]) -> None:
        """A parser made this of these cases now; of others it is as it was."""
        run = self._runs.pop(parser, None) or LibraryRun(parser, datetime.now(UTC))
        run.when = datetime.now(UTC)
        run.cells.update({case: (words, severity) for case, (words, severity) in cells.items()})
        for case in [*run.cells][:-MOST_CELLS]:
            del run.cells[case]
        self._runs[parser] = run
        while len(self._runs) > MOST_PARSERS:
            self._runs.popitem(last=False)

    def latest(self) -> tuple[LibraryRun, ...]:
        """Some of them, the latest first."""
        return tuple([*reversed(self._runs.values())][:MOST_TOLD])
