"""Edits of an output: which tokens stay, what becomes plain text, and which markers are tokens again."""

from __future__ import annotations

import pytest

from parsers.replays.edits import Edit, edited, edited_text, kept
from parsers.vocabulary.types import Piece, UsageError

OPEN = Piece("<c>", 7, b"<c>", "special", True)
WORDS = (
    Piece("ab", 1, b"ab", recorded=True),
    OPEN,
    Piece("", 2, b"\xc3", "partial", True),
    Piece("é", 3, recorded=True),
)


def texts(pieces: tuple[Piece, ...]) -> list[tuple[str, int | None]]:
    return [(piece.text, piece.token_id) for piece in pieces]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), [("ab", 1), ("<c>", 7), ("", 2), ("é", 3)]),
        (((1, 1, ""),), [("a", None), ("b", None), ("<c>", 7), ("", 2), ("é", 3)]),
        (((1, 2, "x"),), [("a", None), ("x", None), ("<c>", 7), ("", 2), ("é", 3)]),
        (((2, 5, ""),), [("ab", 1), ("é", 3)]),
        (((5, 5, "<c>"),), [("ab", 1), ("<c>", 7), ("", 2), ("<c>", 7), ("é", 3)]),
        (((3, 6, ""),), [("ab", 1), ("<", None)]),
        (
            ((6, 6, "x<c>y<d>"),),
            [("ab", 1), ("<c>", 7), ("", 2), ("é", 3), ("x", None), ("<c>", 7), ("y", None), ("<d>", 9)],
        ),
        (((0, 2, "y"), (5, 6, "")), [("y", None), ("<c>", 7), ("", 2)]),
    ],
)
def test_untouched_tokens_keep_their_ids_and_new_text_has_none(
    edits: tuple[Edit, ...], expected: list[tuple[str, int | None]]
) -> None:
    found = edited(WORDS, edits, {"<d>": 9, "": 1})
    assert texts(found) == expected
    assert "".join([piece.text for piece in found]) == edited_text("ab<c>é", edits)


def test_a_doubled_recorded_marker_is_that_token_again() -> None:
    assert edited(WORDS, ((5, 5, "<c>"),))[3] is OPEN


def test_text_that_the_output_has_is_put_in_as_its_tokens() -> None:
    plain = (Piece("ab"), Piece("<c>"), Piece("d"))
    assert edited(plain, ((6, 6, "\nab<c>"),)) == (*plain, Piece("\n"), Piece("ab"), Piece("<c>"))
    assert edited(plain, ((6, 6, "b<c>x"),)) == (*plain, Piece("b<c>x"))


def test_without_recorded_tokens_a_marker_is_plain_text() -> None:
    assert edited((Piece("ab"),), ((1, 1, "<d>"),), {"<d>": 9}) == (Piece("a"), Piece("<d>"), Piece("b"))


@pytest.mark.parametrize("edits", [((0, 7, ""),), ((2, 1, ""),), ((0, 3, ""), (2, 4, "")), ((-1, 0, ""),)])
def test_edits_that_do_not_fit_are_refused(edits: tuple[Edit, ...]) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        edited(WORDS, edits)
    with pytest.raises(UsageError, match="does not fit"):
        edited_text("ab<c>é", edits)


def test_a_token_without_text_belongs_to_the_text_before_it() -> None:
    silent = (Piece("", 1), Piece("a", 2), Piece("", 3), Piece("b", 4))
    assert texts(tuple(kept(silent, 0, 1))) == [("", 1), ("a", 2), ("", 3)]
    assert texts(tuple(kept(silent, 1, None))) == [("b", 4)]
