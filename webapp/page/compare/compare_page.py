"""Puts a comparison's page together: the sentence, the outputs, steps and messages of all sides, at one column."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from parsers.compare.divergence import Divergence, Grade, Rules, shared_prefix
from parsers.vocabulary.channels import CALL_PARTS, TEXT_PARTS
from parsers.vocabulary.observed import brief
from webapp.glyphs import count, shorten
from webapp.page.compare.alignment import Axis, axis_of
from webapp.page.compare.asked import PAIR, CompareLinks
from webapp.page.compare.comparison import (
    SEVERITIES,
    Band,
    Bit,
    Compared,
    Placed,
    Strip,
    View,
    band,
    strips,
    view_around,
)
from webapp.page.compare.difference import Both, Comparison, Parting, compare, role_at
from webapp.page.compare.known_tools import explained_by_tools
from webapp.page.compare.message_words import differs_in
from webapp.page.compare.messages import Messages, messages
from webapp.page.compare.sides import Replayed, teller
from webapp.page.inspect.index import TraceIndex, index_of, neighbours, within_reach
from webapp.page.inspect.step import Card
from webapp.page.inspect.step import card as card_of_step
from webapp.page.inspect.window import Window
from webapp.runs.runner import Runner, collector_paused

LISTED = 40
ROLES = ("content", "reasoning", "name", "arguments", "marker", "dropped")
EXCERPT = 60
LONGEST_ERROR = 200
LEAD = 24
GRADES: dict[Grade | None, str] = {
    "calls": "The calls differ.",
    "text": "The calls are the same; the text differs.",
    "key_order": "The calls have the same values in another order of keys.",
    "whitespace": "Only whitespace of the text differs.",
    "spelling": "The calls have the same values, written otherwise.",
    None: "The messages are the same; the finish reasons differ.",
}
SHORT: dict[Grade | None, str] = {
    "calls": "other calls",
    "text": "the same calls and other text",
    "key_order": "another order of keys only",
    "whitespace": "other whitespace only",
    "spelling": "the same values, written otherwise",
    None: "another finish reason only",
}


@dataclass(slots=True, frozen=True)
class _SideStep:
    """One step of one side, shown while the cursor is in [start, end). `silent`: deltas without text before it."""

    start: int
    end: int
    shown: bool
    silent: int
    card: Card
    of_chunks: bool = False
    is_end: bool = False

    @property
    def place(self) -> str:
        """Where the side is: in its state, or, where nobody says that, at its step."""
        if not self.card.stateless:
            return brief(self.card.state)
        return f"{'chunk' if self.of_chunks else 'step'} {self.card.step:,}"

    @property
    def title(self) -> str:
        """What the step is called: that of a recording is a chunk."""
        return f"Chunk {self.card.step:,}" if self.of_chunks and not self.is_end else self.card.title

    @property
    def note(self) -> str:
        """Which characters it was fed; nothing of a chunk where nobody knows them."""
        return "" if self.of_chunks and not self.card.fed and not self.is_end else self.card.note


@dataclass(slots=True, frozen=True)
class _Column:
    """One side's steps, of `total`; `inspect` is where it is opened in the inspector, empty where only a new run can
    show it."""

    side: Replayed
    steps: list[_SideStep]
    total: int
    now: int
    inspect: str


@dataclass(slots=True, frozen=True)
class _CharacterCursor:
    """Says where the reader is. `nav` has the nearest places before and after by kind, `jumps` those that scripts can
    reach from the window, as JSON."""

    at: int
    size: int
    nav: dict[str, tuple[int | None, int | None]]
    jumps: str


@dataclass(slots=True, frozen=True)
class _First:
    """Where one side parts from the first: `words` say how, `steps` are the first differing step of either and `texts`
    what each has there; `where` is empty where they say the same. `sends`: where they first send something else."""

    name: str
    severity: str
    words: str
    where: str = ""
    at: int | None = None
    steps: tuple[int | None, int | None] = (None, None)
    texts: tuple[str, str] = ("", "")
    sends: _Sends | None = None


@dataclass(slots=True, frozen=True)
class _Sends:
    """The first step at which one side does not send what the first one does, and the column it is seen at."""

    step: int
    at: int


@dataclass(slots=True, frozen=True)
class _Sentence:
    """The sentence on top, and what it is about, side by side. `tools` says which sides know no tools, and what that
    is worth; "" where all do."""

    severity: str
    headline: str
    rest: str
    raised: list[str]
    firsts: list[_First]
    tools: str = ""


@dataclass(slots=True, frozen=True)
class _Place:
    """One place where side `name` parts from the first, as a row of the list. `a` and `b` are the roles there."""

    name: str
    start: int
    end: int
    text: str
    a: str
    b: str
    what: str

    @property
    def span(self) -> str:
        """The place in words."""
        return f"{self.start:,}–{self.end:,}" if self.end > self.start + 1 else f"{self.start:,}"


@dataclass(slots=True, frozen=True)
class SidesPage:
    """The panes about the sides. `more` places are not listed; `aligned`: their outputs are not one; `unit`: what
    the places that the cursor counts are called; `by_message`: what they send is laid beside each other."""

    links: CompareLinks
    cursor: _CharacterCursor
    sentence: _Sentence
    columns: list[_Column]
    view: View
    strips: list[Strip]
    band: Band
    messages: Messages
    places: list[_Place]
    more: int
    aligned: bool
    unit: str
    by_message: bool = False

    @property
    def differs(self) -> bool:
        """Return whether a search for an output on which they differ makes sense: two parsers of one output."""
        sides = [column.side for column in self.columns]
        if len(sides) > len(PAIR) or any(side.side.text or side.run.replayer.plays for side in sides):
            return False
        return sides[0].case.parser != sides[1].case.parser

    @property
    def severity(self) -> str:
        """How bad the worst is that differs."""
        return min([first.severity for first in self.sentence.firsts], key=SEVERITIES.index, default="pass")

    @property
    def parts_first(self) -> str:
        """The letter of the side that a narrow screen shows beside A: the first that is worst."""
        firsts = self.sentence.firsts
        return min(firsts, key=lambda first: SEVERITIES.index(first.severity)).name if firsts else "b"

    @property
    def roles(self) -> list[str]:
        """The roles of the legend; what is lost is there where some of it is on the page."""
        lost = any("lost" in bit.roles.values() for strip in self.strips for bit in strip.bits)
        return [*(ROLES[:4] if self.by_message else ROLES), *["lost"] * lost]

    @property
    def apart(self) -> Bit | None:
        """The first characters on the page that have not the same role on all sides that read them."""
        return next((bit for strip in self.strips for bit in strip.bits if not bit.agrees), None)

    @property
    def summary(self) -> str:
        """The states of all sides at the cursor."""
        return " · ".join([f"{column.side.title} {step.place}" for column in self.columns for step in column.steps
                           if step.shown])  # fmt: skip


def sides_page(
    runner: Runner, sides: Sequence[Replayed], rules: Rules, *, links: CompareLinks, inspect: str
) -> SidesPage:
    """The panes about two to four sides. `inspect` is the address of the case in the inspector."""
    compared = compared_sides(runner, sides, rules)
    first, size = compared.sides[0], compared.size
    places = [(place, one) for one, found in compared.pairs for place in found.partings]
    places.sort(key=lambda known: known[0].start)
    at = min(_start(compared) if links.asked.at is None else links.asked.at, size)
    view = view_around(compared, at)
    changes = sorted({column for found in compared.found for column in found.changes})
    starts = compared.starts
    nav = {"step": _steps_around(compared, at), "change": neighbours(changes, at), "parting": neighbours(starts, at)}
    jumps = {"step": _step_jumps(compared, view)}
    for name, known in (("change", changes), ("parting", starts)):
        jumps[name] = within_reach(known, view.start, view.end)
    return SidesPage(
        links=links,
        cursor=_CharacterCursor(at, size, nav, json.dumps(jumps)),
        sentence=sentence(compared),
        columns=[
            _column(one, shown, at, size, inspect) for one, shown in zip(compared.sides, view.windows, strict=True)
        ],
        view=view,
        strips=strips(compared, view, at),
        band=band(compared, at),
        messages=messages(compared, view),
        places=[place_row(first, one, place, size) for place, one in _listed(places, at)],
        more=max(0, len(places) - LISTED),
        aligned=not compared.axis.single,
        unit=compared.unit,
        by_message=compared.by_message,
    )


def compared_sides(runner: Runner, sides: Sequence[Replayed], rules: Rules) -> Compared:
    """All sides on one axis, each compared with the first; both are kept with the runs."""
    indices = [index_of(side.laid) for side in sides]
    keys = " ".join([side.laid.key for side in sides])
    axis = runner.computed(f"axis {keys}", lambda: _axis(sides, indices), size=Axis.nbytes)
    placed = [Placed(*one) for one in zip(sides, indices, axis.lanes, strict=True)]

    tellers = [teller(runner, side) for side in sides]

    def found(number: int) -> Comparison:
        ends = tellers[0].ends and tellers[number].ends
        by_message = sides[0].sent is not None
        both = Both.of(indices[0], indices[number], axis, number, ends=ends, by_message=by_message)
        return runner.computed(f"{keys} {number} {rules}", lambda: _comparison(both, rules), size=Comparison.size)

    def by_tools(number: int) -> bool:
        asked = (tellers[0], tellers[number], rules)
        return runner.computed(f"tools {keys} {number} {rules}", lambda: explained_by_tools(*asked), size=lambda _: 100)

    others = range(1, len(sides))
    all_found = [found(number) for number in others]
    return Compared(placed, axis, all_found, [all_found[at - 1].first is not None and by_tools(at) for at in others])


def _axis(sides: Sequence[Replayed], indices: Sequence[TraceIndex]) -> Axis:
    """The axis of all sides. What is sent goes on from one channel in the next without a blank."""
    cuts = [index.owner_starts for index in indices] if sides[0].sent is not None else None
    return axis_of([index.trace.text for index in indices], cuts)


def _comparison(both: Both, rules: Rules) -> Comparison:
    with collector_paused():
        return compare(both, rules)


def _start(compared: Compared) -> int:
    """The column with most to see: the place that the sentence names first, else where text is held."""
    if opens := [found.opens for found in compared.found if found.opens is not None]:
        return min(opens)
    first = compared.sides[0]
    held = next((step for step, _, _ in first.index.trace.columns.held()), None)
    return first.begin(held) if held else 0


def _column(one: Placed, window: Window, at: int, size: int, inspect: str) -> _Column:
    index, now, steps = one.index, one.step_at(at), []
    for number in range(window.first, window.last + 1):
        span, is_end = index.step(number).span, number == index.total
        if span.end > span.start or is_end:
            card = card_of_step(index_of(one.side.run), number, one.side.run.format.terminals)
            start, end = one.lane.edge(span.start), size + 1 if is_end else one.lane.edge(span.end)
            plays = one.side.run.choice.plays
            steps.append(_SideStep(start, end, number == now, _silent(index, number), card, plays, is_end))
    return _Column(one.side, steps, index.total, now, _inspect(one.side, inspect, now))


def _silent(index: TraceIndex, number: int) -> int:
    """Return how many deltas without text came between step `number` and the text before it."""
    start = index.span(number)[0]
    return number - 1 - (bisect_left(index.step_ends, start) + 1 if start else 0)


def _inspect(side: Replayed, base: str, step: int) -> str:
    """Return where this side is opened in the inspector; empty where only a new run can show it."""
    if not base or side.moved:
        return ""
    query = {"step": step} if side.is_own else {"step": step, "chunk": side.side.chunk}
    return f"{base}?{urlencode(query, safe=':,')}"


def _steps_around(compared: Compared, at: int) -> tuple[int | None, int | None]:
    """The nearest columns before and after `at` with which a step of any side begins."""
    size, back, on = compared.size, [], []
    for one in compared.sides:
        if at:
            back.append(one.begin(one.step_at(at - 1)))
        end = one.lane.edge(one.index.step_ends[one.step_at(at) - 1])
        on += [end] * (end > at)
    return max(back, default=None), min([*on, *[size] * (at < size)], default=None)


def _step_jumps(compared: Compared, view: View) -> list[int]:
    """The columns inside the window with which steps begin, and the nearest one on either side of it."""
    steps = {view.start, view.end}
    for one, shown in zip(compared.sides, view.windows, strict=True):
        ends = one.index.step_ends
        steps.update(map(one.lane.edge, ends[bisect_left(ends, shown.start) : bisect_right(ends, shown.end)]))
    back, on = _steps_around(compared, view.start)[0], _steps_around(compared, view.end)[1]
    return sorted({*steps, *[edge for edge in (back, on) if edge is not None]})


def _listed(places: list[tuple[Parting, Placed]], at: int) -> list[tuple[Parting, Placed]]:
    """Not more than the limit, those around the cursor among them."""
    middle = bisect_left([place.start for place, _ in places], at)
    low = max(0, min(middle - LISTED // 2, len(places) - LISTED))
    return places[low : low + LISTED]


def sentence(compared: Compared) -> _Sentence:
    """Return what the replays come to."""
    firsts = [_first_of(compared, one, found) for one, found in compared.pairs]
    raised = _raised(compared)
    severity = min([first.severity for first in firsts], key=SEVERITIES.index)
    if severity == "pass" and raised:
        severity = "warning"
    apart = [place for found in compared.found for place in found.partings if place.kinds != {"sent"}]
    places, outputs, tools = count(len(apart), "place"), _outputs(compared), _tools(compared)
    if not any(first.where for first in firsts):
        sides = "both sides" if len(firsts) == 1 else f"all {len(firsts) + 1} sides"
        rest = f"Every character has the same owner on {sides}."
        if apart:
            first = min([place.start for place in apart])
            rest = f"Still, the sides account for the output differently in {places}, first at {compared.place(first)}."
        told = [first for first in firsts if first.sends]
        return _Sentence(severity, f"The same message on {sides}.", outputs or rest, raised, told, tools)
    headline = firsts[0].words if len(firsts) == 1 else _headline(compared)
    rest = f"{outputs}The sides part in {places}{_before(compared)}."
    return _Sentence(severity, headline, rest, raised, firsts, tools)


def _tools(compared: Compared) -> str:
    """Which sides know no tools, where a message has calls, and what that is worth."""
    if not any(one.index.calls for one in compared.sides):
        return ""
    without = [one.side.title for one in compared.sides if not one.side.case.tools]
    if not without:
        return ""
    if any(compared.by_tools):
        told = "tools declared" if len(without) == len(compared.sides) else "the same tools"
        return f"With {told} the messages are the same."
    if len(without) == len(compared.sides):
        return "No tools are declared, so the types of arguments are a guess."
    return f"No tools are declared for {' and '.join(without)}."


def _why(compared: Compared, number: int) -> str:
    """Why a side gives another message where only the tools explain it; empty where more does."""
    if not compared.is_explained([number]):
        return ""
    first, other = compared.sides[0], compared.sides[number]
    if not first.side.case.tools and not other.side.case.tools:
        return ", only because no tools are declared"
    knows, lacks = (first, other) if first.side.case.tools else (other, first)
    return f", only because {knows.side.title} knows tools and {lacks.side.title} none"


def _before(compared: Compared) -> str:
    """What the band shows before the place that is named, of two sides: a place that changes no message."""
    found = compared.found[0]
    if len(compared.found) > 1 or found.opens is None or found.starts[0] >= found.opens:
        return ""
    return f"; the first, at {compared.place(found.starts[0])}, changes no message"


def _headline(compared: Compared) -> str:
    pairs = enumerate(compared.pairs, 1)
    said = [f"{one.side.title} {_parts(compared, found)}{_why(compared, at)}" for at, (one, found) in pairs]
    return "; ".join(said) + "."


def _parts(compared: Compared, found: Comparison) -> str:
    """How a message is another one, and from where on. The place is that of the channel which parts first: it is named
    where it is none of the calls that differ too."""
    if found.first is None:
        return "gives the same message"
    words, since, channel = SHORT[found.grade], _since(compared, found.at), found.first.channel
    if found.grade == "calls" and channel.part in TEXT_PARTS and found.at is not None:
        return f"parts in {channel} at {compared.place(found.at)} and gives {words}"
    return f"gives {words}{since}"


def _since(compared: Compared, at: int | None) -> str:
    if at is None:
        return ""
    place = compared.place(at)
    return f" at {place}" if compared.is_end(at) else f" from {place} on"


def _outputs(compared: Compared) -> str:
    """Return where the outputs differ, in words; empty where they are one. Of several sides that is said at once. Where
    no output is known, in what the messages differ."""
    if compared.by_message:
        return _in_what(compared)
    pairs = zip(compared.pairs, compared.axis.hunks[1:], strict=True)
    others = [
        (one.side.title, len(hunks), found.other) for (one, found), hunks in pairs if hunks and found.other is not None
    ]
    if not others:
        return ""
    if len(compared.found) == 1:
        _, places, at = others[0]
        return f"The output of B differs from A's in {count(places, 'place')}, first at {compared.place(at)}. "
    said = [f"{title} in {count(places, 'place')}" for title, places, _ in others]
    return f"The outputs differ from A's: {', '.join(said)}. "


def _in_what(compared: Compared) -> str:
    many = len(compared.found) > 1
    words = [
        f"{one.side.title}'s server ended with an error: {shorten(one.side.server_error, LONGEST_ERROR).rstrip('.')}. "
        for one in compared.sides
        if one.side.server_error
    ]
    for one, found in compared.pairs:
        if said := differs_in(found, one.side.title):
            words.append(f"{one.side.title}: {said} " if many else f"{said[:1].upper()}{said[1:]} ")
    return "".join(words)


def _first_of(compared: Compared, one: Placed, found: Comparison) -> _First:
    first, sends, number = found.first, None, compared.sides.index(one)
    if found.deltas is not None and found.sends is not None:
        sends = _Sends(found.deltas.index, found.sends)
    if first is None:
        return _First(one.side.name, "pass", "The same message.", sends=sends)
    place = "" if found.at is None else f" at {compared.place(found.at)}"
    return _First(
        one.side.name,
        compared.severity([number]),
        GRADES[found.grade].removesuffix(".") + f"{_why(compared, number).removeprefix(',')}.",
        where=f"First in {first.channel}{_counted(first, place)}",
        at=found.at,
        steps=(first.step_a, first.step_b),
        texts=_around(first.expected, first.actual),
        sends=sends,
    )


def _counted(first: Divergence, place: str) -> str:
    """The place in words; what is in a call is counted in its own text, as a client has it, before all."""
    if first.channel.part not in CALL_PARTS:
        return place
    return f" at its character {first.offset:,}" + (f" ({place.removeprefix(' at ')})" if place else "")


def _around(a: str, b: str) -> tuple[str, str]:
    """Both texts from a little before the place where they stop being the same."""
    start = max(0, shared_prefix(a, b) - LEAD)
    lead = "…" if start else ""
    return lead + shorten(a[start:], EXCERPT), lead + shorten(b[start:], EXCERPT)


def _raised(compared: Compared) -> list[str]:
    failures = [(one.side, one.index.trace.failure) for one in compared.sides]
    return [f"The parser of {side.title} failed: {words}" for side, words in failures if words]


def place_row(first: Placed, one: Placed, parting: Parting, size: int) -> _Place:
    """One place where a side parts from the first. `end` stands behind the last character of the output."""
    source = first if _has(first, parting.start) else one
    low, high = source.lane.offset(parting.start), source.lane.offset(min(parting.end, parting.start + EXCERPT))
    more = "…" if parting.end - parting.start > EXCERPT else ""
    roles = [_role(side, parting.start) for side in (first, one)]
    text = source.text[low:high] + more if parting.start < size else ""
    what = _what(parting, "output" if one.side.sent is None else "text")
    return _Place(one.side.name, parting.start, min(parting.end, size), text, roles[0], roles[1], what)


def _has(one: Placed, column: int) -> bool:
    """Return whether a side has a character at a column."""
    offset = one.lane.offset(column)
    return offset < len(one.text) and one.lane.column(offset) == column


def _role(one: Placed, column: int) -> str:
    return role_at(one.index, one.lane.offset(column)) if _has(one, column) else ""


def _what(parting: Parting, thing: str) -> str:
    names = ", ".join(parting.channels[:4]) + (" …" if len(parting.channels) > 4 else "")
    if parting.kinds == {"sent"}:
        return "the same message, sent otherwise from here on"
    if parting.kinds == {"order"}:
        return f"from here on both sides have sent other text: {names}"
    said = [f"other {thing}"] * ("output" in parting.kinds) + ["other owner"] * ("owner" in parting.kinds)
    return "; ".join(said + [names] * bool(names))
