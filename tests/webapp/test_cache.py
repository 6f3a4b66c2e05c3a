from __future__ import annotations

import threading

import pytest

from tests.webapp.interrupts import Rung, turns
from webapp.cache import ByteCache


def test_a_value_is_computed_once() -> None:
    cache: ByteCache[str] = ByteCache(100, len)
    values = iter(["first", "second"])
    assert [cache.get("k", lambda: next(values)) for _ in range(3)] == ["first"] * 3


def test_the_least_recently_used_goes_first() -> None:
    cache: ByteCache[str] = ByteCache(10, len)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: "12345")
    assert cache.used == 10
    assert cache.get("a", lambda: "other") == "12345"
    assert cache.get("b", lambda: "again") == "again"


def test_what_is_larger_than_the_budget_is_not_kept() -> None:
    cache: ByteCache[str] = ByteCache(3, len)
    assert cache.get("k", lambda: "12345") == "12345"
    assert len(cache) == 0


def test_a_failure_is_raised_and_not_kept() -> None:
    cache: ByteCache[str] = ByteCache(100, len)
    with pytest.raises(ZeroDivisionError):
        cache.get("k", lambda: str(1 // 0))
    assert cache.get("k", lambda: "fine") == "fine"


def test_two_threads_compute_a_value_once() -> None:
    cache: ByteCache[str] = ByteCache(100, len)
    begun, made = threading.Event(), []

    def slow() -> str:
        made.append(1)
        begun.set()
        waiting.wait(5)
        return "value"

    waiting = threading.Event()
    first = threading.Thread(target=cache.get, args=("k", slow))
    first.start()
    begun.wait(5)
    second = threading.Thread(target=cache.get, args=("k", slow))
    second.start()
    waiting.set()
    first.join()
    second.join()
    assert made == [1]


def test_who_comes_while_a_value_is_being_kept_finds_it() -> None:
    made: list[str] = []
    late: list[threading.Thread] = []

    def compute() -> str:
        made.append("again")
        return "again"

    def weigh(value: str) -> int:
        if not late:
            late.append(threading.Thread(target=cache.get, args=("k", compute)))
            late[0].start()
            late[0].join(0.2)
        return len(value)

    cache: ByteCache[str] = ByteCache(100, weigh)
    assert cache.get("k", lambda: "value") == "value"
    late[0].join()
    assert made == []


def test_a_value_that_was_kept_while_it_was_computed_is_counted_once() -> None:
    cache: ByteCache[str] = ByteCache(10, len)

    def compute() -> str:
        cache.put("k", "123")
        return "12345"

    assert (cache.get("k", compute), cache.peek("k"), cache.used) == ("12345", "12345", 5)


def test_a_value_can_be_looked_for_without_computing_it() -> None:
    cache: ByteCache[str] = ByteCache(10, len)
    assert cache.peek("k") is None
    cache.put("k", "12345")
    cache.put("l", "12345")
    assert cache.peek("k") == "12345"
    cache.put("m", "12345")
    assert cache.peek("l") is None


def test_a_value_can_take_the_place_of_another() -> None:
    cache: ByteCache[str] = ByteCache(10, len)
    cache.put("k", "12345")
    cache.put("k", "1234567")
    assert (cache.peek("k"), cache.used, len(cache)) == ("1234567", 7, 1)


def test_another_budget_holds_at_once() -> None:
    cache: ByteCache[str] = ByteCache(10, len)
    for key in ("a", "b"):
        cache.get(key, lambda: "12345")
    cache.resize(7)
    assert (cache.used, cache.peek("a"), cache.peek("b")) == (5, None, "12345")
    cache.resize(20)
    for key in ("c", "d", "e"):
        cache.get(key, lambda: "12345")
    assert cache.used == 20


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # hypothesis listens to the collector
def test_an_interrupt_at_any_moment_leaves_a_cache_that_can_be_mended() -> None:
    """The last thing that was kept may be lost; what is counted is what is there, and nobody waits for ever."""
    cache: ByteCache[str] = ByteCache(50, len)
    interrupts = 0
    for bell in turns(0.5):
        try:
            with bell:
                for number in range(1_000_000):
                    cache.get(number % 17, lambda: "12345")
                    cache.put(number % 13, "123")
                    cache.resize(45 + number % 9)
        except Rung:
            interrupts += 1
        cache.mend()
        costs = [cost for _, cost in cache._entries.values()]
        assert (cache.used, cache._running, cache._lock.locked()) == (sum(costs), {}, False)
        assert cache.used <= cache.budget
    assert interrupts > 100
    assert cache.get("new", lambda: "1") == "1"
