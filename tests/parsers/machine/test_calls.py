"""The life of a call: which states it passes through, by the table and in traces."""

from __future__ import annotations

from itertools import groupby

import pytest

from parsers.formats.diagram import rows_table
from parsers.machine.call_life import LIFE, CallEvent, CallState, life_of_a_call
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, small, trace_of

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
KIMI = "<|tool_call_begin|>functions.f:0"
QWEN = '<tool_call>{"name": "f"'
STRICT, TEXT = {"invalid_call": "strict"}, {"truncated_call": "text"}


def lived(*texts: str, policy: dict[str, str] | None = None, tool: str = "f") -> list[str]:
    """The states after the steps of a replay, each once."""
    trace = trace_of("qwen", *texts, policy=policy, context=Context(tools=(Tool(tool),)))
    return [state for state, _ in groupby(step.view.call_state or "NONE" for step in trace.steps)]


def test_the_table_is_a_format_for_what_draws_formats() -> None:
    moves = [(state.name, event.name, to.name) for state, found in LIFE.items() for event, to in found.items()]
    assert [(line.state, line.trigger, line.to) for line in rows_table(life_of_a_call())] == moves


@pytest.mark.parametrize(
    ("text", "policy", "states"),
    [
        ("no call", {}, ["NONE"]),
        (CALL, {}, ["NONE", "TENTATIVE", "OPEN", "NONE"]),
        (CALL[:20], {}, ["NONE", "TENTATIVE", "NONE"]),
        (CALL[:-20], {}, ["NONE", "TENTATIVE", "OPEN", "NONE"]),
        (CALL, STRICT, ["NONE", "TENTATIVE", "NAMED", "NONE"]),
        (CALL[:-20], TEXT, ["NONE", "TENTATIVE", "NAMED", "NONE"]),
        ("<tool_call>junk</tool_call>", {}, ["NONE", "TENTATIVE", "NONE"]),
        ("<tool_call>junk</tool_call>a", {"recovery": "skip_call"}, ["NONE", "TENTATIVE", "SKIPPED", "NONE"]),
        (f"<tool_call>junk</tool_call>{CALL}", {"recovery": "fail"}, ["NONE", "TENTATIVE", "FAILED"]),
    ],
)
def test_a_call_passes_through_these_states(text: str, policy: dict[str, str], states: list[str]) -> None:
    assert lived(*text, policy=policy) == states


@pytest.mark.parametrize(("value", "state"), [("keep", "OPEN"), ("text", "AS_TEXT"), ("drop", "DROPPED")])
def test_a_call_to_an_unknown_tool_goes_where_the_policy_says(value: str, state: str) -> None:
    assert lived(*CALL, policy={"unknown_tool": value}, tool="g") == ["NONE", "TENTATIVE", state, "NONE"]


def test_every_state_has_a_line_and_can_be_reached() -> None:
    assert list(LIFE) == list(CallState)
    reached = {CallState.NONE, *[after for moves in LIFE.values() for after in moves.values()]}
    assert reached == set(CallState)
    assert {event for moves in LIFE.values() for event in moves} == set(CallEvent)


def test_what_a_state_does_not_list_is_passed_over() -> None:
    rows = [
        {"on": "A", "to": "TOP", "emit": ["CallStart"]},
        {"on": "B", "to": "TOP", "emit": ["CallEnd"]},
        {"on": "END", "to": "TOP", "emit": ["CallEnd"]},
    ]
    fmt = small({"TOP": {"text": "content", "rows": rows}}, {"A": "<a>", "B": "<b>"})
    assert trace_of(fmt, "x<b>y").message.content == "xy"
    assert trace_of(fmt, "x<a><a>y<b>").message.content == "x<a><a>y<b>"


@pytest.mark.parametrize("value", ["empty", "text", "drop"])
@pytest.mark.parametrize(
    ("fmt", "bare", "written"),
    [
        ("qwen", '<tool_call>{"name": "f"}</tool_call>', '<tool_call>{"name": "f", "arguments": {}}</tool_call>'),
        ("kimik2", f"{KIMI}<|tool_call_end|>", f"{KIMI}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"),
    ],
)
def test_a_call_with_nothing_for_its_arguments_goes_where_the_policy_says(
    value: str, fmt: str, bare: str, written: str
) -> None:
    policy = {"missing_arguments": value}
    found = trace_of(fmt, *bare, policy=policy).message
    assert [call.arguments for call in found.tool_calls] == (["{}"] if value == "empty" else [])
    assert found.content == (bare if value == "text" else None)
    assert [call.arguments for call in trace_of(fmt, *written, policy=policy).message.tool_calls] == ["{}"]


