"""The machine pane: where the replay was."""

from __future__ import annotations

from typing import Any

from webapp.page.inspect.index import index_of
from webapp.page.inspect.step import card, machine

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'


def test_the_machine_shows_where_the_replay_was(make: Any) -> None:
    run = make.run(CALL)
    fired = next(step.index for step in run.trace.steps if step.transitions)
    found = machine(index_of(run), run.format, run.policy, fired)
    assert found.now == index_of(run).step(fired).state
    assert found.now in {node.name for node in found.drawing.nodes}
    assert found.last == card(index_of(run), fired, {}).last_edge
    assert found.last in {f"{edge.source} {edge.target}" for edge in found.drawing.edges}
    assert sum(found.times[row.id] for row in found.rows) == sum(len(step.transitions) for step in run.trace.steps)
    assert "never visited" in found.note
