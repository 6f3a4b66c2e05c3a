"""What is left of a request's time: by its work and by the clock, whichever is less."""

from __future__ import annotations

from time import monotonic, thread_time

import pytest

from webapp.runs import time_left
from webapp.runs.time_left import TimeLeft
from webapp.settings import PATIENCE, Settings


@pytest.mark.parametrize(
    ("worked", "passed", "left"),
    [
        pytest.param(0, 0, 10, id="nothing is over"),
        pytest.param(4, 4, 6, id="a quiet machine"),
        pytest.param(4, PATIENCE * 8, 6, id="a busy machine ends nothing sooner"),
        pytest.param(4, PATIENCE * 10 - 2, 2, id="but before the clock ends all"),
        pytest.param(4, PATIENCE * 11, 0, id="late"),
        pytest.param(11, 11, 0, id="too much work"),
    ],
)
def test_a_share_of_a_request_ends_by_work_or_by_the_clock(
    monkeypatch: pytest.MonkeyPatch, worked: float, passed: float, left: float
) -> None:
    work, now = thread_time(), monotonic()
    monkeypatch.setattr(time_left, "thread_time", lambda: work)
    monkeypatch.setattr(time_left, "monotonic", lambda: now)
    share = TimeLeft.of_request(Settings(replay_seconds=20), 0.5)
    monkeypatch.setattr(time_left, "thread_time", lambda: work + worked)
    monkeypatch.setattr(time_left, "monotonic", lambda: now + passed)
    assert share.seconds == pytest.approx(left)


def test_a_request_that_worked_before_has_less_left() -> None:
    assert TimeLeft.of_request(Settings(replay_seconds=20), 0.5, thread_time() - 7).seconds == pytest.approx(3, abs=0.5)
    assert TimeLeft(5).seconds == pytest.approx(5, abs=0.5)
