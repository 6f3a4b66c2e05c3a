"""Puts a comparison's page together: its form, the sentence, the output, steps and messages of both sides, at one
character."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from parsers.cases.case import Case
from parsers.cases.engines import FALLBACK
from parsers.compare.divergence import Grade, Rules, shared_prefix
from parsers.decoding import POLICIES
from webapp.engines import RESPONSE_TEMPLATE
from webapp.formats.folder import formats_folder
from webapp.glyphs import count, shorten
from webapp.page.compare.comparison import Band, Bit, Messages, View, band, bits, messages, role_at, view_around
from webapp.page.compare.difference import Comparison, Parting, compare
from webapp.page.compare.sides import RULES, Asked, CompareLinks, Replayed
from webapp.page.form.form_page import Option, PolicyField, choices, stream_option
from webapp.page.form.setup import Setup, decode_words
from webapp.page.inspect.index import TraceIndex, Window, index_of, neighbours, within_reach
from webapp.page.inspect.step import Card
from webapp.page.inspect.step import card as card_of_step
from webapp.runs.runner import Runner, collector_paused
from webapp.settings import Settings

CHUNKS: tuple[tuple[str, str], ...] = (
    ("token", "token by token"),
    ("token:2", "2 tokens"),
    ("token:3", "3 tokens"),
    ("token:5", "5 tokens"),
    ("token:10", "10 tokens"),
    ("char", "character by character"),
    ("char:5", "5 characters"),
    ("whole", "whole, in one delta"),
    ("recorded", "as recorded"),
    ("random:1", "random sizes, seed 1"),
    ("random:1:8:char", "random sizes in characters"),
    ("cuts:10", "cut at character 10"),
)
DECODED = (("", ""), ("+skip", ", special tokens skipped"))


@dataclass(slots=True, frozen=True)
class _CompareForm:
    """The form. `wrong` is what could not be used, by the name of its control. `has_ids`: the case holds recorded ids,
    so there is a choice of how markers are recognised. `own_start` and `own_decode` say what the case says.

    `rows` are the sides, each with its parsers and the policies that are set for it; `rules` are names, labels, what
    each is as usual, and the choices."""

    wrong: dict[str, str]
    rows: list[tuple[Replayed, list[Option], dict[str, str]]]
    chunks: list[Option]
    policies: list[PolicyField]
    rules: list[tuple[str, str, str, list[Option]]]
    decodes: list[Option]
    has_ids: bool
    own_start: str
    own_decode: str


def compare_form(case: Case, a: Replayed, b: Replayed, wrong: dict[str, str], settings: Settings) -> _CompareForm:
    """The form of a comparison of `case`."""
    offered = choices(Setup(), formats_folder(settings).formats)
    own = case.parser.name + (" behind the wrapper" if case.parser.engine == FALLBACK else "")
    parsers = [Option("", f"as in the case: {own}")]
    if case.parser.engine is None:
        parsers.append(Option(f"+{FALLBACK}", f"{own}, behind the wrapper"))
    parsers += [option for option in offered.parsers if option.value != RESPONSE_TEMPLATE]
    if case.input.stream:
        parsers.append(stream_option(len(case.input.stream)))
    usual = rules_of(case, Asked(), a, b)
    return _CompareForm(
        wrong=wrong,
        rows=[_row(a, parsers), _row(b, parsers)],
        chunks=[Option(*chunk) for chunk in CHUNKS if chunk[0] != "recorded" or case.input.deltas],
        policies=offered.policies,
        rules=[_rule(name, usual) for name in RULES],
        decodes=_decodes([a.given.decode, b.given.decode]),
        has_ids=case.mode() == "ids",
        own_start="reasoning" if case.context.reasoning_open else "content",
        own_decode=decode_words(case) or "exact",
    )


def rules_of(case: Case, asked: Asked, a: Replayed, b: Replayed) -> Rules:
    """The rules in force. Two formats, and every black box, make up ids in their own ways: there ids do not count."""
    comparable = a.run.format.name == b.run.format.name and not (a.run.choice.black_box or b.run.choice.black_box)
    own = case.compare.rules()
    return Rules(
        arguments=asked.arguments or own.arguments,
        whitespace=asked.whitespace or own.whitespace,
        ids=asked.ids == "same" if asked.ids else comparable,
        calls=asked.calls or own.calls,
    )


def _decodes(given: list[str]) -> list[Option]:
    """Every decode policy, with special tokens as the case has them and skipped; words given stay choosable."""
    offered = [Option(f"{name}{flag}", f"{name}{words}") for name in POLICIES for flag, words in DECODED]
    known = {option.value for option in offered}
    return [*offered, *[Option(word, word) for word in dict.fromkeys(given) if word and word not in known]]


def _rule(name: str, usual: Rules) -> tuple[str, str, str, list[Option]]:
    label, words = RULES[name]
    own = ("same" if usual.ids else "any") if name == "ids" else str(getattr(usual, name))
    return name, label, f"as usual: {words[own]}", [Option(*pair) for pair in words.items()]


def _row(side: Replayed, parsers: list[Option]) -> tuple[Replayed, list[Option], dict[str, str]]:
    word = side.given.parser
    known = word in {option.value for option in parsers}
    chosen = dict(pair.split(":", 1) for pair in side.given.policy.split(",") if ":" in pair)
    return side, parsers if known else [*parsers, Option(word, word)], chosen


LISTED = 40
EXCERPT = 60
LEAD = 24
GRADES: dict[Grade, str] = {
    "calls": "The calls differ.",
    "text": "The calls are the same; the text differs.",
    "whitespace": "Only whitespace of the text differs.",
}


@dataclass(slots=True, frozen=True)
class _SideStep:
    """One step of one side, shown while the cursor is in [start, end). `silent`: deltas without text before it."""

    start: int
    end: int
    shown: bool
    silent: int
    card: Card


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
    """Says where the reader is in the output. `nav` has the nearest places before and after by kind, `jumps` those that
    scripts can reach from the window, as JSON."""

    at: int
    size: int
    nav: dict[str, tuple[int | None, int | None]]
    jumps: str


@dataclass(slots=True, frozen=True)
class _Sentence:
    """The sentence on top. `steps` are the first differing step on either side; `texts` what each side has there."""

    severity: str
    headline: str
    rest: str
    raised: list[str]
    where: str = ""
    at: int | None = None
    steps: tuple[int | None, int | None] = (None, None)
    texts: tuple[str, str] = ("", "")


@dataclass(slots=True, frozen=True)
class _Place:
    """One place where the sides part, as a row of the list."""

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
    """The panes about two sides. `more` places are not listed."""

    links: CompareLinks
    cursor: _CharacterCursor
    sentence: _Sentence
    columns: tuple[_Column, _Column]
    view: View
    bits: list[Bit]
    band: Band
    messages: Messages
    places: list[_Place]
    more: int

    @property
    def summary(self) -> str:
        """The states of both sides at the cursor."""
        states = [step.card.state for column in self.columns for step in column.steps if step.shown]
        return " · ".join([f"{name} {state}" for name, state in zip("AB", states, strict=False)])


def sides_page(
    runner: Runner, a: Replayed, b: Replayed, rules: Rules, *, links: CompareLinks, inspect: str
) -> SidesPage:
    """The panes about two sides. `inspect` is the address of the case in the inspector."""
    left, right = index_of(a.run), index_of(b.run)
    key = f"{a.run.key} {b.run.key} {rules}"
    found = runner.computed(key, lambda: _comparison(left, right, rules), size=Comparison.size)
    size = len(left.trace.text)
    at = min(_first(found, left) if links.asked.at is None else links.asked.at, size)
    view = view_around(left, right, at)
    nav = {"step": _steps_around(left, right, at), "change": neighbours(found.changes, at)}
    nav["parting"] = neighbours(found.starts, at)
    return SidesPage(
        links=links,
        cursor=_CharacterCursor(at, size, nav, json.dumps(_jumps(left, right, found, view))),
        sentence=sentence(a, b, found),
        columns=(_column(a, view.a, at, inspect), _column(b, view.b, at, inspect)),
        view=view,
        bits=bits(left, right, found, view, at),
        band=band(left, right, found, at),
        messages=messages(left, right, found, view),
        places=[place(left, right, parting) for parting in _listed(found.partings, at)],
        more=max(0, len(found.partings) - LISTED),
    )


def _comparison(a: TraceIndex, b: TraceIndex, rules: Rules) -> Comparison:
    with collector_paused():
        return compare(a, b, rules)


def _first(found: Comparison, index: TraceIndex) -> int:
    if found.starts:
        return found.starts[0]
    held = next((step for step, _, _ in index.trace.columns.held()), None)
    return index.span(held)[0] if held else 0


def _column(side: Replayed, window: Window, at: int, inspect: str) -> _Column:
    index = index_of(side.run)
    now, steps = index.step_at(at), []
    for number in range(window.first, window.last + 1):
        span, is_end = index.step(number).span, number == index.total
        if span.end > span.start or is_end:
            card = card_of_step(index, number, side.run.format.terminals)
            steps.append(_SideStep(span.start, span.end + is_end, number == now, _silent(index, number), card))
    return _Column(side, steps, index.total, now, _inspect(side, inspect, now))


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


def _steps_around(a: TraceIndex, b: TraceIndex, at: int) -> tuple[int | None, int | None]:
    """The nearest characters before and after `at` with which a step of either side begins."""
    size = len(a.trace.text)
    back = [index.span(index.step_at(at - 1))[0] for index in (a, b)] if at else []
    on = [end for index in (a, b) if (end := index.step_ends[index.step_at(at) - 1]) > at]
    return max(back, default=None), min([*on, *[size] * (at < size)], default=None)


def _jumps(a: TraceIndex, b: TraceIndex, found: Comparison, view: View) -> dict[str, Sequence[int]]:
    """The targets inside the window, and the nearest ones on either side of it."""
    ends = (a.step_ends, b.step_ends)
    steps = {edge for one in ends for edge in one[bisect_left(one, view.start) : bisect_right(one, view.end)]}
    back, on = _steps_around(a, b, view.start)[0], _steps_around(a, b, view.end)[1]
    edges = {view.start, view.end, *steps, *[edge for edge in (back, on) if edge is not None]}
    return {
        "step": sorted(edges),
        "change": within_reach(found.changes, view.start, view.end),
        "parting": within_reach(found.starts, view.start, view.end),
    }


def _listed(partings: list[Parting], at: int) -> list[Parting]:
    """Not more than the limit, those around the cursor among them."""
    middle = bisect_left([parting.start for parting in partings], at)
    low = max(0, min(middle - LISTED // 2, len(partings) - LISTED))
    return partings[low : low + LISTED]


def sentence(a: Replayed, b: Replayed, found: Comparison) -> _Sentence:
    """Return what the two replays come to."""
    first, raised = found.first, _raised(a, b, found)
    owners = count(len(found.partings), "place")
    if first is None:
        rest = "Every character has the same owner on both sides."
        if found.partings:
            rest = f"Still, the sides account for the output differently in {owners}."
        severity = "warning" if raised else "pass"
        return _Sentence(severity, "The same message on both sides.", rest, raised)
    place = f" at character {first.raw:,} of the output" if first.raw is not None else ""
    headline = GRADES[found.grade] if found.grade else "The messages are the same; the finish reasons differ."
    severity = "warning" if found.grade in ("whitespace", None) else "error"
    return _Sentence(
        severity,
        headline,
        f"The sides part in {owners}.",
        raised,
        where=f"First in {first.channel}{place}",
        at=first.raw,
        steps=(first.step_a, first.step_b),
        texts=_around(first.expected, first.actual),
    )


def _around(a: str, b: str) -> tuple[str, str]:
    """Both texts from a little before the place where they stop being the same."""
    start = max(0, shared_prefix(a, b) - LEAD)
    lead = "…" if start else ""
    return lead + shorten(a[start:], EXCERPT), lead + shorten(b[start:], EXCERPT)


def _raised(a: Replayed, b: Replayed, found: Comparison) -> list[str]:
    pairs = zip((a, b), found.raised, strict=True)
    return [f"The parser of {side.title} failed: {words}" for side, words in pairs if words]


def place(a: TraceIndex, b: TraceIndex, parting: Parting) -> _Place:
    """One place where the sides part. `end` stands behind the last character of the output."""
    size = len(a.trace.text)
    text = a.trace.text[parting.start : min(parting.end, parting.start + EXCERPT)]
    more = "…" if parting.end - parting.start > EXCERPT else ""
    roles = [role_at(index, parting.start) if parting.start < size else "" for index in (a, b)]
    return _Place(parting.start, min(parting.end, size), text + more, roles[0], roles[1], _what(parting))


def _what(parting: Parting) -> str:
    names = ", ".join(parting.channels[:4]) + (" …" if len(parting.channels) > 4 else "")
    if parting.kinds == {"order"}:
        return f"from here on both sides have sent other text: {names}"
    return "; ".join(["other owner"] * ("owner" in parting.kinds) + [names] * bool(names))
