"""What an engine that hung is given from then on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.webapp.engines.entering import fake
from tests.webapp.engines.test_engine_host import BAD, GOOD, content, played
from webapp.engines import patience
from webapp.engines.engine_host import EngineHost
from webapp.engines.patience import LITTLE_SECONDS, MOST_KEPT, REST_SECONDS, WARY_SECONDS, Patience, PatienceOfAll
from webapp.engines.protocol import EngineError

OTHERS = [[[text, [1]], ["!", [3]]] for text in "abcdef"]  # of each the second delta hangs, and no two are one output


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still."""
    found = [1_000.0]
    monkeypatch.setattr(patience, "monotonic", lambda: found[0])
    return found


@pytest.fixture
def host() -> Iterator[EngineHost]:
    """Many ask this one."""
    found = EngineHost("fake", fake(seconds=1.5), alone=False)
    yield found
    found.close()


def test_what_comes_after_a_hang_has_little_time_for_a_while(now: list[float]) -> None:
    given = Patience(10, alone=True)
    assert given.seconds == 10
    given.hung()
    assert given.seconds == LITTLE_SECONDS
    given.answered(0.01)
    assert given.seconds == LITTLE_SECONDS
    now[0] += WARY_SECONDS
    assert given.seconds == 10


@pytest.mark.parametrize(("took", "little"), [(0.3, 3), (5, 10)])
def test_a_parser_that_is_slow_and_right_keeps_the_time_that_it_takes(
    now: list[float], took: float, little: float
) -> None:
    given = Patience(10, alone=True)
    given.answered(took)
    given.hung()
    assert given.seconds == little


def test_where_replays_in_a_row_hang_nobody_is_asked_for_a_while(now: list[float]) -> None:
    given = Patience(10, alone=False)
    for _ in range(2):
        assert not given.rest
        given.hung()
    now[0] += 4
    words = "the last 2 replays hung, the latest 4 seconds ago, so it was not asked; it is tried again in 26 seconds"
    assert given.rest == f"{words}, or at once by Ask again, under Engines"
    now[0] += REST_SECONDS
    assert not given.rest
    given.hung()
    assert "the last 3 replays hung" in given.rest


def test_a_parser_that_hangs_takes_nothing_from_another_one(now: list[float]) -> None:
    given = PatienceOfAll(10, alone=False)
    for name in ("a", "b"):
        for _ in range(2):
            given.of(name, None).hung()
    assert "the last 2 replays hung" in given.rest("a", None)
    assert (given.rest("a", "thinks"), given.rest("c", None), given.of("c", None).seconds) == ("", "", 10)
    given.forget()
    assert given.rest("a", None) == ""


def test_where_several_parsers_hang_no_other_one_is_asked(now: list[float]) -> None:
    given = PatienceOfAll(10, alone=False)
    for name in ("a", "b", "c"):
        for _ in range(2):
            given.of(name).hung()
    words = "3 of its parsers hang; of the one that did last: the last 2 replays hung, the latest 0 seconds ago"
    assert given.rest("d").startswith(words)
    now[0] += REST_SECONDS
    assert not given.rest("d")


def test_no_more_parsers_are_kept_than_an_engine_has(now: list[float]) -> None:
    given = PatienceOfAll(10, alone=False)
    for name in range(MOST_KEPT + 2):
        given.of(name).hung()
    assert not given.of(0).wary
    assert given.of(MOST_KEPT + 1).wary


def test_an_answer_between_two_hangs_is_a_sign_of_life(now: list[float]) -> None:
    given = Patience(10, alone=False)
    for _ in range(3):
        given.hung()
        given.answered(0.1)
    assert not given.rest


def test_whoever_asks_alone_waits_as_long_as_it_takes(now: list[float]) -> None:
    given = PatienceOfAll(10, alone=True)
    for _ in range(5):
        given.of("a").hung()
    given.started_not("engine x does not start", 60)
    assert (given.rest("a"), given.no_start) == ("", "")


def test_a_start_that_took_long_and_failed_is_not_tried_for_everybody_who_asks(now: list[float]) -> None:
    given = PatienceOfAll(10, alone=False)
    given.started_not("engine x does not start", 0.1)
    assert not given.no_start, "it costs nothing to try"
    given.started_not("engine x does not start", 60)
    assert given.no_start.startswith("engine x does not start. That was 0 seconds ago; it is tried again in 30 seconds")
    now[0] += REST_SECONDS
    assert not given.no_start


@pytest.mark.replays
def test_all_that_is_asked_of_an_engine_that_hangs_is_answered_soon(host: EngineHost) -> None:
    found = played(host, "hangs", *OTHERS)
    told = [one.raised for one in found if one.raised is not None]
    assert [one.rests for one in told] == [False, False, True, True, True, True]
    assert [str(one.message)[:27] for one in told[:2]] == ["it did not return in 1.5 se", "it did not return in 1 seco"]
    assert "so little is what it has for a while after it hung" in str(told[1].message)
    spent = host.spent
    assert [one.raised is not None and one.raised.rests for one in played(host, "hangs", GOOD, GOOD)] == [True, True]
    with pytest.raises(EngineError, match="does not tell which lines ran: the last 2 replays hung"):
        host.lines({"parser": "hangs", "request": {}, "replays": [GOOD], "step": 1, "observe": "lines"})
    assert host.spent - spent < LITTLE_SECONDS
    assert content(played(host, "echo", GOOD)[0]) == ["a", "b", None]
    host.begin_anew()
    assert content(played(host, "hangs", GOOD)[0]) == ["a", "b", None]


@pytest.mark.replays
def test_an_output_that_is_known_to_hang_is_told_as_it_was_while_nobody_is_asked(host: EngineHost) -> None:
    first, *_ = played(host, "hangs", *OTHERS[:3])
    again, other = played(host, "hangs", OTHERS[0], BAD)
    assert again is first
    assert other.raised is not None
    assert other.raised.rests


def test_a_start_that_hangs_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_QUICK_SECONDS", 0.2)
    entry = fake(start=0.3)
    host = EngineHost(
        "x", entry.model_copy(update={"command": (entry.command[0], "-c", "input(); input()")}), alone=False
    )
    for words in (
        "engine x does not start: it did not return in 0.3 seconds, and",
        r"ended\. That was 0 seconds ago; it is",
    ):
        with pytest.raises(EngineError, match=words):
            host.card()
    host.begin_anew()
    with pytest.raises(EngineError, match=r"and its process was ended$"):
        host.card()
