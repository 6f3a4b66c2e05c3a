"""parse_incremental: three outcomes over a growing buffer, and the bridge that makes deltas of them."""

from __future__ import annotations

import random
from itertools import product

import pytest

from parsers.vocabulary.types import Context, Message, ToolCall
from parsers.wire.stream_state import ToolCallStreamState
from parsers.wrappers.incremental import (
    Complete,
    InProgress,
    NotToolCall,
    ParsedToolCall,
    PartialToolCall,
    StreamBridge,
    ToolParseState,
    get_tool_parser,
)
from tests.amount import every
from tests.corpus import case_named, case_names, corpus_of
from tests.parsers.wire.client import Client

QWEN = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
FAMILIES = {
    "mistral": "mistral",
    "llama": "llama",
    "llama_function_tag": "llama",
    "qwen": "qwen",
    "qwen_agent": "qwen",
    "json": "json",
}
NAMES = case_names(*FAMILIES)
PLAIN = [name for name in NAMES if not case_named(name).parser.policy]


def kind(name: str, buffer: str) -> tuple[str, str | None, str | None]:
    """(outcome, name, arguments) of the call that is open, or that ended last."""
    found = get_tool_parser(name).parse_incremental(buffer)
    if isinstance(found, InProgress):
        return "InProgress", found.partial.name, found.partial.arguments
    if isinstance(found, Complete):
        return "Complete", found.call.name, found.call.arguments
    return "NotToolCall", None, None


@pytest.mark.parametrize(
    ("name", "buffer", "outcome"),
    [
        ("mistral", "Hi [TOOL_C", ("NotToolCall", None, None)),
        ("mistral", "Hi [TOOL_CALLS] ", ("InProgress", None, "")),
        ("mistral", '[TOOL_CALLS] [{"arguments": {"name": "x', ("InProgress", None, "")),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {"name": "x', ("InProgress", "f", '{"name": "x')),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {}}', ("Complete", "f", "{}")),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {}}, {', ("InProgress", None, "")),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {}}] and text', ("Complete", "f", "{}")),
        ("mistral", '[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]', ("InProgress", None, "")),
        ("mistral", '[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]g{', ("InProgress", "g", "{")),
        ("mistral", "[TOOL_CALLS] is a marker", ("NotToolCall", None, None)),
        ("llama", "<function=get", ("InProgress", None, "")),
        ("llama", '<function=get>{"a"', ("InProgress", "get", '{"a"')),
        ("llama", '<function=get>{"a": 1}</function>', ("Complete", "get", '{"a": 1}')),
        ("llama", '<|python_tag|>{"name": "f", "parameters": {"a', ("InProgress", "f", '{"a')),
        ("qwen", "<tool_call>", ("InProgress", None, "")),
        ("qwen", '<tool_call>{"name": "f", "arguments": {"a": ', ("InProgress", "f", '{"a": ')),
        ("qwen", QWEN, ("Complete", "f", '{"a": 1}')),
        ("qwen", "<tool_call>no JSON", ("NotToolCall", None, None)),
        ("qwen", "✿FUNCTION✿: get\n✿ARGS", ("InProgress", None, "")),
        ("qwen", '✿FUNCTION✿: get\n✿ARGS✿: {"a"', ("InProgress", "get", '{"a"')),
        ("qwen", '✿FUNCTION✿: get\n✿ARGS✿: {"a": 1}', ("Complete", "get", '{"a": 1}')),
        ("qwen", f"{QWEN}<tool_call>", ("InProgress", None, "")),
        ("qwen", '<tool_call>{"name": "f", "arguments": {"a": 1<tool_call>', ("InProgress", None, "")),
        ("json", '  {"answer": 4', ("InProgress", None, "")),
        ("json", '  {"answer": 42}', ("NotToolCall", None, None)),
        ("json", '{"name": "f", "arguments": {"a": 1}}', ("Complete", "f", '{"a": 1}')),
        ("auto", "a < b", ("NotToolCall", None, None)),
        ("auto", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]', ("Complete", "f", "{}")),
        ("auto", '<function=f>{"a": 1}</function>', ("Complete", "f", '{"a": 1}')),
        ("auto", '{"name": "f", "arguments": {"q": "<tool_call>{', ("InProgress", "f", '{"q": "<tool_call>{')),
        (
            "auto",
            QWEN.replace("1", '"[TOOL_CALLS] [{"'),
            ("Complete", "f", '{"a": "[TOOL_CALLS] [{"}'),
        ),
    ],
)
def test_what_a_buffer_is(name: str, buffer: str, outcome: tuple[str, str | None, str | None]) -> None:
    assert kind(name, buffer) == outcome


