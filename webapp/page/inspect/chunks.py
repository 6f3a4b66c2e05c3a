"""What a recorded stream shows in place of tokens and states: its chunks, what each carried and when it came.

Step *i* of the replay is chunk *i*; the step behind the last chunk is the end of the stream. What is worked out once
for a stream is kept beside its run; a window draws its own chunks only.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any

from markupsafe import Markup

from parsers.cases.run import CaseRun
from parsers.replays.recorded import ServerStream
from parsers.search.leaked import Leaked, is_leak, leaked
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import MessageDelta, Span
from parsers.wire.arrivals import Arrivals, arrivals, in_words
from parsers.wire.read import NOTES, ServerChunk
from webapp.glyphs import count, glyphless, shorten, show, spell
from webapp.page.inspect.result import Sent, shortened
from webapp.page.inspect.window import Window
from webapp.page.search.findings import FindingLine
from webapp.runs.runner import Run

_TEXT = 120  # characters of a chunk that its row shows
_RAW = 6_000  # characters of a chunk that its card shows
LEAKED = "leaked"
_OF_NOTES = "chunk_shape"  # the check that tells what is noted of chunks, which their cards say


@dataclass(slots=True)
class Recording:
    """A recorded stream as the page knows it.

    `starts` has for each chunk where its content begins in the message's; `carriers` are the chunks that carry what
    leaked. `pasted` has the text of each chunk, where the log that was pasted is at hand.
    """

    stream: ServerStream
    payloads: Sequence[Any]
    arrivals: Arrivals | None
    leaked: Leaked
    starts: Sequence[int]
    carriers: Sequence[int] = ()
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    pasted: Sequence[str | None] = ()

    def judge(self, lines: Iterable[FindingLine]) -> None:
        """Take how bad each finding is from its line in the list of findings: the first is as bad as the verdict."""
        for line in lines:
            own = self.findings.get(line.finding.step or 0, [])
            own[:] = [replace(one, severity=line.severity) if one == line.finding else one for one in own]

    @property
    def api(self) -> str:
        """Which API its chunks are of, in words."""
        one = next((known for known in self.payloads if isinstance(known, dict)), {})
        streamed = "choices" not in one or "delta" in json.dumps(one.get("choices"))
        return "chat, streamed" if streamed else "chat, one answer"

    @property
    def model(self) -> str:
        """The model that the chunks name; empty where they name none."""
        names = (one.get("model") for one in self.payloads if isinstance(one, dict))
        return next((name for name in names if isinstance(name, str) and len(name) > 1), "")

    @property
    def total(self) -> int:
        """How many chunks there are."""
        return len(self.stream.chunks)

    @property
    def finish_step(self) -> int | None:
        """The chunk with the finish reason that counts."""
        reasons = [number for number, one in enumerate(self.stream.chunks, start=1) if one.finish_reason is not None]
        return reasons[-1] if reasons else None

    @property
    def size(self) -> str:
        """'14 chunks, 399 ms'."""
        words = count(self.total, "chunk")
        return words if self.arrivals is None else f"{words}, {in_words(self.arrivals.span)}"

    def time(self, number: int) -> float | None:
        """When a chunk came."""
        return self.arrivals.times[number - 1] if self.arrivals is not None and number <= self.total else None

    def gap(self, number: int) -> float | None:
        """How long after the one before a chunk came."""
        return self.arrivals.gaps[number - 1] if self.arrivals is not None and number <= self.total else None


def recording(run: Run, known: CaseRun | None) -> Recording | None:
    """The recording that a run plays, with what is known of its findings; None where it parses an output."""
    server, stream = run.replayer.server, run.case.input.stream
    if not run.choice.plays or server is None or stream is None:
        return None
    findings = known.findings if known is not None else []
    content = run.trace.message.content or ""
    left = any(is_leak(one) for one in findings)
    starts = [0, *accumulate([len(_content(chunk)) for chunk in server.chunks])][:-1]
    lost = run.beside.get("leaked", lambda: leaked(content, run.context)) if left else Leaked()
    found = Recording(
        stream=server,
        payloads=stream,
        arrivals=run.beside.get("arrivals", lambda: arrivals(run.case.input.times)),
        leaked=lost,
        starts=starts,
        carriers=run.beside.get("carriers", lambda: carriers(server.chunks, starts, lost.stretches), size=_weight)
        if left
        else (),
    )
    for one in findings:
        if one.step is not None:
            found.findings.setdefault(one.step, []).append(one)
    return found


def carriers(chunks: Sequence[ServerChunk], starts: Sequence[int], stretches: Sequence[Span]) -> Sequence[int]:
    """The chunks that carry what leaked: both stand in order, so each is looked at once."""
    found, at = list[int](), 0
    for number, (chunk, start) in enumerate(zip(chunks, starts, strict=True), start=1):
        while at < len(stretches) and stretches[at].end <= start:
            at += 1
        if at < len(stretches) and stretches[at].start < start + len(_content(chunk)):
            found.append(number)
    return found


def _weight(numbers: Sequence[int]) -> int:
    return 40 * len(numbers) + 100


def _content(chunk: ServerChunk) -> str:
    return (chunk.delta.content if chunk.delta is not None else None) or ""


@dataclass(slots=True, frozen=True)
class _Bit:
    """A part of a chunk's text: its role, and whether it is markup that leaked."""

    text: str
    role: str

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show(self.text)


