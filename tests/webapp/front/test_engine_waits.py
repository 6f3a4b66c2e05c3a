"""Engines that take their time: nobody else waits for them, and whoever asks them waits outside of a child."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder

from tests.webapp.children.processes import PATIENCE, until
from webapp.children.endings import ChildError, Ending
from webapp.front import engine_waits
from webapp.front.engine_waits import LATER, MOST_ASKED, EngineWait, Switchboard
from webapp.front.front import Front

MakeFront = Callable[..., Front]
ASKS = "/run?do=ask&of=engines&name="


class Engine:
    """Answers with how often it was asked, once it is let."""

    def __init__(self, *, slow: bool = True) -> None:
        self.asked = 0
        self.let = Event()
        if not slow:
            self.let.set()

    def answer(self, question: Mapping[str, Any], gone: Callable[[], bool]) -> dict[str, Any]:
        self.asked, self.gone = self.asked + 1, gone
        self.let.wait(PATIENCE)
        return {"card": self.asked}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_waits, "SOON_SECONDS", 0.05)


@pytest.fixture
def slow() -> Engine:
    return Engine()


def with_engine(front: Front, engine: Engine) -> Front:
    front._switchboard = Switchboard(engine.answer)
    return front


def question(name: str = "e", **more: Any) -> dict[str, Any]:
    return {"name": name, "do": "play", **more}


def test_an_engine_that_answers_soon_is_answered_at_once() -> None:
    engine = Engine(slow=False)
    wait = EngineWait(Switchboard(engine.answer))
    for number in (1, 2):
        assert wait.reply(question(), stays=False) == {"card": number}


def test_a_system_without_threads_is_busy_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Switchboard(Engine(slow=False).answer)
    with monkeypatch.context() as without:
        without.setattr(engine_waits, "MOST_ASKED", 1)
        without.setattr(Thread, "start", _no_thread)
        assert [board.ask(question()) for _ in range(2)] == [None, None]
    answer = board.ask(question())
    assert answer is not None
    assert answer.result(PATIENCE) == {"card": 1}


def _no_thread(_thread: object) -> None:
    raise RuntimeError("can't start new thread")


def test_a_request_that_comes_again_has_the_answers_that_it_had(slow: Engine) -> None:
    wait = EngineWait(Switchboard(slow.answer))
    assert wait.reply(question(), stays=False) is LATER
    slow.let.set()
    wait.wait()
    for _ in range(2):
        wait.begin()
        assert wait.reply(question(run=1), stays=True) == {"card": 2}
        assert wait.reply(question(), stays=False) == {"card": 1}
    assert slow.asked == 2


def test_engines_may_take_so_long_for_one_request_and_no_longer(slow: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_waits, "ENGINE_SECONDS", 0.3)
    wait = EngineWait(Switchboard(slow.answer))
    assert wait.reply(question(), stays=False) is LATER
    wait.wait()
    for asked in (question(), question("other")):
        wait.begin()
        assert "engine " + asked["name"] + " took more than 0.3 seconds" in wait.reply(asked, stays=False)["refused"]
    assert slow.asked == 1
    slow.let.set()


def test_so_many_ask_one_engine_and_no_more(slow: Engine) -> None:
    board = Switchboard(slow.answer)
    waits = [EngineWait(board) for _ in range(MOST_ASKED + 1)]
    assert [one.reply(question(), stays=False) is LATER for one in waits] == [True] * len(waits)
    assert [one.busy for one in waits] == [*[""] * MOST_ASKED, "e"]
    assert "is busy with the requests of others" in waits[-1].reply(question(), stays=True)["refused"]
    other = EngineWait(board)
    assert (other.reply(question("other"), stays=False) is LATER, other.busy) == (True, "")
    slow.let.set()
    until(lambda: not board._asked)


def test_no_child_stands_still_for_an_engine(make_front: MakeFront, slow: Engine) -> None:
    front = with_engine(make_front(replay_processes=1), slow)
    with ThreadPoolExecutor(MOST_ASKED) as threads:
        asking = [threads.submit(Client(front).get, f"{ASKS}e") for _ in range(MOST_ASKED)]
        until(lambda: slow.asked == MOST_ASKED and not front._crew._running)
        assert Client(front).get("/run").status_code == 200
        busy = Client(front).get(f"{ASKS}e")
        assert (busy.status_code, busy.headers["Retry-After"], "Engine e is busy" in busy.text) == (503, "5", True)
        slow.let.set()
        found = [json.loads(one.result(PATIENCE).data)["card"] for one in asking]
    assert len(found) == MOST_ASKED


def test_an_answer_that_has_begun_waits_where_it_is(make_front: MakeFront, slow: Engine) -> None:
    front = with_engine(make_front(), slow)
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(Client(front).get, "/run?do=begun&name=e")
        until(lambda: slow.asked)
        assert not asking.done()
        slow.let.set()
        assert asking.result(PATIENCE).data == b"begun {'card': 1}"


def test_who_leaves_while_an_engine_works_is_waited_for_no_more(make_front: MakeFront, slow: Engine) -> None:
    front, left = with_engine(make_front(), slow), list[bool]()
    environ = {**EnvironBuilder(f"{ASKS}e").get_environ(), "waitress.client_disconnected": lambda: bool(left)}
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(lambda: [*front(environ, lambda *_: lambda _data: None)])
        until(lambda: slow.asked and not front._crew._running)
        assert not slow.gone()
        left.append(True)
        assert slow.gone()
        assert asking.result(PATIENCE)
    slow.let.set()


def test_an_engine_is_asked_no_more_for_a_request_that_is_over(slow: Engine) -> None:
    with EngineWait(Switchboard(slow.answer)) as wait:
        assert wait.reply(question(), stays=False) is LATER
        assert not slow.gone()
    assert slow.gone()
    slow.let.set()


def test_that_nobody_waited_for_an_engine_is_no_fault_for_the_log(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def reply(_question: Mapping[str, Any], cancelled: Callable[[], bool]) -> dict[str, Any]:
        until(cancelled)
        raise ChildError(Ending.CANCELLED)

    monkeypatch.setattr("webapp.front.front.engine_reply", reply)
    front, left = make_front(), list[bool]()
    environ = {**EnvironBuilder(f"{ASKS}e").get_environ(), "waitress.client_disconnected": lambda: bool(left)}
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(lambda: [*front(environ, lambda *_: lambda _data: None)])
        until(lambda: front._switchboard._asked)
        left.append(True)
        assert asking.result(PATIENCE)
    until(lambda: not front._switchboard._asked)
    assert "question of a child" not in caplog.text
