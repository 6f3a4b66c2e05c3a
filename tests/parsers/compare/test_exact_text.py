"""A replay of decoded tokens on the text that all its tokens spell."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import replayer_of
from parsers.compare.exact_text import LEFT_OUT, on_exact_text
from parsers.replays.chunking import Chunking
from parsers.vocabulary.trace import Ownership, Trace
from parsers.vocabulary.types import Piece

TOKENS = [
    [9, "[TOOL_CALLS]", {"kind": "special"}],
    [20, '[{"name": "f", '],
    [21, '"arguments": {"a": "b"}}]'],
    [2, "</s>", {"kind": "special"}],
]
SPLIT = [[1, "Hi "], [2, "\ufffd", {"hex": "f09f", "kind": "partial"}]]
MIDDLE = [[1, "one "], [2, "<s>", {"kind": "special"}], [3, "two"]]
POLICIES: list[dict[str, Any]] = [
    {"skip_special_tokens": True},
    {"policy": "vllm_fast"},
    {"policy": "vllm_mistral"},
    {"drop_eos": True},
]


def moved(tokens: list[Any], decode: dict[str, Any], by: dict[str, Any], parser: str = "mistral") -> Trace:
    """A replay of tokens under a decode policy, on their exact text."""
    case = load_case(
        {"schema": 1, "parser": {"name": parser}, "input": {"tokens": tokens}, "source": {"kind": "recorded"},
         "decode": decode}
    )  # fmt: skip
    replayer = replayer_of(case, choose(case), stored := tuple(case.pieces() or ()))
    return on_exact_text(replayer.trace(Chunking(**by)), replayer.pieces, stored)


@pytest.mark.parametrize("by", [{"by": "token"}, {"by": "char"}, {"by": "whole"}, {"by": "random"}])
@pytest.mark.parametrize("decode", POLICIES)
@pytest.mark.parametrize("tokens", [TOKENS, SPLIT, MIDDLE, [[5, "x", {"kind": "special"}]]])
def test_steps_and_owners_tile_the_exact_text(tokens: list[Any], decode: dict[str, Any], by: dict[str, str]) -> None:
    trace = moved(tokens, decode, by)
    text = "".join(token[1] for token in tokens)
    assert trace.text == text
    assert "".join(text[part.start : part.end] for part in trace.partition) == text
    assert "".join(text[step.span.start : step.span.end] for step in trace.steps) == text
    for _, event in trace.events():
        assert 0 <= event.start <= event.end <= len(text)


def test_what_never_came_out_is_dropped_where_it_stood() -> None:
    parts = moved(MIDDLE, {"skip_special_tokens": True}, {"by": "whole"}, "passthrough").partition
    assert [(part.start, part.end, part.owner, part.reason) for part in parts] == [
        (0, 4, "content", None),
        (4, 7, "dropped", LEFT_OUT),
        (7, 10, "content", None),
    ]


def test_a_character_that_one_text_lacks_hides_none_of_the_other() -> None:
    exact = [Piece("", 1), Piece("ab", 2)]
    decoded = [Piece("\ufffd\ufffd", 1), Piece("ab", 2)]
    trace = Trace("p", (), {}, "text", "\ufffd\ufffdab", partition=[Ownership(0, 4, "content")])
    found = on_exact_text(trace, decoded, exact)
    assert [(part.start, part.end, part.owner) for part in found.partition] == [(0, 1, "content"), (1, 2, "content")]
