"""HTML entities, decoded while the text arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments.entities import EntityDecoder, decode_entities


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("a &amp; b", "a & b"),
        ("&lt;&gt;&quot;&#39;", "<>\"'"),
        ("&#x1F600;", "😀"),
        ("&#xD800;", "\ufffd"),
        ("&nosuchentity;", "&nosuchentity;"),
        ("&amp", "&amp"),
        ("& ;", "& ;"),
        ("&&amp;", "&&"),
        ("&" + "a" * 40 + ";", "&" + "a" * 40 + ";"),
        ("", ""),
    ],
)
def test_entities_become_what_they_stand_for(text: str, decoded: str) -> None:
    assert decode_entities(text) == decoded


def test_pieces_keep_their_places() -> None:
    decoder = EntityDecoder()
    assert decoder.feed("x&am", 10) == [("x", 10, 11)]
    assert decoder.kept_at == 11
    assert decoder.feed("p;y", 14) == [("&", 11, 16), ("y", 16, 17)]
    assert decoder.kept_at is None
    assert decoder.finish() == []


def test_half_an_entity_at_the_end_is_text() -> None:
    decoder = EntityDecoder()
    assert decoder.feed("&l", 0) == []
    assert decoder.finish() == [("&l", 0, 2)]
    assert decoder.kept_at is None


@given(st.text("&#x1amplt;3 é", max_size=40), st.lists(st.integers(0, 40)))
@pytest.mark.replays
def test_the_result_does_not_depend_on_the_cuts(text: str, cuts: list[int]) -> None:
    ends = sorted(cut for cut in cuts if cut <= len(text))
    decoder = EntityDecoder()
    found: list[tuple[str, int, int]] = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        found += decoder.feed(text[start:end], start)
    found += decoder.finish()
    assert "".join(piece for piece, _, _ in found) == decode_entities(text)
    assert [start for _, start, _ in found] == [0, *(end for _, _, end in found)][: len(found)]
