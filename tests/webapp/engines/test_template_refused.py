"""What transformers loses or refuses: it becomes content, or is dropped by name, and is said."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.vocabulary.types import Message
from tests.parsers.parsing import calls
from tests.webapp.engines.templates import (
    ANCHOR,
    CALL,
    PLAIN,
    STREAMED,
    THINK,
    XML,
    owned,
    read,
    template,
    told,
)


def test_content_before_and_after_calls_is_kept_and_the_trap_named() -> None:
    trace = read(PLAIN, f"before\n{CALL}\n{CALL}\nafter")
    assert trace.message.content == "beforeafter"
    found = [one.message for one in told(trace) if one.code == "field_overwritten"]
    assert len(found) == 1
    assert found[0].startswith("content comes again with nothing but white space. transformers keeps only its last")


def test_an_empty_region_loses_nothing() -> None:
    assert told(read(PLAIN, f"\n{CALL}\n{CALL}\nafter")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": "</tool_call>"}}</tool_call>', "stands inside a JSON string"),
        ("<tool_call>{oops}</tool_call>", "It then stays in the region and loses what follows"),
        ('<tool_call>{"name": "f", "argum', "The output ended inside it"),
    ],
)
def test_a_region_that_transformers_cannot_read_becomes_content(text: str, words: str) -> None:
    trace = read(PLAIN, text)
    assert trace.message == Message(None, text)
    (one,) = [one for one in told(trace) if one.code == "parser_raised"]
    assert (words in one.message, one.severity) == (True, "error")
    assert [(call.start, call.reason.words) for call in trace.rejected_calls] == [(0, "transformers raises ValueError")]


def test_what_follows_a_region_that_cannot_be_read_is_read() -> None:
    trace = read(PLAIN, f"<tool_call>oops</tool_call>{CALL}")
    assert calls(trace.message) == [("f", '{"a": 1}')]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[]", "the list of calls is empty"),
        ('{"arguments": {}}', "the value has no name, neither under `function` nor directly"),
        ('{"name": 7}', "the value has no name, neither under `function` nor directly"),
        ("7", "the value has no name, neither under `function` nor directly"),
        ('{"name": "f", "parameters": {}}', "the value has a name but no `arguments`"),
    ],
)
def test_a_value_that_is_no_call_becomes_content(value: str, reason: str) -> None:
    data = template(tool_calls={"open": "<c>", "close": "</c>", "content": "json"}, content={})
    trace = read(data, f"<c>{value}</c>")
    assert trace.message == Message(None, f"<c>{value}</c>")
    assert [(one.code, one.message) for one in told(trace)] == [
        ("no_call", f"tool_calls: {reason}. Its text is kept as content.")
    ]
    assert [call.reason.words for call in trace.rejected_calls] == [reason]


def test_a_required_field_that_is_missing_is_said() -> None:
    trace = read(template(thinking={**THINK, "optional": False}, content={}), "yes")
    assert trace.message == Message(None, "yes")
    assert [one.message for one in told(trace)] == [
        "transformers raises ValueError at the end: Required response_template fields missing from parsed output: "
        "['thinking']"
    ]


def test_a_call_whose_closing_tag_is_missing_is_whole() -> None:
    trace = read(PLAIN, '<tool_call>{"name": "f", "arguments": {}}')
    assert trace.message.tool_calls[0].complete
    assert [one.code for one in told(trace)] == ["unclosed_region"]


def test_a_cut_off_call_that_is_no_json_is_not_complete() -> None:
    trace = read(XML, "<function=f><parameter=a>1</parameter><parameter=b>")
    assert [(call.arguments, call.complete) for call in trace.message.tool_calls] == [('{"a": "1"}', False)]
    assert [one.code for one in told(trace)] == ["unclosed_region"]


def test_a_streamed_call_that_cannot_be_read_is_not_complete() -> None:
    data = template(tool_calls={**STREAMED["fields"]["tool_calls"], "join": "x"}, content={})
    trace = read(data, "<call:f>{}</call>")
    assert [(call.arguments, call.complete) for call in trace.message.tool_calls] == [("{}", False)]


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        ({"open": "<c>", "close": "</c>", "content": "json"}, "<c>[1]</c>", "not_text"),
        ({"open": "<c>", "close": "</c>", "content": "int"}, "<c>x</c>", "parser_raised"),
        ({"open": "<c>", "close": "</c>", "transform": {"t": "{content}"}}, "<c>x</c>", "not_text"),
        ({"open": "<c>", "close_pattern": "</(?P<z>c)>", "transform": "{z}"}, "<c>x</c>", "parser_raised"),
    ],
)
def test_content_that_is_no_text_shows_its_raw_text(field: Any, text: str, code: str) -> None:
    trace = read(template(content=field), text)
    assert trace.message == Message(None, text[3:-4])
    assert [one.code for one in told(trace)] == [code]


def test_fields_that_no_client_knows_are_dropped_by_name() -> None:
    trace = read(template(cite={"open": "<c>", "close": "</c>", "repeats": True}, content={}), "a<c>one</c><c>two</c>")
    assert [(run.why, trace.text[run.start : run.end]) for run in trace.partition if run.owner == "dropped"] == [
        ("field cite", "one"),
        ("field cite", "two"),
    ]
    assert [(one.code, one.message) for one in told(trace)] == [("unknown_field", "Field cite: no client gets it.")]


def test_text_outside_all_fields_is_dropped_and_said_once() -> None:
    trace = read(template(content={"open": "<c>", "close": "</c>"}), "a<c>b</c>c")
    assert (trace.message.content, owned(trace, "dropped")) == ("b", ["a", "c"])
    assert [one.code for one in told(trace)] == ["unread_text"]


def test_a_prefix_without_the_anchor_is_said() -> None:
    assert [one.code for one in told(read(PLAIN, "x", "user"))] == ["anchor_not_found"]
    assert told(read(PLAIN, "x", ANCHOR)) == []
