"""Verdicts on guided output, and on tokens that close what text alone would not."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.search.found import Verdict

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "f", "parameters": CITY}}
LIST = '[{"name": "f", "parameters": {"city": "a"}}]'
REQUIRED, NAMED = "required", {"name": "f"}


def verdict_of(parser: str, output: dict[str, Any], **given: Any) -> Verdict:
    body = {"schema": 1, "parser": {"name": parser}, "input": output, "tools": [TOOL], **given}
    search = CaseSearch(load_case(body), max_replays=10)
    assert list(search.run())
    return search.result().found.verdict


@pytest.mark.replays
@pytest.mark.parametrize("parser", ["llama", "pythonic", "llama4_pythonic", "qwen3"])
def test_a_guided_list_that_is_read_rightly_is_no_fault(parser: str) -> None:
    said = verdict_of(parser, {"text": LIST}, context={"tool_choice": REQUIRED})
    assert (said.kind, said.severity) == ("all_hold", "pass"), said.headline


@pytest.mark.parametrize(
    ("text", "choice", "finish", "kind", "severity", "words"),
    [
        ('{"city": "a', NAMED, "stop", "no_complete_call", "warning", "it ends inside the guided JSON"),
        ('{"city": "a', NAMED, None, "no_complete_call", "warning", "it ends inside the guided JSON"),
        ('{"city": "a', NAMED, "length", "no_complete_call", "info", "cut off by its length limit"),
        (LIST[:-4], REQUIRED, "stop", "no_complete_call", "warning", "it ends inside the guided JSON"),
        (LIST[:-2], REQUIRED, "stop", "output_flawed", "warning", "the call's object is not closed"),
    ],
)
def test_a_guided_call_that_is_not_whole_is_no_pass(
    text: str, choice: Any, finish: str | None, kind: str, severity: str, words: str
) -> None:
    said = verdict_of("qwen3", {"text": text}, context={"tool_choice": choice, "finish_reason": finish})
    assert (said.kind, said.severity, said.about) == (kind, severity, "output"), said.headline
    assert words in said.headline


@pytest.mark.replays
def test_a_forced_call_in_markers_is_told_by_the_grammar_of_its_format() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"city": "a'
    said = verdict_of("qwen3", {"text": text}, context={"tool_choice": REQUIRED, "finish_reason": "stop"})
    assert "it ends inside the grammar of `qwen3`" in said.headline


@pytest.mark.replays
def test_a_value_that_only_the_id_of_a_marker_ends_is_no_pass() -> None:
    special = {"kind": "special"}
    pieces = [(5, "<tool_call>"), (9, "\n<function=f>\n<parameter=city>\na"), (6, "</tool_call>")]
    tokens = [[at, text, special] if at < 9 else [at, text] for at, text in pieces]
    vocabulary = {"<tool_call>": 5, "</tool_call>": 6}
    ids = {"source": {"kind": "token_ids"}, "tokenizer": {"vocab": vocabulary}}
    said = verdict_of("qwen_coder", {"tokens": tokens}, **ids)
    assert (said.kind, said.severity, said.about) == ("output_flawed", "warning", "output")
    assert "a parameter has no closing tag" in said.headline