def test_text_around_calls_and_all_calls_are_kept() -> None:
    found = get_tool_parser("qwen").parse_incremental(f"<think>Hm.</think>one {QWEN} two {QWEN} three")
    assert isinstance(found, Complete)
    assert (found.content, found.reasoning) == ("one  two  three", "Hm.")
    assert [call.name for call in found.calls] == ["f", "f"]
    assert found.call is found.calls[1]


def test_half_a_marker_is_no_text_until_the_output_is_over() -> None:
    parser = get_tool_parser("llama")
    assert parser.parse_incremental("a <func").content == "a "
    assert parser.parse_incremental("a <func", final=True) == NotToolCall(content="a <func")


def test_ids_are_the_same_on_every_call_and_differ_between_calls() -> None:
    parser = get_tool_parser("qwen")
    first, both = parser.parse_incremental(QWEN), parser.parse_incremental(QWEN + QWEN)
    assert first.calls[0] == both.calls[0]
    assert len({call.id for call in both.calls}) == 2
    assert all(call.id.startswith("call_") and len(call.id) == 29 for call in both.calls)


def test_the_context_says_the_seed_and_whether_reasoning_is_open() -> None:
    given = get_tool_parser("qwen", Context(reasoning_open=True, id_seed=9)).parse_incremental(f"Hm.</think>{QWEN}")
    assert given.reasoning == "Hm."
    assert given.calls[0].id != get_tool_parser("qwen").parse_incremental(QWEN).calls[0].id


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("mistral", "mistral"),
        ("Ministral-8B-Instruct", "mistral"),
        ("meta-llama/Llama-3.1-8B", "llama"),
        (" Qwen ", "qwen"),
        ("json", "json"),
        ("auto", "qwen"),
        ("some-other-model", "qwen"),
    ],
)
def test_a_parser_is_got_by_its_name_or_by_a_model_s(name: str, family: str) -> None:
    buffer = {"mistral": "[TOOL_CALLS]", "llama": "<function=", "qwen": "<tool_call>", "json": "{"}[family]
    found = get_tool_parser(name).parse_incremental(buffer)
    assert isinstance(found, InProgress)
    assert found.partial == PartialToolCall(None, "", family)


@pytest.mark.parametrize(
    ("output", "text", "reasoning", "calls"),
    [
        ("Hi", "Hi", None, []),
        (QWEN, None, None, ["f"]),
        (f"Hi {QWEN}", "Hi ", None, ["f"]),
        ("<think>Hm.</think>Hi", "Hi", "Hm.", []),
        ("", None, None, []),
    ],
)
@pytest.mark.parametrize("name", ["qwen", "auto"])
def test_a_whole_output(name: str, output: str, text: str | None, reasoning: str | None, calls: list[str]) -> None:
    found = get_tool_parser(name).parse(output)
    assert (found.text, found.reasoning, [call.name for call in found.calls]) == (text, reasoning, calls)


def test_a_call_that_was_cut_off_is_not_completed() -> None:
    parser, bridge = get_tool_parser("qwen"), StreamBridge()
    bridge.update(parser.parse_incremental(QWEN[:-15]))
    bridge.update(parser.parse_incremental(QWEN[:-15], final=True))
    assert (bridge.state.finalize(), bridge.state.open_count()) == ([], 1)


def test_the_bridge_starts_a_call_once_and_sends_only_growth() -> None:
    parser, bridge = get_tool_parser("qwen"), StreamBridge()
    sent = [
        delta.to_json()
        for end in range(len(QWEN) + 1)
        for delta in bridge.update(parser.parse_incremental(QWEN[:end])).calls
    ]
    assert [list(delta) for delta in sent[:2]] == [["index", "id", "type", "function"], ["index", "function"]]
    assert "".join(delta["function"]["arguments"] for delta in sent[:-1]) == '{"a": 1}'
    assert sent[-1] == {"index": 0}
    assert [call.function.arguments for call in bridge.state.finalize()] == ['{"a": 1}']


