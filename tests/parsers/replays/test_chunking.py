"""Chunkings: nothing lost, nothing reordered, ids once and in order, markers whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from parsers.replays.chunking import (
    DEFAULT_COMPARED,
    OWN,
    RECORDED,
    Chunking,
    Sent,
    apply,
    label,
    name_of,
    resolved,
    to_json,
)
from parsers.vocabulary.types import Delta, Mode, Piece, PieceKind, UsageError

MARKER = "<tool_call>"


def pieces_of(*texts: str) -> list[Piece]:
    """Recorded pieces with ids 0, 1, ...; a text in angle brackets is a marker."""
    kinds: list[PieceKind] = ["special" if text.startswith("<") and text.endswith(">") else "text" for text in texts]
    return [Piece(text, index, text.encode(), kinds[index], True) for index, text in enumerate(texts)]


def texts(deltas: Sequence[Delta]) -> list[str]:
    """The text of each delta."""
    return [delta.text for delta in deltas]


def ids(deltas: Sequence[Delta]) -> list[tuple[int, ...]]:
    """The ids of each delta."""
    return [delta.token_ids for delta in deltas]


piece_lists = st.lists(
    st.builds(
        Piece,
        text=st.sampled_from(["", "a", "bc", "def", MARKER, "é", "\U0001f600"]),
        token_id=st.none() | st.integers(0, 9),
        raw=st.none() | st.just(b"x"),
        kind=st.sampled_from(["text", "special", "added", "partial"]),
        recorded=st.booleans(),
    ),
    max_size=12,
)
lateness = {"holdback_chars": st.integers(0, 15), "text_delay": st.integers(0, 4)}
chunkings = st.one_of(
    st.builds(Chunking, by=st.just("token"), size=st.integers(1, 5), **lateness),
    st.builds(Chunking, by=st.just("char"), size=st.integers(1, 5), **lateness),
    st.builds(Chunking, by=st.just("whole"), **lateness),
    st.builds(
        Chunking,
        by=st.just("random"),
        seed=st.integers(0, 99),
        max=st.none() | st.integers(1, 9),
        unit=st.none() | st.sampled_from(["token", "char"]),
        **lateness,
    ),
)


@st.composite
def replays(draw: st.DrawFn) -> tuple[Chunking, list[Piece], Mode]:
    """A chunking that fits its pieces, and a mode."""
    pieces = draw(piece_lists)
    length = sum(len(piece.text) for piece in pieces)
    cuts = st.sets(st.integers(1, max(1, length - 1))) if length > 1 else st.just(set())
    by_cuts = st.builds(Chunking, by=st.just("cuts"), cuts=cuts.map(sorted).map(tuple), **lateness)
    return draw(chunkings | by_cuts), pieces, draw(st.sampled_from(["text", "ids"]))


@given(replays())
@pytest.mark.replays
def test_no_text_is_lost_or_reordered(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, mode = replay
    deltas = apply(chunking, pieces, mode)
    assert "".join(texts(deltas)) == "".join(piece.text for piece in pieces)
    assert [delta.index for delta in deltas] == list(range(1, len(deltas) + 1))


@pytest.mark.replays
@given(replays())
def test_every_id_is_delivered_once_and_in_order(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, mode = replay
    known = [piece.token_id for piece in pieces if piece.token_id is not None]
    deltas = apply(chunking, pieces, mode)
    assert [one for delta in deltas for one in delta.token_ids] == known
    assert [p.token_id for delta in deltas for p in delta.pieces if p.token_id is not None] == known


@given(replays())
@pytest.mark.replays
def test_every_piece_keeps_its_place_and_its_bytes(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, mode = replay
    parts = [piece for delta in apply(chunking, pieces, mode) for piece in delta.pieces]
    assert [p.text for p in parts if not p.text] == [p.text for p in pieces if not p.text]
    assert [p.raw for p in parts if p.raw is not None] == [p.raw for p in pieces if p.raw is not None]
    assert {(p.kind, p.recorded) for p in parts} == {(p.kind, p.recorded) for p in pieces}


@pytest.mark.replays
@given(replays())
def test_a_recorded_marker_is_never_split_in_ids_mode(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, _ = replay
    is_marker = [piece for piece in pieces if piece.recorded and piece.kind in ("special", "added")]
    parts = [piece for delta in apply(chunking, pieces, "ids") for piece in delta.pieces]
    assert [p for p in parts if p.recorded and p.kind in ("special", "added")] == is_marker


@given(replays())
@pytest.mark.replays
def test_text_is_late_but_ids_are_not(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, mode = replay
    prompt = chunking.model_copy(update={"holdback_chars": 0, "text_delay": 0})
    on_time = [one for one in ids(apply(prompt, pieces, mode)) if one]
    assert [one for one in ids(apply(chunking, pieces, mode)) if one] == on_time


@pytest.mark.replays
@given(replays())
def test_no_delta_is_without_pieces_and_ids(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    assert all(delta.pieces or delta.token_ids for delta in apply(*replay))


@pytest.mark.replays
@given(replays())
def test_the_same_chunking_gives_the_same_deltas(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    assert apply(*replay) == apply(*replay)


@pytest.mark.replays
@given(replays())
def test_resolved_cuts_are_where_the_text_of_deltas_meets(replay: tuple[Chunking, list[Piece], Mode]) -> None:
    chunking, pieces, mode = replay
    deltas = apply(chunking, pieces, mode)
    cuts = to_json(chunking, deltas)["cuts"]
    again = apply(Chunking(by="cuts", cuts=cuts), pieces, mode)
    assert [text for text in texts(again) if text] == [text for text in texts(deltas) if text]


@pytest.mark.replays
@given(piece_lists, st.integers(1, 5))
def test_tokens_are_grouped_by_number(pieces: list[Piece], size: int) -> None:
    deltas = apply(Chunking(by="token", size=size), pieces, "ids")
    assert [delta.pieces for delta in deltas] == [tuple(pieces[at : at + size]) for at in range(0, len(pieces), size)]


@pytest.mark.replays
@given(piece_lists, st.integers(0, 99), st.integers(1, 9))
def test_random_sizes_stay_in_range(pieces: list[Piece], seed: int, largest: int) -> None:
    deltas = apply(Chunking(by="random", seed=seed, max=largest), pieces, "text")
    assert all(1 <= len(delta.pieces) <= largest for delta in deltas)


@pytest.mark.replays
@given(piece_lists, st.integers(1, 20))
def test_holdback_keeps_exactly_the_last_characters_back(pieces: list[Piece], size: int) -> None:
    pieces = [Piece(piece.text, number) for number, piece in enumerate(pieces)]
    received = list(accumulate([len(piece.text) for piece in pieces]))
    deltas = apply(Chunking(by="token", holdback_chars=size), pieces, "text")
    released = list(accumulate([len(delta.text) for delta in deltas]))
    expected = [max(0, length - size) for length in received[:-1]] + received[-1:]
    assert released == expected


@pytest.mark.parametrize("by", ["token", "char", "whole", "random"])
def test_an_empty_output_gives_no_delta(by: str) -> None:
    assert apply(Chunking(by=by, holdback_chars=3), [], "text") == []


@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 16_384, 16_385, 40_000])
def test_a_random_chunking_cuts_a_longer_output_at_the_same_places_and_further_on(length: int) -> None:
    whole = Chunking(by="random", seed=3, unit="char", max=64)
    longest = resolved(apply(whole, [Piece("x" * 50_000)], "text"))
    cuts = resolved(apply(whole, [Piece("x" * length)], "text"))
    assert cuts == [cut for cut in longest if cut < length]
    assert "".join([delta.text for delta in apply(whole, [Piece("y" * length)], "text")]) == "y" * length
    several = [Piece("x")] * length  # which are cut one by one
    assert resolved(apply(whole, several, "text")) == cuts


def test_a_silent_token_is_a_step_of_its_own_among_tokens() -> None:
    deltas = apply(Chunking(by="token"), pieces_of("a", "", "b"), "text")
    assert (texts(deltas), ids(deltas)) == (["a", "", "b"], [(0,), (1,), (2,)])


def test_a_silent_token_goes_with_the_text_after_it_among_characters() -> None:
    deltas = apply(Chunking(by="char"), pieces_of("a", "", "b"), "text")
    assert (texts(deltas), ids(deltas)) == (["a", "b"], [(0,), (1, 2)])


def test_the_last_silent_tokens_go_with_the_last_delta() -> None:
    deltas = apply(Chunking(by="cuts", cuts=(1,)), pieces_of("", "a", "b", "", ""), "text")
    assert (texts(deltas), ids(deltas)) == (["a", "b"], [(0, 1), (2, 3, 4)])


def test_an_output_of_silent_tokens_only_is_one_delta_of_characters() -> None:
    assert ids(apply(Chunking(by="char"), pieces_of("", ""), "text")) == [(0, 1)]


def test_a_cut_inside_a_marker_moves_to_its_end() -> None:
    pieces = pieces_of("ab", MARKER, "cd")
    deltas = apply(Chunking(by="cuts", cuts=(1, 5, 9, 14)), pieces, "ids")
    assert texts(deltas) == ["a", f"b{MARKER}", "c", "d"]
    assert texts(apply(Chunking(by="cuts", cuts=(5,)), pieces, "text")) == ["ab<to", "ol_call>cd"]


def test_a_cut_at_either_end_of_a_marker_stays() -> None:
    deltas = apply(Chunking(by="cuts", cuts=(2, 13)), pieces_of("ab", MARKER, "cd"), "ids")
    assert texts(deltas) == ["ab", MARKER, "cd"]


def test_a_cut_moved_to_the_end_of_the_output_vanishes() -> None:
    assert texts(apply(Chunking(by="cuts", cuts=(4,)), pieces_of("a", MARKER), "ids")) == [f"a{MARKER}"]


def test_only_the_first_part_of_a_split_piece_keeps_id_and_bytes() -> None:
    piece = Piece("abc", 7, b"abc", "partial", True)
    parts = [delta.pieces[0] for delta in apply(Chunking(by="char"), [piece], "ids")]
    assert parts == [
        Piece("a", 7, b"abc", "partial", True),
        Piece("b", None, None, "partial", True),
        Piece("c", None, None, "partial", True),
    ]


def test_text_delay_counts_tokens() -> None:
    deltas = apply(Chunking(by="token", text_delay=2), pieces_of("a", "b", "c", "d"), "text")
    assert (texts(deltas), ids(deltas)) == (["", "", "a", "bcd"], [(0,), (1,), (2,), (3,)])


def test_holdback_acts_on_what_the_text_delay_let_through() -> None:
    deltas = apply(Chunking(by="token", text_delay=1, holdback_chars=1), pieces_of("ab", "cd", "ef"), "text")
    assert texts(deltas) == ["", "a", "bcdef"]


def test_a_marker_under_holdback_comes_whole_once_it_begins() -> None:
    deltas = apply(Chunking(by="token", holdback_chars=3), pieces_of("ab", MARKER, "cd"), "ids")
    assert (texts(deltas), ids(deltas)) == (["", f"ab{MARKER}", "cd"], [(0,), (1,), (2,)])


def test_deltas_that_carry_nothing_are_left_out() -> None:
    deltas = apply(Chunking(by="char", holdback_chars=2), pieces_of("abcd"), "text")
    assert (texts(deltas), ids(deltas)) == (["", "a", "bcd"], [(0,), (), ()])


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ((1, 5), "cut 5 is not inside the output of 4 code points: give offsets from 0 to 4"),
        ((-2,), "cut -2 is not inside"),
        ((3, 1), "cut 1 is after the larger cut 3"),
    ],
)
def test_impossible_cuts_are_named(cuts: tuple[int, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        apply(Chunking(by="cuts", cuts=cuts), pieces_of("abcd"), "text")


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ((0,), ["", "abcd"]),
        ((4,), ["abcd", ""]),
        ((2, 2), ["ab", "", "cd"]),
        ((0, 0, 2, 2, 2, 4, 4), ["", "", "ab", "", "", "cd", "", ""]),
    ],
)
def test_a_cut_at_an_end_or_given_again_makes_an_empty_delta(cuts: tuple[int, ...], expected: list[str]) -> None:
    deltas = apply(Chunking(by="cuts", cuts=cuts), pieces_of("abcd"), "text")
    assert texts(deltas) == expected
    assert resolved(deltas) == [*cuts]


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ((3,), (5,)),
        ((3, 5), (5,)),
        ((3, 4, 5), (5,)),
        ((3, 5, 5), (5, 5)),
        ((2, 2, 3, 4), (2, 2, 5)),
        ((4, 6), (5, 6)),
        ((9,), ()),
        ((9, 11), (11,)),
    ],
)
def test_a_cut_that_a_marker_moves_makes_no_empty_delta(cuts: tuple[int, ...], expected: tuple[int, ...]) -> None:
    pieces = pieces_of("ab", "<m>", "cde", "<n>")
    assert resolved(apply(Chunking(by="cuts", cuts=cuts), pieces, "ids")) == [*expected]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"by": "cuts"}, "needs 'cuts'"),
        ({"by": "token", "cuts": [1]}, "'cuts' means nothing in a chunking by token"),
        ({"by": "whole", "size": 2}, "'size' means nothing in a chunking by whole"),
        ({"by": "char", "seed": 1}, "'seed' means nothing"),
        ({"by": "token", "size": 0}, "greater than or equal to 1"),
        ({"by": "token", "size": True}, "valid integer"),
        ({"by": "lines"}, "Input should be 'token'"),
    ],
)
def test_options_that_do_not_fit_are_refused(data: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Chunking.model_validate(data)


@pytest.mark.parametrize(
    ("chunking", "words"),
    [
        (Chunking(by="token"), "token by token"),
        (Chunking(by="token", size=5), "5 tokens"),
        (Chunking(by="char"), "character by character"),
        (Chunking(by="char", size=2), "2 characters"),
        (Chunking(by="whole"), "whole"),
        (Chunking(by="random", seed=3), "random, seed 3"),
        (Chunking(by="random", max=5, unit="char"), "random characters, up to 5, seed 0"),
        (Chunking(by="cuts", cuts=(118,)), "cut at 118"),
        (Chunking(by="cuts", cuts=(3, 8, 12)), "cut at 3, 8 and 12"),
        (Chunking(by="cuts", cuts=tuple(range(1, 9))), "8 cuts from 1 to 8"),
        (Chunking(by="cuts", cuts=()), "in one delta"),
        (Chunking(by="whole", holdback_chars=6, text_delay=1), "whole, last 6 characters held back, text 1 token late"),
    ],
)
def test_labels_say_how_the_output_is_cut(chunking: Chunking, words: str) -> None:
    assert label(chunking) == words


def test_the_default_comparison_is_the_documented_one() -> None:
    assert [label(chunking) for chunking in DEFAULT_COMPARED] == [
        *["token by token", "2 tokens", "3 tokens", "5 tokens", "character by character", "whole"],
        *[f"random, seed {seed}" for seed in range(5)],
    ]


def test_the_json_of_a_chunking_has_its_resolved_cuts() -> None:
    chunking = Chunking(by="token", size=2)
    deltas = apply(chunking, pieces_of("ab", "c", "d"), "text")
    assert to_json(chunking, deltas) == {"by": "token", "size": 2, "cuts": [3]}


WORDS = pieces_of("ab", "", "cd", "ef")


@pytest.mark.parametrize(
    ("chunking", "due", "wanted"),
    [
        (Chunking(by="token"), (0, 2, 3, 6), ["", "ab", "c", "def"]),
        (Chunking(by="token", size=2), (0, 2, 3, 6), ["ab", "cdef"]),
        (Chunking(by="token", text_delay=1), (0, 2, 3, 6), ["", "", "ab", "cdef"]),
        (Chunking(by="token", holdback_chars=1), (0, 2, 3, 6), ["", "a", "b", "cdef"]),
        (Chunking(by="random", max=1), (0, 2, 3, 6), ["", "ab", "c", "def"]),
        (Chunking(by="char", size=4), (0, 2, 3, 6), ["abcd", "ef"]),
        (Chunking(by="whole"), (0, 2, 3, 6), ["abcdef"]),
        (Chunking(by="cuts", cuts=(1,)), (0, 2, 3, 6), ["a", "bcdef"]),
        (Chunking(by="token"), (0, 0, 0, 0), ["", "", "", "abcdef"]),
    ],
)
def test_text_that_is_not_due_waits_where_deltas_end_between_tokens(
    chunking: Chunking, due: tuple[int, ...], wanted: list[str]
) -> None:
    deltas = apply(chunking, WORDS, "text", due=due)
    assert texts(deltas) == wanted
    on_time = apply(chunking.model_copy(update={"text_delay": 0, "holdback_chars": 0}), WORDS, "text")
    assert ids(deltas) == ids(on_time)


@pytest.mark.parametrize(
    ("sent", "wanted", "with_ids"),
    [
        (Sent((2, 4), (1, 3)), ["ab", "cdef"], [(0,), (1, 2, 3)]),
        (Sent((0, 1, 5), (1, 2, 1)), ["", "a", "bcdef"], [(0,), (1, 2), (3,)]),
        (Sent((6, 0), (1, 3)), ["ab", "cdef"], [(0,), (1, 2, 3)]),
        (Sent((1, 1), (2, 2)), ["ab", "cdef"], [(0, 1), (2, 3)]),
        (Sent((2, 0, 4), (1, 0, 3)), ["ab", "", "cdef"], [(0,), (), (1, 2, 3)]),
        (Sent((0, 3, 3)), ["", "abc", "def"], [(), (0, 1, 2), (3,)]),
        (Sent((3, 3, 0), (1, 2)), ["abc", "def"], [(0, 1, 2), (3,)]),
        (Sent((4, 9, 9)), ["abcd", "ef"], [(0, 1, 2), (3,)]),
    ],
)
def test_recorded_deltas_come_as_they_were_sent(sent: Sent, wanted: list[str], with_ids: list[tuple[int, ...]]) -> None:
    deltas = apply(RECORDED, WORDS, "text", sent=sent)
    assert (texts(deltas), ids(deltas)) == (wanted, with_ids)


def test_recorded_deltas_wait_for_what_is_not_due() -> None:
    deltas = apply(RECORDED, WORDS, "text", due=(0, 2, 3, 6), sent=Sent((4, 2), (3, 1)))
    assert (texts(deltas), ids(deltas)) == (["abc", "def"], [(0, 1, 2), (3,)])


def test_a_recorded_delta_is_never_in_a_marker_in_ids_mode() -> None:
    pieces = pieces_of("a", MARKER, "b")
    assert texts(apply(RECORDED, pieces, "ids", sent=Sent((3, 10)))) == ["a" + MARKER, "b"]
    assert texts(apply(RECORDED, pieces, "text", sent=Sent((3, 10)))) == ["a<t", "ool_call>b"]


def test_where_nothing_was_recorded_there_is_nothing_to_follow() -> None:
    with pytest.raises(UsageError, match="no deltas were recorded"):
        apply(RECORDED, WORDS, "text")
    assert apply(RECORDED, [], "text", sent=Sent(())) == []


def test_a_chunking_as_recorded_says_so() -> None:
    assert label(RECORDED) == "as recorded"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, 2, 3, 4, 5, 6, 40), (1, 20, 21, 22, 23, 24, 40)),
        ((3, 3), (3, 3, 3)),
        ((0, 5), (0, 0, 5)),
        ((1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), (1, 1, 3, 3, 4, 4, 5, 5, 6, 6, 2, 2, 7, 7)),
    ],
)
def test_chunkings_of_one_label_have_names_of_their_own(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    pair = [Chunking(by="cuts", cuts=cuts) for cuts in (one, other)]
    assert label(pair[0]) == label(pair[1])
    assert len({*map(name_of, pair)}) == 2
    assert [name_of(chunking).partition(OWN)[0] for chunking in pair] == [*map(label, pair)]


@pytest.mark.parametrize("chunking", [*DEFAULT_COMPARED, Chunking(by="cuts", cuts=(1, 2, 3, 4, 5, 6)), RECORDED])
def test_a_label_that_says_all_is_the_name(chunking: Chunking) -> None:
    assert name_of(chunking) == label(chunking)
    assert to_json(RECORDED, apply(RECORDED, WORDS, "text", sent=Sent((2, 4)))) == {"by": "recorded", "cuts": [2]}
