"""Aligning two texts by where their characters come from."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.compare.divergence import EXACT, Rules
from parsers.vocabulary.trace import Trace
from webapp.page.compare_channels import Hunk, call_pairs, hunks, text_pairs
from webapp.page.index import CallIndex, Channel, Stretch, TraceIndex
from webapp.page.index import build as build_index

Piece = tuple[str, int, int, str]


def channel(*pieces: Piece) -> Channel:
    found = Channel("content")
    for text, start, end, kind in pieces:
        found.stretches.append(Stretch(text, start, end, kind, 1))
        found.steps.append(1)
        found.offsets.append(found.offsets[-1] + len(text))
    return found


def copied(text: str, start: int) -> Piece:
    return text, start, start + len(text), "copied"


def applied(a: Channel, b: Channel) -> str:
    """The text of `a` with every hunk replaced by what `b` has there."""
    left, right, done, out = a.text(), b.text(), 0, ""
    for hunk in hunks(a, b):
        out += left[done : hunk.a0] + right[hunk.b0 : hunk.b1]
        done = hunk.a1
    return out + left[done:]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([copied("abc", 0)], [copied("ab", 0), copied("c", 2)], [], id="other stretches, same text"),
        pytest.param([copied("abcdef", 0)], [copied("ab", 0), copied("ef", 4)], [Hunk(2, 4, 2, 2)], id="lost inside"),
        pytest.param([copied("xxxx", 0)], [copied("xx", 2)], [Hunk(0, 2, 0, 0)], id="lost at the front, all alike"),
        pytest.param([copied("ab", 0)], [], [Hunk(0, 2, 0, 0)], id="nothing on one side"),
        pytest.param([], [], [], id="nothing at all"),
        pytest.param(
            [copied("ab", 0), copied("cd", 9)], [copied("ab", 0), copied("zz", 5), copied("cd", 9)],
            [Hunk(2, 2, 2, 4)], id="more on the other side",
        ),
        pytest.param(
            [copied("a", 0), ("12", 1, 3, "converted"), copied("b", 3)], [copied("a12b", 0)], [],
            id="converted to what it was",
        ),
        pytest.param(
            [copied("a", 0), ('"1"', 1, 2, "converted"), copied("b", 2)], [copied("a1b", 0)], [Hunk(1, 4, 1, 2)],
            id="converted to something else",
        ),
        pytest.param(
            [copied("a", 0), ("}", 1, 1, "synthetic")], [copied("a", 0)], [Hunk(1, 2, 1, 1)], id="made up",
        ),
        pytest.param(
            [("{", 0, 0, "synthetic"), ("}", 0, 0, "synthetic")], [("{}", 0, 0, "synthetic")], [],
            id="made up in parts",
        ),
        pytest.param([("abc", 0, 9, "copied")], [copied("abd", 0)], [Hunk(2, 3, 2, 3)], id="no places known"),
        pytest.param([copied("ab", 4), copied("c", 0)], [copied("abd", 4)], [Hunk(2, 3, 2, 3)], id="places go back"),
    ],
)  # fmt: skip
def test_differences_are_found_by_origin(a: list[Piece], b: list[Piece], expected: list[Hunk]) -> None:
    assert list(hunks(channel(*a), channel(*b))) == expected


@st.composite
def partial_copies(draw: st.DrawFn) -> Channel:
    """Stretches of one output, in order, some left out, some rewritten."""
    text = "aabbaabbccaabb"
    edges = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2)))
    pieces: list[Piece] = []
    for start, end in itertools.pairwise(edges):
        kind = draw(st.sampled_from(["copied", "copied", "left out", "converted", "synthetic"]))
        if kind == "copied":
            pieces.append(copied(text[start:end], start))
        elif kind != "left out":
            pieces.append((draw(st.text("abc", max_size=3)), start, end if kind == "converted" else start, kind))
    return channel(*pieces)


@given(partial_copies(), partial_copies())
def test_the_hunks_turn_one_text_into_the_other(a: Channel, b: Channel) -> None:
    assert applied(a, b) == b.text()
    found = list(hunks(a, b))
    assert all(x.a1 <= y.a0 and x.b1 <= y.b0 for x, y in itertools.pairwise(found))
    assert (found == []) == (a.text() == b.text())


def index(*calls: tuple[str, int], content: str = "", reasoning: str = "") -> TraceIndex:
    found = build_index(Trace("p", (), {}, "text", ""), [], [])
    for number, (name, start) in enumerate(calls):
        call = CallIndex(number, 1)
        call.name = channel(copied(name, start)) if start >= 0 else channel((name, 0, 0, "synthetic"))
        call.arguments = channel(copied('{"a": 1}', start + 20))
        found.calls[number] = call
    found.content, found.reasoning = channel(copied(content, 0)), channel(copied(reasoning, 0))
    return found


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([("f", 5)], [("f", 5)], [(0, 0)], id="one and the same"),
        pytest.param([("f", 5), ("g", 50)], [("g", 50)], [(0, None), (1, 0)], id="the first is lost"),
        pytest.param([("f", 5)], [("f", 5), ("g", 50)], [(0, 0), (None, 1)], id="one more"),
        pytest.param([("f", 5), ("g", 50)], [("f", 6), ("g", 50)], [(0, 0), (1, 1)], id="read a little elsewhere"),
        pytest.param([("f", -1)], [("f", -1)], [(0, 0)], id="places unknown"),
        pytest.param([("f", 50), ("g", 5)], [("g", 5), ("f", 50)], [(None, 0), (0, 1), (1, None)], id="other order"),
        pytest.param([], [], [], id="none"),
    ],
)
def test_calls_that_stand_at_one_place_belong_together(
    a: list[tuple[str, int]], b: list[tuple[str, int]], expected: list[tuple[int | None, int | None]]
) -> None:
    found = call_pairs(index(*a), index(*b), EXACT)
    assert [(pair.a and pair.a.number, pair.b and pair.b.number) for pair in found] == expected


def test_the_rules_decide_what_is_the_same() -> None:
    a, b = index(content="a  b"), index(content="a b")
    assert [pair.same for pair in text_pairs(a, b, EXACT)] == [True, False]
    soft = text_pairs(a, b, Rules(whitespace="soft"))
    assert [(pair.same, pair.hunks) for pair in soft] == [(True, []), (True, [])]


def test_arguments_and_ids_go_by_their_own_rules() -> None:
    a, b = index(("f", 5)), index(("f", 5))
    a.calls[0].arguments, b.calls[0].arguments = channel(copied('{"a":1}', 9)), channel(copied('{"a": 1}', 9))
    a.calls[0].id = channel(("x", 9, 9, "synthetic"))
    exact, loose = (call_pairs(a, b, rules)[0] for rules in (EXACT, Rules(arguments="json", ids=False)))
    assert [part.same for part in exact.parts] == [True, False, False]
    assert [part.same for part in loose.parts] == [True, True, True]
