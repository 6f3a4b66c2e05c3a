"""What an engine's parser kept in its attributes at the step under the cursor, and the transitions that it declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from parsers.formats.model import Format
from parsers.vocabulary.observed import Attribute, Move, Observed

_IS_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*").fullmatch


@dataclass(slots=True, frozen=True)
class Kept:
    """An attribute that the step left as it was. `since`: the step that changed it last; 0: none did."""

    owner: str
    name: str
    value: str
    since: int


@dataclass(slots=True, frozen=True)
class OwnState:
    """The attributes after a step: those that it changed, those that others changed, and those that never do.
    `declared`: `state` is the parser's own word for where it stands; else it is made of the attributes that are true.
    `micros`: how long the step took, None where nobody timed it.
    """

    step: int
    state: str
    declared: bool
    changed: tuple[Attribute, ...]
    kept: tuple[Kept, ...]
    fixed: tuple[Kept, ...]
    micros: int | None = None


def own_state(observed: Observed | None, step: int) -> OwnState | None:
    """What was observed at a step; None where nothing was."""
    if observed is None or not 0 < step <= len(observed.steps):
        return None
    changed = observed.steps[step - 1].changed
    now, moving = {one.name for one in changed}, {one.name for other in observed.steps for one in other.changed}
    values = [(name, _kept(name, *value)) for name, value in observed.values(step).items() if name not in now]
    kept = sorted([one for name, one in values if name in moving], key=lambda one: -one.since)
    fixed = tuple([one for name, one in values if name not in moving])
    micros = observed.micros[step - 1] if step <= len(observed.micros) else None
    return OwnState(step, observed.states()[step - 1], observed.declared, changed, tuple(kept), fixed, micros)


def _kept(name: str, value: str, since: int) -> Kept:
    owner, _, short = name.partition(".")
    return Kept(owner, short or name, value, since)


def drawn_table(name: str, observed: Observed | None) -> Format | None:
    """The table that a parser declares as a format, to be drawn; None where there is none, or its names or texts cannot
    be those of one. Ids of rows are as `parsers.replays.tapes` has them."""
    table = None if observed is None else observed.table
    if table is None or not all(map(_IS_IDENTIFIER, [*table.states, *table.terminals])):
        return None
    rows: dict[str, list[Move]] = {state: [] for state in table.states}
    for row in table.rows:
        rows[row.state].append(row)
    drawn = {
        "schema": 1,
        "name": name if _IS_IDENTIFIER(name) else "engine",
        "title": name,
        "initial": table.initial,
        "terminals": dict(table.terminals),
        "states": {state: {"rows": [_row(row) for row in found]} for state, found in rows.items()},
    }
    try:
        return Format.model_validate(drawn)
    except ValidationError:  # a text with half a surrogate pair
        return None


def _row(row: Move) -> Mapping[str, str]:
    return {"on": row.on, "to": row.to}
