"""The parts of the wrapper one by one: markers, envelopes, repair, recovery, verdicts, events as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.replays.replay import replay
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.drops import LOST, stated
from parsers.vocabulary.events import CallArguments, CallEnd, CallName, CallStart, ContentText, Dropped, Event, Marker
from parsers.vocabulary.types import Context, Tool
from parsers.wrappers.attempt import as_object, calls_as_text, calls_of, shift_events, without_spans
from parsers.wrappers.chain import why_unfinished
from parsers.wrappers.fallback import Fallback
from parsers.wrappers.gate import fault_of
from parsers.wrappers.repair import find_closing, find_parameters
from parsers.wrappers.table import markers_of
from tests.parsers.parsing import calls, deltas, dropped, owners

# The markers that vllm.rs (2026-05) lists for a family, where the family's models write them.
MARKERS = [
    ("qwen", ["<tool_call>"], ["</tool_call>"]),
    ("qwen_coder", ["<tool_call>", "<function="], ["</tool_call>"]),
    ("glm47_moe", ["<tool_call>"], ["</tool_call>"]),
    ("mistral", ["[TOOL_CALLS]"], ["</s>"]),
    ("minimax_m2", ["<minimax:tool_call>", "<invoke name="], ["</minimax:tool_call>"]),
    (
        "kimik2",
        ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
        ["<|tool_calls_section_end|>", "<|tool_call_end|>"],
    ),
]


@pytest.mark.parametrize(("name", "start", "end"), MARKERS)
def test_markers_come_from_the_formats_own_terminals(name: str, start: list[str], end: list[str]) -> None:
    fmt = get_format(name)
    found = markers_of(fmt, policies(fmt))
    assert found is not None
    assert (list(found.start.values()), list(found.end.values())) == (start, end)


@pytest.mark.parametrize("name", ["passthrough", "llama", "json", "pythonic", "harmony"])
def test_formats_without_start_markers_have_none(name: str) -> None:
    fmt = get_format(name)
    assert markers_of(fmt, policies(fmt)) is None


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ('{"a": 1}', None),
        ("", None),
        ("words", None),
        ('{"a": }', None),
        ('{"a": [1', "its JSON is not closed"),
        ('{"a": "open', "its JSON is not closed"),
        ("<function=f><parameter=a>x", "<function= is not closed"),
        ("<function=f><parameter=a>x</function>", "<parameter= is not closed"),
        ("<function=f><parameter=a>x</parameter></parameter></function>", None),
        ('<invoke name="f"><parameter name="a">x</invoke>', "<parameter name= is not closed"),
        ('<invoke name="f">', "<invoke  is not closed"),
        ("f<arg_key>a</arg_key><arg_value>1", "<arg_value> is not closed"),
        ("f<arg_key>a</arg_key><arg_value>1</arg_value>", None),
    ],
)
def test_an_envelope_says_whether_its_payload_may_go_on(payload: str, why: str | None) -> None:
    assert why_unfinished(payload) == why


@pytest.mark.parametrize(
    ("arguments", "at_marker", "at_end"),
    [
        ("", "{}", "{}"),
        ("  ", "{}", "{}"),
        ("{", "{}", "{}"),
        ('{"a": 1', '{"a": 1}', "{}"),
        ('{"a": 1, ', '{"a": 1}', '{"a": 1}'),
        ('{"a": [1, {"b": "x', '{"a": [1, {"b": "x"}]}', '{"a": [1, {"b": "x"}]}'),
        ('{"a": "x\\u00', '{"a": "x"}', '{"a": "x"}'),
        ('{"a": 1, "b', '{"a": 1}', '{"a": 1}'),
        ('{"a": 1, "b": ', '{"a": 1}', '{"a": 1}'),
        ('{"a": 1}}}', '{"a": 1}', '{"a": 1}'),
        ('{"a": 1} more', None, None),
        ('{"a": 1 2}', None, None),
        ("[1]", None, None),
        ("words", None, None),
        ('{"a": "b" "c"', '{"a": "b"}', '{"a": "b"}'),
    ],
)
def test_arguments_are_closed_by_appending(arguments: str, at_marker: str | None, at_end: str | None) -> None:
    for over, wanted in ((False, at_marker), (True, at_end)):
        found = find_closing(arguments, over=over)
        made = None if found is None else arguments[: found[0]] + found[1]
        assert (None if made is None else json.loads(made)) == (None if wanted is None else json.loads(wanted))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.replays
@given(st.dictionaries(st.text(max_size=3), json_values, max_size=3), st.integers(0, 200))
def test_every_beginning_of_an_object_can_be_closed(value: dict[str, Any], size: int) -> None:
    text = json.dumps(value, ensure_ascii=False)[: size or 1]
    for over in (False, True):
        found = find_closing(text, over=over)
        assert found is not None
        assert isinstance(json.loads(text[: found[0]] + found[1]), dict)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<parameter=a>1</parameter>", [("a", "1")]),
        ('<parameter name="a">1</parameter> <parameter=b>\n2\n</parameter>', [("a", "1"), ("b", "\n2\n")]),
        ("<arg_key> a </arg_key>\n<arg_value>1</arg_value>", [("a", "1")]),
        ("<parameter=a>1", []),
        ("<arg_key>a</arg_key>1", []),
        ("<parameter>1</parameter>", []),
    ],
)
def test_parameters_are_found_in_their_usual_spellings(text: str, found: list[tuple[str, str]]) -> None:
    read = list(find_parameters(text, 10))
    assert [(one.key, one.value) for one in read] == found
    assert all(text[one.start - 10] == "<" and text[one.end - 11] == ">" for one in read)
    assert all(text[one.value_at - 10 :].startswith(one.value) for one in read)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"\\"{}\\""', None),
        ("[1]", None),
        ("{", None),
        ("[" * 100_000, None),
        ("", None),
    ],
)
def test_an_object_may_be_wrapped_in_one_string(text: str, value: dict[str, Any] | None) -> None:
    assert as_object(text) == value


REQUIRED = {"required": ["a", 1], "type": "object"}


@pytest.mark.parametrize(
    ("arguments", "tool", "words"),
    [
        ("{}", None, None),
        ("{}", Tool("f"), None),
        ("{}", Tool("f", {"required": "a"}), None),
        ('{"a": 0}', Tool("f", REQUIRED), None),
        ('{"a": null}', Tool("f", REQUIRED), "it lacks what f requires: a"),
        ("{}", Tool("f", REQUIRED), "it lacks what f requires: a"),
        ("{}", Tool("f", REQUIRED, strict=False), None),
        ("{}", Tool("f", REQUIRED, strict=True), "it lacks what f requires: a"),
        ("{}", Tool("g"), "f is not a declared tool"),
        ("1", None, "its arguments are not one JSON object"),
    ],
)
def test_a_verdict_says_what_is_wrong(arguments: str, tool: Tool | None, words: str | None) -> None:
    wrong = fault_of("f", arguments, Context(tools=() if tool is None else (tool,)))
    assert (None if wrong is None else wrong.words) == words


def test_events_can_be_cut_moved_and_made_text() -> None:
    call: list[Event] = [
        CallStart(2, 3),
        Marker(2, 3, "START"),
        CallName(3, 4, "f"),
        CallArguments(4, 6, "{}"),
        CallEnd(6, 7),
        Marker(6, 7, "END"),
    ]
    events: list[Event] = [
        ContentText(0, 2, "ab"),
        *call[:4],
        call[5],
        call[4],
        Dropped(7, 9, stated("x")),
        ContentText(9, 10, "c"),
    ]
    made = calls_as_text(events, "ab<f{}>xyc", 0)
    assert [(event.start, event.end) for event in made] == [(0, 2), (2, 7), (7, 9), (9, 10)]
    assert made[1] == ContentText(2, 7, "<f{}>")
    assert without_spans(made, [(1, 3), (7, 9)]) == [
        ContentText(0, 1, "a"),
        ContentText(3, 7, "f{}>"),
        ContentText(9, 10, "c"),
    ]
    assert without_spans([Dropped(0, 9, stated("x")), call[0]], [(2, 3), (4, 5)]) == [
        Dropped(0, 2, stated("x")),
        Dropped(3, 4, stated("x")),
        Dropped(5, 9, stated("x")),
        call[0],
    ]
    assert [(event.start, event.end) for event in shift_events(events, 5)][:2] == [(5, 7), (7, 8)]
    assert calls_of([CallStart(0, 1), CallName(1, 2, "f")])[0].complete is False


def test_a_payload_of_unfinished_json_that_is_no_call_waits_for_another_end_marker() -> None:
    text = '<tool_call>{"x": {"y": 1}</tool_call> more </tool_call>'
    trace = replay(Fallback(get_format("qwen")), deltas(text), Context())
    assert trace.message.content == text.removesuffix("</tool_call>")
    notes = [row.note for step in trace.steps for row in step.transitions if row.trigger == "CANDIDATE"]
    assert notes == ["its JSON is not closed"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"name": "f", "arguments": {"a": 1}}<parameter=b>2</parameter>', '{"a": 1, "b": "2"}'),
        ('{"name": "f"}\n<parameter=b>\n2\n</parameter> and <parameter=b>3</parameter>', '{"b": "2"}'),
        ('{"name": "f", "arguments": {"a": 1}}<parameter=a>2</parameter>', '{"a": 1}'),
        ('{"name": "f", "arguments": {"a": 1} }<arg_key>b</arg_key><arg_value>2</arg_value>', '{"a": 1, "b": "2"}'),
    ],
)
def test_parameters_beside_the_arguments_are_added_and_nothing_is_overwritten(text: str, arguments: str) -> None:
    trace = replay(Fallback(get_format("qwen")), deltas(f"<tool_call>{text}</tool_call>"), Context())
    assert calls(trace.message) == [("f", arguments)]
    assert not [run for run in trace.partition if run.reason == LOST]


def test_text_beside_recovered_parameters_stays_content() -> None:
    text = '<tool_call>{"name": "f"} so <parameter=b>2</parameter> it is</tool_call>'
    trace = replay(Fallback(get_format("qwen")), deltas(text), Context())
    assert calls(trace.message) == [("f", '{"b": "2"}')]
    assert ("2", "arguments") in owners(trace)
    assert trace.message.content == "so  it is"


def test_recovered_values_follow_the_schema_and_the_entity_policy() -> None:
    tool = Tool("f", {"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}})
    text = '<function=f><parameter name="n">3</parameter><parameter name="s">a&amp;b</parameter></function></tool_call>'
    for policy, value in (({}, "a&amp;b"), ({"entity_decoding": "on"}, "a&b")):
        wrapper = Fallback(get_format("qwen_coder"), policy)
        trace = replay(wrapper, deltas(f"<tool_call>{text}"), Context(tools=(tool,)))
        assert json.loads(trace.message.tool_calls[0].arguments) == {"n": 3, "s": value}


def test_a_tag_inside_the_arguments_is_no_parameter() -> None:
    arguments = '{"doc": "<parameter=b>2</parameter>"}'
    text = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'
    assert calls(replay(Fallback(get_format("qwen")), deltas(text), Context()).message) == [("f", arguments)]


def test_tags_that_give_nothing_leave_the_call_to_repair() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"doc": "<parameter=b", "n": 1</tool_call>'
    trace = replay(Fallback(get_format("qwen")), deltas(text), Context())
    assert calls(trace.message) == [("f", '{"doc": "<parameter=b", "n": 1}')]
    notes = [row.note for step in trace.steps for row in step.transitions if row.from_state == "TRY_XML"]
    assert notes == ["no parameter is missing that stands there"]


def test_what_repair_cuts_off_is_dropped_with_its_reason() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "x", "b": tr'
    trace = replay(Fallback(get_format("qwen")), deltas(text), Context())
    assert calls(trace.message) == [("f", '{"a": "x"}')]
    assert dropped(trace) == [(', "b": tr', "structural repair: it cannot be closed")]


def test_a_call_whose_name_alone_came_is_closed_with_an_empty_object() -> None:
    trace = replay(Fallback(get_format("qwen")), deltas('<tool_call>{"name": "f", "arg'), Context())
    assert calls(trace.message) == [("f", "{}")]
    assert not trace.message.tool_calls[0].complete


def test_a_reading_of_the_rest_must_give_good_calls() -> None:
    broken = '<tool_call>{"name": "f", "arguments": {"a": "x}}</tool_call>\n'
    trace = replay(Fallback(get_format("qwen")), deltas(broken + '<tool_call>{"name": "g", "arguments": 1'), Context())
    assert trace.message.tool_calls == []
    assert trace.message.content == broken + '<tool_call>{"name": "g", "arguments": 1'
