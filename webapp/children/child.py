"""One child process seen from here: started by the first question, asked one thing at a time, killed by its id.

It is told where programs and libraries are and nothing else of our environment, and it is given limits before it sees
what strangers wrote. Whatever can go wrong ends in one ChildError; the next question starts another process.
"""

from __future__ import annotations

import io
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, BinaryIO, cast
from uuid import uuid4

from webapp.children import fork_server, worker
from webapp.children.family import TAG, Group, end_strays, sleeps
from webapp.children.held_pipes import ABLE, HeldPipe
from webapp.children.resident import resident_bytes
from webapp.children.wires import GARBLED, Frames, Lines, Wire
from webapp.children.worker import INTERRUPT, LargeError, content_of, message_of, send

Answer = dict[str, Any]

_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_LOOK_SECONDS = 0.2  # how long a child may work on when nobody wants that any more
_GOODBYE_SECONDS = 2.0
_MOST_LAST_WORDS = 4_000  # bytes
_LAST = {"answer", "failed"}  # messages of which one ends a task
_BORED = -getattr(signal, "SIGALRM", 0)


class Ending(Enum):
    """Why there is no answer."""

    LATE = "late"  # interrupted or killed at the deadline
    CANCELLED = "cancelled"  # interrupted or killed because nobody wanted the answer any more
    CLOSED = "closed"  # closed by another thread
    BUSY = "busy"  # not asked: there was no place for one more child
    ABSENT = "absent"  # not asked: the system started no process, and says why
    ENDED = "ended"  # the process is gone
    MEMORY = "memory"
    LARGE = "large"  # a message was larger than it may be
    REFUSED = "refused"  # the task said no, in a sentence
    ERROR = "error"  # the task raised an exception
    PANIC = "panic"  # the task raised what is no Exception, as libraries written in Rust do; or what came is no message


_ENDINGS = [ending.value for ending in Ending]


class ChildError(Exception):
    """There is no answer. `message` is the task's own, `detail` a traceback or the last words on standard error.

    `code` is the exit code of a process that ended, negative for a signal; `size` that of a large message, in bytes.
    `begun` False: the process had ended before it was asked.
    """

    def __init__(
        self,
        ending: Ending,
        message: str = "",
        *,
        detail: str = "",
        code: int | None = None,
        size: int = 0,
        begun: bool = True,
    ) -> None:
        super().__init__(ending.value, message)
        self.ending = ending
        self.message = message
        self.detail = detail
        self.code = code
        self.size = size
        self.begun = begun and code != _BORED


