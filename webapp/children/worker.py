"""The child's side: does tasks for the process that started it, within limits, and ends with that process.

This file is started as a program, imports nothing of ours and needs Python 3.9. What it does is in another file or
module, the program: its `tasks(**given)` returns functions by name. Such a function takes the request and a function
that sends progress, and returns the answer; all of these are JSON objects. A task that raises RefusedError says no, and
the child lives on; after any other exception it ends, for its state is not to be trusted.

==============  ====================================================================================================
frame           the length in four bytes, big-endian, then JSON in UTF-8; a length over a limit is refused unread
to the child    {program, given, path, environment, limits, sealed, niceness, idle_seconds, frame_bytes} once, then any
                number of {task, request, seconds}, one at a time
to the parent   MARK once, then for each task any number of {progress}, and {answer, rss} or {failed, ...} at its end
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
MOST_WORDS = 200
_STATM = "/proc/self/statm"

# Of what Python reports before it does it: whatever starts a process or makes a socket.
_SEALED = ("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "socket.", "subprocess.")

Tell = Callable[[dict[str, Any]], None]
Task = Callable[[dict[str, Any], Tell], Mapping[str, Any]]


class RefusedError(Exception):
    """A task says no, in a sentence for whoever asked."""


class LargeError(Exception):
    """A frame of `size` bytes is larger than the limit."""

    def __init__(self, size: int) -> None:
        super().__init__(f"a message has {size:,} bytes")
        self.size = size


def frame(message: Mapping[str, Any], most: int = MOST_BYTES) -> bytes:
    """A message as it travels. Raises LargeError over `most` bytes, TypeError or ValueError for what is not JSON."""
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(data) > most:
        raise LargeError(len(data))
    return len(data).to_bytes(4, "big") + data


def receive(stream: BinaryIO, most: int = MOST_BYTES) -> Any:
    """The next message; None at the end of the stream, be it in the middle of one. Raises LargeError, ValueError."""
    head = stream.read(4)
    size = int.from_bytes(head, "big")
    if size > most:
        raise LargeError(size)
    data = stream.read(size) if len(head) == 4 else b""
    return json.loads(data) if data and len(data) == size else None


def send(stream: BinaryIO, data: bytes) -> None:
    """Write a frame and flush."""
    stream.write(data)
    stream.flush()


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(source, sink)
    os._exit(0)  # a thread still reads


def serve_forked(source: Any, sink: Any, errors: Any) -> None:
    """The same for a fork of our own: the pipes are given, standard error is one of them."""
    os.dup2(errors.fileno(), 2)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(os.fdopen(os.dup(source.fileno()), "rb"), os.fdopen(os.dup(sink.fileno()), "wb"))


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Do tasks until one fails, or until the parent is gone and with it this process."""
    inbox: SimpleQueue[Any] = SimpleQueue()
    resident = _meter()
    Thread(target=_listen, args=(source, inbox), daemon=True).start()
    send(sink, MARK)
    hello = inbox.get()
    most = hello["frame_bytes"]
    tasks: dict[str, Task] = {}

    def tell(progress: dict[str, Any]) -> None:
        send(sink, frame({"progress": progress}, most))

    def do(asked: Mapping[str, Any]) -> None:
        answer = tasks[asked["task"]](asked["request"], tell)
        send(sink, frame({"answer": answer, "rss": resident()}, most))

    failure = _failure_in(lambda hello: tasks.update(_prepared(hello)), hello)
    while failure is None:
        _end_in(hello["idle_seconds"])
        asked = inbox.get()
        _end_in(GRACE * asked["seconds"])
        failure = _failure_in(do, asked)
        if failure is not None and failure["failed"] == "refused":
            send(sink, frame(failure))
            failure = None
    send(sink, frame(failure))


def _failure_in(work: Callable[[Any], object], given: Any) -> Any:
    """Work; the message for what is raised then. Panics of libraries are no Exception, so that nobody goes on."""
    try:
        work(given)
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


def _end_in(seconds: float) -> None:
    """Let the system end this process after so long, whatever it is doing then. A task may use the timer for itself."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _meter() -> Callable[[], int]:
    """Return what tells how much memory this process takes, in bytes; 0 where the system does not tell. What it reads
    is opened now, for it cannot be once the process is sealed."""
    try:
        file = os.open(_STATM, os.O_RDONLY)
    except OSError:
        return int
    return lambda: int(os.pread(file, 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
