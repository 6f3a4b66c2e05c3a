"""Sample outputs of a format being edited: each replayed token by token and whole, beside another format.

A sample is an output, and what is expected of it if anything. The comparison is between messages: what a client
would have got from the format as typed, from the one beside it, and what the sample expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from parsers.cases import jsontext
from parsers.cases.engines import policy_of
from parsers.cases.expect import Difference, accept, arguments_text, differences
from parsers.cases.model import Case, Expect
from parsers.compare.divergence import ANY_ID, divergence, same_message, shared_prefix
from parsers.formats.lint_strings import closers_of
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED, WHOLE, Chunking, apply
from parsers.replays.replay import finish_reason, parse, replay
from parsers.selection.registry import build
from parsers.vocabulary.trace import Ownership, StreamParser, Trace
from parsers.vocabulary.types import Message, Piece
from webapp.page.glyphs import count, shorten, show_lines

SHOWN = 4_000  # characters of a cell
CALLS_SHOWN = 20
NOTES_SHOWN = 6
FARTHEST = 64  # white space between a closing tag and what is left over


@dataclass(slots=True)
class Cell:
    """A text and the part of it, [start, end), that is not the same beside it."""

    text: str
    start: int = 0
    end: int = 0

    @property
    def pieces(self) -> list[tuple[str, Markup]]:
        """(class, characters) in order; what differs has the class of a difference."""
        cut = ((0, self.start, "same"), (self.start, self.end, "differs"), (self.end, len(self.text), "same"))
        return [(kind, show_lines(self.text[low:high])) for low, high, kind in cut if low < high]


@dataclass(slots=True)
class Part:
    """One part of the message in every column. None: that message has no such part; `wanted` None: not checked."""

    name: str
    mine: Cell | None
    beside: Cell | None = None
    wanted: Cell | None = None
    same: bool = True
    met: bool | None = None


@dataclass(slots=True)
class Remark:
    """One thing to say of a sample: `severity` is pass, info, warning or error."""

    severity: str
    text: str


@dataclass(slots=True)
class Outcome:
    """What became of one sample. `problem`: it could not be replayed; `at`: in which field of the sample."""

    problem: str = ""
    at: str = ""
    parts: list[Part] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    trace: Trace | None = None
    accepted: str = ""

    @property
    def severity(self) -> str:
        """The worst there is to say."""
        if self.problem:
            return "error"
        order = ("error", "warning", "info", "pass")
        return min([remark.severity for remark in self.remarks], key=order.index, default="pass")


@dataclass(slots=True)
class Said:
    """What a client would have got: the message, and why it ended."""

    message: Message
    finish: str


class Replays:
    """Replays of one sample: only the one of the format as typed, token by token, is traced."""

    def __init__(self, case: Case, pieces: Sequence[Piece]) -> None:
        self._case, self._pieces, self._mode = case, pieces, case.mode()
        self._context, self._markers = case.to_context(), case.markers()

    def trace(self, fmt: Format, chunking: Chunking = TRACED) -> Trace:
        """A replay with every step."""
        deltas = apply(chunking, self._pieces, self._mode)
        return replay(self._parser(fmt), deltas, self._context, mode=self._mode, markers=self._markers)

    def said(self, fmt: Format, chunking: Chunking) -> Said:
        """Only the message."""
        deltas = apply(chunking, self._pieces, self._mode)
        message = parse(self._parser(fmt), deltas, self._context, mode=self._mode, markers=self._markers)
        return Said(message, finish_reason(message, self._context.finish_reason))

    def _parser(self, fmt: Format) -> StreamParser:
        known = set(fmt.policies)
        return build(fmt, {key: value for key, value in policy_of(self._case).items() if key in known})


def replayed(case: Case, pieces: Sequence[Piece], fmt: Format, beside: Format | None) -> Outcome:
    """Replay a sample with the format as typed and with the one beside it."""
    runs = Replays(case, pieces)
    trace = runs.trace(fmt)
    mine = Said(trace.message, trace.finish_reason)
    other = None if beside is None else runs.said(beside, TRACED)
    found = differences(case.expect, mine.message, mine.finish, case.compare) if case.expect else None
    outcome = Outcome(trace=trace, accepted=accepted_text(mine.message))
    outcome.parts = list(_parts(mine, other, case.expect, found))
    outcome.remarks = [_expectation(found), _chunking(runs, fmt, trace)]
    if other is not None and beside is not None:
        whole = runs.said(beside, WHOLE)
        outcome.remarks.append(_beside(mine, other, whole, beside, outcome.parts))
    outcome.remarks += [*_round_trip(case, fmt, trace), *_notes(trace)]
    return outcome


def accepted_text(message: Message) -> str:
    """The expectation that today's message meets, as JSON: every part is pinned, so a text that is none is null."""
    data = accept(message).model_dump(mode="json", exclude_none=True)
    full = {"reasoning": None, "content": None, **data}
    return jsontext.pretty(full, lambda path: len(path) > 1)


def _parts(mine: Said, other: Said | None, expect: Expect | None, found: list[Difference] | None) -> list[Part]:
    own, beside = _texts(mine), _texts(other) if other else {}
    wanted = _wanted(expect) if expect else {}
    failed = {difference.field for difference in found or ()}
    parts = []
    for name in dict.fromkeys([*own, *wanted, *beside]):
        left, right = own.get(name), beside.get(name)
        part = Part(name, *_cells(left, right))
        part.same = other is None or left == right
        if name in wanted:
            part.wanted = Cell(wanted[name][:SHOWN])
            part.met = name not in failed and name in own
        parts.append(part)
    return parts