@dataclass(slots=True, frozen=True)
class Program:
    """Holds what a child does: the name of a module or the path of a file with `tasks(**given)`, see worker.py.

    `limits` are by the system's names (AS, DATA: bytes; CPU: seconds). A `sealed` process opens no file and no socket
    and starts no process once its program is loaded (`worker.seal`). `python` starts an interpreter
    and `path` is where it finds more modules than its own; None stands for all of ours. `variables` of our environment
    are passed on, `environment` is set. With `fork` a server that has the module loaded makes the process, where the
    system can do that; it takes a twentieth of the time that an import of ours does.

    A task that is late, or wanted no more, is interrupted and has `grace_seconds` to end before the process is killed;
    with 0 the process is killed at once. What it writes to standard error is passed on with `heard`.
    Seconds of a question are of the process's own work where the system tells of it, so that a busy machine ends
    nothing sooner, and at most `patience` times as many by the clock. After `hurry` times as many by the clock, half of
    the work is enough.

    Where `command` is given, that is what runs, in `folder`, whoever wrote it, and messages are lines of JSON: nothing
    is told of limits then, and it is ended with all that it started. It is ended too when that all keeps more than
    `resident_bytes` in memory, unless these are 0. While all of that sleeps, the time counts like work.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    sealed: bool = False
    python: tuple[str, ...] = (sys.executable, "-I")
    path: tuple[str, ...] | None = None
    variables: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    answer_bytes: int = 100_000_000
    idle_seconds: float = 300
    niceness: int = 0
    fork: bool = False
    grace_seconds: float = 0
    patience: float = 1
    hurry: float = math.inf
    heard: bool = False
    command: tuple[str, ...] = ()
    folder: str | None = None
    resident_bytes: int = 0

    @property
    def wire(self) -> Wire:
        """How messages travel, for one process."""
        return Lines() if self.command else Frames()

    @property
    def forks(self) -> bool:
        """Return whether its processes are forks. A plain fork would copy a process in which other threads run."""
        return self.fork and "forkserver" in multiprocessing.get_all_start_methods()

    @property
    def environ(self) -> dict[str, str]:
        """All variables of its processes. One arena: what a second thread reserves would count as memory taken."""
        return {**bare_environment(*self.variables), "MALLOC_ARENA_MAX": "1", **self.environment}

    @property
    def hello(self) -> dict[str, Any]:
        """The first message to a process."""
        return {
            "program": self.name,
            "given": dict(self.given),
            "path": [entry for entry in sys.path if entry] if self.path is None else self.path,
            "environment": self.environ if self.forks else None,
            "limits": dict(self.limits),
            "sealed": self.sealed,
            "niceness": self.niceness,
            "idle_seconds": self.idle_seconds,
            "frame_bytes": self.answer_bytes,
        }


def preload(program: Program, *modules: str) -> None:
    """Start the server that forks, unless it runs already, with the modules of all programs loaded that came so far."""
    if program.forks:
        fork_server.preload(program.name, *modules)


def bare_environment(*more: str) -> dict[str, str]:
    """The variables that any program needs, and those named in `more` (upper case): no password, no token."""
    wanted = {*_NEEDED, *more}
    return {name: value for name, value in os.environ.items() if name.upper() in wanted}


@dataclass(slots=True, frozen=True)
class _Question:
    """A task with its request, and what whoever asks wishes meanwhile."""

    task: str
    request: Mapping[str, Any]
    seconds: float
    on_progress: Callable[[dict[str, Any]], object] | None = None
    on_question: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    cancelled: Callable[[], bool] | None = None


class Child:
    """A process and what it is asked. Safe to share between threads: questions wait for each other.

    `first` is a task with its request that a fresh process does before anything else. `rss` is the memory that the
    process took when it last answered, in bytes, without what a fork has from the start.
    """

    def __init__(self, program: Program, first: tuple[str, Mapping[str, Any]] | None = None) -> None:
        self.rss = 0
        self._program = program
        self._first = first
        self._process: _Process | None = None
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
    ) -> Answer:
        """The answer of the task, within so many seconds; what a fresh process does first may take as many again.

        `on_question` replies to what the task asks; the time it takes for that does not count. `cancelled` is called
        now and then, and once it says so the task is interrupted, or the process killed. Raises ChildError.
        """
        question = _Question(task, request, seconds, on_progress, on_question, cancelled)
        with self._lock:
            try:
                return self._answer(self._ready(question), question)
            except ChildError as error:
                if error.begun:
                    raise
            return self._answer(self._ready(question), question)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        self.rss = 0
        if process is not None:
            self._end()

    def _ready(self, question: _Question) -> _Process:
        if self._process is not None:
            return self._process
        try:
            process = (_forked if self._program.forks else _spawned)(self._program)
        except OSError as error:
            raise ChildError(Ending.ABSENT, str(error)) from error
        self._end = weakref.finalize(self, process.end)
        self._process = process  # only now: another thread that closes this child has to find the end of it
        process.tell(self._program.hello)
        if self._first is not None:
            try:
                self._answer(process, _Question(*self._first, question.seconds, cancelled=question.cancelled))
            except ChildError:
                self.close()
                raise
        return process

    def _answer(self, process: _Process, question: _Question) -> Answer:
        watch = _Watch(process, question, self._program)
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
            code = process.wait(_GOODBYE_SECONDS)
            self.close()
            raise ChildError(Ending.ENDED, detail=process.last_words, code=code, begun=process.asked)
        self.rss = last.get("rss", 0)
        if "failed" in last:
            failure = self._failure(last)
            raise failure if failure.ending is not Ending.LATE else ChildError(watch.ending or Ending.LATE)
        return content_of(last, "answer")

    def _last_message(self, process: _Process, question: _Question, watch: _Watch) -> Any:
        """The last message to a question, None where the process is gone without one."""
        try:
            latest = self._program.patience * question.seconds
            process.ask(message_of("request", question.request, task=question.task, seconds=latest))
            while (message := process.hear(self._program.answer_bytes)) is not None and not _LAST & message.keys():
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


class _Process:
    """A process that runs, and the pipes to it. `wait` takes seconds and gives the exit code once there is one.
    `asked`: the last question reached it."""

    def __init__(
        self,
        pid: int,
        kill: Callable[[], None],
        wait: Callable[[float | None], int | None],
        *,
        sink: BinaryIO,
        source: BinaryIO,
        errors: BinaryIO,
        program: Program,
    ) -> None:
        self.pid = pid
        self.kill = kill
        self.wait = wait
        self.asked = False
        self._sink = sink
        self._source = source
        self._errors = errors
        self._echo = program.heard
        self._foreign = bool(program.command)
        self._wire = program.wire
        self._last_words = b""
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return self._last_words.decode("utf-8", "replace")

    @property
    def gone(self) -> bool:
        """Return whether it has ended: nobody holds the other end of what it writes to standard error, which means
        little of what is not ours."""
        return self.wait(0) is not None if self._foreign else not self._listener.is_alive()

    def worked(self) -> float:
        """For how many seconds it was at work so far, not counting those in which it waited for a processor; infinite
        where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            return math.inf
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt(self) -> bool:
        """Let the task that runs end; says whether there is a way to do that."""
        if INTERRUPT is None:
            return False
        with suppress(OSError):
            os.kill(self.pid, INTERRUPT)
        return True

    def tell(self, message: Mapping[str, Any]) -> bool:
        """Send a message; False where the process is gone, which is noticed too when it is to be heard. Raises
        LargeError."""
        data = self._wire.written(message)
        try:
            send(self._sink, data)
        except (OSError, ValueError):  # the second: closed by another thread
            return False
        return True

    def ask(self, message: Mapping[str, Any]) -> None:
        """Send a question, and know whether there was anybody to ask. Raises LargeError."""
        self.asked = self.tell(message)

    def hear(self, most: int) -> Any:
        """The next message, None where the process is gone. Raises LargeError."""
        try:
            message = self._wire.heard(self._source, most)
        except OSError:
            return None
        except (ValueError, RecursionError):
            return GARBLED
        return message if message is None or _is_message(message) else GARBLED

    def end(self) -> None:
        """Kill it by its id, and leave nothing of it behind."""
        self.kill()
        for stream in (self._sink, self._source):
            with suppress(OSError):
                stream.close()
        self.wait(None)
        self._listener.join(_GOODBYE_SECONDS)

    def _listen(self) -> None:
        with self._errors as errors:
            while data := _some(errors):
                self._last_words = (self._last_words + data)[-_MOST_LAST_WORDS:]
                if self._echo:
                    sys.stderr.write(data.decode("utf-8", "replace"))
                    sys.stderr.flush()


