"""What stands after [TOOL_CALLS]: a JSON array of calls, or a name and its arguments."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, dropped, rows, tool, trace_of

PRE = {"mistral_version": "pre_v11"}


def item(inner: str) -> str:
    return f"[TOOL_CALLS] [{inner}]"


F = '{"name": "f", "arguments": {"a": 1}}'
G = '{"name": "g", "arguments": {}}'


@pytest.mark.parametrize(
    ("text", "found", "content", "said"),
    [
        (item(F), [("f", '{"a": 1}')], None, []),
        (item(f"{F}, {G}"), [("f", '{"a": 1}'), ("g", "{}")], None, []),
        (f"{item(F)}{item(G)}", [("f", '{"a": 1}'), ("g", "{}")], None, []),
        (f"{item(F)} thanks", [("f", '{"a": 1}')], " thanks", []),
        (item(""), [], None, []),
        (item('{"arguments": {"a": 1}, "name": "f"}'), [("f", '{"a": 1}')], None, []),
        (item('{"parameters": {"name": "g"}, "name": "f"}'), [("f", '{"name": "g"}')], None, []),
        (item('{"name": "f", "id": "x", "n": -1.5, "o": {"a": ["]"]}, "arguments": {}}'), [("f", "{}")], None, []),
        (item('{"name": "f", "name": "g", "arguments": {}, "arguments": {"b": 1}}'), [("f", "{}")], None, []),
        (item('{"name": "f", "arguments": {}, "name": 5}'), [("f", "{}")], None, []),
        (item('{"na\\u006de": "f\\u0031", "arguments": {}}'), [("f1", "{}")], None, []),
        (item('{"name": "f"}'), [("f", "{}")], None, ["missing_arguments"]),
        (item('{"name": "f", "arguments": "x"}'), [("f", '"x"')], None, ["arguments_not_object"]),
        (item('{"name": "f", "arguments": null}'), [("f", "null")], None, ["arguments_not_object"]),
        (item('{"name": "f", "arguments": [1]}'), [("f", "[1]")], None, ["arguments_not_object"]),
        (item('{"arguments": 5, "name": "f"}'), [("f", "5")], None, ["arguments_not_object"]),
        (item(f"{F},"), [("f", '{"a": 1}')], None, ["malformed_array"]),
        (item(f"{F}{G}"), [("f", '{"a": 1}')], f"{G}]", ["malformed_array"]),
        (item(f"{F}, 5"), [("f", '{"a": 1}')], "5]", ["malformed_array"]),
        (item(f"{F}, []"), [("f", '{"a": 1}')], "[]]", ["malformed_array"]),
        (
            item('{"name": "f" "arguments": {}}'),
            [("f", "")],
            '"arguments": {}}]',
            ["malformed_array", "incomplete_call"],
        ),
        (item('{"name": "f", "arguments": }'), [("f", "")], "}]", ["malformed_array", "incomplete_call"]),
        (item('{"name": "f", "arguments": {},}'), [("f", "{}")], "]", ["malformed_array"]),
        (item('{"arguments": , "name": "f"}'), [], '{"arguments": , "name": "f"}]', ["rejected_call"]),
        (item('{"arguments": {1}, "name": "f"}'), [], '{"arguments": {1}, "name": "f"}]', ["rejected_call"]),
        (item('{"name": " "}'), [], '{"name": " "}]', ["rejected_call"]),
        (item('{"name": 5, "arguments": {}}'), [], '{"name": 5, "arguments": {}}]', ["rejected_call"]),
        (item('{"name": 5, "arguments":{"a":1}, "x": 2, "name": "f"}'), [("f", '{"a":1}')], None, []),
        (item('{"name": [], "arguments":3, "name":"f"}'), [("f", "3")], None, ["arguments_not_object"]),
        (item('{"arguments": {}}'), [], '{"arguments": {}}]', ["rejected_call"]),
        (item("{}"), [], "{}]", ["rejected_call"]),
        (item("{x}"), [], "{x}]", ["rejected_call"]),
        ("[TOOL_CALLS] [1, 2]", [], "[1, 2]", []),
    ],
)
def test_an_array_of_calls(text: str, found: list[tuple[str, str]], content: str | None, said: list[str]) -> None:
    for texts in ((text,), tuple(text)):
        for policy in ({}, PRE):
            trace = trace_of("mistral", *texts, policy=policy)
            assert calls(trace.message) == found
            assert trace.message.content == content
            assert codes(trace) == said


@pytest.mark.parametrize(
    ("text", "policy", "found", "complete"),
    [
        ('[TOOL_CALLS][{"name": "f"', "as_streamed", [("f", "")], False),
        ('[TOOL_CALLS][{"name": "f"', "close", [("f", "{}")], False),
        ('[TOOL_CALLS][{"name": "f", "arguments": ', "close", [("f", "{}")], False),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": "x', "as_streamed", [("f", '{"a": "x')], False),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": "x', "close", [("f", '{"a": "x"}')], False),
        ('[TOOL_CALLS][{"name": "f", "arguments": {}', "as_streamed", [("f", "{}")], True),
        (f"[TOOL_CALLS][{F}", "close", [("f", '{"a": 1}')], True),
        ('[TOOL_CALLS][{"arguments": {"a": 1}, "na', "as_streamed", [], True),
        ("[TOOL_CALLS][", "as_streamed", [], True),
        ("[TOOL_CALLS]", "as_streamed", [], True),
        ('[TOOL_CALLS]f{"a": "x', "close", [("f", '{"a": "x"}')], False),
        ('[TOOL_CALLS]f{"a": [1', "as_streamed", [("f", '{"a": [1')], False),
        ("[TOOL_CALLS]f", "as_streamed", [("f", "{}")], False),
        ("[TOOL_CALLS]f[ARGS]", "as_streamed", [("f", "{}")], False),
        ("[TOOL_CALLS]f[CALL_ID]abc", "as_streamed", [("f", "{}")], False),
        ("[TOOL_CALLS]?", "as_streamed", [], True),
    ],
)
def test_an_output_that_ends_early(text: str, policy: str, found: list[tuple[str, str]], complete: bool) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("mistral", *texts, policy={"truncated_call": policy}).message
        assert calls(message) == found
        assert all(call.complete == complete for call in message.tool_calls)


@pytest.mark.parametrize(
    ("text", "found", "content"),
    [
        ('[TOOL_CALLS]f{"a": 1}', [("f", '{"a": 1}')], None),
        ('[TOOL_CALLS] f \n{"a": 1} ', [("f", '{"a": 1}')], None),
        ("[TOOL_CALLS]f{}[TOOL_CALLS]g{}", [("f", "{}"), ("g", "{}")], None),
        ("[TOOL_CALLS]f[ARGS]{}", [("f", "{}")], None),
        ("[TOOL_CALLS]f [ARGS] {}", [("f", "{}")], None),
        ('[TOOL_CALLS]f{"a": "[TOOL_CALLS]"}', [("f", '{"a": "[TOOL_CALLS]"}')], None),
        ("[TOOL_CALLS]f{} done", [("f", "{}")], " done"),
        ("[TOOL_CALLS]f[ARGS]} so", [("f", "}")], " so"),
        ("[TOOL_CALLS]f{}</s>", [("f", "{}")], None),
        ("[TOOL_CALLS]f[TOOL_CALLS]g{}", [("f", "{}"), ("g", "{}")], None),
        ('[TOOL_CALLS]f{"a": [TOOL_CALLS]g{}', [("f", '{"a": '), ("g", "{}")], None),
        ("[TOOL_CALLS][TOOL_CALLS]f{}", [("f", "{}")], None),
        ("[TOOL_CALLS]f</s>", [("f", "{}")], None),
        ("[TOOL_CALLS]is a marker", [], "is a marker"),
        ("[TOOL_CALLS]f[1]", [], "f[1]"),
        ("[TOOL_CALLS]{}", [], "{}"),
        ("[TOOL_CALLS]?[TOOL_CALLS]g{}", [("g", "{}")], "?[TOOL_CALLS]"),
        ("[TOOL_CALLS]</s>x", [], "x"),
        ("[TOO", [], "[TOO"),
    ],
)
def test_a_name_and_its_arguments(text: str, found: list[tuple[str, str]], content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("mistral", *texts)
        assert calls(trace.message) == found
        assert trace.message.content == content


@pytest.mark.parametrize(
    ("text", "call_id"),
    [
        ("[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{}", "abcdefghi"),
        ("[TOOL_CALLS]f[CALL_ID] abcdefghi \n[ARGS]{}", "abcdefghi"),
        ("[TOOL_CALLS]f[CALL_ID]a[CALL_ID]b[ARGS]{}", "b"),
        ("[TOOL_CALLS]f[CALL_ID]abc", "abc"),
    ],
)
def test_the_models_own_call_id_is_kept(text: str, call_id: str) -> None:
    trace = trace_of("mistral", *text)
    assert [call.id for call in trace.message.tool_calls] == [call_id]
    assert all(reason == "another call id follows" for _, reason in dropped(trace))


def test_without_a_call_id_one_of_nine_letters_or_digits_is_made() -> None:
    for text in ("[TOOL_CALLS]f[CALL_ID]  [ARGS]{}", "[TOOL_CALLS]f{}"):
        made = trace_of("mistral", text).message.tool_calls[0].id
        assert made is not None
        assert (len(made), made.isalnum()) == (9, True)


@pytest.mark.parametrize(
    ("text", "found"), [("[TOOL_CALLS]f", [("f", "{}")]), ("[TOOL_CALLS]g", []), ("[TOOL_CALLS]f.b-c_1", [])]
)
def test_a_name_alone_is_a_call_when_its_tool_is_declared(text: str, found: list[tuple[str, str]]) -> None:
    trace = trace_of("mistral", text, context=Context(tools=(Tool("f"),)))
    assert calls(trace.message) == found
    assert found or trace.message.content == text.removeprefix("[TOOL_CALLS]")


def test_values_are_coerced_in_both_grammars() -> None:
    context = tool({"a": {"type": "integer"}})
    for text in ('[TOOL_CALLS]f{"a": "1"}', item('{"name": "f", "arguments": {"a": "1"}}')):
        assert calls(trace_of("mistral", *text, context=context).message) == [("f", '{"a": 1}')]
    early = item('{"arguments": {"a": "1"}, "name": "f"}')
    assert calls(trace_of("mistral", *early, context=context).message) == [("f", '{"a": 1}')]


def test_a_call_of_a_skipped_array_does_not_hide_the_next_marker() -> None:
    trace = trace_of("mistral", f"[TOOL_CALLS] [{{x}}]{item(G)}", policy={"recovery": "skip_call"})
    assert calls(trace.message) == [("g", "{}")]


def test_every_key_of_an_item_is_a_transition() -> None:
    keys = [trigger for _, trigger, _ in rows(trace_of("mistral", item('{"x": 1, "name": "f", "arguments": {}}')))]
    assert [key for key in keys if "map_key" in key] == [
        "item:map_key=other",
        "item:map_key=name",
        "item:map_key=arguments",
    ]
