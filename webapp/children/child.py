"""One child process seen from here: started by the first question, asked one thing at a time, killed by its id.

It is told where programs and libraries are and nothing else of our environment, and it is given limits before it sees
what strangers wrote. Whatever can go wrong ends in one ChildError; the next question starts another process.
"""

from __future__ import annotations

import signal
import weakref
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from webapp.children.deadline import Question, Watch
from webapp.children.descendants import Being
from webapp.children.endings import ChildError, Ending
from webapp.children.process import GOODBYE_SECONDS, Process, started
from webapp.children.program import Program
from webapp.children.wires import unasked
from webapp.children.worker import LargeError, content_of, message_of

Answer = dict[str, Any]

_BORED = -getattr(signal, "SIGALRM", 0)  # what a worker of ours ends by that was asked nothing for long
_LAST = {"answer", "failed"}  # messages of which one ends a task


class Child:
    """A process and what it is asked. Safe to share between threads: questions wait for each other.

    `first` is a task with its request that a fresh process does before anything else. `rss` is the memory that the
    process took when it last answered, in bytes, without what a fork has from the start.
    """

    def __init__(self, program: Program, first: tuple[str, Mapping[str, Any]] | None = None) -> None:
        self.rss = 0
        self._program = program
        self._first = first
        self._process: Process | None = None
        self._lock = Lock()
        self._end: Callable[[], object] = bool

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The id of the process while there is one."""
        process = self._process
        return None if process is None else process.pid

    def others(self) -> frozenset[Being]:
        """What its process started, and lives."""
        process = self._process
        return frozenset() if process is None else process.descendants.living()

    def worked(self) -> float:
        """For how many seconds its process and what that started were at work so far."""
        process = self._process
        return 0.0 if process is None else process.descendants.worked()

    def tidy(self) -> None:
        """Take leave of a process that has ended itself. Nobody may be asking it."""
        process = self._process
        if process is not None and process.gone:
            self.close()

    def ask(
        self,
        task: str,
        request: Mapping[str, Any],
        *,
        seconds: float,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
        on_question: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
        cancelled: Callable[[], bool] | None = None,
        steps: int = 0,
    ) -> Answer:
        """The answer of the task, within so many seconds; what a fresh process does first may take as many again.

        `on_question` replies to what the task asks; the time it takes for that does not count. `cancelled` is called
        now and then, and once it says so the task is interrupted, or the process killed. `steps`: of the replays that
        somebody else's program is asked for, by which is bounded what it may say. What ended before it was asked
        is asked again in another process, but for somebody else's program: who asks that has to greet it first. Raises
        ChildError.
        """
        question = Question(task, request, seconds, on_progress, on_question, cancelled, steps)
        with self._lock:
            try:
                return self._answer(self._ready(question), question)
            except ChildError as error:
                if error.begun or self._program.command:
                    raise
            return self._answer(self._ready(question), question)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        self.rss = 0
        if process is not None:
            self._end()

    def _ready(self, question: Question) -> Process:
        if self._process is not None:
            return self._process
        try:
            process = started(self._program)
        except OSError as error:
            raise ChildError(Ending.ABSENT, str(error)) from error
        self._end = weakref.finalize(self, process.end)
        self._process = process  # only now: another thread that closes this child has to find the end of it
        process.tell(self._program.hello)
        if self._first is not None:
            try:
                self._answer(process, Question(*self._first, question.seconds, cancelled=question.cancelled))
            except ChildError:
                self.close()
                raise
        return process

    def _answer(self, process: Process, question: Question) -> Answer:
        watch = Watch(process, question, self._program)
        try:
            last = self._last_message(process, question, watch)
        except BaseException:  # of whoever listens to progress: the process is in the middle of a task
            self.close()
            raise
        finally:
            watch.stop()
        if self._process is not process:
            raise ChildError(Ending.CLOSED)
        if watch.killed or (watch.ending is not None and last is None):
            self.close()
            raise ChildError(watch.ending or Ending.LATE)
        if last is None:
            code = process.wait(GOODBYE_SECONDS)
            self.close()
            begun = process.asked and (code != _BORED or bool(self._program.command))
            raise ChildError(Ending.ENDED, detail=process.last_words, code=code, begun=begun)
        self.rss = last.get("rss", 0)
        if "failed" in last:
            failure = self._failure(last)
            raise failure if failure.ending is not Ending.LATE else ChildError(watch.ending or Ending.LATE)
        return content_of(last, "answer")

    def _last_message(self, process: Process, question: Question, watch: Watch) -> Any:
        """The last message to a question, None where the process is gone without one."""
        try:
            latest = self._program.patience * question.seconds
            if stray := process.unasked():
                return unasked(stray)
            process.ask(message_of("request", question.request, task=question.task, seconds=latest))
            bounds = self._program.answer_bytes, question.steps
            while (message := process.hear(*bounds)) is not None and not _LAST & message.keys():
                if "question" in message:
                    with watch.resting():
                        reply = (question.on_question or _no_reply)(content_of(message, "question"))
                    process.tell(message_of("reply", reply, number=message["number"]))
                elif question.on_progress is not None:
                    question.on_progress(content_of(message, "progress"))
        except LargeError as error:
            return {"failed": Ending.LARGE.value, "size": error.size}
        return message

    def _failure(self, message: dict[str, Any]) -> ChildError:
        ending = Ending(message["failed"])
        if ending not in (Ending.REFUSED, Ending.LATE) or "over" in message:
            self.close()
        words, detail = str(message.get("message", "")), str(message.get("detail", ""))
        return ChildError(ending, words, detail=detail, size=message.get("size", 0))


def _no_reply(_question: dict[str, Any]) -> Mapping[str, Any]:
    """Return what a task gets that asks where nobody listens."""
    return {}
