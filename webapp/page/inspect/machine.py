"""The machine pane: the format's state diagram and transition table, with what this replay did of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.formats.diagram import END, diagram, rows_table
from parsers.formats.layout import Edge, Node
from parsers.formats.model import Format
from webapp.glyphs import count
from webapp.page.inspect.index import TraceIndex, target


@dataclass(slots=True)
class StateNode:
    """A state's box. `visited`: the replay was in it at some time."""

    node: Node
    visited: bool
    current: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Where the name stands."""
        return self.node.x + self.node.width / 2, self.node.y + self.node.height / 2 + 4


@dataclass(slots=True)
class Arrow:
    """A line between two states. `key` names it in the cards of the steps."""

    edge: Edge
    key: str
    fired: bool
    last: bool


@dataclass(slots=True)
class TableRow:
    """One row of the transition table; `times` says how often it fired."""

    id: str
    state: str
    trigger: str
    literal: str
    target: str
    emits: str
    note: str
    when: str
    times: int


@dataclass(slots=True)
class Machine:
    """Everything the machine pane shows."""

    width: float
    height: float
    nodes: list[StateNode]
    arrows: list[Arrow]
    rows: list[TableRow]
    note: str
    words: str


def machine(index: TraceIndex, fmt: Format, policy: Mapping[str, str], step: int) -> Machine:
    """The machine of `fmt` with the cursor on `step`."""
    drawing = diagram(fmt, policy)
    visited = {name for pair in index.fired for name in pair} | {index.trace.steps[0].state}
    now, last = node_at(index, step), edge_at(index, step)
    nodes = [StateNode(node, node.name in visited or node.end, node.name == now) for node in drawing.nodes]
    never = [node.node.name for node in nodes if not node.visited]
    return Machine(
        width=drawing.width,
        height=drawing.height,
        nodes=nodes,
        arrows=[_arrow(index, edge, last) for edge in drawing.edges],
        rows=[
            TableRow(r.id, r.state, r.trigger, r.text or "", r.to, ", ".join(r.emit), r.note, r.when, index.times[r.id])
            for r in rows_table(fmt)
        ],
        note=count(len(fmt.states), "state") + (f", {len(never)} never visited" if never else ", all visited"),
        words=f"State diagram. Current state {now}." + (f" Never visited: {', '.join(never)}." if never else ""),
    )


def _arrow(index: TraceIndex, edge: Edge, last: str) -> Arrow:
    key = f"{edge.source} {edge.target}"
    return Arrow(edge, key, index.fired[edge.source, edge.target] > 0, key == last)


def node_at(index: TraceIndex, step: int) -> str:
    """The box that stands for where the parser is after `step`."""
    return END if index.step(step).end else index.step(step).state


def edge_at(index: TraceIndex, step: int) -> str:
    """The line that led there: the latest that changed anything, by its key; empty before the first."""
    fired = index.last_fired[step - 1]
    if not fired:
        return ""
    item = index.step(fired).transitions[-1]
    return f"{item.from_state} {target(item)}"
