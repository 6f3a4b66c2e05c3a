"""The changed case that shows a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Piece, UsageError
from webapp.page.addresses.search_views import changed_case, read_proof

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TEXT = f"{CALL}\n{CALL.replace('f', 'g')}"


def line(text: str = TEXT, engine: str | None = None, **more: Any) -> str:
    parser = {"name": "qwen"} | ({"engine": engine} if engine else {})
    return json.dumps({"schema": 1, "parser": parser, "input": {"text": text}, **more})


def proof(**more: Any) -> str:
    return json.dumps(Proof(**more).to_json())


def test_a_proof_changes_the_output_the_request_and_the_chunking() -> None:
    case = load_case(json.loads(line("one two", replay=[{"by": "cuts", "cuts": [3]}, {"by": "whole"}], tools=[
        {"name": "f"}], context={"prompt_tail": "x"}, expect={"content": "one two"})))  # fmt: skip
    pieces = (Piece("one two"),)
    edited = changed_case(case, pieces, Proof(None, ((3, 7, ""),), {"finish_reason": "length"}))
    assert edited.text() == "one"
    assert [chunking.by for chunking in edited.replay] == ["whole"]
    assert (edited.context.finish_reason, edited.expect) == ("length", None)
    asked = changed_case(case, pieces, Proof({"by": "char"}, (), {"tools": (), "reasoning_open": True, "else": 1}))
    assert (asked.text(), asked.tools, [chunking.by for chunking in asked.replay]) == ("one two", (), ["char"])
    assert (asked.context.reasoning_open, asked.context.prompt_tail) == (True, None)
    kept = changed_case(case, pieces, Proof(None, (), {"tools": ({"name": "f"},)}))
    assert len(kept.tools) == 1
    assert changed_case(case, pieces, Proof(parser="llama")).parser.name == "llama"


def test_a_proof_keeps_the_markers_of_recorded_tokens(make: Any) -> None:
    tokens = [
        [1, "<tool_call>", {"kind": "special"}],
        [2, '{"name": "f", "arguments": {}}'],
        [3, "</tool_call>", {"kind": "special"}],
        [4, " end"],
    ]
    data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": tokens},
            "source": {"kind": "token_ids"}, "tokenizer": {"vocab": {"<tool_call>": 1, "</tool_call>": 3}}}  # fmt: skip
    case = load_case(data)
    pieces = case.pieces()
    assert pieces
    cut = changed_case(case, pieces, Proof(None, ((len(case.text()) - 4, len(case.text()), ""),)))
    assert cut.mode() == case.mode() == "ids"
    assert cut.text().endswith("</tool_call>")


def test_a_proof_that_is_no_json_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no proof"):
        read_proof("nonsense")
