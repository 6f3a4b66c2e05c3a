"""Calls that are not to be kept, and what each policy makes of them: every character still has an owner."""

from __future__ import annotations

import pytest

from parsers.vocabulary.events import CallEnd
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, dropped, events_of, owners, small, trace_of

GOOD = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
CUT = '<tool_call>{"name": "f", "arguments": {"a": "x'
LIST = '<tool_call>{"name": "f", "arguments": [1]}</tool_call>'
OTHER_TOOL = Context(tools=(Tool("g"),))
F = [("f", '{"a": 1}')]


def policy(name: str, value: str) -> dict[str, str]:
    return {name: value}


@pytest.mark.parametrize(
    ("value", "content", "found"),
    [
        ("content", "<tool_call>junk</tool_call>a", F),
        ("skip_call", "a", F),
        ("fail", None, []),
    ],
)
def test_after_malformed_structure(value: str, content: str | None, found: list[tuple[str, str]]) -> None:
    trace = trace_of("qwen", f"<tool_call>junk</tool_call>a{GOOD}", policy=policy("recovery", value))
    assert (trace.message.content, calls(trace.message)) == (content, found)
    assert codes(trace)[0] == "rejected_call"


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        (f"<tool_call>junk{GOOD}", None, F),
        (f"<tool_call></tool_call>a{GOOD}", "a", F),
        ("<tool_call>junk", None, []),
        ("<tool_call>ju</tool_", None, []),
    ],
)
def test_a_skipped_call_ends_where_it_is_closed_or_the_next_begins(
    text: str, content: str | None, found: list[tuple[str, str]]
) -> None:
    trace = trace_of("qwen", *text, policy=policy("recovery", "skip_call"))
    assert (trace.message.content, calls(trace.message)) == (content, found)
    assert {reason for _, reason in dropped(trace) if reason} <= {
        "rejected call: What follows the marker is no call",
        "rejected call: the call was never named",
        "it belongs to a call that is skipped",
    }


def test_a_block_whose_function_never_comes_is_skipped_to_its_end() -> None:
    text = "<tool_call>junk</tool_call><function=f></function></tool_call>"
    trace = trace_of("qwen_coder", text, policy=policy("recovery", "skip_call"))
    assert calls(trace.message) == [("f", "{}")]
    assert trace.message.content is None


def test_the_next_call_of_mistral_is_found_after_one_that_is_skipped() -> None:
    trace = trace_of("mistral", '[TOOL_CALLS]foo bar[TOOL_CALLS]g{"b":2}', policy=policy("recovery", "skip_call"))
    assert calls(trace.message) == [("g", '{"b":2}')]


def test_white_space_that_waited_is_not_lost_when_the_rest_fails() -> None:
    trace = trace_of("qwen", f"{GOOD}\n<tool_call>junk", policy=policy("recovery", "fail"))
    assert dropped(trace)[0] == ("\n", "white space around a call")


@pytest.mark.parametrize(("value", "content", "kept"), [("keep", None, F), ("drop", None, []), ("text", GOOD, [])])
def test_a_call_to_a_tool_that_was_not_declared(value: str, content: str | None, kept: list[tuple[str, str]]) -> None:
    trace = trace_of("qwen", *GOOD, policy=policy("unknown_tool", value), context=OTHER_TOOL)
    assert (trace.message.content, calls(trace.message)) == (content, kept)
    names = [(call.name, call.start, call.end, call.reason.words) for call in trace.rejected_calls]
    assert names == ([] if kept else [("f", 0, len(GOOD), "f is not a declared tool")])


def test_what_is_wrong_inside_an_unwanted_call_is_no_second_loss() -> None:
    text = GOOD.replace("}}", "}}}]")
    trace = trace_of("qwen", text, policy=policy("unknown_tool", "drop"), context=OTHER_TOOL)
    assert dropped(trace) == [(text, "call to f, which is not a declared tool")]