def _texts(said: Said) -> dict[str, str]:
    """Every part of a message by name, in reading order."""
    message = said.message
    texts = {"reasoning": message.reasoning or "", "content": message.content or ""}
    for index, call in enumerate(message.tool_calls[:CALLS_SHOWN]):
        texts[f"tool_calls[{index}].name"] = call.name
        texts[f"tool_calls[{index}].arguments"] = call.arguments + ("" if call.complete else " (cut off)")
    return {**texts, "finish_reason": said.finish}


def _wanted(expect: Expect) -> dict[str, str]:
    texts = {"reasoning": expect.reasoning, "content": expect.content, "finish_reason": expect.finish_reason}
    for index, call in enumerate((expect.tool_calls or ())[:CALLS_SHOWN]):
        texts[f"tool_calls[{index}].name"] = call.name
        texts[f"tool_calls[{index}].arguments"] = arguments_text(call)
    return {name: text for name, text in texts.items() if text is not None}


def _cells(left: str | None, right: str | None) -> tuple[Cell | None, Cell | None]:
    """Both texts, with the stretch between what they begin with and what they end with marked."""
    if left is None or right is None or left == right:
        return _cell(left), _cell(right)
    head = shared_prefix(left, right)
    tail = shared_prefix(left[head:][::-1], right[head:][::-1])
    return Cell(_cut(left), head, len(left) - tail), Cell(_cut(right), head, len(right) - tail)


def _cell(text: str | None) -> Cell | None:
    return None if text is None else Cell(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _expectation(found: list[Difference] | None) -> Remark:
    if found is None:
        return Remark("info", "Nothing is expected of this sample, so only the chunkings are compared.")
    if not found:
        return Remark("pass", "As expected.")
    fields = ", ".join([difference.field for difference in found[:4]])
    return Remark("error", f"Not as expected: {fields}.")


def _chunking(runs: Replays, fmt: Format, trace: Trace) -> Remark:
    if same_message(trace.message, runs.said(fmt, WHOLE).message):
        return Remark("pass", "The same message token by token and whole.")
    parting = divergence(trace, runs.trace(fmt, WHOLE))
    where = f" in {parting.channel}" if parting else ""
    return Remark("error", f"Token by token and whole give different messages{where}.")


def _beside(mine: Said, other: Said, whole: Said, fmt: Format, parts: list[Part]) -> Remark:
    if not same_message(other.message, whole.message):
        return Remark("warning", f"{fmt.name} itself gives different messages token by token and whole.")
    if same_message(mine.message, other.message, ANY_ID):
        return Remark("pass", f"The same message as {fmt.name}.")
    number = sum(not part.same for part in parts)
    return Remark("info", f"Not the message of {fmt.name}: {count(number, 'part')} differ{'s' * (number == 1)}.")


def _round_trip(case: Case, fmt: Format, trace: Trace) -> list[Remark]:
    """Strings of this sample that the format cannot spell: expected ones, and values that were cut at their closer."""
    closers = sorted({text for _, text in closers_of(fmt)})
    remarks = []
    for path, text in _strings(case.expect):
        hit = next((closer for closer in closers if closer in text), None)
        if hit is not None:
            what = f"The expected string at {path} holds `{hit}`, which ends a value"
            remarks.append(Remark("warning", f"{what}: no output can spell it in this format."))
    left = next((run for run in trace.partition if _is_left_over(trace, run, closers)), None)
    if left is not None:
        over = shorten(trace.text[left.start : left.end], 30)
        what = f"After a value ended at character {left.start:,}, `{over}` is left over"
        remarks.append(Remark("warning", f"{what}: the value may have held its own closing tag."))
    return remarks[:NOTES_SHOWN]


def _is_left_over(trace: Trace, run: Ownership, closers: Sequence[str]) -> bool:
    """Whether this is dropped text that directly follows what ends a value."""
    at = run.start
    if run.owner != "dropped" or not trace.text[at : run.end].strip():
        return False
    while at > max(0, run.start - FARTHEST) and trace.text[at - 1].isspace():
        at -= 1
    return any(trace.text.endswith(closer, 0, at) for closer in closers)


def _strings(expect: Expect | None) -> list[tuple[str, str]]:
    """Every string inside the expected arguments, with its place."""
    found = []
    for index, call in enumerate((expect.tool_calls if expect else None) or ()):
        for path, value in jsontext.walk(call.arguments):
            if isinstance(value, str):
                found.append((f"tool_calls[{index}].arguments{jsontext.pointer(path)}", value))
    return found


def _notes(trace: Trace) -> list[Remark]:
    """What the parser gave up on the way: rejected calls and dropped text that is not white space."""
    notes = [Remark("info", f"Not kept as a call: {call.reason}.") for call in trace.rejected_calls]
    for run in trace.partition:
        text = trace.text[run.start : run.end]
        if run.owner == "dropped" and text.strip():
            notes.append(Remark("info", f"Dropped `{shorten(text, 40)}`: {run.reason}."))
    more = len(notes) - NOTES_SHOWN
    return notes[:NOTES_SHOWN] + ([Remark("info", f"And {more:,} more.")] if more > 0 else [])