def _some(stream: BinaryIO) -> bytes:
    """Some bytes of a stream as soon as there are any; none at its end."""
    if isinstance(stream, HeldPipe):
        return stream.read(_MOST_LAST_WORDS) or b""
    return os.read(stream.fileno(), _MOST_LAST_WORDS)


def _no_reply(_question: dict[str, Any]) -> Mapping[str, Any]:
    """Return what a task gets that asks where nobody listens."""
    return {}


def _is_message(message: Any) -> bool:
    """Return whether a child may say that: what took it over may say anything."""
    if not isinstance(message, dict):
        return False
    if "answer" in message:
        return isinstance(message["answer"], dict) and isinstance(message.get("rss"), int)
    if "progress" in message:
        return isinstance(message["progress"], dict)
    if "question" in message:
        return isinstance(message["question"], dict) and isinstance(message.get("number"), int)
    sizes = {type(message.get(name, 0)) for name in ("rss", "size")}
    return message.get("failed") in _ENDINGS and sizes == {int}


def _spawned(program: Program) -> _Process:
    pipe, command, tag = subprocess.PIPE, program.command or (*program.python, worker.__file__), uuid4().hex
    environ = {**program.environ, TAG: tag} if program.command else program.environ
    how: dict[str, Any] = {"env": environ, "cwd": program.folder, "start_new_session": bool(program.command)}
    popen = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **how)  # noqa: S603
    if program.command and ABLE:
        return _held(popen, tag, program)

    def wait(seconds: float | None) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            popen.wait(seconds)
        return popen.returncode

    sink, source, errors = (cast("BinaryIO", stream) for stream in (popen.stdin, popen.stdout, popen.stderr))
    return _Process(popen.pid, popen.kill, wait, sink=sink, source=source, errors=errors, program=program)


def _held(popen: subprocess.Popen[bytes], tag: str, program: Program) -> _Process:
    """Somebody else's process, which may start others: they are ended with it, and never waited for."""
    files = [cast("io.BufferedIOBase", one).detach() for one in (popen.stdin, popen.stdout, popen.stderr)]
    sink, source, errors = pipes = [HeldPipe(os.dup(file.fileno())) for file in files]
    theirs = {os.fstat(one.fileno()).st_ino: one is not sink for one in pipes}  # whether their end is written to
    for file in files:
        file.close()
    group = Group(popen)

    def kill() -> None:
        group.kill()
        end_strays(tag, theirs)
        for one in pipes:
            one.leave()

    streams = {"sink": io.BufferedWriter(sink), "source": io.BufferedReader(source), "errors": errors}
    return _Process(popen.pid, kill, group.wait, **cast("dict[str, BinaryIO]", streams), program=program)


