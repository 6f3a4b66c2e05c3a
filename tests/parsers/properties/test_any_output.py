"""Any output at all: nothing raises, nothing is lost, and no chunking changes the result, under every policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.replays.chunking import Chunking
from tests.amount import examples
from tests.parsers.properties.invariants import check
from tests.parsers.properties.strategies import PARSERS, WRITTEN, damaged, noise, runs

pytestmark = pytest.mark.replays

cuts = st.lists(st.integers(1, 400), max_size=6)


@pytest.mark.parametrize("parser", PARSERS)
@examples(2)
@given(data=st.data())
def test_noise_of_markers_and_json_is_parsed_alike_under_every_chunking(parser: str, data: st.DataObject) -> None:
    run = data.draw(runs(parser, noise(parser)))
    check(run, data.draw(st.integers(0, 99)), data.draw(cuts))


@pytest.mark.parametrize("parser", WRITTEN)
@examples(2)
@given(data=st.data())
def test_a_damaged_output_is_parsed_alike_under_every_chunking(parser: str, data: st.DataObject) -> None:
    run = data.draw(runs(parser, damaged(parser)))
    check(run, data.draw(st.integers(0, 99)), data.draw(cuts))


@pytest.mark.parametrize("parser", PARSERS)
@examples(2)
@given(data=st.data())
def test_any_text_without_markers_is_content_as_it_stands(parser: str, data: st.DataObject) -> None:
    run = data.draw(
        runs(parser, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<[{"), max_size=40))
    )
    message = run.message(Chunking(by="char"))
    seen = message.reasoning if run.context.reasoning_open and run.fmt.initial_when_reasoning_open else message.content
    start = (run.context.reasoning_open and run.fmt.initial_when_reasoning_open) or run.fmt.initial
    text = run.text.lstrip() if run.fmt.states[start].text == "structure" else run.text
    assert (seen or "") in (text, text.rstrip())
    assert message.tool_calls == []
