"""What an argument parser says may fire next is all that fires: the static check of formats proves rows by it."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import READ_ON, STRAY
from parsers.formats.layers import layered
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking
from parsers.selection.registry import policies
from parsers.vocabulary.trace import Trace
from tests.amount import examples
from tests.corpus import case_named, case_names
from tests.parsers.properties.invariants import Run, as_text
from tests.parsers.properties.strategies import WRITTEN, damaged, noise, runs

SPANNING = [name for name, kind in ARGUMENT_PARSERS.items() if kind.spans_states]
READERS = [
    name
    for name in WRITTEN
    if any(state.codec and state.codec.name in SPANNING for state in builtin_formats()[name].states.values())
]


def fired(run: Run, trace: Trace) -> list[tuple[str, str, tuple[str, ...]]]:
    """(state, trigger, what was due) of every trigger that an argument parser fired, but for those of STRAY."""
    fmt, due, found = layered(run.fmt, run.context), tuple[str, ...](), []
    policy = policies(fmt, run.policy)
    for move in chain.from_iterable(step.transitions for step in trace.steps):
        ref, target = fmt.states[move.from_state].codec, fmt.states[move.to_state].codec
        if ref is not None and move.trigger in set(ARGUMENT_PARSERS[ref.name].triggers) - STRAY:
            found.append((move.from_state, move.trigger, due))
        if target is not None:
            goes_on = target == ref and ARGUMENT_PARSERS[target.name].spans_states and move.trigger not in STRAY
            after = ARGUMENT_PARSERS[target.name].due(move.trigger if goes_on else "", target.options, policy)
            due = due if after is None else after
    return found


def refuted(run: Run) -> list[tuple[str, str, tuple[str, ...]]]:
    """The triggers that fired and were not due. DONE may follow what was read on after, which no row shows."""
    trace = run.trace(Chunking(by="whole"))
    return [one for one in fired(run, trace) if one[1] not in (*one[2], *READ_ON)]


@pytest.mark.parametrize("parser", READERS)
def test_what_fires_in_the_cases_was_due(parser: str) -> None:
    every = [case_named(name) for name in case_names(parser)]
    found = [Run(builtin_formats()[parser], as_text(case.text())) for case in every]
    assert any(fired(run, run.trace(Chunking(by="whole"))) for run in found)
    assert [wrong for run in found for wrong in refuted(run)] == []


@pytest.mark.replays
@pytest.mark.parametrize("parser", READERS)
@examples(20)
@given(data=st.data())
def test_what_fires_in_any_output_was_due(parser: str, data: st.DataObject) -> None:
    assert refuted(data.draw(runs(parser, noise(parser) | damaged(parser)))) == []