def _forked(program: Program) -> _Process:
    """A fork of a server that has our modules loaded and no thread, so that it inherits no lock."""
    context = multiprocessing.get_context("forkserver")
    pipes = [context.Pipe(duplex=False) for _ in range(3)]
    (their_source, sink), (source, their_sink), (errors, their_errors) = pipes
    theirs = (their_source, their_sink, their_errors)
    process = context.Process(target=worker.serve_forked, args=theirs, daemon=True)
    preload(program)
    fork_server.start(process)

    def wait(seconds: float | None) -> int | None:
        process.join(seconds)
        return process.exitcode

    streams = [os.fdopen(os.dup(ours.fileno()), mode) for ours, mode in ((sink, "wb"), (source, "rb"), (errors, "rb"))]
    for connection in (*theirs, sink, source, errors):
        connection.close()
    sink_file, source_file, errors_file = (cast("BinaryIO", stream) for stream in streams)
    files = {"sink": sink_file, "source": source_file, "errors": errors_file}
    return _Process(process.pid or 0, process.kill, wait, **files, program=program)


class _Watch(Thread):
    """Interrupts a task at the deadline of a question, or when nobody wants the answer any more, or kills its process.

    `ending` says why, once it has done so; `killed`, whether the process was.
    """

    def __init__(self, process: _Process, question: _Question, program: Program) -> None:
        super().__init__(daemon=True)
        self.ending: Ending | None = None
        self.killed = False
        self._process = process
        self._seconds = question.seconds
        self._end = monotonic() + question.seconds
        self._latest = monotonic() + program.patience * question.seconds
        self._hurried = monotonic() + program.hurry * question.seconds
        self._before = process.worked() if program.patience > 1 else math.inf
        self._cancelled = question.cancelled
        self._grace = program.grace_seconds
        self._looks = bool(question.cancelled or program.command)
        self._own = not program.command
        self._most = program.resident_bytes
        self._slept, self._looked = 0.0, (monotonic(), self._before)
        self._rests = False
        self._done = Event()
        self.start()

    def run(self) -> None:
        while self.ending is None:
            left = max(self._end - monotonic(), _LOOK_SECONDS if self._rests else 0)
            if self._done.wait(min(left, _LOOK_SECONDS) if self._looks else left):
                return
            if self._rests:
                continue
            if not self._own:
                self._note_sleep()
            if not self._own and self._process.wait(0) is not None:
                self._process.kill()  # what it started, which holds its end of our pipes
                return
            if self._most and resident_bytes(self._process.pid) > self._most:
                self.ending = Ending.MEMORY
                break
            if monotonic() >= self._end and not self._goes_on():
                self.ending = Ending.LATE
            elif self._is_unwanted():
                self.ending = Ending.CANCELLED
        if self._grace and self._process.interrupt() and self._done.wait(self._grace):
            return
        self.killed = True
        self._process.kill()

    def _is_unwanted(self) -> bool:
        """Whether nobody wants the answer. Who cannot say so is not asked again: the deadline has to be kept."""
        try:
            return self._cancelled is not None and self._cancelled()
        except Exception:
            self._cancelled = None
            return False

    def _note_sleep(self) -> None:
        """Count what it slept since that was looked at last, as far as it did not work then."""
        (before, worked_before), (now, worked) = self._looked, (monotonic(), self._process.worked())
        self._looked = now, worked
        if worked < math.inf and sleeps(self._process.pid):
            self._slept += max(now - before - (worked - worked_before), 0.0)

    def _goes_on(self) -> bool:
        """Whether the task has more time, since it had no processor for all of it."""
        worked = self._process.worked() - self._before + self._slept
        now = monotonic()
        hurries = now >= self._hurried
        enough = self._seconds / 2 if hurries else self._seconds
        if not worked < enough:  # which is also so where nobody can tell
            return False
        until = self._latest if hurries else min(self._latest, self._hurried)
        self._end = min(now + max(enough - worked, _LOOK_SECONDS), until)
        return now < self._end

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Inside the block the process waits for us, and has that time besides."""
        began, self._rests = monotonic(), True
        try:
            yield
        finally:
            rested = monotonic() - began
            self._end, self._latest = self._end + rested, self._latest + rested
            self._hurried += rested
            self._rests = False

    def stop(self) -> None:
        """The question is over."""
        self._done.set()
        self.join()