def test_the_bridge_uses_the_index_its_state_gives() -> None:
    state = ToolCallStreamState()
    state.start_tool_call("of another stream")
    bridge = StreamBridge(state)
    growth = bridge.update(get_tool_parser("qwen").parse_incremental(QWEN + QWEN))
    assert [delta.index for delta in growth.calls] == [1, 1, 1, 2, 2, 2]


def call(name: str, arguments: str) -> ParsedToolCall:
    return ParsedToolCall("call_1", name, arguments)


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        (NotToolCall(content="ab"), NotToolCall(content="ac"), ["content"]),
        (NotToolCall(reasoning="ab"), NotToolCall(reasoning="a"), ["reasoning"]),
        (Complete(calls=(call("f", "{}"),)), NotToolCall(), ["tool_calls"]),
        (Complete(calls=(call("f", "{}"),)), Complete(calls=(call("g", "{}"),)), ["tool_calls[0].name"]),
        (Complete(calls=(call("f", "{}"),)), Complete(calls=(call("f", "[]"),)), ["tool_calls[0].arguments"]),
    ],
)
def test_what_changes_other_than_by_growing_is_marked_and_not_sent(
    before: ToolParseState, after: ToolParseState, marked: list[str]
) -> None:
    bridge = StreamBridge()
    assert bridge.update(before).non_prefix == []
    growth = bridge.update(after)
    assert (growth.non_prefix, growth.content, growth.reasoning, growth.calls) == (marked, "", "", [])


@pytest.mark.replays
@pytest.mark.parametrize(("name", "own"), every(7, product(NAMES, (True, False))))
def test_the_deltas_of_any_cuts_make_the_message_of_the_whole(name: str, own: bool) -> None:
    case = case_named(name)
    text, context = case.text(), case.to_context()
    parser = get_tool_parser(FAMILIES[corpus_of(name)] if own else "auto", context)
    whole = parser.parse_incremental(text, final=True)
    cuts = sorted(random.Random(len(text)).sample(range(len(text) + 1), min(10, len(text) + 1)))
    bridge, client = StreamBridge(), Client()
    content = reasoning = ""
    outcomes = [parser.parse_incremental(text[:cut]) for cut in cuts]
    for outcome in [*outcomes, whole]:
        growth = bridge.update(outcome)
        assert growth.non_prefix == []
        content, reasoning = content + growth.content, reasoning + growth.reasoning
        for delta in growth.calls:
            if delta.function is not None:
                client.entry(delta.to_json())
    assert (content, reasoning) == (whole.content, whole.reasoning)
    told = [(made.name, made.arguments) for made in client.message().tool_calls]
    assert told == [(made.name, made.arguments) for made in whole.calls]
    assert len(bridge.state.finalize()) == sum(made.complete for made in whole.calls)


@pytest.mark.replays
@pytest.mark.parametrize("name", PLAIN)
def test_a_family_reads_a_case_as_its_format_does(name: str) -> None:
    case = case_named(name)
    assert case.expect is not None
    found = get_tool_parser(FAMILIES[corpus_of(name)], case.to_context()).parse_incremental(case.text(), final=True)
    message = Message(
        found.reasoning or None, found.content or None, [ToolCall(None, one.name, one.arguments) for one in found.calls]
    )
    assert [one.name for one in message.tool_calls] == [one.name for one in case.expect.tool_calls or ()]
    assert message.content == (case.expect.content or None)


@pytest.mark.parametrize("name", ["qwen", "mistral", "llama", "json"])
@pytest.mark.replays
def test_guided_output_grows_into_its_calls(name: str) -> None:
    parser = get_tool_parser(name, Context(tool_choice="required"))
    whole = '[{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {}}] Done.'
    seen = [type(parser.parse_incremental(whole[:size])) for size in range(2, len(whole) + 1)]
    assert seen[0] is InProgress
    assert seen[-1] is Complete
    found = parser.parse(whole)
    assert ([call.name for call in found.calls], found.text) == (["f", "g"], " Done.")
