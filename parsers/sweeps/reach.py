"""What of their parsers the outputs of a corpus reach, and with that what real traffic never tried.

Of our parsers these are rows of their formats. A row is in force where the policies and the request of an output let it
be; rows that no request of the corpus had are not counted as missed. Every chunking of an output fires the same rows,
so that each is read in one piece.

Of parsers of engines they are lines of the files that their classes stand in, where the engine tells of them. Which run
may depend on how an output is cut, so that each is cut as a sweep does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from parsers.cases.engines import Choice
from parsers.formats.layers import layered
from parsers.formats.model import Format, guard_holds, row_ids
from parsers.machine.machine import Machine
from parsers.replays.covered import CoveredFunction
from parsers.replays.replayer import Replayer
from parsers.sweeps.first_stage import Means, read_whole
from parsers.sweeps.shard import BLANK, Plan, Requests, SkippedError
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import FormatError, UsageError

_KEPT = 512  # formats with the layers of a request of which the rows are known


class ReachedRow(NamedTuple):
    """A row of a format: its id, where it stands, what it waits for, which may be a text, where it leads, and why."""

    id: str
    state: str
    on: str
    to: str
    note: str


@dataclass(slots=True)
class Reach:
    """What the outputs of one parser reached: how many there were, and in how many of them each row fired."""

    outputs: int = 0
    rows: Counter[ReachedRow] = field(default_factory=Counter)

    @property
    def never(self) -> list[ReachedRow]:
        """The rows that never fired, in the order of the format."""
        return [row for row in self.ordered() if not self.rows[row]]

    def ordered(self) -> list[ReachedRow]:
        """All rows in the order of the format, those of layers last."""
        return sorted(self.rows, key=lambda row: (int(row.id[1:]), row))


@dataclass(slots=True)
class LineReach:
    """What the outputs of an engine's parser reached: how many there were, and the functions with the lines that ran in
    any of them."""

    outputs: int = 0
    functions: dict[tuple[str, int, str], CoveredFunction] = field(default_factory=dict)

    def add(self, functions: Iterable[CoveredFunction]) -> None:
        """Take in what ran in a replay."""
        for one in functions:
            key = one.module, one.first, one.name
            known = self.functions.get(key)
            ran = one.ran if known is None else tuple(sorted({*known.ran, *one.ran}))
            self.functions[key] = replace(one, ran=ran)

    def ordered(self) -> list[CoveredFunction]:
        """The functions in the order of their files."""
        return [one for _, one in sorted(self.functions.items())]


@dataclass(slots=True)
class Reached:
    """What a corpus reached, by parser, of ours and of engines, and how many of its rows are no output, and why."""

    parsers: dict[str, Reach] = field(default_factory=dict)
    engines: dict[str, LineReach] = field(default_factory=dict)
    skipped: Counter[Skip] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {
            "schema": 1,
            "parsers": [_told(name, one) for name, one in sorted(self.parsers.items())],
            "engines": [
                {"name": name, "outputs": one.outputs, "functions": [asdict(each) for each in one.ordered()]}
                for name, one in sorted(self.engines.items())
            ],
            "skipped": {why.name.lower(): count for why, count in sorted(self.skipped.items(), key=_by_name)},
        }


def _told(name: str, reach: Reach) -> dict[str, Any]:
    rows = [{**row._asdict(), "outputs": reach.rows[row]} for row in reach.ordered()]
    return {"name": name, "outputs": reach.outputs, "never": len(reach.never), "rows": rows}


def _by_name(item: tuple[Skip, int]) -> str:
    return item[0].name


class Reaching:
    """Takes the rows of a corpus in, however many shards they come from."""

    def __init__(self, plan: Plan, means: Means | None = None) -> None:
        self.found = Reached()
        self._chunkings = plan.chunkings
        self._requests = Requests(plan, means)
        self._rows: dict[tuple[Any, ...], dict[str, ReachedRow]] = {}

    def take(self, rows: Iterable[tuple[int, Any]]) -> int:
        """Take in some rows; says how many there were."""
        count = 0
        for _, row in rows:
            if row is not BLANK:
                count += 1
                self._take(row)
        return count

    def _take(self, row: Any) -> None:
        try:
            text, _, request = self._requests.of(row)
            choice, replayer = request.replayer(text)
            if choice.replays is not None:
                self._take_lines(choice, replayer)
            else:
                self._take_rows(text, choice, replayer)
        except SkippedError as error:
            self.found.skipped[error.why] += 1
        except (UsageError, FormatError):
            self.found.skipped[Skip.REFUSED] += 1

    def _take_lines(self, choice: Choice, replayer: Replayer) -> None:
        tapes = replayer.covered(self._chunkings)
        reach = self.found.engines.setdefault(choice.make().name, LineReach())
        reach.outputs += 1
        for tape in tapes:
            reach.add(tape.covered or ())

    def _take_rows(self, text: str, choice: Choice, replayer: Replayer) -> None:
        rows = self._rows_of(choice, replayer)
        reach = self.found.parsers.setdefault(choice.selection.name, Reach())
        reach.outputs += 1
        reach.rows.update(dict.fromkeys(rows.values(), 0))
        fired = {move.row for move in read_whole(text, replayer, traced=True)[1]}
        reach.rows.update([rows[one] for one in fired if one in rows])

    def _rows_of(self, choice: Choice, replayer: Replayer) -> dict[str, ReachedRow]:
        """The rows that are in force for an output, by id. Raises UsageError for a parser that has none."""
        machine, context = choice.make(), replayer.context
        if not isinstance(machine, Machine):
            raise UsageError("it has no rows")
        key = choice.selection.name, context.tool_choice, context.named_tool is None, *machine.policy.items()
        if key not in self._rows:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            self._rows[key] = _in_force(layered(machine.format, context), machine.policy)
        return self._rows[key]


def _in_force(fmt: Format, policy: dict[str, str]) -> dict[str, ReachedRow]:
    ids = row_ids(fmt)
    return {
        ids[name, index]: ReachedRow(ids[name, index], name, fmt.terminals.get(row.on, row.on), row.to, row.note)
        for name, state in fmt.states.items()
        for index, row in enumerate(state.rows)
        if guard_holds(row, policy)
    }
