"""Tokens given with their texts: pairs, and the samples of vLLM's replay tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.token_pairs import read_token_pairs
from parsers.vocabulary.types import Piece

SAMPLE: dict[str, Any] = {
    "id": "qwen-1", "vocab": {"<tool_call>": 7}, "tokens": [[7, "<tool_call>"], [8, "é"]], "expected_content": None,
    "expected_reasoning": "r", "expected_tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"arguments": "x"}],
    "tools": [{"type": "function", "function": {"name": "f"}}], "chat_template_kwargs": {"enable_thinking": False},
    "prompt_token_ids": [1, 2],
}  # fmt: skip


def test_a_sample_is_an_output_with_all_that_belongs_to_it() -> None:
    found = recognise(json.dumps(SAMPLE).encode(), pasted=False)
    assert (found.kind, found.title) == ("replay_record", "2 token ids with their texts")
    (output,) = found.outputs
    assert (output.text, output.ids, output.prompt_ids, output.label) == ("<tool_call>é", (7, 8), (1, 2), "qwen-1")
    assert output.pieces == (
        Piece("<tool_call>", 7, b"<tool_call>", "special", recorded=True),
        Piece("é", 8, "é".encode(), recorded=True),
    )
    assert output.request is not None
    assert output.request.tools == tuple(SAMPLE["tools"])
    assert output.request.template_kwargs == {"enable_thinking": False}
    assert output.expect == {
        "reasoning": "r", "tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "", "arguments": {}}],
    }  # fmt: skip


def test_samples_on_lines_are_outputs_of_their_own() -> None:
    lines = [{"tokens": [[1, "a"]]}, {"tokens": [[2, "b"]], "id": "x"}, {"tokens": [[3, "c"]], "id": "x"}]
    found = read_token_pairs("\n".join(map(json.dumps, lines)))
    assert found is not None
    assert [(output.label, output.text, output.expect) for output in found.outputs] == [
        ("sample 1", "a", None), ("x", "b", None), ("x (2)", "c", None),
    ]  # fmt: skip
    assert found.title == "3 token ids with their texts in 3 samples"


def test_pairs_alone_are_tokens() -> None:
    found = read_token_pairs('[[1, "a"], [2, ""]]')
    assert found is not None
    assert found.kind == "token_ids"
    assert [(output.text, output.ids) for output in found.outputs] == [("a", (1, 2))]


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "{}", "[[1]]", '[[1, "a", 2]]', '[["a", 1]]', "[[1, 2]]", '[[1, "\\ud83d"]]', "[1]", '[[1, "a"]] and',
        '{"tokens": []}', '{"tokens": [[1, "a"]]} {}', '{"tokens"', "text",
    ],
)  # fmt: skip
def test_other_text_is_not_taken(body: str) -> None:
    assert read_token_pairs(body) is None
