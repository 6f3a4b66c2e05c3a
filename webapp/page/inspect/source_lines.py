"""The source pane of an engine's parser: which of its lines ran at the step under the cursor, and which of them sent.

A character of the message may be asked about; else it is the longest text of the step. A line stands with what it did
when it ran last. Lines that did not run are shown as well, but for long stretches of
them. Asking for one line says which other steps ran it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import attrgetter

from parsers.replays.ran_lines import CHANNELS, Changed, Channel, RanFunction, RanLine, RanLines, Sought
from parsers.vocabulary.types import UsageError
from webapp.page.inspect.index import Channel as Text
from webapp.page.inspect.index import TraceIndex, index_of
from webapp.runs.runner import Run
from webapp.runs.step_lines import StepLines, step_lines

AROUND = 3  # lines that did not run are shown so near to one that did
_WHERE = re.compile(r"([\w./+-]{1,300}):([0-9]{1,7})").fullmatch
_PART = re.compile(r"(?:(content|reasoning)|(name|arguments):([0-9]{1,7})):([0-9]{1,8})", re.ASCII).fullmatch


@dataclass(slots=True, frozen=True)
class SourceLine:
    """A line of the source. `times`: how often it ran; `sent`: it returned what the step sent; `put`: it put that there
    before; `gap`: lines before it are left out; `where` is its address. `changed`, `returned` and `raised` are of the
    last time."""

    number: int
    text: str
    where: str
    times: int = 0
    sent: bool = False
    put: bool = False
    gap: bool = False
    changed: tuple[Changed, ...] = ()
    returned: str | None = None
    raised: str | None = None


@dataclass(slots=True, frozen=True)
class SourceFunction:
    """A function that ran, in its file."""

    name: str
    file: str
    lines: list[SourceLine]


@dataclass(slots=True, frozen=True)
class Asked:
    """A line that was asked about: which steps ran it besides, and the nearest of them."""

    where: str
    steps: tuple[int, ...]
    previous: int | None
    next: int | None


@dataclass(slots=True, frozen=True)
class Source:
    """What the pane shows. `problem` says why it shows no lines; `sender` is the line that returned `sent`, `putter`
    the one that put it there before. `part`: which character of the message that is about, as an address has it; empty:
    the longest text of the step. `repeats` False: the lines are of a run that sent something else."""

    step: int
    ran: int = 0
    left_out: int = 0
    sent: str = ""
    sender: SourceLine | None = None
    putter: SourceLine | None = None
    part: str = ""
    repeats: bool = True
    functions: tuple[SourceFunction, ...] = ()
    asked: Asked | None = None
    problem: str = ""


def read_where(text: str) -> str:
    """A line of a file as an address has it; empty for anything else."""
    return text if _WHERE(text) else ""


def read_part(text: str) -> str:
    """A character of the message as an address has it (content:12, arguments:0:7); empty for anything else."""
    return text if _PART(text) else ""


def source(run: Run, step: int, where: str, part: str = "") -> Source:
    """The lines of a step of a run of an engine's parser. `part` is a character of the message that somebody asks
    about, of another step it says nothing."""
    found = _WHERE(where)
    place = None if found is None else (found[1], int(found[2]))
    sought = _sought(index_of(run), step, part)
    try:
        shown = step_lines(run.choice, run.replayer, run.trace, run.chunking, step, sought=sought, where=place)
    except UsageError as error:
        return Source(step, problem=str(error))
    return _source(shown, read_where(where), part if sought is not None else "")


def _sought(index: TraceIndex, step: int, part: str) -> Sought | None:
    """What the step sent in the channel of a character, if it sent that character."""
    found = _PART(part)
    if found is None:
        return None
    channel = next(one for one in CHANNELS if one in found.groups())
    number, at = int(found[3]) if found[3] else None, int(found[4])
    text = _text(index, channel, number)
    if text is None:
        return None
    low, high = text.length_at(step - 1), text.length_at(step)
    return Sought(text.text[low:high], channel, number, at - low) if low <= at < high else None


def _text(index: TraceIndex, channel: Channel, number: int | None) -> Text | None:
    """A text of the message; None for one of a call that there is not."""
    if channel == "content":
        return index.content
    if channel == "reasoning":
        return index.reasoning
    call = index.calls.get(number) if number is not None else None
    return None if call is None else call.name if channel == "name" else call.arguments


def _source(shown: StepLines, where: str, part: str) -> Source:
    found = shown.found
    functions = tuple([_function(found, number, one) for number, one in enumerate(found.functions)])
    lines = [line for one in functions for line in one.lines]
    sender, putter = [next(filter(is_it, lines), None) for is_it in (attrgetter("sent"), attrgetter("put"))]
    problem = "" if functions else "No line of the parser's own files ran at this step."
    return Source(
        shown.step,
        len(found.lines) + found.left_out,
        found.left_out,
        shown.sent,
        sender,
        putter,
        part,
        shown.repeats,
        functions,
        _asked(where, found.steps, shown.step) if where else None,
        problem,
    )


def _asked(where: str, steps: tuple[int, ...], step: int) -> Asked:
    before, after = bisect_left(steps, step), bisect_right(steps, step)
    return Asked(where, steps, steps[before - 1] if before else None, steps[after] if after < len(steps) else None)


def _function(found: RanLines, number: int, function: RanFunction) -> SourceFunction:
    ran: dict[int, list[tuple[int, RanLine]]] = {}
    for at, one in enumerate(found.lines):
        if one.function == number:
            ran.setdefault(one.line, []).append((at, one))
    indent = _indent(function.source[0]) if function.source else 0
    near = {line + more for line in ran for more in range(-AROUND, AROUND + 1)} | {function.first}
    lines: list[SourceLine] = []
    for line, text in enumerate(function.source, function.first):
        if line in near:
            gap = bool(lines) and lines[-1].number != line - 1
            kept = text[min(indent, _indent(text)) :]  # a comment or a long string may begin before the function does
            lines.append(_line(function, line, kept, ran.get(line, []), found, gap=gap))
    return SourceFunction(function.name, function.file, lines)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _line(
    function: RanFunction, number: int, text: str, ran: list[tuple[int, RanLine]], found: RanLines, *, gap: bool
) -> SourceLine:
    where = f"{function.file}:{number}"
    if not ran:
        return SourceLine(number, text, where, gap=gap)
    last = ran[-1][1]
    sent, put = [any(at == one for at, _ in ran) for one in (found.sent_from, found.put_at)]
    done = last.changed, last.returned, last.raised
    return SourceLine(number, text, where, len(ran), sent, put and not sent, gap, *done)
