"""Answers of an API that somebody keeps as YAML: what is a text in one stays one, however a reader takes its word."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from parsers.intake.yaml_values import read_yaml_answer


def message(written: str) -> Any:
    found = read_yaml_answer(written)
    assert found is not None
    (output,) = found.outputs
    assert output.stream is not None
    return output.stream[0]["choices"][0]["message"]


@pytest.mark.parametrize("text", ["1e5", "12E3", ".5e3", "1.50", "42", "true", "null", "~", "a"])
def test_what_pyyaml_writes_of_an_answer_keeps_its_texts(text: str) -> None:
    call = {"function": {"name": text, "arguments": text}}
    said = {"role": "assistant", "content": text, "reasoning_content": text, "tool_calls": [call]}
    answer = {"id": "x", "object": "chat.completion", "choices": [{"message": said, "finish_reason": "stop"}]}
    assert message(yaml.safe_dump(answer, sort_keys=False)) == said


def test_numbers_without_quotes_are_texts_where_an_answer_has_one_and_else_numbers() -> None:
    calls = "[{index: 0, function: {name: f, arguments: {content: 1e5, text: true}}}]"
    rows = f"role: assistant\n    content: 1.10\n    score: 1e-2\n    tool_calls: {calls}\n"
    said = message(f"choices:\n- message:\n    {rows}")
    assert said["content"] == "1.10"
    assert said["score"] == 0.01
    assert said["tool_calls"][0] == {
        "index": 0,
        "function": {"name": "f", "arguments": {"content": 1e5, "text": True}},
    }


@pytest.mark.parametrize("written", ["a", "content: a", "content: [\n", "model: m\ntools:\n  content: a\n"])
def test_what_holds_no_answer_is_none(written: str) -> None:
    assert read_yaml_answer(written) is None
