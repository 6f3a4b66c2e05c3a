"""Any output at all: what is read beside the cuts only is what is read in full, under every policy, in both modes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.machine.machine import Machine
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.replays.resumed import Resumed
from parsers.search.sweep import marker_spans
from parsers.selection.registry import build
from tests.amount import examples
from tests.parsers.properties.strategies import PARSERS, noise, runs

pytestmark = pytest.mark.replays


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Deltas of few characters are long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "stride", 5)
        yield


@pytest.mark.parametrize("parser", PARSERS)
@examples(3)
@given(data=st.data())
def test_noise_cut_anywhere_gives_what_a_replay_in_full_gives(parser: str, data: st.DataObject) -> None:
    run = data.draw(runs(parser, noise(parser)))
    made = Replayer(lambda: build(run.fmt, run.policy), run.pieces, run.context, mode=run.mode, markers=run.markers)
    resumed, size = Resumed(made), len(run.text)
    spans = marker_spans(run.pieces) if run.mode == "ids" else []
    free = [cut for cut in range(size + 1) if not any(start < cut < end for start, end in spans)]
    for _ in range(4):
        cuts = tuple(sorted(data.draw(st.lists(st.sampled_from(free), min_size=1, max_size=4))))
        found = resumed.outcome(cuts)
        assert found is None or found.message == made.outcome(Chunking(by="cuts", cuts=cuts)).message, cuts
    cut = data.draw(st.sampled_from(free))
    if 0 < cut < size and (short := resumed.cut_off(cut)) is not None:
        assert short.message == made.changed(((cut, size, ""),)).outcome(WHOLE).message