@pytest.mark.parametrize(
    ("value", "names", "content"), [("keep", "fg", None), ("drop", "g", None), ("text", "g", CALL)]
)
def test_where_the_request_names_a_tool_another_one_is_not_asked_for(
    value: str, names: str, content: str | None
) -> None:
    context = Context(tools=(Tool("f"), Tool("g")), tool_choice="named", named_tool="g")
    text = CALL + CALL.replace('"f"', '"g"')
    trace = trace_of("qwen", *text, policy={"unknown_tool": value}, context=context)
    assert "".join([name for name, _ in calls(trace.message)]) == names
    assert trace.message.content == content
    reasons = [rejected.reason.words for rejected in trace.rejected_calls]
    assert reasons == ([] if value == "keep" else ["f is not the tool that the request names"])


def test_text_that_no_call_of_the_format_has_is_a_fault_of_its_markup() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\nwell\n</function>\n</tool_call>"
    for value, found in (("read", [("f", '{"a": "1"}')]), ("reject", [])):
        assert calls(trace_of("qwen_coder", *text, policy={"malformed_call": value}).message) == found
    cut = text[: text.index("1\n") + 1]
    shut = trace_of("qwen_coder", *cut, policy={"malformed_call": "reject", "truncated_call": "close"})
    assert [name for name, _ in calls(shut.message)] == ["f"]


@pytest.mark.parametrize(
    ("fmt", "text"),
    [("pythonic", "[f()]"), ("gemma4", "<|tool_call>call:f{}<tool_call|>"), ("qwen", f'{QWEN}, "arguments": {{}}}}')],
)
def test_empty_brackets_stand_for_arguments(fmt: str, text: str) -> None:
    for value in ("empty", "text", "drop"):
        trace = trace_of(fmt, *text, policy={"missing_arguments": value})
        assert calls(trace.message) == [("f", "{}")]
        assert "missing_arguments" not in codes(trace)


@pytest.mark.parametrize(
    ("fmt", "text", "times"),
    [
        ("qwen", f"{QWEN}}}</tool_call>", 1),
        ("kimik2", f"{KIMI}<|tool_call_end|>", 1),
        ("gemma4", "<|tool_call>call:f<tool_call|>", 1),
        ("qwen_coder", "<tool_call>\n<function=f>\n</function>\n</tool_call>", 0),
        ("qwen", QWEN, 0),
    ],
)
def test_it_is_said_once_that_nothing_stands_for_the_arguments(fmt: str, text: str, times: int) -> None:
    assert codes(trace_of(fmt, *text)).count("missing_arguments") == times


def test_policies_of_a_format_are_in_force_where_it_lists_them() -> None:
    call = "<tool_call>\n<function=f>\n</function>\n</tool_call>"
    assert trace_of("qwen_coder", call, policy={"missing_arguments": "drop"}).message.tool_calls[0].arguments == "{}"
    assert trace_of("qwen", "<tool_call>no</tool_call>", policy={"rejected_call": "drop"}).message.content is not None


TOOL = Tool(
    "f",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
)


def f(arguments: str) -> str:
    return f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'


