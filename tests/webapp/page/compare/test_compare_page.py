"""The page about two sides."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from parsers.compare.divergence import EXACT, Rules
from tests.corpus import case_named
from tests.webapp.page.compare.pages import Pages
from webapp.page.compare import comparison as compare_text
from webapp.page.compare.asked import Side
from webapp.page.compare.compare_page import LISTED
from webapp.page.compare.sides import replayed
from webapp.page.inspect.index import index_of

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
TWO = f"Hi. {CALL}{CALL.replace('f', 'g')} Bye."


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
    said = pages(TWO, a, b, rules=rules).sentence
    assert severity in ("", said.severity)
    assert headline in ("", said.headline)


def test_the_sentence_names_channel_character_and_both_texts(pages: Pages) -> None:
    said = pages(TWO, Side(), Side(parser="passthrough")).sentence.firsts[0]
    assert (said.where, said.at) == ("First in content at character 4 of the output", 4)
    assert "<tool_call>" in said.texts[1]
    assert None not in said.steps


def test_the_sentence_quotes_both_texts_where_they_part(pages: Pages) -> None:
    text = CALL.replace('"b"', f'"{"b" * 90}').removesuffix("}}\n</tool_call>")
    a, b = Side(policy="truncated_call:as_streamed"), Side(policy="truncated_call:close")
    said = pages(text, a, b).sentence.firsts[0]
    assert said.texts == (f"…{'b' * 24}", f"…{'b' * 24}" + '"}')


def test_only_the_finish_reason_differs(pages: Pages) -> None:
    pages("Hi.", Side(), Side())
    left, right = pages.sides
    trace = replace(right.run.trace, finish_reason="length")
    run = right.run.on(right.run.replayer, trace, "another")
    shown = pages.page(left, replace(right, run=run))
    assert shown.sentence.headline == "The messages are the same; the finish reasons differ."
    assert [place.what for place in shown.places] == ["finish_reason"]
    assert shown.places[0].text == ""
    assert shown.sentence.firsts[0].where == "First in finish_reason at the end of the output"
    assert shown.cursor.at == shown.cursor.size == 3


def test_whitespace_can_be_let_pass(pages: Pages) -> None:
    text = f"Hi. \n{CALL}\n Bye."
    a, b = Side(policy="content_before_calls:keep"), Side(policy="content_before_calls:strip")
    exact, soft = pages(text, a, b), pages(text, a, b, rules=Rules(whitespace="soft"))
    assert (exact.sentence.severity, soft.sentence.severity) == ("warning", "pass")
    assert exact.sentence.headline == "Only whitespace of the text differs."
    assert "account for the output differently in 1 place" in soft.sentence.rest
    assert not any(part.differs for row in soft.messages.texts for part in row.cells[0])


def test_the_page_opens_where_the_sides_part_or_where_text_is_held(pages: Pages) -> None:
    assert pages(TWO, Side(), Side(parser="passthrough")).cursor.at == 4
    same = pages(TWO, Side(chunk="char"), Side())
    assert index_of(same.columns[0].side.run).step(same.columns[0].now).holds
    assert pages("Hi.", Side(), Side(chunk="whole")).cursor.at == 0
    assert pages("Hi.", Side(), Side(), at=999).cursor.at == 3


@pytest.mark.parametrize(
    ("text", "a", "b", "first"),
    [
        (TWO, Side(), Side(parser="passthrough"), 4),
        (f"H{CALL}", Side(), Side(parser="llama3_json"), 1),
        (f"Hi.\n\n{CALL}", Side(chunk="whole"), Side(policy="content_before_calls:strip"), 3),
        ("<think>ab</think>abc", Side(parser="qwen3"), Side(parser="passthrough"), 0),
    ],
)
def test_the_sentence_the_band_and_the_cursor_agree_on_the_first_place(
    pages: Pages, text: str, a: Side, b: Side, first: int
) -> None:
    page = pages(text, a, b)
    assert page.sentence.firsts[0].at == page.cursor.at == page.places[0].start == first
    assert [bit.parts for bit in page.strips[0].bits if bit.current] == [True]


def test_a_place_before_the_first_that_changes_no_message_is_said(pages: Pages) -> None:
    case = case_named("response_template/parallel")
    sides = [replayed(pages.runner, case, name, side) for name, side in (("a", Side()), ("b", Side(parser="hermes")))]
    page = pages.page(*sides)
    assert page.cursor.at == page.sentence.firsts[0].at == 83
    assert page.places[0].start == 3
    assert (
        page.sentence.rest == "The sides part in 4 places; the first, at character 3 of the output, changes no message."
    )


def test_each_side_shows_the_step_that_was_fed_the_character(pages: Pages) -> None:
    shown = pages(TWO, Side(), Side(chunk="cuts:10,40"), at=12)
    for column in shown.columns:
        now = [step for step in column.steps if step.shown]
        assert [step.start <= 12 < step.end for step in now] == [True]
        assert now[0].card.step == column.now
    assert shown.cursor.nav["step"][0] == 10
    assert shown.summary.startswith("A TOOL_CALL")


def test_the_end_is_a_place_of_its_own(pages: Pages) -> None:
    shown = pages("Hi.", Side(), Side(chunk="whole"), at=3)
    assert [step.card.title for column in shown.columns for step in column.steps if step.shown] == ["End of output"] * 2
    assert shown.cursor.at == shown.cursor.size
    assert shown.cursor.nav["step"] == (2, None)
    assert pages("", Side(), Side(chunk="whole")).strips[0].bits == []


def test_deltas_without_text_are_counted_with_the_step_after_them(pages: Pages) -> None:
    shown = pages("abcdefgh ij", Side(chunk="token:1+delay=2"), Side())
    assert [step.silent for step in shown.columns[0].steps if step.silent][:1] == [2]


def test_steps_lead_from_either_side_to_the_next(pages: Pages) -> None:
    shown = pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"))
    stops, at = [0], 0
    while (
        on := pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"), at=at).cursor.nav["step"][1]
    ) is not None:
        stops.append(on)
        at = on
    assert stops == [0, 3, 5, 6, 10]
    back = [
        pages("abcdefghij", Side(chunk="cuts:3,6"), Side(chunk="cuts:5"), at=at).cursor.nav["step"][0] for at in stops
    ]
    assert back == [None, 0, 3, 5, 6]
    assert json.loads(shown.cursor.jumps)["step"] == stops


def test_a_long_output_is_shown_in_a_window_with_the_jumps_that_leave_it(pages: Pages) -> None:
    text = "Some words, " * 2_000
    shown = pages(text, Side(), Side(chunk="whole"), at=12_000)
    assert shown.view.end - shown.view.start <= 2 * compare_text.CHARACTERS_EACH_SIDE
    assert shown.view.start <= 12_000 < shown.view.end
    assert all(len(column.steps) <= 162 for column in shown.columns)
    steps = json.loads(shown.cursor.jumps)["step"]
    assert (steps[0] < shown.view.start, steps[-1] > shown.view.end) == (True, True)
    content = shown.messages.texts[0]
    assert [bool(part.sent.folded) for part in content.cells[0]][:1] == [True]
    assert [bool(part.sent.folded) for part in content.cells[1]] == [False, True, False]


@pytest.mark.replays
def test_text_around_the_steps_on_the_page_is_in_few_pieces_and_all_of_it(pages: Pages) -> None:
    text = "".join(f"{number} " for number in range(900))
    at = 2_000
    shown = pages(text, Side(chunk="char"), Side(chunk="char"), at=at)
    around = slice(at - compare_text.TEXT_EACH_SIDE, at + compare_text.TEXT_EACH_SIDE)
    strip = "".join([bit.text for bit in shown.strips[0].bits])
    assert strip == text[around]
    view = shown.view
    assert view.end - view.start < 100
    outside = [bit for bit in shown.strips[0].bits if not view.start <= bit.start < view.end]
    assert len(outside) == 2
    (content,) = shown.messages.texts
    parts = [part for part in content.cells[0] if not part.sent.folded]
    assert "".join([part.sent.text for part in parts]) == text[around]
    assert len(parts) < 100
    window = view.windows[0]
    assert [part.sent.step < window.first for part in parts][:2] == [True, False]
    assert [part.sent.step > window.last for part in parts][-2:] == [False, True]


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


def test_a_marker_is_framed_and_what_stands_between_two_is_not(pages: Pages) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    bits = pages(text, Side(chunk="whole"), Side(chunk="whole")).strips[0].bits
    framed = {bit.text for bit in bits if "run-start run-end" in bit.classes}
    assert framed == {"<tool_call>", "</tool_call>"}
    assert '{"name": "' in {bit.text for bit in bits if "structure" in bit.classes}
    assert [bit.text for bit in bits if bit.breaks] == ["\n", "}\n"]


def test_the_legend_names_what_parts_on_the_page_and_nothing_else(pages: Pages) -> None:
    apart = pages(CALL, Side(), Side(parser="passthrough")).apart
    assert apart is not None
    assert apart.words == "marker on A, content on B"
    assert apart.legend.split()[:2] == ["both", "lines-2"]
    assert pages(CALL, Side(), Side(chunk="whole")).apart is None
