"""The timeline of a recorded stream: as many ticks and bursts as can be told apart, whatever the times are."""

from __future__ import annotations

from itertools import pairwise

import pytest

from parsers.replays.recorded import ServerStream
from parsers.search.leaked import Leaked
from parsers.wire.arrivals import arrivals
from parsers.wire.read import ServerChunk
from webapp.page.inspect.chunk_axis import Axis, chunk_axis
from webapp.page.inspect.chunks import Recording

YEARS = 1_767_225_600_000.0  # from 1970 to 2026
HALF = 250.0


def axis(*times: float | None) -> Axis:
    chunks = tuple([ServerChunk() for _ in times])
    found = Recording(ServerStream(chunks), [{}] * len(times), arrivals(times), Leaked(), [0] * len(times))
    return chunk_axis(found, 1)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (0.0, ["0 ms", "1 ms"]),
        (0.5, ["0 ms", "1 ms"]),
        (3.0, ["0 ms", "1 ms", "2 ms", "3 ms"]),
        (400.0, ["0 ms", "100 ms", "200 ms", "300 ms", "400 ms"]),
        (6_000.0, ["0 ms", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s"]),
        (6_001.0, ["0 ms", "2 s", "4 s", "6 s"]),
        (59_999.9, ["0 ms", "10 s", "20 s", "30 s", "40 s", "50 s"]),
    ],
)
def test_ticks_stand_at_round_times(span: float, words: list[str]) -> None:
    assert [tick.words for tick in axis(0.0, span).ticks] == words


@pytest.mark.parametrize("span", [1e7, 3e7, 3.1e7, 9.9e9, YEARS, 1e13, 1e15, 8.64e18, 1e300])
def test_there_are_few_ticks_however_long_a_stream_took(span: float) -> None:
    ticks = axis(0.0, span).ticks
    assert 3 <= len(ticks) <= 7
    assert all(0 <= tick.x <= 95 for tick in ticks)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([0, 100, 200, 1000], []),
        ([0, 0.5, 1, 1000], ["×3"]),
        ([0, 0.5, 1, 500, 500.5, 501, 501.5, 1000], ["×3", "×4"]),
        ([0, 0.5, 1, 3, 3.5, 4, 500, 1000], ["×6"]),
        ([0, 0.5, 1, 3, 3.5, 4, 500, 500.5, 501, 1000], ["×6", "×3"]),
    ],
)
def test_bursts_that_cannot_be_told_apart_are_one(times: list[float], words: list[str]) -> None:
    assert [burst.words for burst in axis(*times).bursts] == words


def test_bursts_are_few_and_stand_apart_however_many_there_are() -> None:
    times = [3 * HALF * at + offset for at in range(2000) for offset in (0.0, 0.5, 1.0)]
    found = axis(*times).bursts
    assert len(found) < 250
    assert sum([int(one.words[1:]) for one in found]) == 6000
    places = [(one.x, one.x + one.width) for one in found]
    assert all(left + 0.09 < right for (_, left), (right, _) in pairwise(places))


def test_nothing_has_a_time_where_none_was_recorded() -> None:
    found = axis(None, None)
    assert (found.timed, found.ticks, found.bursts, found.gaps) == (False, [], [], [])


@pytest.mark.parametrize("many", [1, 2, 3, 40])
def test_chunks_whose_times_are_not_known_share_the_whole_axis(many: int) -> None:
    found = axis(*[None] * many)
    assert not found.timed
    assert found.at[-1] == 99.8
    widths = [mark.width for mark in found.carries]
    assert sum(widths) == pytest.approx(99.8 - 0.15 * many, abs=0.1)
    assert max(widths) - min(widths) < 0.01
