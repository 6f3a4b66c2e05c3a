"""Contracts of the first designs that no other test states as they do: see tests/seeds.json for the numbers."""

from __future__ import annotations

import pytest

from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.types import Context
from parsers.wrappers.fallback import Fallback
from tests.parsers.parsing import calls, deltas, rows, trace_of

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
TWO_CALLS = [
    'bla[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]',
    'bla[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]g{}',
]
FOUND = [("f", '{"a": 1}'), ("g", "{}")]


def test_quotes_braces_and_backslashes_around_a_bare_call_stay() -> None:
    text = 'Say "hi" \\n {x}: {"name": "f", "parameters": {}} and \\ "{y}"'
    for texts in ((text,), tuple(text)):
        message = trace_of("llama", *texts).message
        assert (message.content, calls(message)) == ('Say "hi" \\n {x}: and \\ "{y}"', [("f", "{}")])


@pytest.mark.parametrize(
    ("first", "second", "arguments"),
    [("arguments", "parameters", '{"a": 1}'), ("parameters", "arguments", '{"a": 1}')],
)
def test_of_two_keys_for_arguments_the_first_one_counts(first: str, second: str, arguments: str) -> None:
    text = f'{{"name": "f", "{first}": {{"a": 1}}, "{second}": {{"b": 2}}}}'
    for fmt, written in (("llama", text), ("qwen", f"<tool_call>{text}</tool_call>")):
        for texts in ((written,), tuple(written)):
            assert calls(trace_of(fmt, *texts).message) == [("f", arguments)]


def test_a_named_mistral_call_passes_four_states_and_comes_back_for_the_next() -> None:
    call = ["WAITING_FOR_TOOL_START", "PARSING_NAME", "PARSING_ARGUMENTS", "TOOL_COMPLETE"]
    for texts in ((TWO_CALLS[1],), tuple(TWO_CALLS[1])):
        assert [state for _, _, state in rows(trace_of("mistral", *texts))] == [*call, *call, "TOOL_COMPLETE"]


@pytest.mark.parametrize("text", TWO_CALLS, ids=["pre-v11", "v11"])
def test_a_whole_output_in_one_delta_gives_text_and_all_calls_in_one(text: str) -> None:
    sent = [delta for delta in trace_of("mistral", text).deltas if delta is not None]
    assert [(delta.content, [call.index for call in delta.tool_calls]) for delta in sent] == [("bla", [0, 1])]
    assert [(call.name, call.arguments) for call in sent[0].tool_calls] == FOUND


@pytest.mark.parametrize("text", TWO_CALLS, ids=["pre-v11", "v11"])
def test_character_by_character_a_delta_has_one_call_at_most_and_each_call_one_name_and_id(text: str) -> None:
    sent = [delta for delta in trace_of("mistral", *text).deltas if delta is not None]
    parts = [part for delta in sent for part in delta.tool_calls]
    assert max(len(delta.tool_calls) for delta in sent) == 1
    assert [(part.index, part.name) for part in parts if part.name is not None] == [(0, "f"), (1, "g")]
    made = [part.id for part in parts if part.id is not None]
    assert [(len(one), one.isalnum()) for one in made] == [(9, True)] * 2
    assert [part.index for part in parts] == sorted(part.index for part in parts)
    assert all("role" not in delta.to_openai() for delta in sent)


def test_white_space_before_content_waits_and_goes_out_with_it() -> None:
    sent = trace_of("qwen", "  \n", "hi", " \n", CALL).deltas
    assert [delta and delta.content for delta in sent] == [None, "  \nhi", " \n", None, None]


@pytest.mark.parametrize(("texts", "content"), [(("<tool_", "box>rest"), "<tool_box>rest"), (("a", " <"), "a <")])
def test_the_beginning_of_a_marker_that_never_comes_is_content(texts: tuple[str, ...], content: str) -> None:
    assert trace_of("qwen", *texts).message.content == content


def test_tool_choice_none_holds_for_its_own_request_only() -> None:
    parser = build(get_format("qwen"))
    found = [parse(parser, deltas(CALL), Context(tool_choice=choice)) for choice in ("none", "auto")]
    assert [(message.content, calls(message)) for message in found] == [(CALL, []), (None, [("f", '{"a": 1}')])]


INVOKE = '<invoke name="f"><parameter name="b">2</parameter></invoke>'


@pytest.mark.parametrize(
    ("streamed", "other", "outcome", "found"),
    [
        ('{"a": [', INVOKE, "FOUND", [("f", '{"b": "2"}')]),
        ("{}", INVOKE, "FOUND", [("f", '{"b": "2"}')]),
        ('{"a": 1}', f'{INVOKE}<invoke name="g"></invoke>', "FOUND", [("f", '{"b": "2"}'), ("g", "{}")]),
        ('{"a": 1}', INVOKE, "REFUSED", [("f", '{"a": 1, "b": "2"}')]),
    ],
    ids=["unreadable arguments", "empty arguments", "fewer calls", "as good"],
)
def test_another_reading_wins_only_where_the_streamed_one_has_less(
    streamed: str, other: str, outcome: str, found: list[tuple[str, str]]
) -> None:
    text = f'<tool_call>{{"name": "f", "arguments": {streamed}}} {other}</tool_call>'
    trace = replay(Fallback(get_format("qwen")), deltas(text), Context())
    assert calls(trace.message) == found
    assert ("TRY_MINIMAX_M2", outcome) in [(state, trigger) for state, trigger, _ in rows(trace)]
