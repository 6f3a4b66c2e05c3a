"""The truncation scrubber: what would have come out had the output been cut here, and what would have been lost.

The strip over all cuts comes from records that are made once per run, on the first look at the pane. The result at a
cut is a replay of its own, as exact as any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from parsers.replays.replay import finish_reason
from parsers.search.truncation import BUDGET, CutRecord, CutRecords, Cutter, cut_records
from parsers.search.variants.ground import Ground
from parsers.vocabulary.types import Message, ToolCall
from webapp.glyphs import count, shorten
from webapp.page.inspect.index import index_of, neighbours
from webapp.runs.prepare import error_place
from webapp.runs.runner import Run, collector_paused

TEXT_SHOWN = 2_000
CALLS_SHOWN = 20
CHANGES_SHOWN = 40
CHANGES_SENT = 2_000
AROUND = 40
HEIGHT = 36  # of the strip's row
_RECORDS = "cut records"  # the name under which a run keeps them
BLACK_BOX_SHARE = 4  # engines that are only watched are slower


@dataclass(slots=True)
class _CutPart:
    """One text of the message at the cut. `against` says how it stands to the whole one's; `same` that it is that."""

    name: str
    role: str
    text: str
    folded: int
    against: str
    same: bool


@dataclass(slots=True)
class _CutResult:
    """The message at one cut, beside the message of the whole output. `calls` are numbered, each with its arguments."""

    offset: int
    before: str
    after: str
    step: int
    parts: list[_CutPart]
    calls_before: int
    calls: list[tuple[int, ToolCall, _CutPart]]
    missing: list[str]
    finish: str
    problem: str
    words: str


@dataclass(slots=True)
class _CutStrip:
    """All cuts at a glance: how many calls have begun, how many are complete, and where something is wrong.

    `changes` are the cuts at which another result begins: where, the result in words, and what is wrong with it."""

    most: int
    begun: str
    complete: str
    problems: list[tuple[float, float]]
    changes: list[tuple[int, str, str]]
    more: int
    note: str
    words: str
    jumps: str


@dataclass(frozen=True)
class Truncation:
    """Holds what the pane can be asked for about one cut: where the output can be cut nearest to `asked`. Nothing is
    replayed before it is asked."""

    run: Run
    asked: int

    @cached_property
    def offset(self) -> int:
        """How many characters are left."""
        return Cutter(self.run.replayer).settled(self.asked)

    @property
    def neighbours(self) -> tuple[int | None, int | None]:
        """The nearest cuts before and after this one with another result."""
        return neighbours([change.offset for change in records_of(self.run).changes], self.offset)

    def results(self, *, looked: bool) -> int | None:
        """How many results there are over all cuts, if somebody has looked at them."""
        found = records_of(self.run) if looked and self.run.trace.text else self.run.beside.known(_RECORDS)
        return None if found is None else len(found.changes)

    def result(self) -> _CutResult:
        """The message at the cut."""
        return cut_result(self.run, self.offset)

    def strip(self) -> _CutStrip:
        """The strip over all cuts."""
        return cut_strip(records_of(self.run), len(self.run.trace.text))


def _cutter_of(run: Run) -> Cutter:
    """Return what cuts a run's output, and knows whether cut calls may be judged."""
    replayer = run.replayer
    return Cutter(replayer, contract=Ground(replayer, run.trace).contract("truncated"))


def records_of(run: Run) -> CutRecords:
    """The records of a run's cuts, made once."""

    def made() -> CutRecords:
        with error_place("/replay"), collector_paused():
            return cut_records(_cutter_of(run), run.trace.message, budget)

    budget = BUDGET // BLACK_BOX_SHARE if run.choice.black_box else BUDGET
    return run.beside.get(_RECORDS, made, size=lambda found: 150 * len(found.records) + 5_000)


def cut_result(run: Run, offset: int) -> _CutResult:
    """A replay of the output up to `offset`."""
    with error_place("/replay"), collector_paused():
        outcome, problem = _cutter_of(run).result(offset, run.trace.message)
    at, whole, text = outcome.message, run.trace.message, run.trace.text
    first, complete = max(0, len(at.tool_calls) - CALLS_SHOWN), sum(call.complete for call in at.tool_calls)
    parts = [
        _part("reasoning", "reasoning", at.reasoning, whole.reasoning),
        _part("content", "content", at.content, whole.content),
    ]
    calls = [_call(number, call, whole) for number, call in enumerate(at.tool_calls)][first:]
    return _CutResult(
        offset=offset,
        before=text[max(0, offset - AROUND) : offset],
        after=text[offset : offset + AROUND],
        step=index_of(run).step_at(max(0, offset - 1)),
        parts=parts,
        calls_before=first,
        calls=calls,
        missing=_missing(at, whole),
        finish=finish_reason(at, "length"),
        problem=problem or "",
        words=shape_words(CutRecord(0, len(at.reasoning or ""), len(at.content or ""), len(at.tool_calls), complete)),
    )


