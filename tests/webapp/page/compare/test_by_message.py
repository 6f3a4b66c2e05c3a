"""Sides of which one is a recording without its output: what they send is laid beside each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.compare.divergence import ANY_ID
from tests.webapp.page.compare.pages import Pages
from tests.webapp.page.streams import END, STREAM, TEXT, Payload, call, chunk, stream_case
from webapp.page.compare.asked import Side
from webapp.page.compare.compare_page import SidesPage


def beside(pages: Pages, text: str, stream: list[Payload], at: int | None = None) -> SidesPage:
    return pages(text, Side(), Side(text="log"), rules=ANY_ID, at=at, texts=lambda _: stream_case(stream))


def test_what_a_recording_sent_has_a_strip_a_lane_and_a_message(pages: Pages) -> None:
    page = beside(pages, TEXT, STREAM)
    assert page.sentence.headline == "The same message on both sides."
    assert [(strip.names, "".join(bit.text for bit in strip.bits)) for strip in page.strips] == [
        (["a", "b"], 'Hif{"x": 1}')
    ]
    assert [[bar.bar.kind for bar in lane.roles] for lane in page.band.lanes] == [["content", "name", "arguments"]] * 2
    assert not page.places


def test_the_cursor_walks_through_the_chunks(pages: Pages) -> None:
    stops = json.loads(beside(pages, TEXT, STREAM, at=0).cursor.jumps)["step"]
    titles = [
        [step.title for step in beside(pages, TEXT, STREAM, at=at).columns[1].steps if step.shown] for at in stops
    ]
    assert [*dict.fromkeys(title for (title,) in titles)] == ["Chunk 2", "Chunk 3", "Chunk 4", "End of output"]


@pytest.mark.parametrize(
    ("stream", "where", "words"),
    [
        (
            [*STREAM[:3], call(arguments='{"x": 2}'), END],
            "First in tool_calls[0].arguments at character 9 of A's message",
            "Call 0 differs in its arguments. ",
        ),
        (
            [STREAM[1], chunk({"content": " you"}), *STREAM[2:]],
            "First in content at character 2 of A's message",
            "The content has 4 characters of B that A lacks. ",
        ),
        ([*STREAM[:2], END], "First in calls at character 2 of A's message", "A has 1 call (f), B no call. "),
        (
            [*STREAM[:4], *[call(number, "b", name="f", arguments="{}") for number in (1, 2, 3)], END],
            "First in calls at the end of A's message",
            "A has 1 call (f), B 4 calls (f, f, f …). ",
        ),
        (
            STREAM[:3],
            "First in tool_calls[0].arguments at character 3 of A's message",
            "Call 0 differs in its arguments. ",
        ),
    ],
)
def test_the_sentence_says_in_what_the_messages_differ_and_where(
    pages: Pages, stream: list[Payload], where: str, words: str
) -> None:
    page = beside(pages, TEXT, stream)
    assert [first.where for first in page.sentence.firsts] == [where]
    assert page.sentence.rest.startswith(words)


def test_what_is_said_of_several_sides_names_them(pages: Pages) -> None:
    logs = {"less": [*STREAM[:2], END], "more": [*STREAM[:2], chunk({"content": "!"}), *STREAM[2:]]}
    sides = Side(), Side(text="less"), Side(text="more")
    page = pages(TEXT, *sides, rules=ANY_ID, texts=lambda word: stream_case(logs[word]))
    assert page.sentence.rest.startswith("B: A has 1 call (f), B no call. C: the content has 1 character of C that A")


OUTPUT = "weighing it</think>Answer."
HALVES = [chunk({"reasoning": "weighing it</thi"}), chunk({"content": "nk>Answer."}), chunk({}, "stop")]


@pytest.mark.parametrize("deltas", [None, [{"text": OUTPUT[:16]}, {"text": OUTPUT[16:]}, {"text": ""}]])
def test_a_recording_of_which_the_output_is_known_is_laid_by_message_too(pages: Pages, deltas: Any) -> None:
    known: dict[str, Any] = {"stream": HALVES, **({"text": OUTPUT} if deltas is None else {"deltas": deltas})}
    case: dict[str, Any] = {"parser": {"name": "deepseek_r1"}, "input": known, "context": {"reasoning_open": True}}
    page = pages("", Side(parser="recorded"), Side(parser="deepseek_r1"), rules=ANY_ID, **case)
    assert page.by_message
    first = page.sentence.firsts[0]
    assert first.where == "First in reasoning at character 11 of A's message"
    assert first.texts == ("weighing it</thi", "weighing it")
    assert page.cursor.at == 11
    assert [[bar.bar.kind for bar in lane.roles] for lane in page.band.lanes] == [["reasoning", "content"]] * 2
    assert [(place.start, place.text) for place in page.places] == [(11, "</think>A")]


LESS = [*STREAM[:2], END]


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [(STREAM, LESS, "error"), (LESS, STREAM, "error"), (STREAM, STREAM, "pass"), (None, None, "info")],
    ids=["lost", "more", "same", "outputs"],
)
def test_a_difference_is_as_bad_in_the_rows_as_in_the_sentence(
    pages: Pages, first: list[Payload] | None, second: list[Payload] | None, severity: str
) -> None:
    other = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": TEXT.replace("1", "2")}})
    log = other if second is None else stream_case(second)
    given: dict[str, Any] = {} if first is None else {"parser": {"name": "auto"}, "input": {"stream": first}}
    page = pages(TEXT, Side(), Side(text="log"), rules=ANY_ID, texts=lambda _: log, **given)
    assert (page.sentence.severity, page.severity) == (severity, severity)
    assert [call.severity for call in page.messages.calls] == [severity]


def test_every_side_has_its_own_places_to_go_to_and_its_own_shading(pages: Pages) -> None:
    leaked = [STREAM[1], *STREAM[2:4], chunk({"content": " and more"}), END]
    logs = {"no call": [STREAM[1], END], "whole": STREAM}
    page = pages(
        "", Side(), Side(text="no call"), Side(text="whole"), Side(text="whole"), rules=ANY_ID, at=0,
        texts=lambda word: stream_case(logs[word]), parser={"name": "auto"}, input={"stream": leaked},
    )  # fmt: skip
    call_at, text_at = 2, 11
    assert json.loads(page.cursor.jumps)["parting"] == [call_at, text_at]
    shaded = {"".join(strip.names): "".join(bit.text for bit in strip.bits if bit.parts) for strip in page.strips}
    assert shaded == {"a": 'f{"x": 1} and more', "b": "", "cd": ""}


def test_the_cursor_and_the_sentence_count_alike_where_there_is_room_for_what_others_have_more(pages: Pages) -> None:
    logs = {
        "long": [chunk({"content": "Hi there"}), *STREAM[2:]],
        "call": [*STREAM[:3], call(arguments='{"x": 2}'), END],
    }
    sides = Side(), Side(text="long"), Side(text="call")
    page = pages(TEXT, *sides, rules=ANY_ID, texts=lambda word: stream_case(logs[word]))
    last = page.sentence.firsts[1]
    assert page.unit == "column"
    assert last.where == f"First in tool_calls[0].arguments at character 9 of A's message (column {last.at})"
    assert last.at == 15
    assert pages(TEXT, Side(), Side(), rules=ANY_ID).unit == "character"


def test_of_channels_that_part_in_one_place_the_first_is_named(pages: Pages) -> None:
    call_text = '<tool_call>\n{"name": "b", "arguments": {"y": 2}}\n</tool_call>'
    leaked = [chunk({"content": "Hi.\n"}), *STREAM[2:4], chunk({"content": f"\n{call_text}"}), END]
    read = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Hi.\n\n{call_text}"}})
    given: dict[str, Any] = {"parser": {"name": "auto"}, "input": {"stream": leaked}}
    page = pages("", Side(), Side(text="log"), rules=ANY_ID, texts=lambda _: read, **given)
    first = page.sentence.firsts[0]
    assert (first.where, first.texts) == ("First in tool_calls[0].name at character 4 of A's message", ("f", "b"))
