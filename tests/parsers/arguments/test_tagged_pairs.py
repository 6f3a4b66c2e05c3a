"""Tags around keys and around values, and what is missing between the two."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, tool, trace_of

HEAD, TAIL = "<tool_call>f", "</tool_call>Done."


def pair(key: str, value: str) -> str:
    return f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>"


@pytest.mark.parametrize(
    ("inner", "arguments", "found"),
    [
        (pair("a", "x") + pair("b", "y"), '{"a": "x", "b": "y"}', []),
        (pair("a", "x") + "<arg_key>b</arg_key>", '{"a": "x"}', ["missing_value"]),
        (pair("a", "x") + "<arg_key>b", '{"a": "x"}', ["missing_value"]),
        ("<arg_key>b</arg_key>\n" + pair("a", "x"), '{"a": "x"}', ["missing_value"]),
        ("<arg_key>a<arg_value>x</arg_value>", '{"a": "x"}', ["missing_key_close"]),
        ("<arg_key>a</arg_key> x y</arg_value>", '{"a": "x y"}', ["missing_value_open"]),
        ("<arg_key>a</arg_key></arg_value>", '{"a": ""}', ["missing_value_open"]),
        ("<arg_key> <arg_key>a</arg_key></arg_key> <arg_value>x</arg_value>", '{"a": "x"}', []),
        ("<arg_key>a<arg_key>b</arg_key><arg_value>x</arg_value>", '{"b": "x"}', ["missing_value"]),
    ],
)
def test_what_is_missing_in_a_pair_costs_no_more_than_the_pair(inner: str, arguments: str, found: list[str]) -> None:
    for texts in ((HEAD + inner + TAIL,), tuple(HEAD + inner + TAIL)):
        trace = trace_of("glm47_moe", *texts)
        assert calls(trace.message) == [("f", arguments)]
        assert trace.message.content == "Done."
        assert codes(trace) == found


def test_a_keys_tag_that_is_written_twice_moves_nothing() -> None:
    trace = trace_of("glm47_moe", f"{HEAD}<arg_key> <arg_key>a</arg_key><arg_value>x</arg_value>{TAIL}")
    assert [text for text, owner in owners(trace) if owner == "arguments"] == ["a", "x"]


def test_a_key_without_a_value_is_dropped_and_its_tags_are_structure() -> None:
    trace = trace_of("glm47_moe", HEAD + "<arg_key> b </arg_key> <arg_key>c" + TAIL)
    assert dropped(trace) == [("b", "cut off before its end"), ("c", "cut off before its end")]


@pytest.mark.parametrize("request_", [Context(), tool({"a": {"type": "integer"}})])
def test_a_value_that_is_cut_before_its_text_is_left_out(request_: Context) -> None:
    trace = trace_of("glm47_moe", HEAD + "<arg_key>a</arg_key>\n", context=request_)
    assert (calls(trace.message), codes(trace)) == ([("f", "")], ["truncated_call"])


@pytest.mark.parametrize("tail", ["</tool_call>", "</tool_call>\n"])
@pytest.mark.parametrize("kind", ["string", "integer"])
def test_the_end_of_the_call_ends_an_open_value_where_the_output_ends(tail: str, kind: str) -> None:
    text, value = HEAD + "<arg_key>a</arg_key><arg_value>7" + tail, '"7"' if kind == "string" else "7"
    for texts in ((text,), tuple(text)):
        trace = trace_of("glm47_moe", *texts, context=tool({"a": {"type": kind}}))
        assert (calls(trace.message), codes(trace)) == ([("f", f'{{"a": {value}}}')], ["missing_value_close"])
        assert trace.message.tool_calls[0].complete


def test_in_an_output_that_was_cut_it_may_be_text_of_the_value() -> None:
    trace = trace_of(
        "glm47_moe", HEAD + "<arg_key>a</arg_key><arg_value>7</tool_call>", context=Context(finish_reason="length")
    )
    assert (calls(trace.message), codes(trace)) == ([("f", '{"a": "7')], ["truncated_call"])
