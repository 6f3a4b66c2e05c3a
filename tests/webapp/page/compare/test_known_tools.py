"""What two sides differ in only because tools are not declared: it is said, and it is no fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.cases.made_tools import made_tools
from parsers.compare.divergence import ANY_ID
from parsers.vocabulary.types import ToolCall
from tests.webapp.page.compare.pages import Pages
from tests.webapp.page.streams import call, chunk
from webapp.page.compare.asked import Side
from webapp.page.compare.matrix import matrix

TEXT = "<tool_call>\n<function=f>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call>"
PARAMETERS = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}]
ALIKE = '{"n": 5}'


def texts(word: str) -> Case:
    """The same output with its tools."""
    return load_case({"schema": 1, "parser": {"name": "qwen_coder"}, "input": {"text": TEXT}, "tools": TOOLS})


def with_stream(pages: Pages, arguments: str, *more: dict[str, Any], tools: Any = ()) -> Any:
    """A parser beside what a server sent for the same output; without `more` that has no place for a finish reason."""
    stream = [call(0, "a", name="f", arguments=arguments), *more]
    for one in stream:
        if not more:
            del one["choices"][0]["finish_reason"]
    own = {"parser": {"name": "qwen_coder"}, "input": {"text": TEXT, "stream": stream}, "tools": tools}
    return pages(TEXT, Side(), Side(parser="recorded"), rules=ANY_ID, **own)


def reds(page: Any) -> list[str]:
    """What the page shows in red."""
    messages = page.messages
    rows = [*messages.texts, *[row for one in messages.calls for row in [one, *one.rows]]]
    found = [getattr(row, "label", "call") for row in rows if row.severity == "error"]
    found += ["finish"] * (messages.ends.severity == "error")
    return found + ["sentence"] * (page.sentence.severity == "error")


def test_one_side_without_tools_is_told_and_what_they_explain_is_no_fault(pages: Pages) -> None:
    page = pages(TEXT, Side(), Side(text="x"), texts=texts, parser={"name": "qwen_coder"})
    assert page.sentence.headline == "The calls differ only because B knows tools and A none."
    assert page.sentence.tools == "With the same tools the messages are the same."
    assert page.sentence.severity == "info"
    assert page.severity == "info"
    assert [row.same for row in page.messages.calls] == [False]
    assert reds(page) == []


def test_where_no_tools_are_declared_a_parser_that_gives_text_for_a_number_is_not_blamed(pages: Pages) -> None:
    page = with_stream(pages, ALIKE)
    assert page.sentence.headline == "The calls differ only because no tools are declared."
    assert page.sentence.tools == "With tools declared the messages are the same."
    assert reds(page) == []


@pytest.mark.parametrize(
    ("arguments", "tools"),
    [('{"n": 6}', ()), ('{"m": 5}', ()), ('{"n": "5"}', TOOLS)],
    ids=["value", "key", "declared"],
)
def test_what_tools_do_not_explain_stays_a_fault(pages: Pages, arguments: str, tools: Any) -> None:
    page = with_stream(pages, arguments, tools=tools)
    assert page.sentence.headline == "The calls differ."
    assert page.severity == "error"
    assert reds(page) == ["call", "arguments", "sentence"]
    said = "" if tools else "No tools are declared, so the types of arguments are a guess."
    assert page.sentence.tools == said


def test_of_three_sides_each_is_told_apart(pages: Pages) -> None:
    sides = (Side(), Side(text="x"), Side(parser="passthrough"))
    page = pages(TEXT, *sides, texts=texts, parser={"name": "qwen_coder"})
    assert "B gives other calls" in page.sentence.headline
    assert ", only because B knows tools and A none; C parts" in page.sentence.headline.replace(
        "; C gives", "; C parts"
    )
    assert page.sentence.severity == "error"
    assert page.severity == "error"
    assert "sentence" in reds(page)


def test_sides_that_are_the_same_say_it_too_and_an_output_without_calls_has_nothing_to_say(pages: Pages) -> None:
    own: dict[str, Any] = {"parser": {"name": "qwen_coder"}}
    assert pages(TEXT, Side(), Side(chunk="char"), **own).sentence.tools.startswith("No tools are declared, ")
    assert pages("Hi.", Side(), Side(chunk="char")).sentence.tools == ""
    assert pages(TEXT, Side(), Side(chunk="char"), **own, tools=TOOLS).sentence.tools == ""
    mixed = pages(TEXT, Side(chunk="char"), Side(text="x", parser="passthrough"), texts=texts, **own)
    assert mixed.sentence.tools == "No tools are declared for A."


def test_a_finish_reason_that_a_recording_has_no_place_for_is_compared_with_nothing(pages: Pages) -> None:
    page = with_stream(pages, ALIKE, tools=TOOLS)
    assert page.sentence.headline == "The same message on both sides."
    assert page.messages.ends.words == ["tool_calls", None]
    assert reds(page) == []
    assert page.places == [one for one in page.places if "finish_reason" not in one.what]


def test_a_finish_reason_that_was_sent_is_compared(pages: Pages) -> None:
    page = with_stream(pages, ALIKE, chunk({}, "stop"), tools=TOOLS)
    assert page.messages.ends.words == ["tool_calls", "stop"]
    assert (page.sentence.severity, page.messages.ends.severity) == ("warning", "warning")
    assert reds(page) == []


@pytest.mark.replays
def test_the_matrix_says_what_is_for_want_of_tools(pages: Pages) -> None:
    with_stream(pages, ALIKE)
    found = matrix(pages.runner, [pages.sides[1]], "near", ANY_ID)
    assert found is not None
    words = {row.parser: {(cell.words, cell.severity) for cell in row.cells} for row in found.rows}
    assert words["qwen_coder"] == {("other calls, for want of tools", "info")}
    assert words["qwen"] == {("no call", "error")}


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["5"], "string"), (["5", 5], "integer"), ([5, 0.5], "number"), (["a", [1]], "array"), ([True], "boolean"),
     ([{}], "object"), ([None, "x"], "string")],
)  # fmt: skip
def test_tools_are_made_of_the_values_of_calls(values: list[Any], kind: str) -> None:
    (tool,) = made_tools([ToolCall(None, "f", json.dumps({"a": value})) for value in values])
    assert tool["function"]["name"] == "f"
    assert tool["function"]["parameters"]["properties"] == {"a": {"type": kind}}


def test_calls_without_a_name_or_an_object_make_no_tools_with_arguments() -> None:
    assert made_tools([ToolCall(None, "", '{"a": 1}')]) == ()
    (tool,) = made_tools([ToolCall(None, "f", "[1")])
    assert tool["function"]["parameters"]["properties"] == {}


def test_names_that_no_request_can_hold_are_not_declared() -> None:
    half = "\ud801"
    assert made_tools([ToolCall(None, half, '{"a": 1}')]) == ()
    (tool,) = made_tools([ToolCall(None, "f", json.dumps({half: 1, "b": 2}))])
    assert tool["function"]["parameters"]["properties"] == {"b": {"type": "integer"}}