@dataclass(slots=True, frozen=True)
class Carried:
    """One thing that a chunk carried: what it is called, and its text in bits; `adds` says to what and where."""

    words: str
    bits: list[_Bit]
    adds: str = ""

    @property
    def is_leaked(self) -> bool:
        """Whether markup is among it that leaked."""
        return any(bit.role == LEAKED for bit in self.bits)


@dataclass(slots=True, frozen=True)
class ChunkRow:
    """One line of the table. `mark` says that a gap ends here, or a burst is under way."""

    number: int
    time: str
    gap: str
    mark: str
    late: bool
    carried: list[Carried]


@dataclass(slots=True, frozen=True)
class Chunks:
    """The table of chunks: those of the window, and how many are before and after them."""

    rows: list[ChunkRow]
    before: int
    after: int
    note: str
    timed: bool


def chunk_table(found: Recording, window: Window) -> Chunks:
    """The chunks of a window."""
    last = min(window.last, found.total)
    many = len(found.carriers)
    return Chunks(
        rows=[_row(found, number) for number in range(window.first, last + 1)],
        before=window.first - 1,
        after=found.total - last,
        note=f"{many:,} of {found.total:,} carry what leaked" if many else found.size,
        timed=found.arrivals is not None,
    )


def _row(found: Recording, number: int) -> ChunkRow:
    time, gap = found.time(number), found.gap(number)
    burst = found.arrivals.burst_of(number) if found.arrivals is not None else None
    late = found.arrivals is not None and number in found.arrivals.long
    together = [f"burst, {number - burst.first + 1} of {burst.size}"] if burst is not None else []
    return ChunkRow(
        number=number,
        time="" if time is None else _figure(time),
        gap="" if gap is None else f"+{_figure(gap)}",
        mark=", ".join(["gap"] * late + together),
        late=late,
        carried=list(_carried(found, number, _TEXT)),
    )


def _figure(milliseconds: float) -> str:
    return f"{milliseconds:,.1f}" if milliseconds < 10 and milliseconds % 1 else f"{milliseconds:,.0f}"


def _carried(found: Recording, number: int, limit: int) -> Iterator[Carried]:
    """What a chunk carried, in the order in which clients read it."""
    chunk, payload = found.stream.chunks[number - 1], found.payloads[number - 1]
    told = False
    for one in _of_delta(chunk.delta or MessageDelta(), found, number, limit):
        told = True
        yield one
    if chunk.error is not None:
        yield Carried("error", [_Bit(shorten(chunk.error, limit), LEAKED)])
    elif chunk.finish_reason is not None:
        yield Carried("finish", [_Bit(chunk.finish_reason, "")], "finish_reason")
    elif (aside := _aside(payload)) is not None and not told:
        yield aside


