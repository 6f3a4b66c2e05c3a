"""The short search: the first chunking that reads an output otherwise, and how much work it may take."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.short import ShortSearch, search_shortly
from parsers.search.sweep import Sweep
from parsers.selection.registry import build
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Delta, Piece, Span
from tests.parsers.parsing import Hasty

QWEN = builtin_formats()["qwen"]
TEXT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


class Raising(Hasty):
    """A parser that fails on a long delta."""

    def feed(self, delta: Delta) -> list[Event]:
        if len(delta.text) > 12:
            raise IndexError
        return super().feed(delta)


def searched(text: str = TEXT, kind: type[Hasty] | None = None, work: int = 10_000_000) -> ShortSearch:
    parser = build(QWEN) if kind is None else kind.build(QWEN)
    replayer = Replayer(lambda: parser, tuple(Piece(char) for char in text), terminals=QWEN.terminals)
    return search_shortly(replayer, replayer.trace(TRACED), work)


@pytest.mark.replays
def test_a_sound_parser_gives_one_message_under_every_chunking_of_the_long_search() -> None:
    found, pieces = searched(), tuple(Piece(char) for char in TEXT)
    every = list(Sweep(Replayer(lambda: build(QWEN), pieces, terminals=QWEN.terminals)).trials())
    assert found == ShortSearch(len(every), complete=True)
    assert found.problems() == []


def test_the_first_chunking_that_gives_another_message_is_named_with_what_has_no_owner() -> None:
    found, size = searched(kind=Hasty), len(TEXT)
    assert found == ShortSearch(1, False, WHOLE, (Span(size - 1, size), WHOLE))
    assert found.problems() == [
        'With the chunking "whole" the message is not the one of token by token',
        f'With the chunking "whole" characters {size - 1} to {size} have no owner',
    ]


def test_a_failure_is_no_message() -> None:
    assert searched(kind=Raising).other == WHOLE


def test_work_is_counted_in_characters_and_deltas_and_one_chunking_is_always_tried() -> None:
    assert searched(work=0) == ShortSearch(1, complete=False)
    whole, by_character = len(TEXT) + 8, len(TEXT) + 8 * len(TEXT)
    assert searched(work=whole).tried == 1
    assert searched(work=whole + 1).tried == 2
    assert searched(work=whole + by_character).tried == 2
    assert searched(work=whole + by_character + 1).tried == 3
