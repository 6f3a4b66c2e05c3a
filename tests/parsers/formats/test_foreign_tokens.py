"""A special token that no format knows stands anywhere in an output: every other character keeps its owner."""

from __future__ import annotations

import pytest

from parsers import get_format
from parsers.replays.replay import replay
from parsers.selection.registry import build, names
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.types import Context, Delta, Piece

FOREIGN = Piece("<|weird|>", 9_999, None, "special", True)


def letters(text: str) -> list[Piece]:
    return [Piece(letter, 7, None, "text", True) for letter in text]


@pytest.mark.parametrize("name", names())
def test_no_character_is_lost_around_a_foreign_token(name: str) -> None:
    example = get_format(name).example
    markers = {marker: 1_000 + at for at, marker in enumerate(get_format(name).tokens)}
    tails = [Piece(text, token_id, None, "added", True) for text, token_id in list(markers.items())[:2]]
    for cut in range(1, len(example)):
        for rest in [letters(example[cut:]), *[[tail] for tail in tails]]:
            pieces = (*letters(example[:cut]), FOREIGN, *rest)
            trace = replay(build(get_format(name), {}), [Delta(1, pieces)], Context(), mode="ids", markers={})
            assert [(at.start, at.end) for at in trace.partition if at.reason is LOST] == [], (cut, rest[:1])
