"""Puts a comparison's page together: the sentence, the output, steps and messages of both sides, at one character."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from urllib.parse import urlencode

from parsers.compare.divergence import Rules
from webapp.page import cards, compare_band, compare_message, compare_text
from webapp.page.compare_parts import Comparison, Parting, compare, neighbours
from webapp.page.compare_sides import Replayed
from webapp.page.compare_state import Asked, Links
from webapp.page.compare_words import Place, Sentence, place, sentence
from webapp.page.index import TraceIndex
from webapp.page.running import Runner
from webapp.page.window import Window
from webapp.runs.runner import collector_paused

LISTED = 40
NAV_WORDS = {"step": "step of either side", "change": "state change", "parting": "place where the sides part"}


@dataclass(slots=True)
class SideStep:
    """One step of one side, shown while the cursor is in [start, end). `silent`: deltas without text before it."""

    start: int
    end: int
    shown: bool
    silent: int
    card: cards.Card


@dataclass(slots=True)
class Column:
    """One side's steps."""

    side: Replayed
    steps: list[SideStep]
    now: int
    inspect: str


@dataclass(slots=True)
class Page:
    """Everything the comparison's templates read. `posted`: the run has no address, controls post the form again."""

    links: Links
    asked: Asked
    posted: bool
    case_json: str
    at: int
    size: int
    rules: Rules
    sentence: Sentence
    columns: tuple[Column, Column]
    view: compare_text.View
    bits: list[compare_text.Bit]
    band: compare_band.Band
    messages: compare_message.Messages
    nav: dict[str, tuple[int | None, int | None]]
    jumps: str
    places: list[Place]
    more: int

    @property
    def end_bit(self) -> compare_text.Bit:
        """The end of the output, where the cursor can stand too."""
        at = self.at == self.size
        return compare_text.Bit(self.size, self.size + 1, "end", "end", "", False, at, not at)

    @property
    def summary(self) -> str:
        """The states of both sides at the cursor."""
        states = [step.card.state for column in self.columns for step in column.steps if step.shown]
        return " · ".join([f"{name} {state}" for name, state in zip("AB", states, strict=False)])

    @property
    def nav_words(self) -> dict[str, str]:
        """What the kinds of jumps are called."""
        return NAV_WORDS


def comparison_of(runner: Runner, a: Replayed, b: Replayed, rules: Rules) -> Comparison:
    """The comparison of two runs, kept by what they are."""
    return runner.comparisons.get((a.run.key, b.run.key, rules), lambda: _compare(a, b, rules))


def _compare(a: Replayed, b: Replayed, rules: Rules) -> Comparison:
    with collector_paused():
        return compare(a.run.index, b.run.index, rules)


def page(
    runner: Runner, a: Replayed, b: Replayed, rules: Rules, links: Links, *, posted_case: str = "", inspect: str = ""
) -> Page:
    """The page about two sides. `inspect` is the address of the case in the inspector."""
    left, right = a.run.index, b.run.index
    found = comparison_of(runner, a, b, rules)
    size = len(left.trace.text)
    at = min(_first(found, left) if links.asked.at is None else links.asked.at, size)
    view = compare_text.view_around(left, right, at)
    stops = [neighbours(found.starts, at), neighbours(found.changes, at)]
    return Page(
        links=links,
        asked=links.asked,
        posted=bool(posted_case),
        case_json=posted_case,
        at=at,
        size=size,
        rules=rules,
        sentence=sentence(a, b, found),
        columns=(_column(a, view.a, at, inspect), _column(b, view.b, at, inspect)),
        view=view,
        bits=compare_text.bits(left, right, found, view, at),
        band=compare_band.band(left, right, found, at),
        messages=compare_message.messages(left, right, found, view),
        nav={"step": _steps_around(left, right, at), "change": stops[1], "parting": stops[0]},
        jumps=json.dumps(_jumps(left, right, found, view)),
        places=[place(left, right, parting) for parting in _listed(found.partings, at)],
        more=max(0, len(found.partings) - LISTED),
    )


def _first(found: Comparison, index: TraceIndex) -> int:
    """Where a reader starts: where the sides part, else where text is first held."""
    if found.starts:
        return found.starts[0]
    held = next((step for step in index.trace.steps if step.holds), None)
    return held.span.start if held else 0


def _column(side: Replayed, window: Window, at: int, inspect: str) -> Column:
    index = side.run.index
    terminals = dict(side.run.format.terminals)
    now, steps = index.step_at(at), []
    for number in range(window.first, window.last + 1):
        span, is_end = index.step(number).span, number == index.total
        if span.end > span.start or is_end:
            card = cards.card(index, number, terminals)
            steps.append(SideStep(span.start, span.end + is_end, number == now, _silent(index, number), card))
    return Column(side, steps, now, _inspect(side, inspect, now))


def _silent(index: TraceIndex, number: int) -> int:
    """How many deltas without text came between step `number` and the text before it."""
    start = index.step(number).span.start
    return number - 1 - (bisect_left(index.step_ends, start) + 1 if start else 0)


def _inspect(side: Replayed, base: str, step: int) -> str:
    """Where this side is opened in the inspector; empty where only a new run can show it."""
    if not base or side.moved:
        return ""
    query = {"step": step} if side.is_own else {"step": step, "chunk": side.side.chunk}
    return f"{base}?{urlencode(query, safe=':,')}"


def _steps_around(a: TraceIndex, b: TraceIndex, at: int) -> tuple[int | None, int | None]:
    """The nearest characters before and after `at` with which a step of either side begins."""
    size = len(a.trace.text)
    back = [_start_before(index, at) for index in (a, b)] if at else []
    on = [end for index in (a, b) if (end := index.step_ends[index.step_at(at) - 1]) > at]
    return max(back, default=None), min([*on, *[size] * (at < size)], default=None)


def _start_before(index: TraceIndex, at: int) -> int:
    """Where the step begins that was fed the character before `at`, or the one at `at` if it began earlier."""
    return index.step(index.step_at(at - 1)).span.start


def _jumps(a: TraceIndex, b: TraceIndex, found: Comparison, view: compare_text.View) -> dict[str, list[int]]:
    """The targets inside the window, and the nearest ones on either side of it."""
    steps = {edge for index in (a, b) for edge in _between(index.step_ends, view.start, view.end)}
    back, on = _steps_around(a, b, view.start)[0], _steps_around(a, b, view.end)[1]
    edges = {view.start, view.end, *steps, *[edge for edge in (back, on) if edge is not None]}
    return {
        "step": sorted(edges),
        "change": _reached(found.changes, view),
        "parting": _reached(found.starts, view),
    }


def _between(places: list[int], low: int, high: int) -> list[int]:
    return places[bisect_left(places, low) : bisect_right(places, high)]


def _reached(places: list[int], view: compare_text.View) -> list[int]:
    low, high = bisect_left(places, view.start), bisect_right(places, view.end)
    return places[max(0, low - 1) : high + 1]


def _listed(partings: list[Parting], at: int) -> list[Parting]:
    """Not more than the limit, those around the cursor among them."""
    middle = bisect_left([parting.start for parting in partings], at)
    low = max(0, min(middle - LISTED // 2, len(partings) - LISTED))
    return partings[low : low + LISTED]
