"""Threads are known by what their signatures share; what blames no parser has none."""

from __future__ import annotations

from parsers.sweeps.known_threads import Thread, threads_by_key

ONE, OTHER = [Thread(name, name, "A call is lost", f"https://example.org/{name}") for name in ("one", "other")]
LOST, CUT = ("vllm", "qwen", "lost"), ("vllm", "qwen", "cut")


def test_threads_of_a_key_are_there_once_and_in_order_and_without_a_key_not_at_all() -> None:
    found = [(LOST, OTHER), (None, ONE), (CUT, ONE), (LOST, ONE), (LOST, OTHER)]
    assert threads_by_key(found) == {LOST: (OTHER, ONE), CUT: (ONE,)}
