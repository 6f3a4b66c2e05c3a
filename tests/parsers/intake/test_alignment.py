"""Tokens and the chunks that they came with, by the texts of the chunks alone."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.intake.alignment import chunk_texts, token_counts
from parsers.vocabulary.types import Piece
from tests.growth import assert_linear, seconds

END = Piece("<end>", kind="special")
ALIGNED: list[tuple[list[str], list[str | Piece], list[int] | None]] = [
    (["ab", "c"], ["a", "b", "c"], [2, 1]),
    (["a", "bc"], ["ab", "c"], [1, 1]),
    (["a", "", "b"], ["a", "b"], [1, 0, 1]),
    (["é"], ["", "é"], [2]),
    (["a", "b"], ["a", "", "b", ""], [1, 3]),
    (["a", "b"], ["a", END, "b", END], [1, 3]),
    (["a<end>", "b"], ["a", END, "b"], [2, 1]),
    (["a", "b"], [END, "\n\n", "a", "\n", "b"], [3, 2]),
    (["a", "b"], [" a", "b"], [1, 1]),
    ([" a"], [" a"], [1]),
    (["a", "b"], ["a", "bStop", "ped", END], [1, 3]),
    (["a"], ["b", "a"], None),
    (["ab", "c"], ["a", "b"], None),
    (["a", "c"], ["a", "b", "c"], None),
    ([""], ["a"], None),
    ([], ["a"], None),
    (["a"], [], None),
]


@pytest.mark.parametrize(("texts", "tokens", "counts"), ALIGNED)
def test_a_token_came_with_the_chunk_in_which_its_text_begins(
    texts: list[str], tokens: list[str | Piece], counts: list[int] | None
) -> None:
    pieces = [one if isinstance(one, Piece) else Piece(one) for one in tokens]
    assert token_counts(texts, pieces) == counts


def chunk(**delta: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def test_a_stream_with_calls_tells_nothing_of_its_tokens() -> None:
    call = {"index": 0, "function": {"name": "f", "arguments": "{}"}}
    said: list[dict[str, Any]] = [
        chunk(reasoning="a"),
        chunk(content="b"),
        {"object": "chat.completion.chunk", "choices": []},
    ]
    assert chunk_texts(said) == ["a", "b", ""]
    assert chunk_texts([*said, chunk(tool_calls=[call])]) == []
    assert chunk_texts(said[:1]) == []


def test_aligning_takes_linear_time() -> None:
    def timed(size: int) -> float:
        texts, pieces = ["ab"] * size, [one for _ in range(size) for one in (Piece("a"), END, Piece("b"))]
        return seconds(lambda: token_counts(texts, pieces))

    assert_linear(timed, (4_000, 8_000, 16_000))
