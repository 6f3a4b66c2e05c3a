"""The chunkings an output is tried under: which, in what order, and how many of a long one."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Any

import pytest

from parsers.replays.chunking import WHOLE, Chunking, apply
from parsers.replays.cut_grades import CutGrade
from parsers.replays.replayer import Replayer
from parsers.search.sweep import FLOOR, LABELS, RANDOM, SIZES, Sweep, Trial
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.types import Piece

MAKE = maker(get_format("passthrough"))

TEXT = "Hi <tool_call>\n{}\n</tool_call> ok"
WORDS = ("Hi", " ", "<tool_call>", "\n", "{", "}", "\n", "</tool_call>", " ", "ok")


def replayer(*texts: str, **more: Any) -> Replayer:
    pieces = tuple(Piece(text) for text in texts or WORDS)
    return Replayer(MAKE, pieces, terminals={"O": "<tool_call>", "C": "</tool_call>"}, **more)


def trials(**more: Any) -> list[Trial]:
    return list(Sweep(replayer(), **more).trials())


def cuts_of(trial: Trial, made: Replayer) -> list[int]:
    ends = list(accumulate([len(delta.text) for delta in made.deltas(trial.chunking)]))
    return ends[:-1]


def test_every_place_is_cut_and_every_group_is_there() -> None:
    found = trials(recorded=(5,))
    halves = sorted(t.chunking.cuts[0] for t in found if t.group.startswith("cuts_") and t.chunking.cuts)
    assert halves == list(range(1, len(TEXT)))
    assert {trial.group for trial in found} == LABELS.keys() - {"case", "late", "one_shot"}
    assert found[0].chunking == WHOLE
    assert found[1].chunking == Chunking(by="token")


def test_cuts_of_a_model_s_own_tokens_are_honest_and_all_others_hostile() -> None:
    made = replayer(own_tokenizer=True)
    bounds = set(accumulate(map(len, WORDS), initial=0))
    for trial in Sweep(made).trials():
        between = set(cuts_of(trial, made)) <= bounds
        empty = trial.group == "empty"
        assert trial.grade is (CutGrade.HOSTILE if not between else CutGrade.ASSUMED if empty else CutGrade.HONEST)


def test_cuts_of_a_stand_in_s_tokens_are_assumed_but_where_every_tokenizer_cuts() -> None:
    made, certain = replayer(), {30}
    bounds = set(accumulate(map(len, WORDS), initial=0))
    for trial in Sweep(made).trials():
        cuts = set(cuts_of(trial, made)) - {0, len(TEXT)}
        if trial.group != "empty":
            honest = cuts <= certain
            grade = CutGrade.ASSUMED if cuts <= bounds | certain else CutGrade.HOSTILE
            assert trial.grade is (CutGrade.HONEST if honest else grade)


def test_only_honest_chunkings_are_tried_where_no_others_are_asked_for() -> None:
    found = trials(honest_only=True)
    assert {trial.grade for trial in found} == {CutGrade.HONEST}
    assert {trial.group for trial in found} >= {"whole", "certain", "cuts_honest"}


def test_markers_are_cut_after_their_first_character_and_before_their_last() -> None:
    found = [trial.chunking.cuts for trial in trials() if trial.group == "markers"]
    assert found == [(4, 19), (13, 29), (3, 18), (14, 30), (3, 14, 18, 30)]


def test_what_looks_like_a_marker_is_one_where_the_format_says_nothing() -> None:
    made = Replayer(MAKE, (Piece("a<x=1>[TOOL]"),))
    assert Sweep(made).markers == ((1, 6), (6, 12))


def test_a_stream_interval_sends_the_first_token_at_once() -> None:
    found = [trial.chunking.cuts for trial in trials() if trial.group == "intervals"]
    starts = list(accumulate(map(len, WORDS)))
    assert found[0] == tuple(starts[0:-1:2])


def test_groups_have_two_to_eight_tokens() -> None:
    made = replayer(*["ab"] * 60)
    for trial in Sweep(made).trials():
        if trial.group == "groups":
            sizes = [len(delta.pieces) for delta in made.deltas(trial.chunking)]
            assert all(2 <= len(delta.text) // 2 <= 8 for delta in made.deltas(trial.chunking)[:-1])
            assert sizes


def test_what_the_case_asks_for_comes_first() -> None:
    asked = (Chunking(by="char", size=4), Chunking(by="token", size=2), Chunking(by="cuts", cuts=(3,)))
    found = trials(asked=(*asked, Chunking(by="random", unit="char")))[:4]
    assert [trial.group for trial in found] == ["case"] * 4
    assert [trial.grade.rank for trial in found] == [2, 1, 1, 2]


def test_the_same_seed_gives_the_same_chunkings_and_another_seed_others() -> None:
    assert trials(seed=3) == trials(seed=3)
    assert trials(seed=3) != trials(seed=4)


def test_about_two_hundred_random_ones() -> None:
    found = list(Sweep(replayer(*["word "] * 100)).trials())
    random = Counter(trial.group for trial in found if trial.group.startswith("random"))
    assert len(random) == 3
    assert 0.9 * RANDOM <= random.total() + sum(trial.group == "groups" for trial in found) <= RANDOM
    assert len([trial for trial in found if trial.group == "characters"]) == len(SIZES)


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_short_outputs_have_few_chunkings(text: str) -> None:
    made = replayer(text)
    sweep = Sweep(made)
    for trial in sweep.trials():
        assert apply(trial.chunking, made.pieces, "text")
    assert list(sweep.halves()) == ([1] if text == "ab" else [])
    assert sweep.total() == {"": 60, "a": 60, "ab": 61 + RANDOM}[text]


@pytest.mark.replays
def test_a_long_output_is_cut_at_a_sample_and_at_its_markers() -> None:
    body = "x" * 50_000
    sweep = Sweep(replayer(body, "<tool_call>", body))
    halves = sweep.halves()
    assert FLOOR - 20 <= len(halves) <= FLOOR
    assert {50_000 + offset for offset in range(-1, 13)} <= set(halves)
    assert sorted(t.chunking.cuts[0] for t in sweep.trials() if t.group.startswith("cuts_") and t.chunking.cuts) == (
        sorted(halves)
    )
    assert len(halves) <= sweep.total()


def test_late_text_is_tried_where_ids_tell_it_apart() -> None:
    pieces = (Piece("a", 1, b"a", "text", True), Piece("<tool_call>", 9, b"", "added", True), Piece("b", 2))
    ids = Replayer(MAKE, pieces, mode="ids")
    sweep = Sweep(ids)
    groups = {trial.group for trial in sweep.trials()}
    assert "late" in groups
    assert sweep.solid == set(range(2, 12))
    assert list(sweep.halves()) == [1, 12]
    box = Replayer(MAKE, pieces, black_box=True)
    assert Sweep(box).ids
    assert not Sweep(Replayer(MAKE, (Piece("a"),), black_box=True)).ids
