"""Where two replays part: every place, the sentence about it, and the page around one character."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.compare.divergence import EXACT, Rules
from parsers.machine.machine import Machine
from parsers.selection.registry import policies
from parsers.vocabulary.events import CallStart, ContentText, Event
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Delta
from webapp.engines import Choice
from webapp.engines import choose as real_choose
from webapp.page import compare_sides, compare_text
from webapp.page.compare_page import LISTED, Page, page
from webapp.page.compare_parts import Comparison, Parting, _merged, compare, neighbours, owner_at
from webapp.page.compare_sides import Replayed, replayed
from webapp.page.compare_state import Asked, Links, Side
from webapp.page.index import build as build_index
from webapp.page.running import Runner
from webapp.settings import Settings

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
TWO = f"Hi. {CALL}{CALL.replace('f', 'g')} Bye."


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


class Pages:
    """Pages about two sides of one text; with a runner of its own, since parsers are exchanged under it."""

    sides: tuple[Replayed, Replayed]

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def __call__(self, text: str, a: Side, b: Side, rules: Rules = EXACT, at: int | None = None, **more: Any) -> Page:
        case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **more})
        self.sides = replayed(self.runner, case, "a", a), replayed(self.runner, case, "b", b)
        return self.page(*self.sides, rules, at)

    def page(self, a: Replayed, b: Replayed, rules: Rules = EXACT, at: int | None = None) -> Page:
        links = Links("/x/compare", Asked(a.side, b.side, at=at))
        return page(self.runner, a, b, rules, links, inspect="/x")

    def compared(self, text: str, a: Side, b: Side) -> Comparison:
        self(text, a, b)
        left, right = self.sides
        return compare(left.run.index, right.run.index, EXACT)


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(Runner(Settings(data_dir=tmp_path)))


def test_a_right_parser_parts_nowhere_under_another_chunking(pages: Pages) -> None:
    found = pages.compared(TWO, Side(), Side(chunk="whole"))
    assert (found.grade, found.first, found.partings, found.raised) == (None, None, [], (None, None))
    assert [pair.same for pair in found.texts] == [True, True]


def test_characters_with_another_owner_are_one_place_where_they_touch(pages: Pages) -> None:
    found = pages.compared(f"Hi. {CALL}", Side(), Side(parser="passthrough"))
    whole, end = found.partings
    assert (whole.start, whole.end, whole.kinds) == (4, 4 + len(CALL), {"owner", "text"})
    assert whole.channels == ["content", *(f"tool_calls[0].{part}" for part in ("name", "id", "arguments"))]
    assert (end.start, end.kinds, end.channels) == (4 + len(CALL), {"end"}, ["finish_reason"])
    assert found.parting_at(3) is None
    assert found.parting_at(10) is whole
    assert found.parting_at(end.start + 1) is None


def test_a_lost_call_parts_where_it_stands(pages: Pages, broken: Any) -> None:
    broken(Forgetful)
    found = pages.compared(TWO, Side(), Side(chunk="whole"))
    start = TWO.index("<tool_call>", 10)
    assert found.grade == "calls"
    assert [(pair.a is not None, pair.b is not None) for pair in found.calls] == [(True, True), (True, False)]
    assert all(start <= place.start for place in found.partings)
    name = TWO.index('"g"') + 1
    assert found.parting_at(name) is not None


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
    assert {bit.a for bit in shown.bits} == {"unknown"}
    assert shown.band.lanes == ([], [])
    assert shown.places[0].what.startswith("tool_calls[1].name")


def test_other_text_with_the_same_owners_is_marked_and_said(pages: Pages) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "12"}}\n</tool_call>'
    shown = pages(text, Side(), Side(parser="passthrough"), tools=tools)
    assert shown.sentence.headline == "The calls differ."
    call = shown.messages.calls[0]
    assert (call.a.number, call.b.number, call.same) == (0, None, False)
    assert any(part.differs for row in call.rows for part in row.a.parts)
    assert [part.words for row in call.rows for part in row.b.parts] == [
        f"{count} missing" for count in ("1 character", "46 characters", "9 characters")
    ]


def test_a_call_cut_off_on_one_side_only_parts_where_it_ends(pages: Pages) -> None:
    pages(CALL, Side(), Side(chunk="whole"))
    left, right = pages.sides
    number, call = next(iter(right.run.index.calls.items()))
    cut = replace(right.run.index, calls={number: replace(call, complete=False)})
    (end,) = compare(left.run.index, cut, EXACT).partings
    assert (end.start, end.kinds, end.channels) == (CALL.index("</tool_call>"), {"end"}, ["call 0"])


def test_places_at_the_end_are_not_drawn_into_what_is_before() -> None:
    places = [Parting(3, 5, {"owner"}, ["a"]), Parting(9, 10, {"end"}), Parting(4, 9, {"text"}, ["b", "a"]),
              Parting(9, 10, {"text"}), Parting(1, 2, {"text"})]  # fmt: skip
    found = [(place.start, place.end, sorted(place.kinds), place.channels) for place in _merged(places, 9)]
    assert found == [
        (1, 2, ["text"], []),
        (3, 9, ["owner", "text"], ["a", "b"]),
        (9, 10, ["end", "text"], []),
    ]


@pytest.mark.parametrize(("at", "expected"), [(0, (None, 3)), (3, (None, 7)), (5, (3, 7)), (7, (3, None))])
def test_the_neighbours_of_a_place(at: int, expected: tuple[int | None, int | None]) -> None:
    assert neighbours([3, 7], at) == expected


def test_an_owner_beyond_the_output_is_nobody() -> None:
    index = build_index(Trace("p", (), {}, "text", ""), [], [])
    assert owner_at(index, 0) is None


@pytest.mark.parametrize(
    ("a", "b", "rules", "severity", "headline"),
    [
        (Side(), Side(chunk="char"), EXACT, "pass", "The same message on both sides."),
        (Side(), Side(parser="passthrough"), EXACT, "error", "The calls differ."),
        (Side(policy="content_after_calls:keep"), Side(policy="content_after_calls:drop"), EXACT, "", ""),
    ],
)
def test_the_sentence_says_whether_the_messages_are_the_same(
    pages: Pages, a: Side, b: Side, rules: Rules, severity: str, headline: str
) -> None:
    said = pages(TWO, a, b, rules).sentence
    assert severity in ("", said.severity)
    assert headline in ("", said.headline)


def test_the_sentence_names_channel_character_and_both_texts(pages: Pages) -> None:
    said = pages(TWO, Side(), Side(parser="passthrough")).sentence
    assert (said.where, said.at) == ("First in content at character 4 of the output", 4)
    assert said.texts is not None
    assert "<tool_call>" in said.texts[1]
    assert None not in said.steps


def test_the_sentence_quotes_both_texts_where_they_part(pages: Pages) -> None:
    text = CALL.replace('"b"', f'"{"b" * 90}').removesuffix("}}\n</tool_call>")
    a, b = Side(policy="truncated_call:as_streamed"), Side(policy="truncated_call:close")
    said = pages(text, a, b).sentence
    assert said.texts == (f"…{'b' * 24}", f"…{'b' * 24}" + '"}')


def test_only_the_finish_reason_differs(pages: Pages) -> None:
    pages("Hi.", Side(), Side())
    left, right = pages.sides
    trace = replace(right.run.trace, finish_reason="length")
    run = replace(right.run, trace=trace, index=replace(right.run.index, trace=trace), key="another")
    shown = pages.page(left, replace(right, run=run))
    assert shown.sentence.headline == "The messages are the same; the finish reasons differ."
    assert [place.what for place in shown.places] == ["finish_reason"]
    assert shown.places[0].text == ""


def test_whitespace_can_be_let_pass(pages: Pages) -> None:
    text = f"Hi. \n{CALL}\n Bye."
    a, b = Side(policy="content_before_calls:keep"), Side(policy="content_before_calls:strip")
    exact, soft = pages(text, a, b), pages(text, a, b, Rules(whitespace="soft"))
    assert (exact.sentence.severity, soft.sentence.severity) == ("warning", "pass")
    assert exact.sentence.headline == "Only whitespace of the text differs."
    assert "account for the output differently in 1 place" in soft.sentence.rest
    assert not any(part.differs for row in soft.messages.texts for part in row.a.parts)


def test_the_page_opens_where_the_sides_part_or_where_text_is_held(pages: Pages) -> None:
    assert pages(TWO, Side(), Side(parser="passthrough")).at == 4
    same = pages(TWO, Side(chunk="char"), Side())
    assert same.columns[0].side.run.index.step(same.columns[0].now).holds
    assert pages("Hi.", Side(), Side(chunk="whole")).at == 0
    assert pages("Hi.", Side(), Side(), at=999).at == 3


def test_each_side_shows_the_step_that_was_fed_the_character(pages: Pages) -> None:
    shown = pages(TWO, Side(), Side(chunk="cuts:10,40"), at=12)
    for column in shown.columns:
        now = [step for step in column.steps if step.shown]
        assert [step.start <= 12 < step.end for step in now] == [True]
        assert now[0].card.step == column.now
    assert shown.nav["step"][0] == 10
    assert shown.summary.startswith("A TOOL_CALL")


def test_the_end_is_a_place_of_its_own(pages: Pages) -> None:
    shown = pages("Hi.", Side(), Side(chunk="whole"), at=3)
    assert [step.card.title for column in shown.columns for step in column.steps if step.shown] == ["End of output"] * 2
    assert shown.end_bit.current
    assert shown.nav["step"] == (2, None)
    assert pages("", Side(), Side(chunk="whole")).bits == []


def test_deltas_without_text_are_counted_with_the_step_after_them(pages: Pages) -> None:
    shown = pages("abcdefgh ij", Side(chunk="token:1+delay=2"), Side())
    assert [step.silent for step in shown.columns[0].steps if step.silent][:1] == [2]


def test_steps_lead_from_either_side_to_the_next(pages: Pages) -> None:
    shown = pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"))
    stops, at = [0], 0
    while (on := pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"), at=at).nav["step"][1]) is not None:
        stops.append(on)
        at = on
    assert stops == [0, 3, 5, 6, 10]
    back = [pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"), at=at).nav["step"][0] for at in stops]
    assert back == [None, 0, 3, 5, 6]
    assert json.loads(shown.jumps)["step"] == stops


def test_a_long_output_is_shown_in_a_window_with_the_jumps_that_leave_it(pages: Pages) -> None:
    text = "Some words, " * 2_000
    shown = pages(text, Side(), Side(chunk="whole"), at=12_000)
    assert shown.view.end - shown.view.start <= 2 * compare_text.CHARACTERS_EACH_SIDE
    assert shown.view.start <= 12_000 < shown.view.end
    assert all(len(column.steps) <= 162 for column in shown.columns)
    steps = json.loads(shown.jumps)["step"]
    assert (steps[0] < shown.view.start, steps[-1] > shown.view.end) == (True, True)
    content = shown.messages.texts[0]
    assert [bool(part.folded) for part in content.a.parts][:1] == [True]
    assert "more…" in content.b.parts[0].text


def test_many_places_are_listed_around_the_cursor(pages: Pages) -> None:
    text = f"{CALL} and " * (LISTED + 20)
    shown = pages(text, Side(), Side(parser="passthrough"), at=30 * (len(CALL) + 5))
    assert len(shown.places) == LISTED
    assert shown.more > 0
    assert shown.places[0].start < 30 * (len(CALL) + 5) < shown.places[-1].start
    assert len(shown.band.marks) <= len(shown.places) + shown.more
    assert shown.messages.before > 0
    assert shown.messages.after > 0


def test_a_side_opens_in_the_inspector_where_an_address_can_say_it(pages: Pages) -> None:
    shown = pages(TWO, Side(), Side(chunk="cuts:5"), at=0)
    assert [column.inspect for column in shown.columns] == ["/x?step=1", "/x?step=1&chunk=cuts:5"]
    assert pages(TWO, Side(start="reasoning"), Side()).columns[0].inspect == ""


def test_a_call_begun_and_a_difference_later_keep_their_order(pages: Pages) -> None:
    found = pages.compared(TWO, Side(), Side(parser="passthrough"))
    assert found.starts == sorted(found.starts)
    assert all(x.end < y.start for x, y in zip(found.partings, found.partings[1:], strict=False))
