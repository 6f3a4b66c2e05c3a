"""A host and what its worker does: whatever that is, there is an answer for every replay, and the next one is good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.children.processes import is_alive, until
from tests.webapp.engines.entering import fake, own
from tests.webapp.engines.fake_engine import FAULTS
from webapp.engines.engine_host import EngineHost
from webapp.engines.entries import Entry
from webapp.engines.protocol import Replayed

GOOD, BAD = [["a", [1]], ["b", [2]]], [["a", [1]], ["b", [2]], ["!", [3]], ["c", [4]]]
KINDS = {
    "hangs": ("Hangs", "it did not return in 1 seconds, and its process was ended"),
    "crashes": ("Crashed", "its process ended (exit code 3)"),
    "segfaults": ("Crashed", "its process ended (signal 11)"),
    "eats": ("OutOfMemory", "its process kept more than 300 MB, and was ended"),
    "babbles": ("Garbled", "its process said what is no message, and was ended"),
    "floods": ("Flood", "its process answered with more than 50,000,000 bytes, and was ended"),
    "forks": ("Crashed", "its process ended (exit code 4)"),
    "nests": ("Garbled", "its process said what is no message, and was ended"),
}


@pytest.fixture
def host() -> Iterator[EngineHost]:
    found = EngineHost("fake", fake())
    yield found
    found.close()


def played(host: EngineHost, parser: str, *replays: Any, **more: Any) -> list[Replayed]:
    return host.play({"parser": parser, "request": {}, "replays": list(replays), "path": "stream", **more})


def content(one: Replayed) -> list[str | None]:
    return [None if sent is None else sent.content for sent in one.sent]


def test_every_fault_is_tried() -> None:
    assert FAULTS.keys() == KINDS.keys()


def test_replays_come_back_in_their_order(host: EngineHost) -> None:
    found = played(host, "echo", *[[[str(number), []]] for number in range(100)])
    assert [content(one) for one in found] == [[str(number), None] for number in range(100)]
    assert host.spent > 0


def test_the_process_lives_on_and_is_ended(host: EngineHost) -> None:
    played(host, "echo", GOOD)
    pid = host.pid
    played(host, "echo", GOOD)
    assert host.pid == pid
    host.close()
    assert not is_alive(pid)


@pytest.mark.parametrize("parser", KINDS)
def test_what_a_process_does_not_survive_is_a_failure_at_its_step(parser: str) -> None:
    host = EngineHost("fake", fake(seconds=1 if parser == "hangs" else 20))
    first, bad, last = played(host, parser, GOOD, BAD, GOOD)
    host.close()
    assert content(first) == content(last) == ["a", "b", None]
    assert bad.raised is not None
    assert (bad.raised.step, bad.raised.kind, bad.raised.message) == (3, *KINDS[parser])
    assert content(bad) == ["a", "b"]
    assert bad.raised.slow == (parser in ("hangs", "eats"))


def test_what_a_dead_worker_started_is_ended_as_well(host: EngineHost) -> None:
    played(host, "echo", GOOD)
    pid = host.pid
    played(host, "forks", BAD)
    until(lambda: not is_alive(pid))
    assert host.pid is None


@pytest.mark.parametrize(
    ("parser", "words"),
    [("lies", "/replays/0/sent/0/content: Value error, give a text"), ("miscounts", "/replays/0: it has 5 steps")],
)
def test_an_answer_that_is_none_is_a_failure(host: EngineHost, parser: str, words: str) -> None:
    first, bad = played(host, parser, GOOD, BAD)
    assert (first.raised, bad.raised is not None) == (None, True)
    assert bad.raised is not None
    assert (bad.raised.kind, words in str(bad.raised.message)) == ("Garbled", True)


def test_an_exception_of_a_parser_is_its_own(host: EngineHost) -> None:
    (bad,) = played(host, "raises", BAD)
    tape = bad.tape()
    assert str(tape.failure) == "ValueError: no ! (in feed, line 7 of fake.py)"
    assert (tape.failed_at, tape.printed, len(tape.sent)) == (3, {3: "an exclamation mark"}, 2)


def test_the_path_for_whole_outputs_has_one_step(host: EngineHost) -> None:
    (one,) = played(host, "upper", GOOD, path="whole")
    assert content(one) == ["ab"]


def test_large_messages_are_shared_out(host: EngineHost) -> None:
    found = played(host, "echo", *[[["x" * 2_500_000, []]]] * 3)
    assert [len(str(content(one)[0])) for one in found] == [2_500_000] * 3


def test_a_failure_that_does_not_come_again_is_told_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    host, asked = EngineHost("fake", fake()), EngineHost._asked
    calls: list[int] = []

    def once(self: EngineHost, run: Any, replays: Any, **more: Any) -> Any:
        calls.append(1)
        return asked(self, {**run, "parser": "crashes"} if len(calls) == 1 else run, replays, **more)

    monkeypatch.setattr(EngineHost, "_asked", once)
    (found,) = played(host, "echo", BAD)
    host.close()
    assert found.raised is None
    assert found.printed == [(1, "Crashed: its process ended (exit code 3); not when it was made again")]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (fake("dies"), "engine x does not start: its process ended (exit code 5); it says last: no GPU was found"),
        (fake("refuses"), "engine x does not start: ImportError: no module named torch"),
        (fake("mute"), "engine x does not start: its process said what is no message, and was ended"),
        (fake("old"), "engine x does not speak the protocol: /protocol: this program speaks 1, the engine 2"),
        (Entry(command=("/no/such/program",)), "engine x does not start: [Errno 2] No such file"),
    ],
)
def test_an_engine_that_does_not_come_up_is_one_sentence(entry: Entry, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        EngineHost("x", entry).card()
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("Raising", "ValueError", "feed, line"),
        ("Starting", "PermissionError", "_look, line"),
        ("Deep", "RecursionError", "feed, line"),
    ],
)
def test_a_class_of_ones_own_that_fails_lives_on(name: str, kind: str, place: str) -> None:
    host = EngineHost("own", own(name))
    first, bad, last = played(host, name, GOOD, BAD, GOOD)
    pid = host.pid
    host.close()
    assert bad.raised is not None
    assert (bad.raised.step, bad.raised.kind, str(bad.raised.place).startswith(place)) == (3, kind, True)
    assert content(first) == content(last)
    assert not is_alive(pid)
