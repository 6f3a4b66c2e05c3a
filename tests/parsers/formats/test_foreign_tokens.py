"""A special token that no format knows stands anywhere in an output: every other character keeps its owner."""

from __future__ import annotations

from random import Random

import pytest

from parsers import get_format
from parsers.replays.replay import replay
from parsers.selection.registry import build, names
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.types import Context, Delta, Piece
from tests.amount import TIMES, every
from tests.corpus import case_named, case_names
from tests.parsers.properties.invariants import Run, as_ids, check
from tests.parsers.properties.strategies import TOOLS

pytestmark = pytest.mark.replays

ENDS = ("as_streamed", "close", "text", "drop")
FOREIGN = Piece("<|weird|>", 9_999, None, "special", True)


def letters(text: str) -> list[Piece]:
    return [Piece(letter, 7, None, "text", True) for letter in text]


@pytest.mark.parametrize("name", names())
def test_no_character_is_lost_around_a_foreign_token(name: str) -> None:
    example = get_format(name).example
    markers = {marker: 1_000 + at for at, marker in enumerate(get_format(name).tokens)}
    tails = [Piece(text, token_id, None, "added", True) for text, token_id in list(markers.items())[:2]]
    for cut in every(12, range(1, len(example)), start=len(name)):
        for rest in [letters(example[cut:]), *[[tail] for tail in tails]]:
            pieces = (*letters(example[:cut]), FOREIGN, *rest)
            trace = replay(build(get_format(name), {}), [Delta(1, pieces)], Context(), mode="ids", markers={})
            assert [(at.start, at.end) for at in trace.partition if at.reason is LOST] == [], (cut, rest[:1])


@pytest.mark.parametrize("name", names())
def test_special_tokens_anywhere_leave_every_character_its_one_owner(name: str) -> None:
    fmt, source = get_format(name), Random(name)
    markers = {marker: 1_000 + at for at, marker in enumerate(fmt.tokens)}
    texts = [text for text in (fmt.example, *[case_named(one).text() for one in case_names(name)]) if len(text) < 400]
    for _ in range(3 * TIMES):
        pieces = list(as_ids(source.choice(texts), markers, dict.fromkeys(markers, True)))
        for marker in source.choices([FOREIGN.text, *markers], k=source.choice((1, 1, 2))):
            special = Piece(marker, markers.get(marker, 9_999), marker.encode(), "special", True)
            pieces.insert(source.randint(0, len(pieces)), special)
        run = pieces[: source.randint(1, len(pieces))] if source.random() < 0.3 else pieces
        policy = {name: source.choice(ENDS) for name in fmt.policies if name == "truncated_call"}
        request = Context(tools=source.choice(TOOLS), finish_reason=source.choice((None, "stop", "length")))
        check(Run(fmt, tuple(run), policy, request, "ids", markers))
