"""What an answer lacks of the right reading of an output, character by character: what is hatched in red.

The right reading is the one of the built-in parser of the format, with the places of all its texts. What the other
answer does not have, has where it does not belong, or has spoilt, is lost. Calls are told apart by their order; where
one is missing, those that follow are found again by what they say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError
from parsers.compare.allowed import allowed_by, content_around
from parsers.compare.divergence import shared_prefix
from parsers.replays.chunking import WHOLE
from parsers.replays.partition import claims_on
from parsers.vocabulary.channels import Channel, Channels
from parsers.vocabulary.events import Event, Marker
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall
from webapp.page.drawing import runs
from webapp.runs.runner import Run

_DRAWN = {"id": "name"}
_STRUCTURE = Marker(0, 0).terminal


@dataclass(frozen=True, slots=True)
class Part:
    """Characters [start, end) that the right reading gives one role; `lost` where the answer lacks them."""

    start: int
    end: int
    role: str
    lost: bool

    @property
    def shown(self) -> str:
        """The role it is drawn in."""
        return "lost" if self.lost else self.role


@dataclass(frozen=True)
class Beside:
    """The right reading of an output by `name`, beside what another parser made of it. Parts tile the output;
    `marker_edges` are where true markers begin and end, in turn."""

    name: str
    parts: Sequence[Part]
    marker_edges: Sequence[int]

    @cached_property
    def lost(self) -> int:
        """How many characters the answer lacks."""
        return sum([part.end - part.start for part in self.parts if part.lost])

    @property
    def words(self) -> str:
        """The same beside how many there are, in words."""
        whole = self.parts[-1].end if self.parts else 0
        return f"{self.lost:,} of {whole:,} lost" if self.lost else "nothing lost"

    @cached_property
    def _starts(self) -> list[int]:
        return [part.start for part in self.parts]

    def between(self, start: int, end: int) -> Sequence[Part]:
        """The parts that characters [start, end) belong to."""
        first = max(0, bisect_right(self._starts, start) - 1)
        return self.parts[first : bisect_left(self._starts, end)] if start < end else ()


def reading_beside(run: Run) -> Beside | None:
    """The right reading of what a parser elsewhere was run on; None where it is not known, or the output is long."""
    grammar, fmt = run.replayer.by_format(), run.choice.grammar
    if not run.replayer.black_box or run.choice.plays or grammar is None or fmt is None or not run.short:
        return None
    right = grammar.trace(WHOLE)
    text, theirs = right.text, run.trace
    events = [event for step in right.steps for event in step.events]
    fine = allowed_by(
        run.replayer.contract, right.message, theirs.message,
        text=text, context=run.context, around=content_around(events),
    )  # fmt: skip
    gone = set() if fine is not None else {*lost_characters(text, right, theirs)}
    return Beside(fmt.name, [*_parts(right, gone)], marker_edges([e for e in events if isinstance(e, Marker)], text))


def marker_edges(events: Iterable[Event], text: str) -> list[int]:
    """Where true markers begin and end, in turn: not the words, blanks and brackets between them."""
    found: list[int] = []
    for event in events:
        if isinstance(event, Marker) and event.terminal != _STRUCTURE and _stands_out(text[event.start : event.end]):
            found += (event.start, event.end)
    return found


def in_marker(edges: Sequence[int], offset: int) -> bool:
    """Whether the character at `offset` is one of a marker's, and not of the structure between markers."""
    return bisect_right(edges, offset) % 2 == 1


def edges_between(edges: Sequence[int], start: int, end: int) -> Sequence[int]:
    """Where markers begin and end inside [start, end)."""
    return edges[bisect_right(edges, start) : bisect_left(edges, end)]


def _stands_out(text: str) -> bool:
    return len(text) > 2 and not text[0].isalnum() and not text[0].isspace()


def _parts(right: Trace, gone: set[int]) -> Iterator[Part]:
    for start, end, owner, _ in claims_on(right.partition):
        for lost, first, last in runs([at in gone for at in range(start, end)]):
            yield Part(start + first, start + last, _DRAWN.get(owner, owner), lost)


def lost_characters(text: str, right: Trace, answer: Trace) -> Iterator[int]:
    """The characters of the output that the answer does not have, has where they do not belong, or has spoilt."""
    for channel, theirs in _differing(right, answer):
        ours = right.channels[channel]
        shared = shared_prefix(ours.text, theirs)
        spoilt = shared == len(ours.text) and channel.call is not None  # a call that says more is wrong as a whole
        for at in range(0 if spoilt else shared, len(ours.text)):
            raw = ours.place(at).raw
            if raw is not None and raw < len(text):
                yield raw
    yield from _leaked(text, right, answer)


def _leaked(text: str, right: Trace, answer: Trace) -> Iterator[int]:
    """Markers that the answer sent as text."""
    sent = [one.text for one in answer.channels.values()]
    kept = [one.text for one in right.channels.values()]
    for run in right.partition:
        marker = text[run.start : run.end].strip()
        if run.owner == "marker" and any(marker in one for one in sent) and not any(marker in one for one in kept):
            yield from range(run.start, run.end)


def _differing(right: Trace, answer: Trace) -> Iterator[tuple[Channel, str]]:
    """Each channel that is another in the answer, and what it says there."""
    same = paired(right.message.tool_calls, answer.message.tool_calls)
    for channel, one in right.channels.items():
        said = _said(answer.channels, channel, same)
        if channel.part != "id" and said != one.text and not (channel.part == "arguments" and _equal(one.text, said)):
            yield channel, said


def _said(theirs: Channels, channel: Channel, same: Mapping[int, int]) -> str:
    at = channel if channel.call is None else Channel(same.get(channel.call, -1), channel.part)
    return theirs[at].text if at in theirs else ""


def paired(right: Sequence[ToolCall], theirs: Sequence[ToolCall]) -> dict[int, int]:
    """Which call of an answer is which of the right ones: one by one where as many came as there are, else those that
    say the same first, then those of one name."""
    if len(right) == len(theirs):
        return {number: number for number in range(len(right))}
    found: dict[int, int] = {}
    for whole in (True, False):
        for number, call in enumerate(right):
            taken = {*found.values()}
            left = [at for at, other in enumerate(theirs) if at not in taken and _alike(call, other, whole=whole)]
            if number not in found and left:
                found[number] = left[0]
    return found


def _alike(ours: ToolCall, theirs: ToolCall, *, whole: bool) -> bool:
    same = ours.arguments == theirs.arguments or _equal(ours.arguments, theirs.arguments)
    return ours.name == theirs.name and (same or not whole)


def _equal(ours: str, theirs: str) -> bool:
    try:
        return jsontext.same(jsontext.read(ours), jsontext.read(theirs))
    except JsonError:
        return False
