"""A lock that serves those first who came first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from time import sleep

import pytest

from webapp.engines import turns as room
from webapp.engines.turns import Turns


def waiting(turns: Turns, done: Callable[[], object]) -> Thread:
    """A thread that waits for its turn."""

    def work() -> None:
        with turns:
            done()

    before = len(turns._waiting)
    thread = Thread(target=work, daemon=True)
    thread.start()
    while len(turns._waiting) == before:
        sleep(0.001)
    return thread


def test_who_waits_is_served_before_whoever_had_it_takes_it_again() -> None:
    turns, served = Turns(), list[int]()
    with turns:
        threads = [waiting(turns, partial(served.append, number)) for number in range(5)]
    with turns:
        assert served == [0, 1, 2, 3, 4]
    for thread in threads:
        thread.join()
    with turns:
        assert not turns._waiting


class Impatient:
    """A lock whose second taker is interrupted, before or when it is its turn."""

    def __init__(self, turns: Turns, *, its_turn: bool) -> None:
        self._turns, self._its_turn, self._taken = turns, its_turn, False

    def acquire(self) -> None:
        if self._taken:
            if self._its_turn:
                self._turns.__exit__()
            raise KeyboardInterrupt
        self._taken = True

    def release(self) -> None:
        assert self._taken


@pytest.mark.parametrize("its_turn", [False, True])
def test_who_goes_away_while_waiting_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, its_turn: bool) -> None:
    turns, done = Turns(), Event()
    turns.__enter__()
    monkeypatch.setattr(room, "Lock", lambda: Impatient(turns, its_turn=its_turn))
    with pytest.raises(KeyboardInterrupt):
        turns.__enter__()
    monkeypatch.undo()
    if not its_turn:
        turns.__exit__()
    with turns:
        done.set()
    assert done.is_set()
    assert not turns._waiting