def _of_delta(delta: MessageDelta, found: Recording, number: int, limit: int) -> Iterator[Carried]:
    if delta.reasoning:
        yield Carried("reasoning", [_Bit(shorten(delta.reasoning, limit), "reasoning")], "reasoning")
    if delta.content:
        start = found.starts[number - 1]
        bits = _leaked_bits(shorten(delta.content, limit), start, found.leaked.stretches)
        yield Carried(
            "content", bits, f"content, from character {start:,} on, {count(len(delta.content), 'character')}"
        )
    for call in delta.tool_calls:
        name = f"call {call.index}"
        for part, text, role in (("name", call.name, "name"), ("arguments", call.arguments, "arguments")):
            if text:
                yield Carried(f"{name} {part}", [_Bit(shorten(text, limit), role)], f"{part} of {name}")
        if call.id and not call.name:
            yield Carried(f"{name} id", [_Bit(shorten(call.id, limit), "name")], f"id of {name}")


def _leaked_bits(text: str, start: int, stretches: Sequence[Span]) -> list[_Bit]:
    """A chunk's share of the content, split where what leaked begins and ends."""
    found, at, end = list[_Bit](), start, start + len(text)
    for span in islice(stretches, bisect_right(stretches, start, key=lambda one: one.end), None):
        if span.start >= end:
            break
        for edge, role in ((span.start, "content"), (min(span.end, end), LEAKED)):
            if edge > at:
                found.append(_Bit(text[at - start : edge - start], role))
                at = edge
    return [*found, _Bit(text[at - start :], "content")] if at < end else found


def _aside(payload: Any) -> Carried | None:
    """What a chunk holds that is no part of the message: the role, or how many tokens there were."""
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = choice.get("delta", choice.get("message"))
    role = said.get("role") if isinstance(said, dict) else None
    if isinstance(role, str) and role:
        return Carried("role", [_Bit(shorten(role), "")])
    usage = payload.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return Carried("usage", [_Bit(count(tokens, "token"), "")]) if isinstance(tokens, int) else None


@dataclass(slots=True, frozen=True)
class ChunkCard:
    """Everything the step pane says about one chunk, and what the rest of the page needs to follow it."""

    step: int
    title: str
    note: str
    summary: str
    announce: str
    raw: list[_Bit]
    carried: list[Carried]
    came: str
    raw_output: str
    fed: str
    notes: Sequence[tuple[str, str]]


def chunk_card(found: Recording, number: int) -> ChunkCard:
    """The card of a chunk, or of the end of the stream."""
    if number > found.total:
        return _end_card(found, number)
    payload, chunk = found.payloads[number - 1], found.stream.chunks[number - 1]
    written = found.pasted[number - 1] if found.pasted else None
    text = json.dumps(payload, ensure_ascii=False) if written is None else written
    carried = list(_carried(found, number, _RAW))
    words = ", ".join([one.words for one in carried]) or "nothing for the message"
    time = found.time(number)
    came = "" if time is None else in_words(time)
    spelled = f": {spell(shorten(''.join([bit.text for one in carried for bit in one.bits]), 60))}" if carried else ""
    told = f" {_came(found, number)}." if time is not None else ""
    fed = found.stream.fed[number - 1] if found.stream.fed is not None else None
    return ChunkCard(
        step=number,
        title=f"Chunk {number:,}",
        note=", ".join(filter(None, [came, _size(text) + (" as JSON" if written is None else " as pasted")])),
        summary=" · ".join(filter(None, [f"chunk {number:,} of {found.total:,}", words, came])),
        announce=f"Chunk {number:,} of {found.total:,}. {words.capitalize()}{spelled}.{told}",
        raw=_spelled_bits(json.dumps(shortened(payload), ensure_ascii=False) if written is None else written, carried),
        carried=carried,
        came=_came(found, number),
        raw_output=_unknown(chunk) if fed is None else count(sum([len(piece.text) for piece in fed]), "character"),
        fed="" if fed is None else "".join([piece.text for piece in fed])[:_RAW],
        notes=[(NOTES[note.code], note.words) for note in chunk.notes]
        + [
            (one.severity, one.message)
            for one in found.findings.get(number, ())
            if not (chunk.notes and one.check == _OF_NOTES)
        ],
    )


def _size(text: str) -> str:
    return count(len(text.encode("utf-8", "replace")), "byte")


def _end_card(found: Recording, number: int) -> ChunkCard:
    ended = "`[DONE]` was recorded behind the last chunk" if found.stream.done else "no `[DONE]` was recorded"
    return ChunkCard(
        step=number,
        title="End of the stream",
        note=found.size,
        summary=f"end of the stream · {found.size}",
        announce=f"End of the stream. {found.size}.",
        raw=[],
        carried=[],
        came=ended,
        raw_output="",
        fed="",
        notes=[(one.severity, one.message) for one in found.findings.get(number, ())],
    )