@pytest.mark.parametrize(("value", "content"), [("drop", None), ("text", "[TOOL_CALLS]f[ARGS]")])
def test_an_unwanted_call_that_ends_with_its_name_is_not_lost(value: str, content: str | None) -> None:
    trace = trace_of("mistral", "[TOOL_CALLS]f[ARGS]", policy=policy("unknown_tool", value), context=OTHER_TOOL)
    assert (trace.message.content or "", trace.message.tool_calls) == ((content or "").removeprefix("[TOOL_CALLS]"), [])
    assert "lost" not in [reason for _, reason in dropped(trace)]


@pytest.mark.parametrize("text", [LIST, '<tool_call>{"name": "f", "arguments": "x"}</tool_call>'])
def test_strict_calls_need_one_json_object(text: str) -> None:
    assert len(trace_of("qwen", text).message.tool_calls) == 1
    trace = trace_of("qwen", text, policy=policy("invalid_call", "strict"))
    assert (trace.message.content, trace.message.tool_calls) == (text, [])
    assert trace.rejected_calls[0].reason.words == "the arguments are not one JSON object"
    assert trace.rejected_calls[0].name == "f"


def test_a_good_call_passes_the_strict_policy_whole_and_at_once() -> None:
    trace = trace_of("qwen", GOOD[:30], GOOD[30:-1], GOOD[-1], policy=policy("invalid_call", "strict"))
    assert [bool(delta) for delta in trace.deltas] == [False, False, True, False]
    assert calls(trace.message) == F


def test_arguments_nested_beyond_every_limit_are_no_object_to_the_strict_policy() -> None:
    deep = f'<tool_call>{{"name": "f", "arguments": {"[" * 100_000}{"]" * 100_000}}}</tool_call>'
    assert trace_of("qwen", deep, policy=policy("invalid_call", "strict")).message.tool_calls == []


@pytest.mark.parametrize(
    ("value", "content", "found"),
    [
        ("as_streamed", None, [("f", '{"a": "x')]),
        ("close", None, [("f", '{"a": "x"}')]),
        ("text", CUT, []),
        ("drop", None, []),
    ],
)
def test_a_call_that_the_output_cuts_off(value: str, content: str | None, found: list[tuple[str, str]]) -> None:
    trace = trace_of("qwen", *CUT, policy=policy("truncated_call", value))
    assert (trace.message.content, calls(trace.message)) == (content, found)
    ends = [event.complete for event in events_of(trace, CallEnd) if isinstance(event, CallEnd)]
    assert ends == [False] * len(found)


@pytest.mark.parametrize("value", ["text", "drop"])
def test_a_whole_call_is_none_of_the_truncated_policy(value: str) -> None:
    assert calls(trace_of("qwen", GOOD, policy=policy("truncated_call", value)).message) == F


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CUT, "truncated_call"),
        ('<tool_call>{"name": "f", "arguments": {"a": </tool_call>x', "incomplete_call"),
        (CUT.replace('"x', "[1</tool_call>"), "incomplete_call"),
    ],
)
def test_an_incomplete_call_has_a_diagnostic(text: str, code: str) -> None:
    trace = trace_of("qwen", text)
    assert codes(trace) == [code]
    assert [call.complete for call in trace.message.tool_calls] == [False]


def test_a_row_that_is_not_fired_by_its_codec_cannot_reject_a_call_that_stands() -> None:
    call_state = {
        "codec": {"name": "json_call"},
        "rows": [{"on": "REJECT", "to": "TOP"}, {"on": "END", "to": "TOP", "emit": ["CallEnd"]}],
    }
    states = {
        "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "CALL", "emit": ["CallStart"]}]},
        "CALL": call_state,
    }
    trace = trace_of(small(states, {"OPEN": "<a>"}), "<a>prose")
    assert owners(trace) == [("<a>prose", "content")]
    assert trace.rejected_calls[0].reason.words == "it is not a call"
