"""Tests for suites in Rust and C++, which nobody compiles here: their literals are read back, and what is left of the
code without them is always the same. And the one for transformers, which is run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Compare, Expect, ParserRef, RequestContext
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.message_events import EventKind, MessageEvent
from parsers.vocabulary.types import UsageError
from tests.parsers.cases.test_export_suites import (
    CALL,
    CPP,
    RUST,
    TEXT,
    VALUES,
    case,
    emitted,
    failures,
    nasty,
    read_cpp,
    read_rust,
    subject,
)

COMPILED = ("vllm_rust", "tool_parser", "llamacpp")
TWO = case(f"So.{CALL % 1}{CALL % 2}", title="Two calls", replay=[{"by": "token", "size": 9}])
TEMPLATE = {
    "version": 1,
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": "\\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": ["<|im_end|>"]},
    },
}


def code(target: str, found: Any) -> list[str]:
    """The code of a file without its comments and literals, and without lines that were a literal alone."""
    literal = CPP if target == "llamacpp" else RUST
    lines = suite_file(SUITES[target], found).text.splitlines()
    bare = [literal.sub("L", line) for line in lines if not line.strip().startswith("//")]
    return [re.sub(rf"_{found.slug}\b", "_SLUG", line) for line in bare if line.strip() != "L,"]


@pytest.mark.parametrize("target", COMPILED)
@given(parts=st.lists(TEXT.filter(bool), min_size=1, max_size=5), words=TEXT, value=VALUES)
@pytest.mark.replays
def test_no_text_of_a_case_becomes_code(target: str, parts: list[str], words: str, value: Any) -> None:
    found, plain = nasty(parts, f"a{words}", {words: value}), nasty(["a"], "a", {"a": 1})
    found, plain = (replace(one, expect=one.expect.model_copy(update={"reasoning": None})) for one in (found, plain))
    assert code(target, found) == code(target, plain)


@pytest.mark.parametrize("target", ["vllm_rust", "tool_parser"])
@given(parts=st.lists(TEXT.filter(bool), min_size=1, max_size=5))
@pytest.mark.replays
def test_the_chunks_of_a_test_in_rust_are_those_of_the_case(target: str, parts: list[str]) -> None:
    found = nasty(parts, "a", {})
    text = suite_file(SUITES[target], replace(found, expect=Expect(content="a"))).text
    rows = text.partition("let chunks: Vec<&str> = vec![\n")[2].partition(
        "\n" + " " * 4 + " " * 4 * ("mod" in text) + "];"
    )[0]
    assert [read_rust(row.strip().removesuffix(",")) for row in rows.splitlines()] == ["", *parts]
    assert "<Value>" not in text
    assert "use serde_json::Value" not in text


def test_a_test_in_rust_asserts_text_and_calls() -> None:
    text = emitted("vllm_rust", TWO)
    assert "mod case_two_calls {" in text
    assert 'assert_eq!(output.normal_text(), "So.");' in text
    assert text.count("assert!(same(&calls[") == 2
    assert suite_file(SUITES["vllm_rust"], subject(TWO)).path == "rust/src/parser/src/tool/json/hermes.rs"
    raw = replace(subject(TWO), expect=Expect(tool_calls=[{"name": "f", "raw": "{"}]))
    assert 'assert_eq!(calls[0].1, "{");' in suite_file(SUITES["tool_parser"], raw).text


@pytest.mark.parametrize("target", ["vllm_rust", "tool_parser", "llamacpp"])
def test_what_only_events_say_is_asserted_in_a_compiled_test(target: str) -> None:
    call = {"kind": "tool_call", "name": "f", "arguments": {"x": 7}}
    text = emitted(target, case(expect={"events": [{"kind": "text", "text": "Zürich, said"}, call]}))
    assert "Zürich, said" in text
    assert '{\\"x\\": 7}' in text
    with pytest.raises(UsageError, match="reads what follows the reasoning"):
        emitted("tool_parser", case(expect={"events": [{"kind": "reasoning", "text": "Hm."}, call]}))


@pytest.mark.parametrize(("target", "text"), [("vllm_rust", "output.normal_text()"), ("tool_parser", "text")])
def test_where_white_space_does_not_count_words_are_asserted(target: str, text: str) -> None:
    call = {"kind": "tool_call", "name": "f", "arguments": {"x": 1}}
    events = [{"kind": "text", "text": " So,  then\n"}, call, {"kind": "text", "text": "\n"}]
    source = emitted(target, case(f"So, then{CALL % 1}", expect={"events": events}, compare={"whitespace": "soft"}))
    words = 'split_whitespace().collect::<Vec<_>>().join(" ")'
    assert f'assert_eq!({text}.{words}, "So, then");' in source
    if target == "vllm_rust":
        assert 'let wanted = [("text", "So, then"), ("call 0", "")];' in source
        assert "_ if text.trim().is_empty() => {}" in source


@pytest.mark.parametrize("target", ["vllm_rust", "tool_parser"])
def test_a_tool_is_read_from_json_whatever_fields_its_type_has_in_a_release(target: str) -> None:
    told = case(CALL % 1, tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
    rows = emitted(target, told).partition("let tools: Vec<Tool> = vec![\n")[2].partition("];")[0]
    (row,) = rows.strip().splitlines()
    read = json.loads(read_rust(row.strip().removeprefix("serde_json::from_str(").removesuffix(").unwrap(),")))
    assert read.get("function", read) == {"name": "f", "parameters": {"type": "object"}}


def test_the_order_of_text_and_calls_is_asserted_where_a_case_says_it() -> None:
    call = {"kind": "tool_call", "name": "f", "arguments": {}}
    said = Expect.model_validate({"events": [{"kind": "text", "text": "a"}, call, {"kind": "text", "text": "b"}, call]})
    text = suite_file(SUITES["vllm_rust"], replace(subject(TWO), expect=said)).text
    assert 'let wanted = [("text", "a"), ("call 0", ""), ("text", "b"), ("call 1", "")];' in text
    assert "ToolParserEvent" not in emitted("vllm_rust", TWO)


@pytest.mark.parametrize(
    ("target", "keys", "message"),
    [
        ("vllm_rust", {"parser": {"name": "apriel"}, "text": "a"}, "no parser in Rust that is known to read apriel"),
        ("tool_parser", {"parser": {"name": "apriel"}, "text": "a"}, "no parser that is known to read apriel"),
        ("llamacpp", {"parser": {"name": "dots"}, "text": "a"}, "no template that is known to write dots"),
        ("llamacpp", {"expect": {"content": "a"}}, "say under 'expect' what content and tool_calls should be"),
        ("vllm_rust", {"text": "Hm.</think>", "context": {"reasoning_open": True}}, "reads what follows the reasoning"),
        ("tool_parser", {"text": "<think>Hm.</think>a"}, "reads what follows the reasoning"),
        ("transformers", {}, "this case brings none along"),
    ],
)
def test_what_a_suite_cannot_say_is_refused(target: str, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        emitted(target, case(**keys))


def test_a_chain_of_llamacpp_has_the_template_the_tools_and_the_message() -> None:
    text = emitted("llamacpp", TWO)
    assert 'peg_tester("models/templates/NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja"' in text
    assert ".tools({ tool_0 })\n            .parallel_tool_calls(true)\n            .expect(expected)" in text
    assert read_cpp(re.findall(r"tst\.test\((.*)\)$", text, re.MULTILINE)[0]) == TWO.text()
    found = replace(subject(case("<think>Hm.</think>")), engine="llamacpp", parser="Kimi-K3.jinja")
    thinks = suite_file(SUITES["llamacpp"], found).text
    assert 'models/templates/Kimi-K3.jinja"' in thinks
    assert ".reasoning_format(COMMON_REASONING_FORMAT_DEEPSEEK)\n            .enable_thinking(true)" in thinks
    bare = found.case.model_copy(update={"tools": ()})
    assert ".tools(" not in suite_file(SUITES["llamacpp"], replace(found, case=bare)).text


@pytest.mark.parametrize("whole", [{"response_template": TEMPLATE}, TEMPLATE], ids=["config", "template"])
@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        ({"reasoning": "Hm.", "content": "So.", "tool_calls": [{"name": "f", "arguments": {"x": 1}}]}, 0),
        ({"reasoning": "Hm.", "content": "", "tool_calls": [{"name": "f", "raw": "{"}]}, 2),
        ({"reasoning": " Hm.", "content": "So.\n"}, 0),
        ({"reasoning": "Hm.", "content": "S o."}, 2),
        ({}, 0),
    ],
)
def test_a_test_for_transformers_runs_on_transformers(expect: Any, wrong: int, whole: Any) -> None:
    parser = ParserRef(name="response_template", engine="response_template", options={"template": whole})
    found = subject(case(f"<think>Hm.</think>So.{CALL % 1}", replay=[{"by": "char", "size": 2}]))
    context = found.case.context.model_copy(update={"prompt_tail": "<|im_start|>assistant\n"})
    soft = Compare(whitespace="soft")
    told = found.case.model_copy(update={"parser": parser, "context": context, "compare": soft})
    source = suite_file(SUITES["transformers"], replace(found, case=told, expect=Expect.model_validate(expect))).text
    assert len(failures(source)) == wrong


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("reasoning", "text", "tool_call"), False),
        (("text", "tool_call", "text"), True),
        (("reasoning", "text", "reasoning"), True),
        (("tool_call", "tool_call"), False),
    ],
)
def test_a_test_for_transformers_says_that_of_several_texts_the_last_is_kept(
    kinds: tuple[EventKind, ...], told: bool
) -> None:
    parser = ParserRef(name="response_template", engine="response_template", options={"template": TEMPLATE})
    found = subject(case("So."))
    events = tuple([MessageEvent(kind, "x", "f") for kind in kinds])
    one = replace(found, case=found.case.model_copy(update={"parser": parser}), events=events)
    lines = suite_file(SUITES["transformers"], one).text.splitlines()
    assert any(line.startswith("# transformers keeps the last text") for line in lines) is told


FLAT = {"open": "<c>", "close": "</c>", "repeats": True, "content": "json"}
SHAPES = {
    "text": {"open_pattern": r"<c>(?P<name>\w+) ", "close": "</c>", "repeats": True,
             "transform": {"function": {"name": "{name}", "arguments": "{content}"}}},
    "flat": FLAT,
    "single": {**FLAT, "repeats": False, "transform": {"function": "{content}"}},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("expected", "wrong"), [({"x": 1}, 0), ({"x": 2}, 2)])
def test_a_test_for_transformers_reads_calls_in_every_shape_that_a_template_gives_them(
    shape: str, expected: dict[str, int], wrong: int
) -> None:
    template = {"start_anchor": "<a>", "fields": {"tool_calls": SHAPES[shape], "content": {}}}
    text = 'So.<c>f {"x": 1}</c>' if shape == "text" else 'So.<c>{"name": "f", "arguments": {"x": 1}}</c>'
    parser = ParserRef(name="response_template", engine="response_template", options={"template": template})
    found = subject(case(text))
    told = found.case.model_copy(update={"parser": parser, "context": RequestContext(prompt_tail="<a>")})
    expect = Expect.model_validate({"content": "So.", "tool_calls": [{"name": "f", "arguments": expected}]})
    source = suite_file(SUITES["transformers"], replace(found, case=told, expect=expect)).text
    assert len(failures(source)) == wrong
