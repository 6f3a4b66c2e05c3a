"""Sides of which one is a recording without its output: what they send is laid beside each other."""

from __future__ import annotations

import json

import pytest

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
