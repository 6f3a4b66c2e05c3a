"""What may be left out of an output, and what must stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.edits import edited_text
from parsers.replays.replayer import Replayer
from parsers.search.shrink import (
    CHARACTERS,
    LINES,
    WORDS,
    Form,
    Shrinker,
    _bounds,
    _flaw_counts,
    _structural_edits,
    form_of,
    plain,
    reduce,
)
from parsers.search.sweep import cut_at
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.types import Piece

MAKE = maker(get_format("passthrough"))


@dataclass
class Has:
    """Holds while a text has these parts and is cut inside `cut`, where that is given."""

    parts: tuple[str, ...]
    cut: str = ""
    replays: int = 0
    seen: list[str] = field(default_factory=list)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        self.replays += 1
        self.seen.append(replayer.text)
        at = replayer.text.find(self.cut)
        inside = not self.cut or any(at < cut < at + len(self.cut) for cut in chunking.cuts or ())
        return inside and all(part in replayer.text for part in self.parts)


def replayer(*pieces: str | Piece, **more: Any) -> Replayer:
    made = tuple(Piece(piece) if isinstance(piece, str) else piece for piece in pieces)
    return Replayer(MAKE, made, **more)


def shrunk(text: str, target: Has, cuts: tuple[int, ...] = (), most: int = 3_000) -> Form:
    made = replayer(text)
    shrinker = Shrinker(made, Form(made.pieces, cuts), target, most)
    assert list(shrinker.run())[-1] == shrinker.replays == target.replays
    return shrinker.form


JSON = '{"name": "get_weather", "arguments": {"city": "Paris, France", "days": [10, 20.5], "x": {"y": null}}}'


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (JSON, '{"arguments": {"city": "Paris, France", "days": [10, 20.5], "x": {"y": null}}}'),
        (JSON, '{"name": "get_weather"}'),
        (JSON, JSON.replace('"Paris, France"', '"P"')),
        (JSON, JSON.replace('"Paris, France"', '""')),
        (JSON, JSON.replace("20.5", "1")),
        (JSON, JSON.replace("10, ", "")),
        (JSON, JSON.replace(', "x": {"y": null}', "")),
        (JSON, JSON.replace("get_weather", "g")),
        ("<a>x</a><b>y</b>", "<b>y</b>"),
        ("<a>x</a><b>y</b>", "<a></a><b>y</b>"),
        ("<a>x</a>", "x"),
        ("pre <a>x</a> post", "<a>x</a> post"),
        ("pre <a>x</a> post", "pre <a>x</a>"),
        ("one\n\ntwo\n", "two\n"),
        ("[f(a=1), g()]", "[g()]"),
        ("[f(a=1), g()]", "f(a=1), g()"),
        ("It's \"one, [two", "I's \"one, [two"),
        ("a ) b", None),
    ],
)
def test_candidates_leave_out_whole_parts(text: str, result: str | None) -> None:
    found = [edited_text(text, edits) for edits in _structural_edits(text)]
    assert [len(one) for one in found] == sorted(len(one) for one in found)
    assert all(len(one) < len(text) for one in found)
    assert result is None or result in found


def test_units_tile_the_text() -> None:
    text = 'Hi <tool_call>\n{"a": 1}\n[TOOL]'
    assert _bounds(CHARACTERS, text) == list(range(len(text) + 1))
    assert [text[a:b] for a, b in pairwise(_bounds(LINES, text))] == [
        "Hi <tool_call>\n",
        '{"a": 1}\n',
        "[TOOL]",
    ]
    bounds = _bounds(WORDS, text)
    assert [text[a:b] for a, b in pairwise(bounds)][:4] == ["Hi", " ", "<tool_call>", "\n"]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("{}", "{"),
        ("[f(), g()]", "[f()g()]"),
        ('{"a": 1}', '{"a: 1}'),
        ('{"a": 1, "b": 2}', '{"a": 1, }'),
        ("<a>x</a>", "<a>x"),
        ('{"a": 1}', '{"": 1}'),
        ('{"name": "f"}', '{"name": ""}'),
        ("<f=x></f>", "<f=></f>"),
        ("f(a=1)", "f(=1)"),
        ("<arg_key>a</arg_key>", "<arg_key></arg_key>"),
        ("<f=1>x</f>", "x</f>"),
        ("<|call_begin|>x<|call_end|>", "<|call_begin|>x"),
    ],
)
def test_what_is_not_well_formed_counts(good: str, bad: str) -> None:
    assert not any(_flaw_counts(good))
    assert any(_flaw_counts(bad))


def test_text_and_cuts_shrink_to_what_is_needed() -> None:
    text = "Some words before.\n\n<tool_call>\n" + JSON + "\n</tool_call>\nand after."
    at = text.index("<tool_call>") + 4
    form = shrunk(text, Has(("<tool_call>", "</tool_call>"), "<tool_call>"), tuple(sorted({3, at, 60, 90})))
    assert (form.text, form.cuts) == ("<tool_call></tool_call>", (4,))


def test_a_cut_goes_with_the_text_it_stands_between() -> None:
    form = shrunk("aaaa XY bbbb", Has(("XY",), "XY"), (6,))
    assert (form.text, form.cuts) == ("XY", (1,))


def test_shrinking_stops_when_the_replays_are_spent_and_keeps_what_it_has() -> None:
    target = Has(("q",))
    form = shrunk("word " * 50 + "q", target, most=5)
    assert target.replays <= 5
    assert "q" in form.text
    assert len(form.text) < 251


def test_no_form_is_asked_for_twice() -> None:
    target = Has(("{", "}"))
    shrunk(JSON * 3, target)
    assert len(target.seen) == len(set(target.seen))


def test_a_recorded_marker_is_left_out_whole_or_not_at_all() -> None:
    marker = Piece("<tool_call>", 7, b"<tool_call>", "special", True)
    made = replayer("ab", marker, "cd", mode="ids")
    target = Has(("b", "d"))
    shrinker = Shrinker(made, Form(made.pieces, ()), target)
    list(shrinker.run())
    assert shrinker.form.text == "bd"
    assert not any("tool_call" in text and "<tool_call>" not in text for text in target.seen)


def test_a_chunking_becomes_cuts_where_these_say_it_all() -> None:
    made = replayer("ab", "c", "def")
    assert form_of(made, Chunking(by="token")).cuts == (2, 3)
    assert form_of(made, WHOLE).cuts == ()
    late = Chunking(by="token", holdback_chars=2)
    assert form_of(made, late).chunking == late
    assert plain(made, cut_at(())) == WHOLE
    assert plain(made, cut_at((1,))) == cut_at((1,))
    both = replayer("ab", one_shot=MAKE)
    assert plain(both, cut_at(())) == cut_at(())


# delta debugging of lists


@given(st.sets(st.integers(0, 40)), st.integers(0, 41))
def test_what_is_needed_is_left_and_nothing_else(needed: set[int], size: int) -> None:
    items = sorted({*needed, *range(size)})
    assert reduce(items, lambda part: needed <= set(part)) == sorted(needed)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=60).filter(lambda items: sum(items) >= 20))
def test_nothing_can_be_left_out_of_the_result(items: list[int]) -> None:
    left = reduce(items, lambda part: sum(part) >= 20)
    assert sum(left) >= 20
    assert not any(sum(left) - one >= 20 for one in left)


def test_it_asks_few_questions() -> None:
    asked: list[int] = []

    def fails(part: Sequence[int]) -> bool:
        asked.append(len(part))
        return 511 in part and 3 in part

    assert reduce(range(1_000), fails) == [3, 511]
    assert len(asked) < 80
