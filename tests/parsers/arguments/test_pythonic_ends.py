"""Where a list of Python calls begins and ends: blocks, tokens that end a turn, quotes that nobody escaped."""

from __future__ import annotations

import json

import pytest

from tests.parsers.parsing import calls, small, tokens, trace_of


@pytest.mark.parametrize(
    ("text", "found", "content"),
    [
        ("[f(a=1<|eot|>2)]", [("f", '{"a": 1')], "2)]"),
        ("[f(a='x'<|eot|>, b=2)]", [("f", '{"a": "x", "b": 2}')], None),
        ("[f(a='x'<|eot|>y)]", [("f", '{"a": "x"')], "y)]"),
        ("[f(a=1, b<|eot|>=2)]", [("f", '{"a": 1, "b": 2}')], None),
        ("[f<|eot|>(a=1)]", [], "[f(a=1)]"),
        ("[f(a=<|eot|>1)]", [("f", '{"a": 1}')], None),
        ("[<|eot|>f()]", [("f", "{}")], None),
    ],
)
def test_a_token_that_ends_a_turn_ends_a_word(text: str, found: list[tuple[str, str]], content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("pythonic", *texts).message
        assert (calls(message), message.content) == (found, content)


@pytest.mark.parametrize(
    ("text", "content"),
    [("[f()]", "[f()]"), ("what?", "what?"), ("f(1)", "f(1)"), ("", None), (", f()", ", f()")],
)
def test_a_block_without_a_list_holds_calls_or_text(text: str, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("olmo3", "<function_calls>", *texts, "</function_calls>").message
        assert (message.content, message.tool_calls) == (content, [])
    said = trace_of("olmo3", *"<function_calls>f(a=[1], b=2]\n</function_calls>").message
    assert (calls(said), said.content) == ([("f", '{"a": [1], "b": 2')], "]\n")


END = ("<|python_end|>", 200017, "special")


@pytest.mark.parametrize(
    ("before", "token", "after", "found", "content"),
    [
        ("[f(a='x\\", END, " so')]", '{"a": "x\\\\<|python_end|> so"}', None),
        ('[f(a="""x"', END, ' so""")]', '{"a": "x\\"<|python_end|> so"}', None),
        ("[f(a='x'", END, " so", '{"a": "x"}', " so"),
        ("[f(a='x\\", ("<|eot|>", 200008, "special"), "y')]", '{"a": "x\\\\<|eot|>y"}', None),
        ("[f(a='", ("<|eot|>", 200008, "special"), "y')]", '{"a": "<|eot|>y"}', None),
    ],
)
def test_special_tokens_are_text_inside_a_string_when_they_come_by_id(
    before: str, token: tuple[str, int, str], after: str, found: str, content: str | None
) -> None:
    markers = {"<|python_start|>": 200016, "<|python_end|>": 200017}
    for size in (1, 99):
        texts = [before[at : at + size] for at in range(0, len(before), size)]
        trace = trace_of("llama4_pythonic", fed=tokens(*texts, token, after), mode="ids", markers=markers)
        assert (calls(trace.message), trace.message.content) == ([("f", found)], content)


def test_a_list_begins_with_a_bracket() -> None:
    states = {
        "TOP": {"text": "content", "rows": [{"on": "GO", "to": "CALL", "emit": ["CallStart"]}]},
        "CALL": {"codec": {"name": "pythonic"}, "rows": [{"on": "REJECT", "to": "TOP"}]},
    }
    fmt = small(states, {"GO": "<go>"})
    assert trace_of(fmt, *"<go> f(a=1)").message.content == "<go> f(a=1)"


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("print('hi')')]", "print('hi')"),
        ("[x, 'y']}')]", "[x, 'y']}"),
        ("a 'b' c', n=1)]", "a 'b' c"),
        ("a 'b' == c', n=='d')]", "a 'b' == c', n=='d"),
        ("a 'b'), g(c=1)]", "a 'b"),
        ("a 'b' c' )\n]", "a 'b' c"),
        ("a 'b'" + " " * 90 + "c')]", "a 'b'" + " " * 90 + "c"),
    ],
)
def test_a_string_with_unescaped_quotes_ends_where_its_keyword_does(source: str, arguments: str) -> None:
    text = f"[f(q='{source}"
    for texts in ((text,), tuple(text)):
        found = json.loads(trace_of("pythonic", *texts).message.tool_calls[0].arguments)
        assert found["q"] == arguments


def test_a_nested_string_with_unescaped_quotes_ends_before_a_bracket() -> None:
    found = trace_of("pythonic", "[f(q=['a 'b' c' d'])]").message.tool_calls[0].arguments
    assert json.loads(found) == {"q": ["a 'b' c' d"]}