@pytest.mark.parametrize(
    ("policy", "text", "arguments"),
    [
        ({"invalid_call": "by_schema"}, f('{"a": 1}'), '{"a": 1}'),
        ({"invalid_call": "by_schema"}, f('{"b": 1}'), None),
        ({"invalid_call": "by_schema"}, f('{"a": 1, "a": 2}'), None),
        ({"invalid_call": "by_schema"}, f("[1]"), None),
        ({"invalid_call": "strict"}, f('{"b": 1}'), '{"b": 1}'),
        ({"undeclared_arguments": "drop"}, f('{"a": 1.50, "c": 2}'), '{"a": 1.50}'),
        ({"undeclared_arguments": "unwrap"}, f('{"input": {"a": "1"}}'), '{"a": 1}'),
        ({"undeclared_arguments": "unwrap", "invalid_call": "by_schema"}, f('{"input": {"c": 1}}'), None),
        ({"malformed_call": "reject"}, f('{"a": 1}'), '{"a": 1}'),
        ({"malformed_call": "reject"}, f('{"a": 1]}'), None),
    ],
)
def test_a_call_is_judged_as_the_policies_say(policy: dict[str, str], text: str, arguments: str | None) -> None:
    trace = trace_of("qwen", *text, policy=policy, context=Context(tools=(TOOL,)))
    assert [call.arguments for call in trace.message.tool_calls] == ([] if arguments is None else [arguments])
    assert trace.message.content == (text if arguments is None else None)
    assert not [run for run in trace.partition if run.reason == LOST]


def test_a_call_without_declared_tools_is_not_judged_by_a_schema() -> None:
    trace = trace_of("qwen", f('{"b": 1}'), policy={"invalid_call": "by_schema", "undeclared_arguments": "drop"})
    assert [call.arguments for call in trace.message.tool_calls] == ['{"b": 1}']


@pytest.mark.parametrize(
    ("fmt", "text"),
    [
        ("gemma4", '<|tool_call>{a:<|"|>b<|"|>}<tool_call|>'),
        ("mistral", '[TOOL_CALLS][{"arguments": {"a": 1}}][/TOOL_CALLS]'),
        ("phi4_mini_json", "functools[no list]"),
        ("deepseek", "<｜tool▁calls▁begin｜>nonsense<｜tool▁calls▁end｜>"),
    ],
)
def test_markup_that_is_no_call_is_dropped_whole_where_the_policy_says_so(fmt: str, text: str) -> None:
    trace = trace_of(fmt, *text, policy={"rejected_call": "drop"})
    assert (trace.message.content, trace.message.tool_calls) == (None, [])
    dropped = [run.reason for run in trace.partition if run.owner == "dropped"]
    assert {reason and reason.policy for reason in dropped} == {"rejected_call"}


@pytest.mark.parametrize(("value", "arguments"), [("by_schema", '{"a": 1}'), ("as_written", '{"a": "1"}')])
def test_values_that_have_a_type_are_rewritten_or_not_as_the_policy_says(value: str, arguments: str) -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})
    text = CALL.replace("1", '"1"')
    found = trace_of("qwen", *text, policy={"json_values": value}, context=Context(tools=(tool,))).message
    assert [call.arguments for call in found.tool_calls] == [arguments]


@pytest.mark.parametrize("value", ["text", "drop"])
def test_a_call_without_a_closing_marker_of_its_kind_is_whole_at_the_end(value: str) -> None:
    rows = [{"on": "OTHER", "to": "TOP", "emit": ["CallEnd"]}, {"on": "END", "to": "CALL", "emit": ["CallEnd"]}]
    top = {"text": "content", "rows": [{"on": "A", "to": "CALL", "emit": ["CallStart"]}]}
    fmt = small({"TOP": top, "CALL": {"codec": {"name": "json_call"}, "rows": rows}}, {"A": "<a>"})
    trace = trace_of(fmt, '<a>{"name": "f", "arguments": {}}', policy={"truncated_call": value})
    assert [call.name for call in trace.message.tool_calls] == ["f"]


MARKED = f"<think>It is {CALL} then.</think>Hi.</think> Bye."


@pytest.mark.parametrize(("calls", "end"), [("text", "text"), ("text", "drop"), ("read", "text"), ("read", "drop")])
def test_markers_around_reasoning_are_text_where_the_policies_say_so(calls: str, end: str) -> None:
    trace = trace_of("qwen", *MARKED, policy={"reasoning_calls": calls, "stray_reasoning_end": end})
    call, stray = CALL, "</think>" if end == "text" else ""
    assert [one.name for one in trace.message.tool_calls] == (["f"] if calls == "read" else [])
    if calls == "text":
        assert (trace.message.reasoning, trace.message.content) == (f"It is {call} then.", f"Hi.{stray} Bye.")
    else:
        assert (trace.message.reasoning, trace.message.content) == ("It is", f" then.{stray}Hi.{stray} Bye.")
