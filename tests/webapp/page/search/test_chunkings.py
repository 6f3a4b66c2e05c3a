"""The chunkings pane: the quick look, the heat strip, the matrix."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.run import CaseRun
from parsers.compare.beside import Compared
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import Chunking, label
from parsers.replays.cut_grades import CutGrade
from parsers.search.found import Group, OutcomeClass
from parsers.vocabulary.channels import CONTENT, Channel
from parsers.vocabulary.types import Message
from tests.webapp.page.results import CALL, found
from webapp.page.drawing import COLUMNS
from webapp.page.search.search_page import chunkings, heat, letter, matrix


def run_beside(make: Any, runner: Any, chunking: Chunking, parting: Divergence, deltas: int) -> CaseRun:
    """A checked run with one other chunking that gave another message."""
    run: CaseRun = runner.checked(make.run("Hi."))
    other = Compared(chunking, label(chunking), run.trace, deltas, same=False, divergence=parting)
    return replace(run, compared=[other])


def test_a_diverging_chunking_has_its_word_and_is_counted(make: Any, runner: Any) -> None:
    parting = Divergence(CONTENT, 3, 1234, 7, 9, "<tool", "tool")
    shown = chunkings(run_beside(make, runner, Chunking(by="char"), parting, 39))
    replay, chunk = shown.rows[1]
    assert (chunk, replay.label, replay.divergence) == ("char", "character by character", parting)
    assert shown.note == "2 replays, 1 chunking gave another message"


@pytest.mark.parametrize(
    ("parting", "words"),
    [
        (Divergence(CONTENT, 3, 1234, 7, 9, "<tool", "tool"), "content at character 1,234"),
        (Divergence(Channel(None, "calls"), 0, None, None, None, "1", "2"), "calls"),
    ],
)
def test_a_divergence_says_where(app: Any, parting: Divergence, words: str) -> None:
    assert app.jinja_env.get_template("_macros.html").module.where(parting) == words


def test_chunkings_list_the_own_one_first(make: Any, runner: Any) -> None:
    shown = chunkings(runner.checked(make.run(CALL)))
    assert (shown.rows[0][0].label, shown.rows[0][1]) == ("token by token", "")
    assert "token:2" in [chunk for _, chunk in shown.rows]
    assert "the same message every time" in shown.note


def test_the_strip_has_a_bar_for_every_failing_stretch(make: Any) -> None:
    shown = heat([0, 0, 1, 1, 1, 0, 2, -1], make.run("123456789").trace, None)
    assert shown is not None
    assert [(bar.first, bar.last, bar.letter, bar.pattern) for bar in shown.bars] == [
        (3, 5, "A", 1),
        (7, 7, "B", 2),
        (8, 8, "", 0),
    ]
    assert (shown.cut, shown.current, shown.untried) == (3, None, 1)
    assert json.loads(shown.sent) == [[3, 5, "A"], [7, 7, "B"]]
    assert "4 cuts give another message: cuts 3–5 outcome A, cut 7 outcome B" in shown.words
    assert shown.words.startswith("Cut in two after character 1 to 8, at 7 places: ")
    assert shown.bars[0].labelled
    assert shown.bars[0].middle == 43.75


def test_the_cut_on_the_page_is_marked(make: Any) -> None:
    shown = heat([0, 0, 1, 0], make.run("12345").trace, 2)
    assert shown is not None
    assert (shown.cut, shown.current) == (2, 37.5)


@pytest.mark.replays
def test_the_strip_of_a_long_output_stays_small_and_loses_no_failing_cut(make: Any) -> None:
    cuts = [0] * 50_000
    for at in range(0, 50_000, 2):
        cuts[at] = 1 + at % 3
    cuts[77] = -1
    shown = heat(cuts, make.run("x").trace, None)
    assert shown is not None
    assert len(shown.bars) <= COLUMNS
    assert {bar.number for bar in shown.bars} == {1}  # of those that share a column the lowest
    assert len(json.loads(shown.sent)) == 2_000
    assert (shown.bars[0].first, shown.bars[-1].last) == (1, 50_000)
    assert "more stretches" in shown.words
    assert shown.more > 0


def test_hills_are_where_text_is_held(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    shown = heat([0] * (len(CALL) - 1), run.trace, None)
    assert shown is not None
    assert shown.peak >= len("<tool_call>") - 1
    assert shown.hills.startswith("M")
    assert shown.words == f"Cut in two after character 1 to {len(CALL) - 1}: the same message every time."
    nothing = heat([0, 0], make.run("abc", "passthrough").trace, None)
    assert nothing is not None
    assert (nothing.hills, nothing.peak) == ("", 0)


def test_an_output_of_one_character_has_no_strip(make: Any) -> None:
    assert heat([], make.run("x").trace, None) is None


@pytest.mark.parametrize(("number", "name"), [(-1, ""), (0, "same"), (1, "A"), (26, "Z"), (27, "AA"), (53, "BA")])
def test_outcomes_have_letters(number: int, name: str) -> None:
    assert letter(number) == name


def test_rows_are_kinds_of_chunkings_and_columns_are_messages() -> None:
    shown = matrix(found())
    assert [[many for many, _ in row.cells] for row in shown.rows] == [[0, 0, 1], [2, 2, 0]]
    assert [(row.group.honest, row.rest) for row in shown.rows] == [(True, 0), (False, 0)]
    assert "cuts:4" in [chunk for row in shown.rows for _, chunk in row.cells]
    first, second = shown.failing
    assert (first.letter, first.how, first.beside, first.chunk) == ("A", "other text", "b_chunk=cuts:4&at=12", "cuts:4")
    assert (second.letter, second.how, second.found.divergence) == ("B", "the parser failed", None)
    assert shown.note == "6 chunkings, 3 outcomes"


def test_many_outcomes_share_a_column() -> None:
    result = found()
    result.outcomes += [
        OutcomeClass(n, Message(), "length", 1, 1, Chunking(by="random", seed=n), f"random {n}") for n in range(3, 40)
    ]
    result.groups.append(Group("random", "random", CutGrade.HONEST, dict.fromkeys(range(3, 40), 1), {}))
    shown = matrix(result)
    assert shown.rest
    assert (len(shown.columns), len(shown.failing), shown.more) == (6, 20, 19)
    assert shown.rows[-1].rest == 34
    assert shown.failing[-1].how == "another finish reason"


def test_one_outcome_is_said_in_words() -> None:
    result = found()
    del result.outcomes[1:]
    assert matrix(result).note == "3 chunkings, 1 outcome, the same message every time"
