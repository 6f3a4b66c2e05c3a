"""A format seen from outside: the drawing of its states, the same as Mermaid text, and its rows as a table.

All three are derived from the format alone and name every row by its id (`model.row_ids`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from parsers.formats.extends import Expanded, pointer_to
from parsers.formats.layout import NOTHING_DRAWN, Diagram, layout
from parsers.formats.layout_cells import Graph, Link
from parsers.formats.model import Format, Row, guard_holds, row_ids
from parsers.formats.told_apart import told_apart

END = "END"
MOST_NODES, MOST_LINKS = 100, 200  # of a drawing: the work on it grows with the square of either, and no eye follows
_WALKED = 18, 2  # characters of a marker beside an edge that was walked, and how many of them
_DRAWN = 12, 1  # the same where all are drawn
_FEW, _ROOMY = 6, (18, 1)  # of so few states, where there is room
_SEEN = str.maketrans({"\n": "⏎", " ": "·"})


@dataclass(slots=True)
class RowLine:
    """One line of the transition table.

    `text` is the terminal's text, None for the other triggers. `source` says where a row comes from that the format's
    file does not hold itself.
    """

    id: str
    state: str
    trigger: str
    text: str | None
    to: str
    emit: tuple[str, ...]
    keep: str
    when: str
    note: str
    diagnostic: str | None
    source: str


def rows_table(fmt: Format, expanded: Expanded | None = None) -> list[RowLine]:
    """Every row of the format, in the order of the ids; `expanded` is the file it was read from, if it had one."""
    lines = []
    for (name, index), row_id in row_ids(fmt).items():
        row = fmt.states[name].rows[index]
        source = expanded.origin(pointer_to("states", name, "rows", index)).label if expanded else ""
        text = fmt.terminals.get(row.on)
        guard = ", ".join([f"{policy}: {' or '.join(values)}" for policy, values in row.when.items()])
        lines.append(
            RowLine(row_id, name, row.on, text, row.to, row.emit, row.keep, guard, row.note, row.diagnostic, source)
        )
    return lines


def diagram(fmt: Format, policy: Mapping[str, str] | None = None) -> Diagram:
    """The drawing of the format: one node per state and one for the end of the output.

    With `policy` (values that differ from the format's own) rows whose guard does not hold are left out; without,
    all rows are drawn. A row to a state the format does not have is left out: `lint` reports it. Too large a format
    gives NOTHING_DRAWN.
    """
    end = END if END not in fmt.states else f"({END})"
    merged: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row_id, state, row in _rows(fmt, policy):
        target = end if row.on == END else row.to
        if target == end or target in fmt.states:
            merged.setdefault((state, target), []).append((row_id, row))
    names = list(fmt.states)
    shown, most = _shown(fmt, _ROOMY if len(names) <= _FEW else _DRAWN)
    ends = any(target == end for _, target in merged)
    start = fmt.initial if fmt.initial in fmt.states else next(iter(names), "")
    links = tuple(
        [
            Link(*edge, tuple([row_id for row_id, _ in rows]), _label(fmt, rows, shown, most))
            for edge, rows in merged.items()
        ]
    )
    return _drawn(Graph((*names, end) if ends else tuple(names), links, start, end if ends else None))


def walked(fmt: Format, times: Mapping[str, int]) -> Diagram:
    """The drawing of what a replay did: the rows that fired, by id, with the text that each read and how often.

    States between which nothing fired are left out; where nothing fired at all the first state stands alone.
    """
    end = END if END not in fmt.states else f"({END})"
    merged: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row_id, state, row in _rows(fmt, None):
        if times.get(row_id):
            merged.setdefault((state, end if row.on == END else row.to), []).append((row_id, row))
    reached = {name for edge in merged for name in edge}
    names = [name for name in fmt.states if name in reached] or [fmt.initial]
    shown, most = _shown(fmt, _WALKED)
    start = fmt.initial if fmt.initial in names else names[0]
    links = tuple(
        [
            Link(
                *edge, tuple([row_id for row_id, _ in rows]), f"{_label(fmt, rows, shown, most)} {_times(rows, times)}"
            )
            for edge, rows in merged.items()
        ]
    )
    return _drawn(
        Graph((*names, end) if end in reached else tuple(names), links, start, end if end in reached else None)
    )


def _drawn(graph: Graph) -> Diagram:
    too_large = len(graph.names) > MOST_NODES or len(graph.links) > MOST_LINKS
    return NOTHING_DRAWN if too_large else layout(graph)


def _times(rows: list[tuple[str, Row]], times: Mapping[str, int]) -> str:
    """How often the rows of an edge fired."""
    return f"× {sum([times[row_id] for row_id, _ in rows]):,}"


def _shown(fmt: Format, room: tuple[int, int]) -> tuple[dict[str, str], int]:
    """What is shown of each text that a row reads, and of how many texts an edge tells."""
    longest, most = room
    return told_apart([_read(fmt, row) for _, _, row in _rows(fmt, None)], longest), most


def _read(fmt: Format, row: Row) -> str:
    return fmt.terminals.get(row.on, row.on.lower()).translate(_SEEN)


def _label(fmt: Format, rows: list[tuple[str, Row]], shown: Mapping[str, str], most: int) -> str:
    """What the rows of an edge read: so many of their texts, and how many more."""
    read = list(dict.fromkeys([shown[_read(fmt, row)] for _, row in rows]))
    more = [f"+{len(read) - most}"] * (len(read) > most)
    return " ".join([*read[:most], *more])


def _rows(fmt: Format, policy: Mapping[str, str] | None) -> Iterator[tuple[str, str, Row]]:
    values = None if policy is None else {**fmt.policy.model_dump(), **policy}
    for (state, index), row_id in row_ids(fmt).items():
        row = fmt.states[state].rows[index]
        if values is None or guard_holds(row, values):
            yield row_id, state, row


# Words that Mermaid reads as a statement when a line begins with them, in any spelling.
_MERMAID_WORDS = {
    *("accdescr", "acctitle", "class", "classdef", "click", "default", "direction", "end", "hide", "note", "scale"),
    *("state", "style"),
}


def mermaid(fmt: Format) -> str:
    """The format as a Mermaid state diagram: one line per row, in the order of the ids."""
    names = {name: name for name in fmt.states if name.lower() not in _MERMAID_WORDS}
    lines = ["stateDiagram-v2"]
    for name in fmt.states:
        if name not in names:
            names[name] = _unlike(f"{name}_", names)
            lines.append(f'    state "{name}" as {names[name]}')
    starts = dict.fromkeys([fmt.initial, fmt.initial_when_reasoning_open])
    lines += [f"    [*] --> {names.get(name, name)}" for name in starts if name is not None]
    for row_id, state, row in _rows(fmt, None):
        target = "[*]" if row.on == END else names.get(row.to, row.to)
        lines.append(f"    {names[state]} --> {target} : {_caption(row_id, row)}")
    return "\n".join(lines) + "\n"


def _unlike(name: str, others: Mapping[str, str]) -> str:
    return _unlike(f"{name}_", others) if name in others.values() else name


def _caption(row_id: str, row: Row) -> str:
    """The caption of a Mermaid edge. Mermaid ends a caption at a colon or semicolon, so neither may occur."""
    emits = f" / {', '.join(row.emit)}" if row.emit else ""
    guards = "".join([f" when {name} is {' or '.join(values)}" for name, values in row.when.items()])
    return re.sub(r"[^\w ,/.\-]", "_", f"{row_id} {row.on}{emits}{guards}")
