"""Three and four sides, and sides that read another output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.vocabulary.types import UsageError
from tests.webapp.page.compare.pages import Pages
from webapp.page.compare.asked import Side

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
TWO = f"Hi. {CALL}{CALL.replace('f', 'g')} Bye."
OTHERS = {
    "city": f"Hi. {CALL.replace('b', 'Bern, of course')}{CALL.replace('f', 'g')} Bye.",
    "less": f"Hi. {CALL} Bye.",
    "more": f"Well, hi. {CALL}{CALL.replace('f', 'g')}{CALL.replace('f', 'h')} Bye now.",
    "none": "",
}


def texts(word: str) -> Case:
    if word not in OTHERS:
        raise UsageError(f"there is no {word}")
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": OTHERS[word]}})


def shown(pages: Pages, *words: str, **more: Any) -> Any:
    return pages(TWO, Side(), *[Side(text=word) for word in words], texts=texts, **more)


def test_sides_of_one_output_share_a_strip_and_others_have_their_own(pages: Pages) -> None:
    page = pages(TWO, Side(), Side(text="less"), Side(chunk="token:2"), Side(text="more"), texts=texts)
    assert [strip.names for strip in page.strips] == [["a", "c"], ["b"], ["d"]]
    assert ["".join(bit.text for bit in strip.bits) for strip in page.strips] == [TWO, OTHERS["less"], OTHERS["more"]]
    assert page.aligned
    assert [column.side.title for column in page.columns] == ["A", "B", "C", "D"]


@pytest.mark.replays
@pytest.mark.parametrize("at", [0, 1, 7, 30, 60, 80, 120, 150, 10_000])
def test_every_strip_and_every_side_has_one_place_under_the_cursor(pages: Pages, at: int) -> None:
    page = shown(pages, "city", "less", "more", at=at)
    ends = [strip.end is not None and strip.end <= page.cursor.at for strip in page.strips]
    current = [sum(bit.current for bit in strip.bits) for strip in page.strips]
    assert [now + end for now, end in zip(current, ends, strict=True)] == [1, 1, 1, 1]
    for column in page.columns:
        assert [step.start <= page.cursor.at < step.end for step in column.steps if step.shown] == [True]


@pytest.mark.replays
def test_the_cursor_walks_through_what_only_one_side_has(pages: Pages) -> None:
    at, stops = 0, []
    while at is not None:
        stops.append(at)
        at = shown(pages, "city", at=at).cursor.nav["step"][1]
    assert stops == sorted(set(stops))
    assert stops == json.loads(shown(pages, "city", at=0).cursor.jumps)["step"]
    back = [shown(pages, "city", at=at).cursor.nav["step"][0] for at in stops]
    assert back == [None, *stops[:-1]]


def test_the_first_place_is_said_in_words_and_is_where_the_page_opens(pages: Pages) -> None:
    page = shown(pages, "city")
    at = TWO.index('"b"') + 1
    assert page.cursor.at == at
    assert page.sentence.headline == "The calls differ."
    assert page.sentence.rest.startswith(
        f"The output of B differs from A's in 1 place, first at character {at} of A's output. "
    )
    place = f"character {at} of A's output"
    assert page.sentence.firsts[0].where == f"First in tool_calls[0].arguments at its character 7 ({place})"
    assert page.sentence.firsts[0].severity == "info"  # another output gives another message
    assert page.places[0].what == "other output; tool_calls[0].arguments"


def test_three_sides_are_summed_up_one_by_one(pages: Pages) -> None:
    page = pages(TWO, Side(), Side(chunk="whole"), Side(parser="passthrough"))
    assert page.sentence.headline == (
        "B gives the same message; C parts in content at character 4 of the output and gives other calls."
    )
    assert [first.severity for first in page.sentence.firsts] == ["pass", "error"]
    same = pages(TWO, Side(), Side(chunk="whole"), Side(chunk="char"))
    assert same.sentence.headline == "The same message on all 3 sides."
    assert [words[:2] for words in same.summary.split(" · ")] == ["A ", "B ", "C "]


def test_a_side_whose_calls_alone_differ_is_placed_where_they_do(pages: Pages) -> None:
    page = shown(pages, "city", "less", at=0)
    at = TWO.index('"b"') + 1
    assert page.sentence.headline.startswith(f"B gives other calls from character {at} of A's output on; C gives")


def test_calls_of_all_sides_stand_in_one_row_where_they_belong_together(pages: Pages) -> None:
    page = shown(pages, "less", "more", at=TWO.index('"g"'))
    rows = [[head and head.name.text for head in call.heads] for call in page.messages.calls]
    assert rows == [["f", "f", "f"], ["g", None, "g"], [None, None, "h"]]
    assert [call.same for call in page.messages.calls] == [True, False, False]
    assert [call.number for call in page.messages.calls] == [0, 1, 2]


def test_the_first_side_marks_what_any_other_lacks(pages: Pages) -> None:
    page = shown(pages, "city", "less", at=0)
    arguments = next(row for row in page.messages.calls[0].rows if row.label == "arguments")
    marked = ["".join(part.sent.text for part in cell if part.differs) for cell in arguments.cells]
    assert marked == ["b", "Bern, of course", ""]
    assert arguments.differing == [1]


def test_an_output_that_is_empty_has_a_place_everywhere(pages: Pages) -> None:
    page = shown(pages, "none", at=10)
    assert [len(lane.gaps) for lane in page.band.lanes] == [0, 1]
    assert page.strips[1].bits == []
    assert page.strips[1].end == 0


def test_a_text_that_cannot_be_had_is_said_and_the_case_is_used(pages: Pages) -> None:
    shown(pages, "nobody")
    assert pages.sides[1].errors == {"text": "There is no nobody. The case's own is used."}
    assert pages.sides[1].source == ""


def test_what_differs_names_its_side_where_there_are_several(pages: Pages) -> None:
    page = shown(pages, "less", "more")
    assert {place.name for place in page.places} == {"b", "c"}
    assert [place.start for place in page.places] == sorted(place.start for place in page.places)
    assert page.strips[1].title == "B"
    other = next(bit for bit in page.strips[2].bits if bit.other)
    assert "not in the output of A" in other.label


def test_bits_say_what_each_side_makes_of_them(pages: Pages) -> None:
    page = pages(TWO, Side(), Side(parser="passthrough"), Side(chunk="char"))
    name = next(bit for bit in page.strips[0].bits if bit.text == "f")
    assert name.words == "name on A and C, content on B"
    assert name.classes.startswith("bit both lines-3 a-name b-content c-name parts")
