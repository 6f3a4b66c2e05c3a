"""The case model: forms of input that agree, contexts that do not contradict themselves, marker mode, pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from parsers.cases.case import Case, CaseError, Compare, Expect
from parsers.cases.expect import accept, arguments_text, differences
from parsers.cases.input import Input, to_token, token_data
from parsers.cases.io import load_case, to_data
from parsers.formats.model import Format
from parsers.vocabulary.types import Message, Piece, Tool, ToolCall, UsageError

NO_TOKEN = 'a token is [id, text] or [id, text, {"hex": ..., "kind": ...}]'
NO_NAME = 'a tool needs a name: {"type": "function", "function": {"name": ...}} or {"name": ...}'

TOOL = {"name": "f", "parameters": {"type": "object"}, "strict": True}
STATES = {"content": {"text": "content"}}
FORMAT = {"schema": 1, "name": "mine", "title": "Mine", "initial": "content", "states": STATES}


def case(**keys: Any) -> Case:
    """A case of these keys, with the required ones filled in."""
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a\nb"}, **keys})


def error(**keys: Any) -> CaseError:
    """The error that a case of these keys raises."""
    with pytest.raises(CaseError) as caught:
        case(**keys)
    return caught.value


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"text": "a\nb"}, "a\nb"),
        ({"text": ["a", "b\n", "", "c"]}, "ab\nc"),
        ({"text": []}, ""),
        ({"tokens": [[1, "a"], [None, "b"], [2, "c", {"kind": "special"}]]}, "abc"),
        ({"deltas": [{"text": "a"}, {"text": "b", "ids": [1]}]}, "ab"),
        ({"text": "ab", "tokens": [[1, "ab"]], "deltas": [{"text": "a", "ids": [1]}, {"text": "b", "ids": []}]}, "ab"),
        ({"tokens": []}, ""),
    ],
)
def test_the_text_is_that_of_any_form_of_input(given: dict[str, Any], text: str) -> None:
    assert case(input=given).text() == text


@pytest.mark.parametrize(
    ("given", "pointer", "message"),
    [
        ({}, "/input", "give the output as"),
        ({"text": "a", "tokens": [[1, "b"]]}, "/input/tokens", "the text of 'tokens' is not that of 'text'"),
        ({"tokens": [[1, "a"]], "deltas": [{"text": "b"}]}, "/input/deltas", "is not that of 'tokens'"),
        ({"tokens": [[1, "a"]], "deltas": [{"text": "a", "ids": [2]}]}, "/input/deltas", "the ids of 'deltas'"),
        ({"tokens": [], "deltas": [{"text": "", "ids": [2]}]}, "/input/deltas", "the ids of 'deltas'"),
        ({"text": ["a", 1]}, "/input/text", "item 1 of this text is not a string"),
        ({"text": 1}, "/input/text", "must be a valid string, not 1"),
        ({"text": "a\ud800"}, "/input/text", "lone surrogate U+D800"),
        ({"tokens": [[1]]}, "/input/tokens/0", NO_TOKEN),
        ({"tokens": ["a"]}, "/input/tokens/0", NO_TOKEN),
        ({"tokens": [{"id": 1, "text": "a"}]}, "/input/tokens/0", NO_TOKEN),
        ({"tokens": [[1, "a", "special"]]}, "/input/tokens/0", NO_TOKEN),
        ({"tokens": [[1, "a", {"bytes": ""}]]}, "/input/tokens/0", "knows only 'hex' and 'kind'"),
        ({"tokens": [[1, "a"], [-1, "b"]]}, "/input/tokens/1/0", "greater than or equal to 0, not -1"),
        ({"tokens": [[1, 2]]}, "/input/tokens/0/1", "valid string, not 2"),
        ({"tokens": [[1, "a", {"hex": "0"}]]}, "/input/tokens/0/2/hex", "pairs of hexadecimal digits"),
        ({"tokens": [[1, "a", {"kind": "big"}]]}, "/input/tokens/0/2/kind", "must be 'text', 'special'"),
        ({"deltas": [{"text": "a", "ids": [True]}]}, "/input/deltas/0/ids/0", "valid integer, not true"),
    ],
)
def test_a_wrong_input_names_its_place(given: dict[str, Any], pointer: str, message: str) -> None:
    found = error(input=given)
    assert (found.pointer, message in str(found)) == (pointer, True), str(found)


@pytest.mark.parametrize(
    "given", [{"tokens": [[-1, "a"]] * 99}, {"deltas": [{"text": 1}] * 99}, {"text": "", "stream": [1] * 99}]
)
def test_of_a_long_list_only_the_first_fault_is_looked_for(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as found:
        Input.model_validate(given)
    assert found.value.error_count() == 1


def test_ids_that_are_not_all_known_are_not_compared() -> None:
    tokens = [[1, "a"], [None, "b"]]
    assert case(input={"tokens": tokens, "deltas": [{"text": "ab", "ids": [7]}]}).text() == "ab"
    assert case(input={"tokens": [[1, "a"]], "deltas": [{"text": "a"}]}).text() == "a"


def test_a_stream_alone_is_no_model_output() -> None:
    only_stream = case(input={"stream": [{"choices": []}]})
    assert (only_stream.text(), only_stream.has_raw, only_stream.pieces()) == ("", False, None)
    assert only_stream.mode() == "text"
    assert only_stream.with_pieces(()) == only_stream
    assert case(input={"text": "", "stream": []}).has_raw


@pytest.mark.parametrize(
    ("source", "tokens", "mode"),
    [
        ({"kind": "recorded"}, [[1, "a"]], "ids"),
        ({"kind": "token_ids"}, [[None, "b"], [1, "a"]], "ids"),
        ({"kind": "recorded"}, [[None, "a"]], "text"),
        ({"kind": "raw_text"}, [[1, "a"]], "text"),
        (None, [[1, "a"]], "text"),
        ({"kind": "recorded"}, None, "text"),
    ],
)
def test_only_recorded_ids_put_a_case_in_ids_mode(source: Any, tokens: Any, mode: str) -> None:
    text = "" if tokens is None else None
    keys = {"source": source, "input": {key: v for key, v in {"tokens": tokens, "text": text}.items() if v is not None}}
    assert case(**keys).mode() == mode


def test_pieces_carry_id_bytes_kind_and_whether_they_are_recorded() -> None:
    partial, special = {"hex": "F09F", "kind": "partial"}, {"kind": "special"}
    tokens = [[5, "<x>"], [9, "<x>"], [6, "", partial], [None, "é"], [7, "</s>", special]]
    found = case(source={"kind": "recorded"}, tokenizer={"vocab": {"<x>": 5}}, input={"tokens": tokens}).pieces()
    assert found == (
        Piece("<x>", 5, b"<x>", "added", True),
        Piece("<x>", 9, b"<x>", "text", True),
        Piece("", 6, b"\xf0\x9f", "partial", True),
        Piece("é", None, "é".encode(), "text", False),
        Piece("</s>", 7, b"</s>", "special", True),
    )


def test_markers_are_the_vocab_and_the_tokens_that_say_so() -> None:
    tokens = [[7, "</s>", {"kind": "special"}], [8, "a"], [None, "<y>", {"kind": "added"}]]
    assert case(tokenizer={"vocab": {"<x>": 5}}, input={"tokens": tokens}).markers() == {"<x>": 5, "</s>": 7}
    assert case(tokenizer={"name": "t"}).markers() is None


def test_storing_pieces_and_reading_them_again_changes_nothing() -> None:
    first = case(source={"kind": "recorded"}, tokenizer={"vocab": {"<x>": 5}}, input={"text": "<x>é<x>"})
    pieces = (
        Piece("<x>", 5, b"<x>", "added", True),
        Piece("", 6, b"\xc3", "partial", True),
        Piece("é", 7, b"\xa9", "text", True),
        Piece("<x>", 5, b"<x>", "text", True),
    )
    stored = first.with_pieces(pieces)
    assert (stored.pieces(), load_case(to_data(stored)), stored.mode()) == (pieces, stored, "ids")


def test_ids_our_tokenizer_made_do_not_become_recorded_by_storing_them() -> None:
    recorded = case(source={"kind": "recorded"}, input={"text": "ab"})
    stored = recorded.with_pieces([Piece("a", 1), Piece("b", 2)])
    assert (stored.mode(), [token.id for token in stored.input.tokens or ()]) == ("text", [None, None])
    typed = case(input={"text": "ab"}).with_pieces([Piece("ab", 1)])
    assert (typed.mode(), [token.id for token in typed.input.tokens or ()]) == ("text", [1])


def test_pieces_that_spell_another_text_are_refused() -> None:
    with pytest.raises(CaseError, match="the text of 'tokens' is not that of 'text'"):
        case().with_pieces([Piece("other")])


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("required", "required"),
        ({"name": "f"}, {"name": "f"}),
        ({"type": "function", "function": {"name": "f"}}, {"name": "f"}),
    ],
)
def test_a_tool_choice_has_one_form(given: Any, stored: Any) -> None:
    assert to_data(case(tools=[TOOL], context={"tool_choice": given}))["context"] == {"tool_choice": stored}


@pytest.mark.parametrize(
    "choice",
    ["f", {"name": ""}, {"name": 1}, {"name": "f", "x": 1}, {"type": "function", "function": "f"}, None, 3],
)
def test_another_tool_choice_is_refused(choice: Any) -> None:
    found = error(context={"tool_choice": choice})
    assert found.pointer == "/context/tool_choice"
    assert found.message == 'use "auto", "none", "required" or {"name": a tool\'s name}'


@pytest.mark.parametrize("tools", [[], [{"name": "g"}]])
def test_a_named_tool_must_be_declared(tools: list[Any]) -> None:
    found = error(tools=tools, context={"tool_choice": {"name": "f"}})
    assert str(found) == "/context/tool_choice: no tool called 'f' is declared in 'tools'"


def test_the_context_is_what_parsers_take() -> None:
    function = {"type": "function", "function": TOOL}
    context = {
        "tool_choice": {"name": "f"},
        "reasoning_open": True,
        "prompt_tail": ["<think>", "\n"],
        "template_kwargs": {"a": 1},
        "strict": False,
        "finish_reason": "length",
        "model": "m",
        "id_seed": 4,
    }
    found = case(tools=[function, {"name": "g"}], context=context).to_context()
    assert found.tools == (Tool("f", {"type": "object"}, True), Tool("g"))
    assert (found.tool_choice, found.named_tool, found.prompt_tail) == ("named", "f", "<think>\n")
    assert (found.reasoning_open, found.template_kwargs, found.strict) == (True, {"a": 1}, False)
    assert (found.finish_reason, found.model, found.id_seed) == ("length", "m", 4)


def test_an_empty_context_is_the_default_one() -> None:
    found = case().to_context()
    assert (found.tools, found.tool_choice, found.named_tool, found.reasoning_open) == ((), "auto", None, False)


def test_tools_are_kept_as_given() -> None:
    tools = [{"type": "function", "function": TOOL, "cache": 1}, {"name": "g", "parameters": None, "strict": None}]
    assert to_data(case(tools=tools))["tools"] == tuple(tools)


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({"function": {}}, NO_NAME),
        ({"type": "function", "function": "f"}, "a tool needs a name"),
        ({"name": ""}, "a tool needs a name"),
        ({"name": "f", "parameters": []}, "'parameters' of a tool"),
        ({"name": "f", "strict": "yes"}, "'strict' of a tool"),
    ],
)
def test_a_tool_without_name_or_schema_is_refused(tool: Any, message: str) -> None:
    found = error(tools=[{"name": "ok"}, tool])
    assert (found.pointer, message in found.message) == ("/tools/1", True)


def test_an_inline_format_is_a_format() -> None:
    found = case(parser={"name": "mine", "format": FORMAT})
    assert isinstance(found.parser.format, Format)
    assert found.model_copy(update={}) == Case.model_validate(dict(found))
    assert case(parser={"name": "qwen", "format": None}).parser.format is None


@pytest.mark.parametrize(
    ("parser", "pointer", "message"),
    [
        ({"name": "mine", "format": {**FORMAT, "extra": 1}}, "/parser/format/extra", "not permitted"),
        ({"name": "other", "format": FORMAT}, "/parser/name", "the inline format is called 'mine', not 'other'"),
        ({"name": "qwen", "policy": {"colour": "red"}}, "/parser/policy/colour", "unknown policy; known are"),
        ({"name": "qwen", "policy": {"unknown_tool": "x"}}, "/parser/policy/unknown_tool", "use keep, drop, text"),
        ({"name": ""}, "/parser/name", "is empty; name one, or say auto"),
        ({"name": "", "engine": "mine"}, "/parser/name", "is empty; name one, or say auto"),
    ],
)
def test_a_wrong_parser_names_its_place(parser: Any, pointer: str, message: str) -> None:
    found = error(parser=parser)
    assert (found.pointer, message in found.message) == (pointer, True), str(found)


def test_policies_of_a_foreign_engine_are_its_own() -> None:
    found = case(parser={"name": "hermes", "engine": "vllm", "policy": {"colour": "red"}})
    assert found.parser.policy == {"colour": "red"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"name": "f"}, "give 'arguments'"),
        ({"name": "f", "arguments": {"a": 1}, "raw": '{"a": 2}'}, "'raw' is not JSON text of 'arguments'"),
        ({"name": "f", "arguments": {"a": 1}, "raw": '{"a": tru'}, "'raw' is not JSON text of 'arguments'"),
        ({"name": "f", "arguments": {"a": True}, "raw": '{"a": 1}'}, "'raw' is not JSON text of 'arguments'"),
    ],
)
def test_an_expected_call_says_its_arguments_once(call: Any, message: str) -> None:
    found = error(expect={"tool_calls": [call]})
    assert (found.pointer, message in found.message) == ("/expect/tool_calls/0", True)


def test_null_expects_nothing_and_absent_is_not_checked() -> None:
    null = case(expect={"content": None, "reasoning": None, "tool_calls": None}).expect
    assert null == Expect(content="", reasoning="", tool_calls=())
    assert null == case(expect={"content": "", "reasoning": [], "tool_calls": []}).expect
    assert case(expect={}).expect != null
    assert differences(Expect(), Message("a", "b", [ToolCall(None, "f", "{}")]), "stop") == []


MESSAGE = Message("think ", None, [ToolCall("id", "f", '{"a": [1, {"b": null}]}'), ToolCall("id", "g", '{"a": 1.5')])


def test_an_accepted_result_meets_its_own_expectation() -> None:
    expect = accept(MESSAGE, "length")
    assert [(c.name, c.arguments, c.raw) for c in expect.tool_calls or ()] == [
        ("f", {"a": [1, {"b": None}]}, None),
        ("g", None, '{"a": 1.5'),
    ]
    assert differences(expect, MESSAGE, "length") == []


@pytest.mark.parametrize("arguments", ['{"a": 9007199254740992}', "[1]", '{"a": 1, "a": 2}', ""])
def test_arguments_that_no_file_keeps_as_a_value_are_accepted_as_text(arguments: str) -> None:
    expect = accept(Message(tool_calls=[ToolCall(None, "f", arguments)]))
    assert [call.raw for call in expect.tool_calls or ()] == [arguments]


@pytest.mark.parametrize(
    ("message", "reason", "fields"),
    [
        (Message("think", None, MESSAGE.tool_calls), "length", ["reasoning"]),
        (Message("think ", "x", MESSAGE.tool_calls), "length", ["content"]),
        (Message("think ", None, MESSAGE.tool_calls[:1]), "stop", ["tool_calls", "finish_reason"]),
        (
            Message("think ", None, [ToolCall(None, "h", '{"a": [true, {"b": null}]}'), ToolCall(None, "g", "{")]),
            "length",
            ["tool_calls[0].name", "tool_calls[0].arguments", "tool_calls[1].arguments"],
        ),
        (
            Message("think ", None, [ToolCall(None, "f", "{"), MESSAGE.tool_calls[1]]),
            "length",
            ["tool_calls[0].arguments"],
        ),
        (Message(), None, ["reasoning", "tool_calls", "finish_reason"]),
    ],
)
def test_every_field_that_differs_is_named(message: Message, reason: str | None, fields: list[str]) -> None:
    assert [found.field for found in differences(accept(MESSAGE, "length"), message, reason)] == fields


def test_arguments_compare_as_json_values() -> None:
    expect = accept(Message(tool_calls=[ToolCall(None, "f", '{"a": 1, "b": [2]}')]))
    assert differences(expect, Message(tool_calls=[ToolCall(None, "f", '{"b":[2.0],"a":1}')])) == []


def test_soft_whitespace_compares_words() -> None:
    expect, soft = Expect(content="a b"), Compare(whitespace="soft")
    assert [d.field for d in differences(expect, Message(content=" a\n b "))] == ["content"]
    assert differences(expect, Message(content=" a\n b "), compare=soft) == []
    assert [d.field for d in differences(expect, Message(content="ab"), compare=soft)] == ["content"]


def test_differences_list_the_names_of_calls() -> None:
    (found,) = differences(Expect(tool_calls=()), MESSAGE)
    assert (found.expected, found.actual) == ("0 calls", "2 calls: f, g")


def test_expected_arguments_have_a_text() -> None:
    expect = accept(MESSAGE)
    assert [arguments_text(call) for call in expect.tool_calls or ()] == ['{"a": [1, {"b": null}]}', '{"a": 1.5']


def test_a_case_error_is_a_usage_error_with_a_pointer() -> None:
    assert issubclass(CaseError, UsageError)
    assert (str(CaseError("wrong", "/a")), str(CaseError("wrong"))) == ("/a: wrong", "wrong")


RIGHT, OTHER = {"content": "right"}, {"content": "other"}


@pytest.mark.parametrize(
    ("parser", "engines", "verdict", "content"),
    [
        ({"name": "p"}, {"e": {"expect": OTHER}}, "known_bug", "right"),
        ({"name": "p", "engine": "x"}, {"e": {"expect": OTHER}}, "known_bug", "right"),
        ({"name": "p", "engine": "e"}, {"e": {"expect": OTHER}}, "required", "other"),
        ({"name": "p"}, {"builtin": {"expect": OTHER}}, "required", "other"),
        ({"name": "p"}, {"builtin:q": {"expect": OTHER}}, "known_bug", "right"),
        ({"name": "p", "engine": "e"}, {"e": {"verdict": "implementation_defined"}}, "implementation_defined", "right"),
        (
            {"name": "p", "engine": "e"},
            {"e": {}, "e:p": {"expect": OTHER, "verdict": "known_bug"}},
            "known_bug",
            "other",
        ),
    ],
)
def test_what_is_known_is_what_the_case_says_of_its_engine(
    parser: dict[str, str], engines: dict[str, Any], verdict: str, content: str
) -> None:
    body = {"schema": 1, "parser": parser, "input": {"text": "t"}, "expect": RIGHT, "verdict": "known_bug"}
    known = load_case({**body, "engines": engines}).known
    assert (known.verdict, known.expect and known.expect.content) == (verdict, content)


@pytest.mark.parametrize(
    "piece",
    [
        Piece("a", 1),
        Piece("a"),
        Piece("", 2, b"\xe6", "partial"),
        Piece("b", 3, b"b", "special"),
        Piece("c", 4, b"d"),
    ],
)
@pytest.mark.parametrize("keep_id", [True, False])
def test_a_token_is_stored_as_it_is_written(piece: Piece, keep_id: bool) -> None:
    data = token_data(piece, {"b": 3}, keep_id=keep_id)
    assert data == json.loads(to_token(piece, {"b": 3}, keep_id=keep_id).model_dump_json())
