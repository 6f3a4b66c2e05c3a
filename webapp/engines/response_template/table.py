"""A template as the page draws it: one state a field, a row for every delimiter, and the names used in the trace.

It is for reading. ResponseParser runs the template; this only says the same in the words of a Format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from parsers.formats.model import Emit, Format, Row, State, TextKind, row_ids
from webapp.engines.response_template.about import DESCRIPTION, EXAMPLE, NAME, TITLE
from webapp.engines.response_template.watching import Delimiter

Role = Literal["reasoning", "content", "calls", "other"]
ROLES: Mapping[str, Role] = {
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "thinking": "reasoning",
    "content": "content",
    "tool_calls": "calls",
}
TEXT: Mapping[Role, TextKind] = {
    "reasoning": "reasoning",
    "content": "content",
    "calls": "structure",
    "other": "structure",
}
OPENS: Mapping[Role, tuple[Emit, ...]] = {"calls": ("CallStart",)}
CLOSES: Mapping[Role, tuple[Emit, ...]] = {"calls": ("CallEnd",), "reasoning": ("ReasoningEnd",)}
ENDS: Mapping[Role, tuple[Emit, ...]] = {"calls": ("CallEnd",)}
NOWHERE = "No field takes text here: it is dropped."
LEFT_OVER = "Text outside all delimiters goes here."


def role(field: str | None) -> Role:
    """Return what becomes of a field's text."""
    return ROLES.get(field or "", "other")


@dataclass(slots=True)
class Table:
    """The Format of a template, and the names of its parts there."""

    format: Format
    states: dict[str | None, str]
    terminals: dict[str, str]
    patterns: dict[tuple[str, str], str]
    rows: dict[tuple[str, str], str]
    implicit: str | None

    def terminal(self, marker: Delimiter) -> str:
        """The name of the delimiter that matched."""
        return self.patterns.get((marker.field, marker.kind)) or self.terminals[marker.text]


def table(spec: Any, initial: str | None = None) -> Table:
    """The table of a loaded template. `initial` is the field that the prompt prefix leaves open."""
    implicit: str | None = spec.implicit
    states = _states(spec, implicit)
    terminals, patterns = _terminals(spec, states)
    home = states[implicit]
    rows: dict[str, list[Row]] = {name: [] for name in states.values()}
    for name, field in spec.fields.items():
        for trigger in _triggers(field, "open", terminals, patterns):
            rows[home].append(Row(on=trigger, to=states[name], emit=OPENS.get(role(name), ())))
        emit = () if name == implicit else CLOSES.get(role(name), ())
        for trigger in _triggers(field, "close", terminals, patterns):
            if trigger not in [row.on for row in rows[states[name]]]:
                rows[states[name]].append(Row(on=trigger, to=home, emit=emit))
    for key, name in states.items():
        emit = () if key == implicit else ENDS.get(role(key), ())
        rows[name].append(Row(on="END", to=home if key != implicit else name, emit=emit))
    fmt = Format(
        schema_version=1,
        name=NAME,
        title=TITLE,
        description=DESCRIPTION,
        initial=states.get(initial, home),
        terminals={name: text for text, name in terminals.items()},
        states={name: _state(key, rows[name], key == implicit) for key, name in states.items()},
        example=EXAMPLE,
    )
    ids = row_ids(fmt)
    numbered = {
        (name, row.on): ids[name, index] for name, state in fmt.states.items() for index, row in enumerate(state.rows)
    }
    return Table(fmt, states, terminals, patterns, numbered, implicit)


def _state(field: str | None, rows: list[Row], implicit: bool) -> State:
    note = NOWHERE if field is None else LEFT_OVER if implicit else ""
    return State(text=TEXT[role(field)], rows=tuple(rows), note=note)


def _states(spec: Any, implicit: str | None) -> dict[str | None, str]:
    names: dict[str | None, str] = {implicit: "OUTSIDE" if implicit is None else _identifier(implicit, ())}
    for field in spec.fields:
        if field not in names:
            names[field] = _identifier(field, tuple(names.values()))
    return names


def _identifier(text: str, taken: tuple[str, ...]) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
    name = free = plain if plain[:1].isalpha() and plain != "END" else f"FIELD_{plain}".rstrip("_")
    number = 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _terminals(spec: Any, states: Mapping[str | None, str]) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Names by text, for literals and patterns alike, and the names of the patterns by field."""
    names: dict[str, str] = {}
    patterns: dict[tuple[str, str], str] = {}
    for field, parts in spec.fields.items():
        for kind in ("open", "close"):
            pattern, literals = getattr(parts, f"{kind}_re"), getattr(parts, f"{kind}_literals")
            for text in literals or ([] if pattern is None else [pattern.pattern]):
                if text not in names:
                    names[text] = _identifier(f"{states[field]}_{kind}", tuple(names.values()))
            if pattern is not None and literals is None:
                patterns[field, kind] = names[pattern.pattern]
    return names, patterns


def _triggers(
    field: Any, kind: str, terminals: Mapping[str, str], patterns: Mapping[tuple[str, str], str]
) -> list[str]:
    if (field.name, kind) in patterns:
        return [patterns[field.name, kind]]
    return [terminals[text] for text in getattr(field, f"{kind}_literals") or ()]
