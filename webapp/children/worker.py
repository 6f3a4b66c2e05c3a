"""The child's side: does tasks for the process that started it, within limits, and ends with that process.

This file is started as a program, imports nothing of ours and needs Python 3.9. What it does is in another file or
module, the program: its `tasks(**given)` returns functions by name. Such a function takes the request and a Parent,
which sends progress and asks questions, and returns the answer; all of these are JSON objects, and each may hold raw
bytes under `raw`. A task that raises RefusedError says no, and the child lives on; so it does after a task that was
interrupted and raised just that. After any other exception it ends, for its state is not to be trusted; nor is it where
an interrupt became another exception on its way, or a result.

==============  ====================================================================================================
frame           the length in four bytes, big-endian, then JSON in UTF-8; a length over a limit is refused unread.
                Where the JSON has `raw`, so many raw bytes follow it
to the child    {program, given, path, environment, limits, sealed, niceness, idle_seconds, frame_bytes} once, then any
                number of {task, request, seconds}, one at a time, and {reply, number} to what it asked
to the parent   MARK once, then for each task any number of {progress} and of {question, number}, and {answer, rss} or
                {failed, ...} at its end
INTERRUPT       a signal: the task that runs is wanted no more. It raises Interrupted there, wherever that is, but never
                in the middle of a message; between tasks it means nothing
==============  ====================================================================================================

Frames travel over copies of the standard streams. Standard input is empty for a program, and what it prints goes to
standard error. The child is gone as soon as the parent closes its end; where the system has timers, also long after an
answer is due and when nobody has asked for anything in a while.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

NAME = "webapp.children.worker"
MARK = b"\0toolcall-inspector worker 1\n"
MOST_BYTES = 400_000_000
GRACE = 3  # times the deadline, at which the parent kills
GRACE_SECONDS = 10.0  # besides: an interrupt may be heard late
MOST_WORDS = 200
_STATM = "/proc/self/statm"

# Of what Python reports before it does it: whatever starts a process or makes a socket.
_SEALED = ("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "socket.", "subprocess.")

INTERRUPT = getattr(signal, "SIGUSR1", None)

Tell = Callable[[dict[str, Any]], None]
Task = Callable[[dict[str, Any], Any], Mapping[str, Any]]


class RefusedError(Exception):
    """A task says no, in a sentence for whoever asked."""


class Interrupted(BaseException):
    """Nobody wants the task any more. Not an Exception: what a parser under study raises is caught as one."""


class LargeError(Exception):
    """A frame of `size` bytes is larger than the limit."""

    def __init__(self, size: int) -> None:
        super().__init__(f"a message has {size:,} bytes")
        self.size = size


def message_of(kind: str, content: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A message of this kind; the raw bytes of its content stand beside that, as `frame` wants them."""
    if "raw" not in content:
        return {kind: content, **more}
    rest = {name: value for name, value in content.items() if name != "raw"}
    return {kind: rest, "raw": content["raw"], **more}


def content_of(message: dict[str, Any], kind: str) -> dict[str, Any]:
    """The content of a message of this kind, with its raw bytes."""
    content: dict[str, Any] = message[kind]
    return {**content, "raw": message["raw"]} if "raw" in message else content


