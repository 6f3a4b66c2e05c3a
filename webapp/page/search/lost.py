"""What an answer lacks of the right reading of an output, character by character: what is hatched in red.

The right reading is the one of the built-in parser of the format, with the places of all its texts. What the other
answer does not have, has where it does not belong, or has spoilt, is lost. Calls are told apart by their order; where
one is missing, those that follow are found again by what they say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from parsers.cases import jsontext
from parsers.cases.case import ParserRef
from parsers.cases.engines import choose
from parsers.cases.jsontext import JsonError
from parsers.cases.run import characters, replayer_of
from parsers.compare.allowed import allowed_by, content_around
from parsers.compare.divergence import shared_prefix
from parsers.compare.partners import partners
from parsers.replays.chunking import WHOLE
from parsers.replays.partition import claims_on
from parsers.vocabulary.channels import Channel, Channels, ChannelText
from parsers.vocabulary.events import Event, Marker
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall
from webapp.page.drawing import runs
from webapp.page.search.laid_texts import LaidText, laid_texts
from webapp.runs.runner import Run

_DRAWN = {"id": "name"}
_STRUCTURE = Marker(0, 0).terminal
_LOST = "lost"


@dataclass(frozen=True, slots=True)
class Part:
    """Characters [start, end) that the right reading gives the role `role` and the answer the role `shown`, which is
    "lost" where it lacks them."""

    start: int
    end: int
    role: str
    shown: str

    @property
    def lost(self) -> bool:
        """Return whether the answer lacks them."""
        return self.shown == _LOST


@dataclass(frozen=True)
class Beside:
    """The right reading of an output by `name`, beside what another parser made of it. Parts tile the output;
    `marker_edges` are where true markers begin and end, in turn; `laid` says where the texts that were sent lie."""

    name: str
    parts: Sequence[Part]
    marker_edges: Sequence[int]
    laid: Mapping[Channel, LaidText] = field(default_factory=dict)

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
    return _beside(fmt.name, grammar.trace(WHOLE), run)


def recorded_beside(run: Run, reader: str) -> Beside | None:
    """The right reading, by the parser called `reader`, of the raw output that is known of a recorded stream, beside
    what the server sent; None where it is not known, the output is long, or nothing of it is lost."""
    if not run.choice.plays or not reader or not run.case.has_raw or not run.short:
        return None
    case = run.case.model_copy(update={"parser": ParserRef(name=reader), "replay": ()})
    right = replayer_of(case, choose(case), characters(case.text())).trace(WHOLE)
    found = _beside(reader, right, run)
    return found if found.lost else None


def _beside(name: str, right: Trace, run: Run) -> Beside:
    text, theirs = right.text, run.trace
    events = [event for step in right.steps for event in step.events]
    fine = allowed_by(
        run.replayer.contract, right.message, theirs.message,
        text=text, context=run.context, around=content_around(events),
    )  # fmt: skip
    if _is_all_content(text, theirs, run):
        parts = [replace(part, shown="content") for part in _parts(right, set())]
    else:
        parts = [*_parts(right, set() if fine is not None else {*lost_characters(text, right, theirs)})]
    edges = marker_edges([event for event in events if isinstance(event, Marker)], text)
    same = paired(right.message.tool_calls, theirs.message.tool_calls)
    return Beside(name, parts, edges, laid_texts(text, right, theirs, same))


def _is_all_content(text: str, theirs: Trace, run: Run) -> bool:
    """Return whether a parser that knows no tools sent the whole output as content: nothing of it is lost."""
    return not run.context.tools and text.strip() in (theirs.message.content or "")


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
            role = _DRAWN.get(owner, owner)
            yield Part(start + first, start + last, role, _LOST if lost else role)


def lost_characters(text: str, right: Trace, answer: Trace) -> Iterator[int]:
    """The characters of the output that the answer does not have, has where they do not belong, or has spoilt."""
    for channel, theirs in _differing(right, answer):
        ours = right.channels[channel]
        shared, end = missing(ours.text, theirs, in_order=channel.call is not None)
        spoilt = shared == len(ours.text) and channel.call is not None  # a call that says more is wrong as a whole
        yield from _characters(right, ours, range(0 if spoilt else shared, end))
        if shared and (raw := ours.place(shared - 1).raw) is not None:
            yield from _begun(text, right, raw + 1, theirs[shared_prefix(ours.text, theirs) :])
    yield from _leaked(text, right, answer)


def _characters(right: Trace, ours: ChannelText, lost: range) -> Iterator[int]:
    """The characters of the output behind those of a text. A value that was converted stands for all of its own."""
    starts = [run.start for run in right.partition]
    known = sorted(_raws(ours, range(len(ours.text))))
    for raw in _raws(ours, lost):
        run, after = right.partition[bisect_right(starts, raw) - 1], bisect_right(known, raw)
        end = raw + 1 if run.owner == "marker" else min([run.end, *known[after : after + 1]])
        yield from range(raw, min(end, run.end))


def _raws(ours: ChannelText, places: range) -> set[int]:
    return {raw for at in places if (raw := ours.place(at).raw) is not None}


def missing(ours: str, theirs: str, *, in_order: bool) -> tuple[int, int]:
    """The stretch of a text that an answer has not: none of it where a message has all of it in another place, its
    beginning where the answer is its end, else what stands between what both begin and end with. Of a call, whose
    text is one value, it is all behind the beginning where nothing stands there; of others where words were added."""
    if not in_order and ours in theirs:
        return len(ours), len(ours)
    if theirs and ours.endswith(theirs):
        return 0, len(ours) - len(theirs)
    start = shared_prefix(ours, theirs)
    end = len(ours) - shared_prefix(ours[start:][::-1], theirs[start:][::-1])
    added = theirs[start : len(theirs) - (len(ours) - end)]
    return start, end if end > start or not (in_order or added.strip()) else len(ours)


def _begun(text: str, right: Trace, start: int, more: str) -> Iterator[int]:
    """The characters from `start` on that belong to a marker and that the answer sent behind what is right."""
    markers = [run for run in right.partition if run.owner == "marker" and run.end > start]
    end = start + shared_prefix(text[start:], more)
    for run in markers:
        yield from range(max(run.start, start), min(run.end, end))


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


def paired(right: Sequence[ToolCall], theirs: Sequence[ToolCall]) -> Mapping[int, int]:
    """Which call of an answer is which of the right ones: one by one where as many came as there are, else by what they
    say."""
    alike = len(right) == len(theirs)
    return {number: number for number in range(len(right))} if alike else partners(right, theirs)


def _equal(ours: str, theirs: str) -> bool:
    try:
        return jsontext.same(jsontext.read(ours), jsontext.read(theirs))
    except JsonError:
        return False
