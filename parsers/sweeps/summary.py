"""What came of some outputs of a corpus: counts by signature, with a few examples. Summaries are added in any order.

Invariants: a summary grows with its signatures and parsers, never with outputs; `add` is commutative and associative,
so that no order of shards and no number of processes shows in a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Self

from parsers.sweeps.signature import Signature

EXAMPLES = 3
LARGEST_KEPT = 200_000  # characters of an output that is kept as the smallest of its signature


class Place(NamedTuple):
    """Where an output stands: the number of the file, of the shard, and of the row in that, from 0, 0 and 1."""

    file: int
    shard: int
    row: int


class Skip(Enum):
    """Why a row is no output."""

    NOT_JSON = "the line is no JSON"
    NOT_UTF8 = "the line is no UTF-8"
    NO_OUTPUT = "there is no output in it"
    PARSED = "only what a server's parser made of it was recorded"
    IDS = "only its token ids were recorded"
    NO_CASE = "no case can be made of it"
    REFUSED = "its parser or policy is not known, or cannot read it"
    TOO_LARGE = "it is larger than a sweep reads"
    DAMAGED = "the file cannot be read from here on"
    LOST = "no process survived it, or was done with it in time"


@dataclass(slots=True)
class Smallest:
    """The smallest output of a signature: its length, where it stands, and its case as decoded JSON; None where it is
    too large to keep."""

    length: int
    place: Place
    case: Mapping[str, Any] | None

    @property
    def rank(self) -> tuple[int, Place]:
        """The smaller comes first."""
        return self.length, self.place


@dataclass(slots=True)
class Tally:
    """How often a signature came, by parser, its first examples and its smallest output."""

    count: int = 0
    parsers: dict[str, int] = field(default_factory=dict)
    examples: list[Place] = field(default_factory=list)
    smallest: Smallest | None = None

    def note(self, parser: str, place: Place, smallest: Smallest) -> None:
        """Take one output in."""
        self.add(Tally(1, {parser: 1}, [place], smallest))

    def add(self, other: Tally) -> None:
        """Take in what another one has of the same signature."""
        self.count += other.count
        for parser, count in other.parsers.items():
            self.parsers[parser] = self.parsers.get(parser, 0) + count
        self.examples = sorted([*self.examples, *other.examples])[:EXAMPLES]
        both = [one for one in (self.smallest, other.smallest) if one is not None]
        self.smallest = min(both, key=lambda one: one.rank, default=None)


@dataclass(slots=True)
class Reading:
    """What one parser read: how many outputs, in how many of them something is wrong, and whose last call was cut."""

    outputs: int = 0
    wrong: int = 0
    cut: int = 0

    def add(self, other: Reading) -> None:
        """Take in what another one has of the same parser."""
        self.outputs, self.wrong, self.cut = (
            self.outputs + other.outputs,
            self.wrong + other.wrong,
            self.cut + other.cut,
        )


@dataclass(slots=True)
class Skipped:
    """Rows that are no output, for one reason: how many, and the first of them."""

    count: int = 0
    examples: list[Place] = field(default_factory=list)

    def add(self, other: Skipped) -> None:
        """Take in what another one has of the same reason."""
        self.count += other.count
        self.examples = sorted([*self.examples, *other.examples])[:EXAMPLES]


@dataclass(slots=True)
class Summary:
    """What came of some rows. `repeated` outputs were the same as one before in their shard, and were counted with it.

    `lines` says how many rows each shard has, by file and shard: that makes line numbers of places.
    """

    rows: int = 0
    outputs: int = 0
    repeated: int = 0
    characters: int = 0
    readings: dict[str, Reading] = field(default_factory=dict)
    tallies: dict[Signature, Tally] = field(default_factory=dict)
    skipped: dict[Skip, Skipped] = field(default_factory=dict)
    lines: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, other: Summary) -> Self:
        """Take in what came of other rows."""
        self.rows, self.outputs = self.rows + other.rows, self.outputs + other.outputs
        self.repeated, self.characters = self.repeated + other.repeated, self.characters + other.characters
        for name, reading in other.readings.items():
            self.readings.setdefault(name, Reading()).add(reading)
        for signature, tally in other.tallies.items():
            self.tallies.setdefault(signature, Tally()).add(tally)
        for why, skipped in other.skipped.items():
            self.skipped.setdefault(why, Skipped()).add(skipped)
        self.lines.update(other.lines)
        return self

    def skip(self, why: Skip, place: Place) -> None:
        """Note a row that is no output."""
        self.skipped.setdefault(why, Skipped()).add(Skipped(1, [place]))

    @property
    def wrong(self) -> int:
        """Return in how many outputs something is wrong."""
        return sum([one.wrong for one in self.readings.values()])

    def line(self, place: Place) -> int:
        """The number of a row in its file, from 1. The shards before it must be known."""
        return place.row + sum([self.lines[place.file, shard] for shard in range(place.shard)])

    def to_json(self) -> dict[str, Any]:
        """As a manifest holds it."""
        return {
            "rows": self.rows,
            "outputs": self.outputs,
            "repeated": self.repeated,
            "characters": self.characters,
            "readings": {name: asdict(one) for name, one in sorted(self.readings.items())},
            "tallies": [
                {"signature": asdict(one), **asdict(tally), "parsers": dict(sorted(tally.parsers.items()))}
                for one, tally in sorted(self.tallies.items(), key=_by_id)
            ],
            "skipped": {
                why.name: asdict(one) for why, one in sorted(self.skipped.items(), key=lambda one: one[0].name)
            },
            "lines": [[*key, count] for key, count in sorted(self.lines.items())],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What a manifest holds. Raises KeyError, TypeError or ValueError for what is none."""
        return cls(
            rows=data["rows"],
            outputs=data["outputs"],
            repeated=data["repeated"],
            characters=data["characters"],
            readings={name: Reading(**one) for name, one in data["readings"].items()},
            tallies={Signature(**one["signature"]): _tally(one) for one in data["tallies"]},
            skipped={
                Skip[name]: Skipped(one["count"], _places(one["examples"])) for name, one in data["skipped"].items()
            },
            lines={(file, shard): count for file, shard, count in data["lines"]},
        )


def merged(summaries: Iterable[Summary]) -> Summary:
    """All of them as one."""
    found = Summary()
    for one in summaries:
        found.add(one)
    return found


def _by_id(item: tuple[Signature, Tally]) -> str:
    return item[0].id


def _places(data: Iterable[Any]) -> list[Place]:
    return [Place(*one) for one in data]


def _tally(data: Mapping[str, Any]) -> Tally:
    small = data["smallest"]
    smallest = None if small is None else Smallest(small["length"], Place(*small["place"]), small["case"])
    return Tally(data["count"], dict(data["parsers"]), _places(data["examples"]), smallest)
