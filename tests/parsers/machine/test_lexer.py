"""Scopes: leftmost, then longest, whatever the cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.machine.lexer import Scope
from parsers.vocabulary.types import FormatError

TAGS = Scope({"OPEN": "<a>", "CLOSE": "</a>", "LONG": "<a>>"})


@pytest.mark.parametrize(
    ("buffer", "pos", "final", "found"),
    [
        ("plain text", 0, False, (10, None, 10)),
        ("x<a>y", 0, False, (1, "OPEN", 4)),
        ("x<a>y", 2, False, (5, None, 5)),
        ("x<a>>", 0, False, (1, "LONG", 5)),
        ("x<a>", 0, False, (1, None, 4)),  # may become LONG
        ("x<a>", 0, True, (1, "OPEN", 4)),
        ("x<", 0, False, (1, None, 2)),
        ("x<", 0, True, (2, None, 2)),
        ("<<a> ", 0, False, (1, "OPEN", 4)),
        ("< </", 0, False, (2, None, 4)),
        ("<b></a>", 0, False, (3, "CLOSE", 7)),
        ("", 0, False, (0, None, 0)),
    ],
)
def test_the_next_place_of_interest(buffer: str, pos: int, final: bool, found: tuple[int, str | None, int]) -> None:
    assert TAGS.find(buffer, pos, final=final) == found


def test_an_earlier_beginning_of_a_longer_literal_is_waited_for() -> None:
    scope = Scope({"LONG": "ab:cd", "SHORT": "b:"})
    assert scope.find("ab:", 0) == (0, None, 3)
    assert scope.find("ab:x", 0) == (1, "SHORT", 3)


@pytest.mark.parametrize(
    ("held", "names"), [("<", ("OPEN", "CLOSE", "LONG")), ("<a>", ("LONG",)), ("</", ("CLOSE",)), ("x", ())]
)
def test_candidates_are_the_literals_that_the_held_text_may_become(held: str, names: tuple[str, ...]) -> None:
    assert TAGS.candidates(held) == names


def test_a_scope_without_literals_finds_nothing() -> None:
    assert Scope({}).find("<a>", 0) == (3, None, 3)
    assert Scope({}).longest == 0


def test_an_empty_terminal_is_an_error_of_the_format() -> None:
    with pytest.raises(FormatError, match=r"/terminals: a terminal needs at least one character"):
        Scope({"NOTHING": ""})


@pytest.mark.replays
@given(st.text("<>/a", max_size=30), st.lists(st.integers(0, 30)))
def test_terminals_do_not_depend_on_the_cuts(text: str, cuts: list[int]) -> None:
    def terminals(ends: list[int]) -> list[tuple[int, str | None]]:
        buffer, base = "", 0
        found: list[tuple[int, str | None]] = []
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
            final, pos = end == len(text), 0
            buffer += text[start:end]
            while pos < len(buffer):
                at, name, stop = TAGS.find(buffer, pos, final=final)
                if name is None:
                    pos = at
                    break
                found.append((base + at, name))
                pos = stop
            buffer, base = buffer[pos:], base + pos
        return found

    assert terminals(sorted(cut for cut in cuts if cut < len(text))) == terminals([])


def test_a_literal_counts_where_its_parts_are_given() -> None:
    scope = Scope({"A": "<a>", "B": "<a>x<b>", "C": "x<b>"}, ["<b>"])
    assert scope.find("<a>x<b>", 0) == (0, "B", 7)
    assert scope.find("<a>x<b>", 0, given=lambda at: at == 4) == (0, "B", 7)
    assert scope.find("<a>x<b>", 0, given=lambda _: False) == (0, "A", 3)
    assert scope.find("-x<b>", 0, given=lambda _: False) == (5, None, 5)
    assert scope.find("-x<", 0, given=lambda _: False) == (2, None, 3)
