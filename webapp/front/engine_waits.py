"""Waits for engines: no child of the front stands still while an engine takes its time, or hangs.

A child that asks an engine gets its answer at once where that comes soon. Else it gives the request back, the request
waits here, in a thread of its own, and goes to a child again once the engine has answered; whatever engines said for it
by then is kept for it. When it is over, or whoever asked is gone, engines are asked no more for it. So few questions
wait for one engine, and so few for all, that others always find a child and a thread: more are turned away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from threading import Lock, Thread
from time import monotonic
from typing import Any

ENGINE_SECONDS = 90.0  # of one request, for engines to start and to replay
SOON_SECONDS = 0.5  # for so long a child waits
MOST_ASKED = 4  # questions that one engine has not answered
MOST_ASKED_OF_ALL = 12
_LOOK_SECONDS = 0.2  # how long somebody may be gone who still waits

Gone = Callable[[], bool]
Reply = Mapping[str, Any]
Question = dict[str, Any]
LATER: Reply = {"later": True}


class Switchboard:
    """All questions to engines that have no answer yet; `answer` answers one, and may take long, but not once nobody
    waits for that, which it can ask."""

    def __init__(self, answer: Callable[[Question, Gone], Reply]) -> None:
        self._answer = answer
        self._lock = Lock()
        self._asked: Counter[str] = Counter()

    def ask(self, question: Question, gone: Gone = bool) -> Future[Reply] | None:
        """The answer to come; None where too many wait already."""
        name = str(question["name"])
        with self._lock:
            if self._asked[name] >= MOST_ASKED or self._asked.total() >= MOST_ASKED_OF_ALL:
                return None
            self._asked[name] += 1
        future: Future[Reply] = Future()
        try:
            Thread(target=self._work, args=(name, question, gone, future), name="engine", daemon=True).start()
        except RuntimeError:  # the system has no thread left: as if as many asked as may
            self._over(name)
            return None
        return future

    def _work(self, name: str, question: Question, gone: Gone, future: Future[Reply]) -> None:
        try:
            reply = self._answer(question, gone)
        finally:
            self._over(name)
        future.set_result(reply)

    def _over(self, name: str) -> None:
        with self._lock:
            self._asked[name] -= 1
            self._asked += Counter()  # forgets those that have none


class EngineWait:
    """What engines are asked for one request. `busy`: the engine that cannot be asked for all that ask it.

    A request that comes to a child again asks the same, so each question has the answer that it had. Inside `with` it
    goes on, unless whoever asked is `gone`.
    """

    def __init__(self, switchboard: Switchboard, gone: Gone = bool) -> None:
        self.busy = ""
        self._gone = gone
        self._is_over = False
        self._switchboard = switchboard
        self._left = ENGINE_SECONDS
        self._known: list[tuple[Question, Future[Reply]]] = []
        self._unused: list[tuple[Question, Future[Reply]]] = []

    def __enter__(self) -> EngineWait:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True

    def begin(self) -> None:
        """A child has the request."""
        self._unused = [*self._known]

    def reply(self, question: Question, *, stays: bool) -> Reply:
        """The answer of an engine, or LATER unless the child `stays` with the request."""
        future = self._asked(question)
        if future is None:
            self.busy = str(question["name"])
            return {"refused": f"engine {self.busy} is busy with the requests of others"} if stays else LATER
        if self._waited(future, self._left if stays else min(SOON_SECONDS, self._left), bool):
            return future.result()
        return self._too_long(question) if self._left <= 0 else LATER

    def wait(self) -> None:
        """Wait until all questions have their answers, as long as engines may take and nobody is gone."""
        for _, future in self._known:
            self._waited(future, self._left, self._gone)

    def _is_unwanted(self) -> bool:
        return self._is_over or self._gone()

    def _asked(self, question: Question) -> Future[Reply] | None:
        for number, (before, known) in enumerate(self._unused):
            if before == question:
                del self._unused[number]
                return known
        future = self._switchboard.ask(question, self._is_unwanted) if self._left > 0 else Future[Reply]()
        if future is not None:
            self._known.append((question, future))
        return future

    def _waited(self, future: Future[Reply], seconds: float, gone: Gone) -> bool:
        began = monotonic()
        while not future.done() and monotonic() < began + seconds and not gone():
            wait([future], min(max(began + seconds - monotonic(), 0.0), _LOOK_SECONDS))
        self._left -= monotonic() - began
        return future.done()

    def _too_long(self, question: Question) -> Reply:
        words = f"engine {question['name']} took more than {ENGINE_SECONDS:g} seconds for this request"
        return {"refused": f"{words}. Does it hang? Its entry says what one replay may take (seconds)."}
