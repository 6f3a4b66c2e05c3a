"""A part of a corpus, run: rows in, a summary out. Nothing here knows files or processes.

The same rows under the same plan give the same summary. Equal outputs of equal requests within a shard are replayed
once and counted as often as they came. What cannot be read is counted with its reason; no row ends a shard.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from parsers.cases.case import CaseError
from parsers.cases.io import load_case, to_data
from parsers.intake.column_rows import RowError, case_of_row
from parsers.replays.chunking import Chunking
from parsers.sweeps.first_stage import CHUNKINGS, Bases, Looked, Means, Request
from parsers.sweeps.signature import Signature
from parsers.sweeps.summary import LARGEST_KEPT, Place, Reading, Skip, Smallest, Summary, Tally
from parsers.vocabulary.types import FormatError, UsageError

MOST_REQUESTS = 512  # of which what their parsers are made of is kept
MOST_CHARACTERS = 1_000_000  # of an output that is read
TOKEN = 4  # characters, about
_NOT_READ = ("expect",)  # of a row: what should come of it is for `check`

Clock = Callable[[], float]
Row = tuple[int, Any]  # the number of a row in its shard, and what it holds: decoded JSON, or why that is none
BLANK = object()  # what a line holds that is no row, but is counted as a line
Data = dict[str, Any]


@dataclass(slots=True, frozen=True)
class Plan:
    """How a corpus is read: its columns, by what they are; the parser of all outputs as a case has it, where not each
    row names its own, their policies and contract; and the chunkings besides the whole output."""

    columns: Mapping[str, str]
    parser: Mapping[str, Any] | None = None
    policy: Mapping[str, str] = field(default_factory=dict)
    contract: str | None = None
    chunkings: tuple[Chunking, ...] = CHUNKINGS


@dataclass(slots=True)
class Cost:
    """What outputs of about one length took: how many there were, their characters, and seconds."""

    outputs: int = 0
    characters: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Outcome:
    """What came of a shard. `found` has the row and the signatures of every output with something wrong; `costs` are by
    the power of two that the tokens of an output come nearest to from below, where there is a clock."""

    summary: Summary
    found: list[tuple[Place, tuple[str, ...]]]
    costs: dict[int, Cost] = field(default_factory=dict)


def run_shard(
    plan: Plan,
    rows: Iterable[Row],
    at: tuple[int, int],
    means: Means | None = None,
    clock: Clock | None = None,
    lost: Collection[int] = (),
    say: Callable[[int], object] = lambda row: None,
) -> Outcome:
    """Run the rows of a shard, `at` so many files and shards of that file. `say` is called with the number of each row
    before it is read; those that are `lost` are not read."""
    run, lines = _Run(plan, at, means, clock), 0
    for lines, row in rows:
        if row is not BLANK:
            say(lines)
            run.take(Place(*at, lines), Skip.LOST if lines in lost else row)
    run.outcome.summary.lines[at] = lines
    return run.outcome


class Requests:
    """The requests of rows: what their parsers are made of is made once, for as many of them as are kept."""

    def __init__(self, plan: Plan, means: Means | None = None) -> None:
        self._plan = plan
        self._bases = Bases(plan.chunkings, means)
        self._kept: OrderedDict[str, Request] = OrderedDict()

    def of(self, row: Any) -> tuple[str, str, Request]:
        """The output of a row, and its request with what names that. Raises SkippedError."""
        if isinstance(row, Skip):
            raise SkippedError(row)
        data = output_of(row, self._plan)
        text: str = data["input"].pop("text")
        if len(text) > MOST_CHARACTERS:
            raise SkippedError(Skip.TOO_LARGE)
        key = json.dumps([data["parser"], data.get("tools"), data.get("context"), data.get("contract")])
        return text, key, self._request(key, data)

    def _request(self, key: str, data: Data) -> Request:
        found = self._kept.get(key)
        if found is None:
            try:
                case = load_case({**data, "input": {"text": "."}})
            except (CaseError, FormatError) as error:
                raise SkippedError(Skip.NO_CASE) from error
            found = Request(case, self._bases)
            self._kept[key] = found
            if len(self._kept) > MOST_REQUESTS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return found


class _Run:
    def __init__(self, plan: Plan, at: tuple[int, int], means: Means | None, clock: Clock | None) -> None:
        self.outcome = Outcome(Summary(), [])
        self._requests = Requests(plan, means)
        self._clock = clock
        self._known: dict[bytes, Looked] = {}

    def take(self, place: Place, row: Any) -> None:
        """Take one row in."""
        summary = self.outcome.summary
        summary.rows += 1
        try:
            text, key, request = self._requests.of(row)
            looked, again = self._looked(key, request, text)
        except SkippedError as error:
            summary.skip(error.why, place)
            return
        self._count(place, text, looked, request)
        summary.repeated += again

    def _looked(self, key: str, request: Request, text: str) -> tuple[Looked, bool]:
        digest = blake2b(f"{len(key)} {key}{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(digest)
        if known is not None:
            return known, True
        start = self._clock() if self._clock is not None else 0.0
        try:
            found = request.looked(text)
        except (UsageError, FormatError) as error:
            raise SkippedError(Skip.REFUSED) from error
        if self._clock is not None:
            self._note_cost(text, self._clock() - start)
        self._known[digest] = found
        return found, False

    def _note_cost(self, text: str, seconds: float) -> None:
        cost = self.outcome.costs.setdefault((len(text) // TOKEN).bit_length(), Cost())
        cost.outputs, cost.characters, cost.seconds = (
            cost.outputs + 1, cost.characters + len(text), cost.seconds + seconds
        )  # fmt: skip

    def _count(self, place: Place, text: str, looked: Looked, request: Request) -> None:
        summary = self.outcome.summary
        summary.outputs += 1
        summary.characters += len(text)
        reading = summary.readings.setdefault(looked.parser, Reading())
        reading.add(Reading(1, int(bool(looked.signatures)), int(looked.cut)))
        if looked.signatures:
            self.outcome.found.append((place, tuple([one.id for one in looked.signatures])))
        for signature in looked.signatures:
            self._tally(signature, place, text, looked, request)

    def _tally(self, signature: Signature, place: Place, text: str, looked: Looked, request: Request) -> None:
        tally = self.outcome.summary.tallies.setdefault(signature, Tally())
        small = Smallest(len(text), place, None)
        if len(text) <= LARGEST_KEPT and (tally.smallest is None or small.rank < tally.smallest.rank):
            with suppress(CaseError):  # half a character, which no case can hold
                small.case = to_data(load_case({**to_data(request.case_of(".")), "input": {"text": text}}))
        tally.note(looked.parser, place, small)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """What came of a shard, as it is kept and as it travels."""
    return {
        "summary": outcome.summary.to_json(),
        "found": [[*place, list(ids)] for place, ids in outcome.found],
        "costs": {str(size): asdict(cost) for size, cost in sorted(outcome.costs.items())},
    }


def outcome_of(data: Mapping[str, Any]) -> Outcome:
    """What `outcome_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    found = [(Place(file, shard, row), tuple(ids)) for file, shard, row, ids in data["found"]]
    costs = {int(size): Cost(**cost) for size, cost in data["costs"].items()}
    return Outcome(Summary.from_json(data["summary"]), found, costs)


class SkippedError(Exception):
    """A row is no output."""

    def __init__(self, why: Skip) -> None:
        super().__init__(why.value)
        self.why = why


def output_of(row: Any, plan: Plan) -> Data:
    """The case of a row as decoded JSON, with a text. Raises SkippedError.

    A row that is a case itself is taken as one.
    """
    if isinstance(row, dict) and "input" in row and row.get("schema") == 1:
        data: Data = {key: value for key, value in row.items() if key in _OF_CASE}
        given = data.get("input")
        if not isinstance(given, dict) or not isinstance(given.get("text"), str | list):
            raise SkippedError(Skip.NO_OUTPUT)
        text = given["text"]
        data["input"] = {"text": text if isinstance(text, str) else "".join(map(str, text))}
        data.setdefault("parser", {"name": "auto"})
    else:
        data = _of_columns(row, plan)
    if plan.parser is not None:
        data["parser"] = dict(plan.parser)
    if plan.contract is not None:
        data["contract"] = plan.contract
    if plan.policy:
        data["parser"] = {**data["parser"], "policy": dict(plan.policy)}
    return data


_OF_CASE = ("schema", "parser", "input", "tools", "context", "contract")


def _of_columns(row: Any, plan: Plan) -> Data:
    if "text" not in plan.columns:  # all others are cases
        raise SkippedError(Skip.NO_OUTPUT)
    try:
        data = case_of_row(row, plan.columns)
    except RowError as error:
        raise SkippedError(Skip.NO_OUTPUT) from error
    given = data["input"]
    if "text" not in given:
        data["input"] = {"text": "".join([one["text"] for one in given.get("deltas", ())])}
    return {key: value for key, value in data.items() if key in _OF_CASE}


def decoded(line: bytes) -> Any:
    """What a line of JSON holds, or why it holds none."""
    if not line.strip():
        return BLANK
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return Skip.NOT_UTF8
    except (ValueError, RecursionError):
        return Skip.NOT_JSON
