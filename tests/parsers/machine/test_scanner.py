"""The scanner: markers by id in ids mode, plain text otherwise."""

from __future__ import annotations

import pytest

from parsers.machine.lexer import IdTerminal, Scanner
from parsers.vocabulary.types import Delta, Piece, PieceKind

MARKERS = {"<a>": 7, "<z>": 8}


def piece(text: str, kind: PieceKind = "text", recorded: bool = True) -> Piece:
    return Piece(text, 7, None, kind, recorded)


def test_in_text_mode_a_delta_is_its_text() -> None:
    scanner = Scanner("text", ["<a>"], MARKERS)
    assert scanner.by_id == frozenset()
    assert scanner.scan(Delta(1, (piece("x"), piece("<a>", "special")))) == ["x<a>"]
    assert scanner.scan(Delta(2, (piece(""),))) == []


def test_in_ids_mode_only_literals_with_an_id_are_left_to_the_ids() -> None:
    assert Scanner("ids", ["<a>", "<b>"], MARKERS).by_id == {"<a>"}
    assert Scanner("ids", ["<a>"], None).by_id == frozenset()


def test_a_recorded_marker_is_a_terminal_and_adjacent_text_is_one_run() -> None:
    delta = Delta(1, (piece("x"), piece("y"), piece("<a>", "special"), piece("z"), piece("<a>", "added")))
    found = Scanner("ids", ["<a>"], MARKERS).scan(delta)
    assert found == ["xy", IdTerminal("<a>", True), "z", IdTerminal("<a>", False)]


@pytest.mark.parametrize(
    "other", [piece("<a>"), piece("<a>", "special", recorded=False), piece("<z>", "special"), piece("<", "partial")]
)
def test_what_is_no_recorded_marker_of_the_format_is_text(other: Piece) -> None:
    assert Scanner("ids", ["<a>"], MARKERS).scan(Delta(1, (piece("x"), other))) == ["x" + other.text]


def test_pieces_without_text_give_nothing() -> None:
    assert Scanner("ids", ["<a>"], MARKERS).scan(Delta(1, (piece(""),))) == []


def test_a_blank_before_a_marker_is_text_before_it() -> None:
    delta = Delta(1, (piece("x"), piece(" <a>", "added"), piece(" <b>", "added")))
    assert Scanner("ids", ["<a>"], MARKERS).scan(delta) == ["x ", IdTerminal("<a>", False), " <b>"]
    assert Scanner("ids", [" <a>"], {" <a>": 7}).scan(delta) == ["x", IdTerminal(" <a>", False), " <b>"]
