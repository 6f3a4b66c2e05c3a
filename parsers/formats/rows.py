"""Rows of a format: their ids, and the guards that switch them on and off.

The machine, the trace, the diagram and the transition table all name a row by the same id. Ids follow from the
format alone: rows are counted in the order of the states, then of the rows. A guard never changes an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import get_args

from parsers.formats.model import Format, Policy, Row


def row_ids(fmt: Format) -> dict[tuple[str, int], str]:
    """The id of every row: (state, index of the row in its state) -> r0, r1, r2 ..."""
    places = [(name, index) for name, state in fmt.states.items() for index in range(len(state.rows))]
    return {place: f"r{number}" for number, place in enumerate(places)}


def guard_holds(row: Row, policy: Mapping[str, str]) -> bool:
    """Whether the row is in force under these policy values. A policy that is not given satisfies no guard."""
    return all(policy.get(name) in values for name, values in row.when.items())


def policy_in_force(fmt: Format, overrides: Mapping[str, str]) -> dict[str, str]:
    """Every policy with its value: the format's own, or the override."""
    return {**fmt.policy.model_dump(), **overrides}


@cache
def policy_values() -> dict[str, tuple[str, ...]]:
    """Every policy with the values it may take, the order of the model."""
    return {name: get_args(field.annotation) for name, field in Policy.model_fields.items()}
