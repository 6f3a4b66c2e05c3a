"""The attributes of an engine's parser at a step, and its transitions as a diagram."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parsers.formats.diagram import diagram, rows_table
from parsers.formats.model import row_ids
from parsers.vocabulary.observed import Attribute, Move, Observed, ObservedStep, Table
from webapp.page.inspect.own_state import Kept, OwnState, drawn_table, own_state

STEPS = (
    ObservedStep((Attribute("P.at", "0", "1"), Attribute("P.text", "''", "'a'"))),
    ObservedStep((Attribute("P.text", "'a'", "'ab'", "'b'"),)),
)
FOUND = Observed({"P.at": "0", "P.text": "''", "P.fixed": "7"}, STEPS)
TABLE = Table("CONTENT", (Move("CONTENT", "OPEN", "CALL"), Move("CALL", "CLOSE", "CONTENT")), {"OPEN": "<a>"})


def test_what_a_step_changed_stands_apart_from_what_others_did() -> None:
    assert own_state(FOUND, 2) == OwnState(
        2, "text", False, STEPS[1].changed, (Kept("P", "at", "1", 1),), (Kept("P", "fixed", "7", 0),)
    )
    timed = replace(FOUND, micros=(12, 34))
    assert [one and one.micros for one in (own_state(timed, 2), own_state(FOUND, 2))] == [34, None]


@pytest.mark.parametrize("step", [0, 3])
def test_a_step_that_was_not_observed_has_none(step: int) -> None:
    assert own_state(FOUND, step) is None


def test_a_declared_table_is_drawn_with_the_texts_of_its_terminals() -> None:
    drawn = drawn_table("own:Walker", Observed(table=TABLE))
    assert drawn is not None
    assert list(row_ids(drawn).values()) == ["r0", "r1"]
    assert [(row.state, row.trigger, row.text, row.to) for row in rows_table(drawn)] == [
        ("CONTENT", "OPEN", "<a>", "CALL"),
        ("CALL", "CLOSE", None, "CONTENT"),
    ]
    assert [node.name for node in diagram(drawn).nodes] == ["CONTENT", "CALL"]


@pytest.mark.parametrize(
    "table",
    [
        Table("A B", (Move("A B", "X", "C"),)),
        Table("A", (Move("A", "X", "A"),), {"not one": "x"}),
        Table("A", (Move("A", "X", "A"),), {"X": "half a pair: \ud800"}),
    ],
)
def test_names_and_texts_that_a_format_cannot_have_are_not_drawn(table: Table) -> None:
    assert drawn_table("own:Walker", Observed(table=table)) is None


def test_a_parser_that_shows_nothing_has_neither() -> None:
    assert (own_state(None, 1), drawn_table("own", None), drawn_table("own", FOUND)) == (None, None, None)
