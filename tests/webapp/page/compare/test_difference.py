"""Where two replays of one output part."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.compare.divergence import EXACT, Rules
from parsers.machine.machine import Machine
from parsers.selection.registry import policies
from parsers.vocabulary.events import CallStart, ContentText, Event, SegmentKind
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Delta
from tests.webapp.page.compare.pages import Pages
from webapp.engines import Choice
from webapp.engines import choose as real_choose
from webapp.page.compare import sides as compare_sides
from webapp.page.compare.alignment import Hunk, axis_of
from webapp.page.compare.asked import Side
from webapp.page.compare.difference import Both, Parting, call_pairs, compare, hunks, merged, role_at, text_pairs
from webapp.page.inspect.index import CallIndex, Channel, TraceIndex, index_of, neighbours
from webapp.page.inspect.index import build as build_index

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
TWO = f"Hi. {CALL}{CALL.replace('f', 'g')} Bye."


LANE = axis_of([" " * 100]).lanes[0]
Piece = tuple[str, int, int, SegmentKind]


def channel(*pieces: Piece) -> Channel:
    found = Channel("content")
    for text, start, end, kind in pieces:
        found.add(text, 1, 1, (start, end), kind)
    return found


def copied(text: str, start: int) -> Piece:
    return text, start, start + len(text), "copied"


def applied(a: Channel, b: Channel) -> str:
    """The text of `a` with every hunk replaced by what `b` has there."""
    left, right, done, out = a.text, b.text, 0, ""
    for hunk in hunks(a, b):
        out += left[done : hunk.a0] + right[hunk.b0 : hunk.b1]
        done = hunk.a1
    return out + left[done:]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([copied("abc", 0)], [copied("ab", 0), copied("c", 2)], [], id="other stretches, same text"),
        pytest.param([copied("abcdef", 0)], [copied("ab", 0), copied("ef", 4)], [Hunk(2, 4, 2, 2)], id="lost inside"),
        pytest.param([copied("xxxx", 0)], [copied("xx", 2)], [Hunk(0, 2, 0, 0)], id="lost at the front, all alike"),
        pytest.param([copied("ab", 0)], [], [Hunk(0, 2, 0, 0)], id="nothing on one side"),
        pytest.param([], [], [], id="nothing at all"),
        pytest.param(
            [copied("ab", 0), copied("cd", 9)], [copied("ab", 0), copied("zz", 5), copied("cd", 9)],
            [Hunk(2, 2, 2, 4)], id="more on the other side",
        ),
        pytest.param(
            [copied("a", 0), ("12", 1, 3, "converted"), copied("b", 3)], [copied("a12b", 0)], [],
            id="converted to what it was",
        ),
        pytest.param(
            [copied("a", 0), ('"1"', 1, 2, "converted"), copied("b", 2)], [copied("a1b", 0)], [Hunk(1, 4, 1, 2)],
            id="converted to something else",
        ),
        pytest.param(
            [copied("a", 0), ("}", 1, 1, "synthetic")], [copied("a", 0)], [Hunk(1, 2, 1, 1)], id="made up",
        ),
        pytest.param(
            [("{", 0, 0, "synthetic"), ("}", 0, 0, "synthetic")], [("{}", 0, 0, "synthetic")], [],
            id="made up in parts",
        ),
        pytest.param([("abc", 0, 9, "copied")], [copied("abd", 0)], [Hunk(2, 3, 2, 3)], id="no places known"),
        pytest.param([copied("ab", 4), copied("c", 0)], [copied("abd", 4)], [Hunk(2, 3, 2, 3)], id="places go back"),
    ],
)  # fmt: skip
def test_differences_are_found_by_origin(a: list[Piece], b: list[Piece], expected: list[Hunk]) -> None:
    assert list(hunks(channel(*a), channel(*b))) == expected


KINDS: tuple[SegmentKind | None, ...] = ("copied", "copied", None, "converted", "synthetic")  # None: left out


@st.composite
def partial_copies(draw: st.DrawFn) -> Channel:
    """Stretches of one output, in order, some left out, some rewritten."""
    text = "aabbaabbccaabb"
    edges = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2)))
    pieces: list[Piece] = []
    for start, end in itertools.pairwise(edges):
        kind = draw(st.sampled_from(KINDS))
        if kind == "copied":
            pieces.append(copied(text[start:end], start))
        elif kind is not None:
            pieces.append((draw(st.text("abc", max_size=3)), start, end if kind == "converted" else start, kind))
    return channel(*pieces)


@given(partial_copies(), partial_copies())
@pytest.mark.replays
def test_the_hunks_turn_one_text_into_the_other(a: Channel, b: Channel) -> None:
    assert applied(a, b) == b.text
    found = list(hunks(a, b))
    assert all(x.a1 <= y.a0 and x.b1 <= y.b0 for x, y in itertools.pairwise(found))
    assert (found == []) == (a.text == b.text)


def index(*calls: tuple[str, int], content: str = "", reasoning: str = "") -> TraceIndex:
    found = build_index(Trace("p", (), {}, "text", ""), [])
    for number, (name, start) in enumerate(calls):
        named = channel(copied(name, start)) if start >= 0 else channel((name, 0, 0, "synthetic"))
        found.calls[number] = CallIndex(number, 1, named, channel(), channel(copied('{"a": 1}', start + 20)))
    found.content, found.reasoning = channel(copied(content, 0)), channel(copied(reasoning, 0))
    return found


def placed(a: TraceIndex, b: TraceIndex) -> Both:
    """Both on one output, of which nothing but its length is known."""
    return replace(Both.of(a, b), on_a=LANE, on_b=LANE, size=100)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([("f", 5)], [("f", 5)], [(0, 0)], id="one and the same"),
        pytest.param([("f", 5), ("g", 50)], [("g", 50)], [(0, None), (1, 0)], id="the first is lost"),
        pytest.param([("f", 5)], [("f", 5), ("g", 50)], [(0, 0), (None, 1)], id="one more"),
        pytest.param([("f", 5), ("g", 50)], [("f", 6), ("g", 50)], [(0, 0), (1, 1)], id="read a little elsewhere"),
        pytest.param([("f", -1)], [("f", -1)], [(0, 0)], id="places unknown"),
        pytest.param([("f", 50), ("g", 5)], [("g", 5), ("f", 50)], [(None, 0), (0, 1), (1, None)], id="other order"),
        pytest.param([], [], [], id="none"),
    ],
)
def test_calls_that_stand_at_one_place_belong_together(
    a: list[tuple[str, int]], b: list[tuple[str, int]], expected: list[tuple[int | None, int | None]]
) -> None:
    found = call_pairs(placed(index(*a), index(*b)), EXACT)
    assert [(pair.a and pair.a.number, pair.b and pair.b.number) for pair in found] == expected


def test_the_rules_decide_what_is_the_same() -> None:
    a, b = index(content="a  b"), index(content="a b")
    assert [pair.same for pair in text_pairs(placed(a, b), EXACT)] == [True, False]
    soft = text_pairs(placed(a, b), Rules(whitespace="soft"))
    assert [(pair.same, pair.hunks) for pair in soft] == [(True, []), (True, [])]


def test_arguments_and_ids_go_by_their_own_rules() -> None:
    a, b = index(("f", 5)), index(("f", 5))
    a.calls[0].arguments, b.calls[0].arguments = channel(copied('{"a":1}', 9)), channel(copied('{"a": 1}', 9))
    a.calls[0].id = channel(("x", 9, 9, "synthetic"))
    exact, loose = (call_pairs(placed(a, b), rules)[0] for rules in (EXACT, Rules(arguments="json", ids=False)))
    assert [part.same for part in exact.parts] == [True, False, False]
    assert [part.same for part in loose.parts] == [True, True, True]


class Forgetful(Machine):
    """Drops what a second call of one delta says: what a real parser did that looked for one call a delta."""

    def feed(self, delta: Delta) -> list[Event]:
        events = super().feed(delta)
        starts = [at for at, event in enumerate(events) if isinstance(event, CallStart)]
        if len(starts) < 2:
            return events
        call = events[starts[1]].call  # type: ignore[attr-defined]
        return [event for event in events if getattr(event, "call", None) != call]


class Failing(Machine):
    """Fails on a delta that holds a whole call."""

    def feed(self, delta: Delta) -> list[Event]:
        if "</tool_call>" in delta.text and "<tool_call>" in delta.text:
            raise IndexError("no room")
        return super().feed(delta)


class Shouting(Machine):
    """Writes the content of long deltas in capitals, and says nothing of where it comes from."""

    def feed(self, delta: Delta) -> list[Event]:
        events = super().feed(delta)
        if len(delta.text) > 20:
            return [ContentText(0, 0, e.text.upper()) if isinstance(e, ContentText) else e for e in events]
        return events


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Machine]], None]:
    """Puts another parser in the place of the built-in one."""

    def put(parser: type[Machine], black_box: bool = False) -> None:
        def choose(case: Any) -> Choice:
            found = real_choose(case)
            return replace(found, make=lambda: parser(found.format, policies(found.format)), black_box=black_box)

        monkeypatch.setattr(compare_sides, "choose", choose)
        monkeypatch.setattr("webapp.runs.prepare.choose", choose)

    return put


def test_a_right_parser_parts_nowhere_under_another_chunking(pages: Pages) -> None:
    found = pages.compared(TWO, Side(), Side(chunk="whole"))
    assert (found.grade, found.first, found.partings) == (None, None, [])
    assert [pair.same for pair in found.texts] == [True, True]


def test_characters_with_another_owner_are_one_place_where_they_touch(pages: Pages) -> None:
    found = pages.compared(f"Hi. {CALL}", Side(), Side(parser="passthrough"))
    whole, end = found.partings
    assert (whole.start, whole.end, whole.kinds) == (4, 4 + len(CALL), {"owner", "text"})
    assert whole.channels == ["content", *(f"tool_calls[0].{part}" for part in ("name", "id", "arguments"))]
    assert (end.start, end.kinds, end.channels) == (4 + len(CALL), {"end"}, ["finish_reason"])


def test_a_lost_call_parts_where_it_stands(pages: Pages, broken: Any) -> None:
    broken(Forgetful)
    found = pages.compared(TWO, Side(), Side(chunk="whole"))
    start = TWO.index("<tool_call>", 10)
    assert found.grade == "calls"
    assert [(pair.a is not None, pair.b is not None) for pair in found.calls] == [(True, True), (True, False)]
    assert all(start <= place.start for place in found.partings)
    name = TWO.index('"g"') + 1
    assert any(place.start <= name < place.end for place in found.partings)


def test_a_failing_parser_is_named(pages: Pages, broken: Any) -> None:
    broken(Failing)
    shown = pages(CALL, Side(chunk="whole"), Side())
    assert "The parser of A failed: IndexError: no room" in shown.sentence.raised[0]
    same = pages("Hi.", Side(chunk="whole"), Side())
    assert (same.sentence.severity, same.sentence.raised) == ("pass", [])


def test_a_parser_that_gives_no_places_parts_where_its_step_begins(pages: Pages, broken: Any) -> None:
    broken(Shouting)
    text = "hello hello hello hello"
    shown = pages(text, Side(), Side(chunk="whole"), at=3)
    assert [(place.start, place.a, place.b) for place in shown.places] == [(0, "content", "dropped")]
    assert "content" in shown.places[0].what


def test_a_black_box_has_no_owners_and_still_has_a_page(pages: Pages, broken: Any) -> None:
    broken(Forgetful, black_box=True)
    shown = pages(TWO, Side(), Side(chunk="whole"))
    assert {role for bit in shown.strips[0].bits for role in bit.roles.values()} == {"unknown"}
    assert [lane.roles for lane in shown.band.lanes] == [[], []]
    assert shown.places[0].what.startswith("tool_calls[1].name")


def test_other_text_with_the_same_owners_is_marked_and_said(pages: Pages) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "12"}}\n</tool_call>'
    shown = pages(text, Side(), Side(parser="passthrough"), tools=tools)
    assert shown.sentence.headline == "The calls differ."
    call = shown.messages.calls[0]
    assert ([head and head.number for head in call.heads], call.same) == ([0, None], False)
    assert any(part.differs for row in call.rows for part in row.cells[0])
    assert [part.words for row in call.rows for part in row.cells[1]] == [
        f"{count} missing" for count in ("1 character", "46 characters", "9 characters")
    ]


def test_a_call_cut_off_on_one_side_only_parts_where_it_ends(pages: Pages) -> None:
    pages(CALL, Side(), Side(chunk="whole"))
    left, right = pages.sides
    number, call = next(iter(index_of(right.run).calls.items()))
    cut = replace(index_of(right.run), calls={number: replace(call, complete=False)})
    (end,) = compare(Both.of(index_of(left.run), cut), EXACT).partings
    assert (end.start, end.kinds, end.channels) == (CALL.index("</tool_call>"), {"end"}, ["call 0"])


def test_places_at_the_end_are_not_drawn_into_what_is_before() -> None:
    places = [Parting(3, 5, {"owner"}, ["a"]), Parting(9, 10, {"end"}), Parting(4, 9, {"text"}, ["b", "a"]),
              Parting(9, 10, {"text"}), Parting(1, 2, {"text"})]  # fmt: skip
    found = [(place.start, place.end, sorted(place.kinds), place.channels) for place in merged(places, 9)]
    assert found == [
        (1, 2, ["text"], []),
        (3, 9, ["owner", "text"], ["a", "b"]),
        (9, 10, ["end", "text"], []),
    ]


@pytest.mark.parametrize(("at", "expected"), [(0, (None, 3)), (3, (None, 7)), (5, (3, 7)), (7, (3, None))])
def test_the_neighbours_of_a_place(at: int, expected: tuple[int | None, int | None]) -> None:
    assert neighbours([3, 7], at) == expected


def test_nobody_knows_who_owns_what_is_beyond_the_output() -> None:
    index = build_index(Trace("p", (), {}, "text", ""), [])
    assert role_at(index, 0) == "unknown"


def test_a_call_begun_and_a_difference_later_keep_their_order(pages: Pages) -> None:
    found = pages.compared(TWO, Side(), Side(parser="passthrough"))
    assert found.starts == sorted(found.starts)
    assert all(x.end < y.start for x, y in zip(found.partings, found.partings[1:], strict=False))
