"""What a parser elsewhere lost of an output, beside what the built-in parser of its format reads there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from parsers.vocabulary.types import Message, ToolCall
from tests.webapp.engines.entering import fake
from tests.webapp.page.dom import Node
from tests.webapp.page.dom import page as tree
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.page.search.client_parts import told
from webapp.page.search.lost import missing, paired
from webapp.services import EXTENSION
from webapp.settings import get_settings

OUTPUT = 'Hi <tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("", name, arguments)


@pytest.fixture(scope="module")
def shown(app: Flask) -> Iterator[Any]:
    """The page of an output read by a parser that sends all of it as content, in capitals."""
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "fake", fake())
    entered(settings).card("fake")

    def page(text: str, parser: str = "upper", **more: Any) -> Node:
        case = {"schema": 1, "parser": {"name": parser, "engine": "fake"}, "input": {"text": text}, **more}
        client = app.test_client()
        return tree(client.get(f"/c/{client.post('/api/v1/cases', json=case).get_json()['id']}").text)

    yield page
    use_engines(get_settings())


@pytest.mark.parametrize(
    ("right", "theirs", "pairs"),
    [
        (["f", "g"], ["g", "f"], {0: 0, 1: 1}),  # as many: one by one
        (["f", "g"], ["g"], {1: 0}),
        (["f", "f"], ["f"], {0: 0}),
        (["f"], [], {}),
    ],
)
def test_calls_are_found_again_where_one_is_missing(right: list[str], theirs: list[str], pairs: dict[int, int]) -> None:
    assert paired([call(name) for name in right], [call(name) for name in theirs]) == pairs


def test_a_call_that_says_the_same_is_rather_it_than_one_of_the_same_name() -> None:
    right = [call("f", '{"a": 1}'), call("f", '{"a": 2}'), call("f", "{")]
    assert paired(right, [call("f", '{"a":2}'), call("f", "{")]) == {1: 0, 2: 1}


@pytest.mark.replays
def test_what_the_parser_lost_is_hatched_and_counted(shown: Any) -> None:
    page = shown(OUTPUT)
    assert [lane.words for lane in page.all("#overview dt")] == ["Deltas", "Expected", "This run", "Findings"]
    assert len(page.all("#overview .band-role.role-lost")) >= 2  # name and arguments
    assert page.one("#input .pane-note").words == "11 lost"
    assert page.all("#strip .run.role-lost")[-1].attrs["title"] == "lost: arguments that never arrives"
    assert "(as qwen reads it)" in page.one("#input .facts").words


@pytest.mark.replays
def test_chunkings_that_were_not_run_are_told_beside_the_verdict(shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shown(OUTPUT + " ").all(".remark")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0)
    page = shown(OUTPUT + "  ")
    for place in (".remark", "#chunkings .notice"):
        assert "other chunkings were not run: the engine had worked for" in page.one(place).words


def test_of_what_it_gives_as_it_should_nothing_is_hatched(shown: Any) -> None:
    page = shown("ONLY WORDS.")
    assert page.all("#overview .role-lost") == page.all("#strip .role-lost") == []


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(("tools", "note"), [([], "59 characters"), ([TOOL], "59 lost")])
@pytest.mark.replays
def test_what_arrives_as_content_is_lost_only_where_the_parser_knows_the_tools(
    shown: Any, tools: list[dict[str, Any]], note: str
) -> None:
    text = OUTPUT.removeprefix("Hi ")
    assert shown(text, "echo", tools=tools).one("#input .pane-note").words == note


def roles(lane: Node) -> set[str]:
    return {role.attrs["class"].split("role-")[1] for role in lane.all(".band-role")}


def test_a_lane_of_what_all_came_as_content_has_nothing_else(shown: Any) -> None:
    page = shown(OUTPUT, "echo")
    expected, came = [roles(lane) for lane in page.all("#overview .band-lane")]
    assert came == {"content"}
    assert {"name", "arguments"} <= expected
    runs = page.all("#strip .run")
    assert not [run for run in runs if "role-content" not in run.attrs["class"]]
    assert "content: should be arguments" in [run.attrs.get("title") for run in runs]


@pytest.mark.parametrize(
    ("ours", "theirs", "stretch"),
    [
        ('{"a": "x</t> y"}', '{"a": "x"}', (8, 14)),  # both end alike: only the middle is missing
        ('{"a": "x"}', '{"a": "', (7, 10)),
        ('{"a": 1}', '{"a": 21}', (6, 8)),  # it has more: all behind what is shared
        ('{"a": 1}', "1}", (0, 6)),
        ("ab", "", (0, 2)),
    ],
)
def test_what_is_missing_stands_between_what_both_begin_and_end_with(
    ours: str, theirs: str, stretch: tuple[int, int]
) -> None:
    assert missing(ours, theirs, in_order=True) == stretch


def test_of_a_text_nothing_is_missing_that_an_answer_only_adds_to() -> None:
    assert missing("Hi.\nDone.", "Hi.\n\nDone.", in_order=False) == (4, 4)


MEANT = Message("why", "Hi", [call("f"), call("g")])


@pytest.mark.parametrize(
    ("gives", "parts"),
    [
        (MEANT, [("reasoning", "why"), ("content", "Hi"), ("name", "f"), ("arguments", "{}"), ("name", "g")]),
        (Message(None, "Hi", [call("f")]), [("lost", "why"), ("content", "Hi"), ("name", "f"), ("arguments", "{}")]),
        (Message("why", "Ho", []), [("reasoning", "why"), ("wrong", "Ho"), ("lost", "f"), ("lost", "{}")]),
    ],
)
def test_a_message_is_told_in_parts_beside_the_right_one(gives: Message, parts: list[tuple[str, str]]) -> None:
    found = [("lost" if one.lost else "wrong" if one.wrong else one.role, one.text) for one in told(gives, MEANT)]
    assert found[: len(parts)] == parts
    assert told(Message()) == []
