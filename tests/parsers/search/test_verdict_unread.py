"""Verdicts on outputs whose calls are not read, or not as calls: what a declared tool and left tags tell."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.search.found import Verdict

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
NAMED_OTHERWISE = '{"type": "function", "function": "f", "parameters": {"a": 1}}'


def verdict_of(parser: str, text: str, **given: Any) -> Verdict:
    body = {"schema": 1, "parser": {"name": parser}, "input": {"text": text}, "tools": [TOOL], **given}
    search = CaseSearch(load_case(body), max_replays=5)
    assert list(search.run())
    return search.result().found.verdict


@pytest.mark.replays
def test_a_call_that_only_another_format_reads_is_one_of_another_format() -> None:
    said = verdict_of("llama", NAMED_OTHERWISE)
    assert (said.kind, said.about) == ("wrong_parser", "request")
    assert "`json` reads 1 complete call" in said.headline


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        ("pythonic", '[f("a")]'),
        ("pythonic", 'f(a="b")\n'),
        ("qwen", '{"tool": "f", "args": ["a"]}'),
        ("qwen", '[{"tool": "f", "args": ["a"]}]'),
    ],
)
def test_a_call_of_a_declared_tool_that_no_format_reads_is_no_pass(parser: str, text: str) -> None:
    said = verdict_of(parser, text)
    assert (said.kind, said.severity, said.about) == ("output_flawed", "warning", "output"), said.headline
    assert said.headline == f"The content looks like a call to `f`, and `{parser}` reads none."


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('Use f(a="b") for that.', {}),
        ('{"city": "f", "args": 1}', {}),
        ('{"name": "f"}', {}),
        ("f", {}),
        ('f(a="b")', {"context": {"tool_choice": "none"}}),
        ('f(a="b")', {"tools": []}),
        ('g(a="b")', {}),
    ],
)
def test_a_text_that_is_no_call_of_a_declared_tool_is_none(text: str, given: dict[str, Any]) -> None:
    assert verdict_of("pythonic", text, **given).kind in ("nothing_to_parse", "all_hold")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ('<function_call>{"name": "f", "arguments": {}}</function_call>', "`</function_call>`"),
        ('<tools>{"name": "f", "arguments": {}}</tools>', "`<tools>`"),
    ],
)
def test_tags_that_are_all_that_is_left_beside_calls_are_no_pass(text: str, tag: str) -> None:
    said = verdict_of("auto", text)
    assert (said.kind, said.severity, said.about) == ("output_flawed", "warning", "output"), said.headline
    assert said.headline.startswith(f"{tag} stays in the content beside the calls")


@pytest.mark.replays
@pytest.mark.parametrize("arguments", ["[1]", "null"])
def test_arguments_of_another_kind_of_json_are_not_broken(arguments: str) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'
    assert verdict_of("qwen", text).headline.startswith("The arguments of a call are JSON of another kind: ")
    broken = text.replace("}\n", "\n", 1).replace(arguments, '{"a": x}')
    assert verdict_of("qwen", broken).headline.startswith("The model wrote broken JSON: ")