def frame(message: Mapping[str, Any], most: int = MOST_BYTES) -> bytes:
    """A message as it travels. Raises LargeError over `most` bytes, TypeError or ValueError for what is not JSON."""
    raw = message.get("raw", b"")
    head = {**message, "raw": len(raw)} if "raw" in message else message
    data = json.dumps(head, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(data) + len(raw) > most:
        raise LargeError(len(data) + len(raw))
    return b"".join([len(data).to_bytes(4, "big"), data, raw])


def receive(stream: BinaryIO, most: int = MOST_BYTES) -> Any:
    """The next message; None at the end of the stream, be it in the middle of one. Raises LargeError, ValueError."""
    head = stream.read(4)
    data = _read(stream, int.from_bytes(head, "big"), most) if len(head) == 4 else b""
    message = json.loads(data) if data else None
    if isinstance(message, dict) and "raw" in message:
        if type(message["raw"]) is not int or message["raw"] < 0:
            raise ValueError("that is no size")
        raw = _read(stream, message["raw"], most)
        return None if raw is None else {**message, "raw": raw}
    return message


def _read(stream: BinaryIO, size: int, most: int) -> bytes | None:
    """So many bytes, None where the stream ends before. Raises LargeError over `most`."""
    if size > most:
        raise LargeError(size)
    data = stream.read(size)
    return data if len(data) == size else None


def send(stream: BinaryIO, data: bytes) -> None:
    """Write a frame and flush."""
    stream.write(data)
    stream.flush()


class _Gate:
    """Lets an interrupt into a task, and keeps it out of everything else.

    `missed`: one came while the gate was shut. `rung`: the task was interrupted.
    """

    def __init__(self) -> None:
        self.open = False
        self.missed = False
        self.rung = False

    def ring(self, *_: object) -> None:
        """The handler of the signal; it raises once a task at most, for it shuts the gate."""
        self.missed = not self.open
        if self.open:
            self.open = False
            self.rung = True
            raise Interrupted

    def begin(self) -> None:
        """A task begins: what came before was not for it."""
        self.missed, self.rung = False, False
        self.open = True

    def again(self) -> None:
        """The task goes on. Raises Interrupted where somebody rang meanwhile."""
        self.open = True
        if self.missed:
            self.ring()


_gate = _Gate()
_LATE = {"failed": "late"}


class Parent:
    """The other end of the streams, while a task runs: called with progress, asked for what only it knows."""

    def __init__(self, inbox: SimpleQueue[Any], sink: BinaryIO, most: int) -> None:
        self._inbox = inbox
        self._sink = sink
        self._most = most
        self._asked = 0

    def __call__(self, progress: Mapping[str, Any]) -> None:
        """Say how far the task is."""
        self.say(message_of("progress", progress))

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The reply of the parent, which may take its time: the timer that ends the process rests meanwhile."""
        self._asked += 1
        left = _end_in(0)
        self.say(message_of("question", question, number=self._asked))
        reply = self._inbox.get()
        while reply.get("number") != self._asked:  # to a question of a task that was interrupted
            reply = self._inbox.get()
        _end_in(left)
        return content_of(reply, "reply")

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message, whole."""
        data = frame(message, self._most)
        was, _gate.open = _gate.open, False
        send(self._sink, data)
        if was:
            _gate.again()


def seal(writes: int = 0) -> None:
    """From here on this process opens no file and no socket and starts no process; there is no way back.

    What is open stays open, and no file of it gets longer than `writes` bytes. A program calls this once it has what
    it needs and before it looks at what strangers wrote, or is sealed when it is loaded (`Program.sealed`). The
    system's limit on processes means nothing to its administrator, so Python is told as well.
    """
    _limit({"FSIZE": writes, "NOFILE": 3, "NPROC": 0})
    sys.addaudithook(_refuse)


def _refuse(event: str, _given: object) -> None:
    if event.startswith(_SEALED):
        raise PermissionError(f"{event} is not for this process")


def main() -> None:
    """Serve the process at the other end of the standard streams."""
    sys.modules[NAME] = sys.modules["__main__"]  # what a program imports RefusedError from
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    _heed_signals()
    serve(source, sink)
    os._exit(0)  # a thread still reads


def serve_forked(source: Any, sink: Any, errors: Any) -> None:
    """The same for a fork of our own: the pipes are given, standard error is one of them. What it has from the start
    it shares with the process it was forked from, for the most part."""
    os.dup2(errors.fileno(), 2)
    os.dup2(2, 1)
    _heed_signals()
    serve(os.fdopen(os.dup(source.fileno()), "rb"), os.fdopen(os.dup(sink.fileno()), "wb"), forked=True)


def serve(source: BinaryIO, sink: BinaryIO, forked: bool = False) -> None:
    """Do tasks until one fails, or until the parent is gone and with it this process."""
    inbox: SimpleQueue[Any] = SimpleQueue()
    resident = _meter(forked)
    Thread(target=_listen, args=(source, inbox), daemon=True).start()
    send(sink, MARK)
    hello = inbox.get()
    most = hello["frame_bytes"]
    tasks: dict[str, Task] = {}
    parent = Parent(inbox, sink, most)

    def do(message: dict[str, Any]) -> None:
        task, request = tasks[message["task"]], content_of(message, "request")
        _gate.begin()
        answer = task(request, parent)
        _gate.open = False
        if not _gate.rung:
            parent.say(message_of("answer", answer, rss=resident()))

    failure = _failure_in(lambda hello: tasks.update(_prepared(hello)), hello)
    while failure is None:
        _end_in(hello["idle_seconds"])
        message = inbox.get()
        while "task" not in message:  # a reply that came too late
            message = inbox.get()
        _end_in(GRACE * message["seconds"] + GRACE_SECONDS)
        failure = _failure_or_late(do, message)
        if failure is not None and failure["failed"] in ("refused", "late") and not failure.get("over"):
            send(sink, frame({**failure, "rss": resident()}))
            failure = None
    send(sink, frame(failure))


def _heed_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if INTERRUPT is not None:
        signal.signal(INTERRUPT, _gate.ring)


def _failure_or_late(work: Callable[[Any], object], given: Any) -> Any:
    """The message for what is raised by the work; `over`: it was interrupted, and something made of that what it is
    not. An interrupt may come while the message is still being written."""
    try:
        failure = _failure_in(work, given)
        _gate.open = False
    except Interrupted:
        failure = _LATE
    return {**_LATE, "over": True} if _gate.rung and failure is not _LATE else failure


def _failure_in(work: Callable[[Any], object], given: Any) -> Any:
    """Work; the message for what is raised then. Panics of libraries are no Exception, so that nobody goes on."""
    try:
        work(given)
    except Interrupted:
        return _LATE
    except RefusedError as error:
        return {"failed": "refused", "message": str(error)}
    except MemoryError:
        return {"failed": "memory"}
    except LargeError as error:
        return {"failed": "large", "size": error.size}
    except BaseException as error:
        words = (str(error).splitlines() or [type(error).__name__])[0][:MOST_WORDS]
        kind = "error" if isinstance(error, Exception) else "panic"
        return {"failed": kind, "message": words, "detail": traceback.format_exc()}
    return None


def _listen(source: BinaryIO, inbox: SimpleQueue[Any]) -> None:
    """Read ahead, so that the parent's end is noticed whatever a task is doing."""
    try:
        message = receive(source)
        while message is not None:
            inbox.put(message)
            message = receive(source)
    except (OSError, ValueError, LargeError):
        pass
    os._exit(1)


def _prepared(hello: Mapping[str, Any]) -> Mapping[str, Task]:
    """The tasks of the program. The limits begin once it is loaded: none of the files it needs is a stranger's."""
    if hello["environment"] is not None:
        os.environ.clear()
        os.environ.update(hello["environment"])
    if hello["niceness"] and hasattr(os, "nice"):
        os.nice(hello["niceness"])
    sys.path.extend([entry for entry in hello["path"] if entry not in sys.path])
    tasks: Mapping[str, Task] = _module(hello["program"]).tasks(**hello["given"])
    _limit(hello["limits"])
    if hello["sealed"]:
        seal()
    return tasks


def _module(name: str) -> Any:
    if not name.endswith(".py"):
        return import_module(name)
    spec = spec_from_file_location(Path(name).stem, name)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _limit(limits: Mapping[str, int]) -> None:
    """Take no more than this of each resource (the system's names, as in RLIMIT_AS), where the system has limits."""
    if find_spec("resource") is None:
        return
    import resource

    for name, most in {"CORE": 0, **limits}.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _end_in(seconds: float) -> float:
    """Let the system end this process after so long, whatever it is doing then; 0: not at all. The time that was left.

    A task may use the timer for itself.
    """
    return signal.setitimer(signal.ITIMER_REAL, seconds)[0] if hasattr(signal, "setitimer") else 0.0


def _meter(shared: bool) -> Callable[[], int]:
    """Return what tells how much memory this process takes, in bytes; 0 where the system does not tell. Without what
    it has now where that is `shared`. The file is opened now, for it cannot be once the process is sealed."""
    try:
        file = os.open(_STATM, os.O_RDONLY)
    except OSError:
        return int

    def taken() -> int:
        return int(os.pread(file, 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")

    first = taken() if shared else 0
    return lambda: max(taken() - first, 0)


if __name__ == "__main__":
    main()
