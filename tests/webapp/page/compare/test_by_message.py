"""Sides of which one is a recording without its output: what they send is laid beside each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.compare.divergence import ANY_ID
from parsers.vocabulary.events import CallId, TextEvent
from tests.webapp.page.compare.pages import Pages
from tests.webapp.page.streams import END, STREAM, TEXT, Payload, call, chunk, stream_case
from webapp.page.compare.asked import Side
from webapp.page.compare.compare_page import SidesPage
from webapp.page.compare.sides import Replayed, on_one_text, replayed
from webapp.page.library.gallery import gallery


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
            "First in tool_calls[0].arguments at its character 6 (character 9 of A's message)",
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
            "First in tool_calls[0].arguments at its character 0 (character 3 of A's message)",
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


FAILED = {"error": {"message": "Failed to parse <x>.\nBadly.", "code": 500}}


def test_an_error_that_a_server_ended_with_is_said_above_and_where_its_message_stands(pages: Pages) -> None:
    page = beside(pages, TEXT, [*STREAM[:2], FAILED])
    assert page.messages.errors == [None, FAILED["error"]["message"]]
    assert "B's server ended with an error: Failed to parse <x>.\nBadly. A has 1 call (f), B no call." in (
        page.sentence.rest
    )


def test_a_side_whose_server_sent_no_error_has_none(pages: Pages) -> None:
    assert beside(pages, TEXT, [*STREAM[:2], END]).messages.errors == []


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


READERS = {name: tile.format for name, tile in gallery().items() if tile.case.parser.name == "recorded"}


def beside_its_reader(pages: Pages, name: str) -> SidesPage:
    """The page that Compare of a tile opens."""
    case = gallery()[name].case
    sides = [Side(parser=parser) for parser in ("recorded", READERS[name])]
    own = zip("ab", sides, strict=True)
    pages.sides = on_one_text(pages.runner, [replayed(pages.runner, case, *one) for one in own])
    return pages.page(*pages.sides, rules=ANY_ID)


def characters(side: Replayed) -> list[tuple[str | None, int | None, str]]:
    """All that a side sends, character by character, each with what it is of."""
    events = [event for step in side.laid.trace.steps for event in step.events]
    return [
        (event.owner, getattr(event, "call", None), character)
        for event in events
        if isinstance(event, TextEvent) and not isinstance(event, CallId)
        for character in event.text
    ]


@pytest.mark.replays
@pytest.mark.parametrize("name", READERS)
def test_the_first_place_is_the_first_character_that_was_not_sent_alike(pages: Pages, name: str) -> None:
    page = beside_its_reader(pages, name)
    one, other = map(characters, pages.sides)
    alike = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    assert page.cursor.at == alike
    assert page.sentence.firsts[0].at == alike


@pytest.mark.replays
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("dynamo-10569-second-thought-leaks", "First in reasoning at character 8 of A's message"),
        ("vllm-46042-thought-with-its-tags", "First in reasoning at character 0 of A's message"),
        ("rapid-mlx-480-channel-words-in-content", "First in calls at character 0 of A's message"),
        ("sglang-33324-every-index-is-zero", "First in calls at character 24 of the message"),
        ("vllm-46183-text-comes-twice", "First in content at character 11 of A's message"),
        (
            "sglang-24147-value-ends-like-a-tag",
            "First in tool_calls[0].arguments at its character 11 (character 15 of A's message)",
        ),
    ],
)
def test_the_channel_that_the_verdict_names_is_said_to_part_first(pages: Pages, name: str, where: str) -> None:
    assert beside_its_reader(pages, name).sentence.firsts[0].where == where


def test_only_what_a_side_has_more_is_counted_as_lacking(pages: Pages) -> None:
    said = beside_its_reader(pages, "dynamo-10569-second-thought-leaks").sentence.rest
    assert said.startswith(
        "The reasoning has 6 characters of B that A lacks; the content has 21 characters of A that B lacks. "
    )


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
    place = f"character 9 of A's message (column {last.at})"
    assert last.where == f"First in tool_calls[0].arguments at its character 6 ({place})"
    assert last.at == 15
    assert pages(TEXT, Side(), Side(), rules=ANY_ID).unit == "character"


def test_of_channels_that_part_in_one_place_that_of_the_verdict_is_named(pages: Pages) -> None:
    call_text = '<tool_call>\n{"name": "b", "arguments": {"y": 2}}\n</tool_call>'
    leaked = [chunk({"content": "Hi.\n"}), *STREAM[2:4], chunk({"content": f"\n{call_text}"}), END]
    read = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Hi.\n\n{call_text}"}})
    given: dict[str, Any] = {"parser": {"name": "auto"}, "input": {"stream": leaked}}
    page = pages("", Side(), Side(text="log"), rules=ANY_ID, texts=lambda _: read, **given)
    first = page.sentence.firsts[0]
    assert first.where == "First in content at character 4 of A's message"
    assert first.texts[1] == "Hi.\n\n"