def _part(name: str, role: str, at: str | None, whole: str | None) -> _CutPart:
    text, against = at or "", _against(at or "", whole or "")
    folded = max(0, len(text) - TEXT_SHOWN)
    return _CutPart(name, role, text[folded:], folded, against, (at or "") == (whole or ""))


def _against(at: str, whole: str) -> str:
    if at == whole:
        return "as in the whole output" if at else ""
    if whole.startswith(at):
        return f"{len(at):,} of {count(len(whole), 'character')}"
    if at.startswith(whole):
        return f"{count(len(at) - len(whole), 'character')} more than in the whole output"
    parting = next(place for place, (one, other) in enumerate(zip(at, whole, strict=False)) if one != other)
    return f"differs from character {parting:,} on; the whole output has `{shorten(whole[parting:], 40)}`"


def _call(number: int, call: ToolCall, whole: Message) -> tuple[int, ToolCall, _CutPart]:
    later = whole.tool_calls[number] if number < len(whole.tool_calls) else None
    part = _part("raw", "arguments", call.arguments, later.arguments if later else "")
    if later is None or later.name != call.name:
        part.against = f"the whole output has {f'`{later.name}` here' if later else 'no such call'}"
        part.same = False
    return number, call, part


def _missing(at: Message, whole: Message) -> list[str]:
    later = [f"call {number} (`{call.name}`)" for number, call in enumerate(whole.tool_calls)][len(at.tool_calls) :]
    more = [f"{count(len(later) - 3, 'more call')}"] if len(later) > 3 else []
    return [*later[:3], *more]


def shape_words(record: CutRecord) -> str:
    """A record's shape in words: 'content, 2 calls, 1 of them complete'."""
    words = [name for name, size in (("reasoning", record.reasoning), ("content", record.content)) if size]
    if record.calls:
        whole = record.complete == record.calls
        ready = "complete" if whole else "cut off" if record.calls == 1 else f"{record.complete} of them complete"
        words += [count(record.calls, "call"), ready]
    return ", ".join(words) or "nothing"


def cut_strip(found: CutRecords, length: int) -> _CutStrip:
    """The strip of some records; between two of them the earlier one's result is drawn."""
    records, changes = found.records, found.changes
    most = max((record.calls for record in records), default=0)
    wrong = [(first, last) for first, last, bad in _stretches(records, length, lambda item: item.problem) if bad]
    known = [(item.offset, shape_words(item), item.problem or "") for item in changes]
    note = f"{count(len(records), 'cut')}" + ("" if found.every else f" of {length:,} tried")
    return _CutStrip(
        most=most,
        begun=_steps(records, length, most, lambda item: item.calls),
        complete=_steps(records, length, most, lambda item: item.complete),
        problems=[
            (round((first - 1) * 100 / length, 3), round(max(0.1, (last - first) * 100 / length), 3))
            for first, last in wrong[:CHANGES_SENT]
        ],
        changes=known[:CHANGES_SHOWN],
        more=max(0, len(known) - CHANGES_SHOWN),
        note=f"{note}, {count(len(known), 'result')}" + (f", {count(len(wrong), 'problem')}" if wrong else ""),
        words=_strip_words(known, length),
        jumps=json.dumps([item.offset for item in changes[:CHANGES_SENT]]),
    )


def _stretches(
    records: Sequence[CutRecord], length: int, value: Callable[[CutRecord], object]
) -> list[tuple[int, int, object]]:
    """Runs of cuts [first, last) with one value."""
    firsts = [(next(group).offset, found) for found, group in groupby(records, key=value)]
    ends = [*[first for first, _ in firsts[1:]], length + 1]
    return [(first, end, found) for (first, found), end in zip(firsts, ends, strict=True)]


def _steps(records: Sequence[CutRecord], length: int, most: int, value: Callable[[CutRecord], int]) -> str:
    """A number over all cuts as the `d` of a path in a box of 1000 by `HEIGHT`; at most a thousand columns."""
    runs = {int((first - 1) * 1000 / length): many for first, _, many in _stretches(records, length, value)}
    path = "".join([f"H{x}V{HEIGHT - HEIGHT * int(str(many)) / most:g}" for x, many in runs.items()]) if most else ""
    return f"M0 {HEIGHT:g}{path}H1000V{HEIGHT:g}z" if path else ""


def _strip_words(changes: Sequence[tuple[int, str, str]], length: int) -> str:
    told = "; ".join([f"from {offset:,} on {words}" for offset, words, _ in changes[:12]])
    more = f"; and {count(len(changes) - 12, 'more change')}" if len(changes) > 12 else ""
    return f"What comes out when the output is cut after one of its {length:,} characters: {told}{more}."
