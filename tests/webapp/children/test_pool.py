"""How many children are alive, which of them goes first, and who waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.webapp.children import program as tasks
from tests.webapp.children.processes import is_alive
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.pool import Pool
from webapp.children.program import Program

PATIENCE = 30.0
MakePool = Callable[[int, int], Pool]


@pytest.fixture
def make_pool() -> Iterator[MakePool]:
    made: list[Pool] = []

    def make(alive: int, most_bytes: int) -> Pool:
        made.append(Pool(alive, most_bytes))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


def make_child() -> Child:
    return Child(Program(tasks.__file__))


def ask(pool: Pool, key: str, seconds: float = PATIENCE) -> int:
    """The process that answers under a key."""
    with pool.child(key, make_child, seconds) as child:
        pid: int = child.ask("recall", {}, seconds=PATIENCE)["pid"]
        return pid


def test_so_many_are_alive_and_the_least_recently_used_goes_first(make_pool: MakePool) -> None:
    pool = make_pool(2, 400_000_000)
    first, second = ask(pool, "a"), ask(pool, "b")
    assert ask(pool, "a") == first
    third = ask(pool, "c")
    assert pool.pids() == {"a": first, "c": third}
    assert not is_alive(second)
    pool.drop("a")
    pool.drop("a")
    assert pool.pids() == {"c": third}
    pool.close()
    assert (pool.pids(), is_alive(third)) == ({}, False)


def test_a_small_memory_budget_keeps_the_last_one_used(make_pool: MakePool) -> None:
    pool = make_pool(2, 1_000_000)
    ask(pool, "a")
    second = ask(pool, "b")
    assert pool.pids() == {"b": second}
    with pool.child("a", make_child, PATIENCE) as child, pool.child("b", make_child, PATIENCE):
        child.ask("echo", {}, seconds=PATIENCE)
    assert len(pool.pids()) >= 1


def test_one_more_waits_for_a_place_and_gives_up(make_pool: MakePool) -> None:
    pool = make_pool(1, 400_000_000)
    with pool.child("a", make_child, PATIENCE), pytest.raises(ChildError) as caught:
        ask(pool, "b", 0.05)
    assert caught.value.ending is Ending.BUSY
    with ThreadPoolExecutor(1) as threads:
        with pool.child("a", make_child, PATIENCE):
            waiting = threads.submit(ask, pool, "b")
            time.sleep(0.05)
            assert not waiting.done()
        pid = waiting.result(PATIENCE)
    assert pool.pids() == {"b": pid}
