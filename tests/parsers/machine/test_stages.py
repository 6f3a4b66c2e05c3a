"""White space and separators around text: what the content and reasoning policies keep, drop and join."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.selection.registry import policies
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, dropped, owners, small, tool, trace_of

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
F = '{"name": "f", "parameters": {}}'
G = '{"name": "g", "parameters": {}}'


@pytest.mark.parametrize(
    ("where", "text", "value", "content"),
    [
        ("before", f" \n{CALL}", "keep", " \n"),
        ("before", f" \n{CALL}", "drop_blank", None),
        ("before", f" \n{CALL}", "strip", None),
        ("before", f" a \n{CALL}", "keep", " a \n"),
        ("before", f" a \n{CALL}", "drop_blank", " a \n"),
        ("before", f" a \n{CALL}", "strip", " a"),
        ("between", f"{CALL} \n{CALL}", "keep", " \n"),
        ("between", f"{CALL} \n{CALL}", "drop_blank", None),
        ("between", f"{CALL} \n{CALL}", "strip", None),
        ("between", f"{CALL}a \n{CALL}", "drop_blank", "a \n"),
        ("between", f"{CALL}a \n{CALL}", "strip", "a"),
        ("after", f"{CALL} \n", "keep", " \n"),
        ("after", f"{CALL} \n", "drop_blank", None),
        ("after", f"{CALL} \n", "strip", None),
        ("after", f"{CALL} a \n", "keep", " a \n"),
        ("after", f"{CALL} a \n", "drop_blank", " a \n"),
        ("after", f"{CALL} a \n", "strip", "a"),
    ],
)
def test_white_space_of_content_around_calls(where: str, text: str, value: str, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        assert trace_of("qwen", *texts, policy={f"content_{where}_calls": value}).message.content == content


@pytest.mark.parametrize(("value", "content"), [("keep", "a  b c"), ("drop_blank", "a b c"), ("strip", "a b c")])
def test_white_space_before_the_first_of_llamas_calls_is_kept_where_the_policy_says_so(
    value: str, content: str
) -> None:
    for texts in ((f"a {F} b{G} c",), tuple(f"a {F} b{G} c")):
        assert trace_of("llama", *texts, policy={"content_before_calls": value}).message.content == content


@pytest.mark.parametrize("value", ["keep", "drop_blank", "strip"])
def test_an_output_without_a_call_keeps_its_white_space(value: str) -> None:
    policy = {f"content_{where}_calls": value for where in ("before", "between", "after")}
    assert trace_of("qwen", *" \n", policy=policy).message.content == " \n"
    assert trace_of("qwen", *" a\n ", policy=policy).message.content == " a\n "


@pytest.mark.parametrize(
    ("value", "reasoning", "lost"),
    [("strip", "a\n b", [(" \n", "white space at the end of reasoning")]), ("keep", "a\n b \n", [])],
)
def test_white_space_at_the_end_of_reasoning(value: str, reasoning: str, lost: list[tuple[str, str]]) -> None:
    trace = trace_of("qwen", *"<think>a\n b \n</think>c", policy={"reasoning_tail": value})
    assert (trace.message.reasoning, trace.message.content) == (reasoning, "c")
    assert dropped(trace) == lost


def test_white_space_on_both_sides_of_a_marker_keeps_its_places() -> None:
    trace = trace_of("qwen", "\n<think>a</think>\n\nhi")
    assert trace.message.content == "\n\n\nhi"
    assert owners(trace)[0] == ("\n", "content")
    assert owners(trace)[-1] == ("\n\nhi", "content")
    trace = trace_of("mistral", "[THINK]a \n</s> \nb[/THINK]")
    assert trace.message.reasoning == "a \n \nb"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"a; b: {F} ok; c", "a; b: ok; c"),
        (f"  a {F}", "  a"),
        (f"; {F}", None),
        (f" ; {F} ; , a", ", a"),
        (f"a {F};{G} , b", "a , b"),
        (f"{F} a", "a"),
        (f"{F} and then {G}", "and then"),
        (f"a {F} , {G}", "a"),
        ("a; ", "a; "),
        (f"a; <|python_tag|>; {F}", "a"),
        (f"{F}; <|python_tag|> ;a", "a"),
        (f"a{F}; <|python_tag|>, b", "a , b"),
        ("<|python_tag|>", None),
    ],
)
def test_llama_prose_is_joined_by_single_spaces(text: str, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("llama", *texts)
        assert trace.message.content == content
        assert "lost" not in [reason for _, reason in dropped(trace)]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"a; b: {F} ok; c", "a b: ok c"),
        (f" {F} ;", None),
        (f"Tools: {F}; {G} End", "Tools: End"),
        (f"{F} ; {G} End; ", "End;"),
        (f"; ; a {F}", "a"),
        (f"a; <|python_tag|> b{F}", "a  b"),
        ("a; b", "a; b"),
        ("  ", "  "),
        ("", None),
        (f"a {F}{{bad}}", "a {bad}"),
        ('a {"name": "f", "parameters": {"x": 1,}} b', 'a {"name": "f", "parameters": {"x": 1,}} b'),
    ],
)
def test_the_literal_rule_of_llama_content(text: str, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("llama", *texts, policy={"llama_content": "seed_literal"})
        assert trace.message.content == content
        assert "lost" not in [reason for _, reason in dropped(trace)]
        assert not any(trace.deltas[:-1])


def test_under_the_literal_rule_one_malformed_call_makes_all_of_it_content() -> None:
    text = f'{F}; {{"name": "g", "parameters": {{"x": 1,}}}}'
    trace = trace_of("llama", text, policy={"llama_content": "seed_literal"})
    assert (trace.message.content, trace.message.tool_calls) == (text, [])
    assert trace.rejected_calls[-1].reason.words == "a call is malformed and llama_content is seed_literal"


def test_upstream_keeps_only_the_text_before_the_first_call() -> None:
    trace = trace_of("llama", f"a {F} b {G} c", policy={"llama_content": "upstream_engine"})
    assert trace.message.content == "a "
    assert calls(trace.message) == [("f", "{}"), ("g", "{}")]
    assert dropped(trace)[0] == (" b ", "text after a call (llama_content is upstream_engine)")


@pytest.mark.parametrize("where", ["structural", "seed_literal"])
def test_while_llama_text_waits_its_hold_says_why(where: str) -> None:
    trace = trace_of("llama", "a;", policy={"llama_content": where})
    assert [hold.kind for hold in trace.steps[0].holds] == ["policy"]
    assert trace.steps[-1].holds == ()


def test_policies_of_a_format_of_ones_own_are_its_defaults() -> None:
    states: dict[str, Any] = {"TOP": {"text": "content"}}
    fmt = small(states, policy={"reasoning_tail": "keep"})
    assert policies(fmt)["reasoning_tail"] == "keep"


def test_a_request_with_a_schema_does_not_change_the_text_around_calls() -> None:
    context = tool({"a": {"type": "integer"}})
    assert trace_of("llama", f"x {F} y", context=context).message.content == "x y"
    assert trace_of("llama", f"x {F} y", context=Context()).message.content == "x y"