def _came(found: Recording, number: int) -> str:
    """When a chunk came, and how that compares."""
    return (found.arrivals.came(number, "chunk") if found.arrivals is not None else "") or "not recorded"


def _unknown(chunk: ServerChunk) -> str:
    delta = chunk.delta or MessageDelta()
    size = sum([len(text or "") for text in (delta.reasoning, delta.content)])
    return f"unknown; at least {count(size, 'character')}" if size else "unknown"


def _spelled_bits(text: str, carried: Sequence[Carried]) -> list[_Bit]:
    """A chunk as JSON, in which what it carried has the role it has elsewhere. Line ends of a pasted one stay."""
    text, at, found = "\n".join(map(glyphless, shorten(text, _RAW).split("\n"))), 0, list[_Bit]()
    for bit in [bit for one in carried for bit in one.bits if bit.role]:
        ways = [glyphless(json.dumps(bit.text, ensure_ascii=ascii)[1:-1]) for ascii in (False, True)]
        known = [(place, spelled) for spelled in ways if (place := text.find(spelled, at)) >= 0]
        if known:
            place, spelled = min(known)
            found += [_Bit(text[at:place], ""), _Bit(spelled, bit.role)]
            at = place + len(spelled)
    return [*found, _Bit(text[at:], "")]


def with_leaks(items: Sequence[Sent], found: Recording) -> list[Sent]:
    """Text of the content as the message pane has it, split where what leaked begins and ends."""
    split = list[Sent]()
    for item in items:
        if item.folded or item.text != _content(found.stream.chunks[item.step - 1]):
            split.append(item)
            continue
        for bit in _leaked_bits(item.text, found.starts[item.step - 1], found.leaked.stretches):
            split.append(Sent(bit.text, bit.role, item.step, item.start, item.end, item.kind))
    return split


# What is known of a recording without a state table, and what would settle the rest.


@dataclass(slots=True, frozen=True)
class Told:
    """One line of evidence: an icon, a sentence, and the chunk it is about."""

    icon: str
    words: str
    step: int | None = None


def evidence(found: Recording, *, has_raw: bool) -> list[Told]:
    """What a recording shows, in place of a machine."""
    lines = [Told("info", "A recording has no state table: nothing is parsed again, so there are no states and rows.")]
    if carriers := found.carriers:
        which = f"Chunks {_ranges(carriers)} carry" if len(carriers) > 1 else f"Chunk {carriers[0]:,} carries"
        words = f"{which} {count(found.leaked.size, 'character')} of markup as content."
        lines.append(Told("error", words, carriers[0]))
        if found.leaked.parser:
            lines.append(Told("pass", f"`{found.leaked.parser}` reads whole calls in that content."))
    lines += _timing(found)
    if has_raw:
        settled = "The raw output is in this case too: what a parser makes of it can be laid beside these chunks."
    else:
        settled = (
            "The raw output is not known. Paste it, or record it with token ids: then the parser itself is judged."
        )
    return [*lines, Told("pass" if has_raw else "info", settled)]


def _timing(found: Recording) -> Iterator[Told]:
    known = found.arrivals
    if known is None:
        yield Told("info", "When each chunk came was not recorded: chunks stand in order, evenly spaced.")
        return
    if (longest := known.longest) is not None:
        words = f"{in_words(found.gap(longest) or 0)} before chunk {longest:,} is the longest gap"
        many = f"; {count(len(known.long), 'gap')} in all" if len(known.long) > 1 else ""
        yield Told("info", f"{words}{many}. {known.rule}", longest)
    if known.bursts:
        first = known.bursts[0]
        more = f", and {count(len(known.bursts) - 1, 'more burst')}" if len(known.bursts) > 1 else ""
        words = f"Chunks {first.first:,} to {first.last:,} came in one burst{more}: client code sees them at once."
        yield Told("info", words, first.first)


def _ranges(numbers: Sequence[int]) -> str:
    """'9–12, 14'; of many ranges the first ones."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    words = [f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in found[:4]]
    return ", ".join(words) + (" …" if len(found) > 4 else "")
