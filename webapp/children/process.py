"""One process of a child, started and killed by its id, and the pipes to it."""

from __future__ import annotations

import io
import math
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from typing import Any, BinaryIO, cast
from uuid import uuid4

from webapp.children import fork_server, worker
from webapp.children.descendants import Descendants, keep_orphans
from webapp.children.endings import ENDINGS
from webapp.children.family import TAG, Group, end_strays, worked
from webapp.children.held_pipes import ABLE, HeldPipe
from webapp.children.program import Program
from webapp.children.wires import GARBLED
from webapp.children.worker import INTERRUPT, send

GOODBYE_SECONDS = 2.0
_MOST_LAST_WORDS = 4_000  # bytes


class Process:
    """A process that runs, and the pipes to it. `wait` takes seconds and gives the exit code once there is one.
    `asked`: the last question reached it. `descendants`: what it started."""

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
        self.descendants = Descendants(pid)
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
        seconds = worked(self.pid)
        return math.inf if seconds is None else seconds

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

    def unasked(self) -> bytes:
        """How that begins which somebody else's program said since its last answer: it would be taken for the next."""
        raw = getattr(self._source, "raw", None)
        if not isinstance(raw, HeldPipe):
            return b""
        with raw.at_once(), suppress(OSError, ValueError):
            return cast("io.BufferedReader", self._source).peek(1)
        return b""

    def ask(self, message: Mapping[str, Any]) -> None:
        """Send a question, and know whether there was anybody to ask. Raises LargeError."""
        self.asked = self.tell(message)

    def hear(self, most: int, steps: int = 0) -> Any:
        """The next message, of at most so many bytes, to replays of so many steps; None where the process is gone.
        Raises LargeError."""
        try:
            message = self._wire.heard(self._source, most, steps)
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
        self._listener.join(GOODBYE_SECONDS)

    def _listen(self) -> None:
        with self._errors as errors:
            while data := _some(errors):
                self._last_words = (self._last_words + data)[-_MOST_LAST_WORDS:]
                if self._echo:
                    sys.stderr.write(data.decode("utf-8", "replace"))
                    sys.stderr.flush()


def preload(program: Program, *modules: str) -> None:
    """Start the server that forks, unless it runs already, with the modules of all programs loaded that came so far."""
    if program.forks:
        fork_server.preload(program.name, *modules)


def started(program: Program) -> Process:
    """A process of the program. Raises OSError where the system starts none."""
    return (_forked if program.forks else _spawned)(program)


def _some(stream: BinaryIO) -> bytes:
    """Some bytes of a stream as soon as there are any; none at its end."""
    if isinstance(stream, HeldPipe):
        return stream.read(_MOST_LAST_WORDS) or b""
    return os.read(stream.fileno(), _MOST_LAST_WORDS)


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
    return message.get("failed") in ENDINGS and sizes == {int}


def _spawned(program: Program) -> Process:
    pipe, command, tag = subprocess.PIPE, program.command or (*program.python, worker.__file__), uuid4().hex
    environ = {**program.environ, TAG: tag} if program.command else program.environ
    how: dict[str, Any] = {"env": environ, "cwd": program.folder, "start_new_session": bool(program.command)}
    if program.command:
        how["preexec_fn"] = keep_orphans  # loads nothing and takes no lock of ours
    popen = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **how)  # noqa: S603
    if program.command and ABLE:
        return _held(popen, tag, program)

    def wait(seconds: float | None) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            popen.wait(seconds)
        return popen.returncode

    sink, source, errors = (cast("BinaryIO", stream) for stream in (popen.stdin, popen.stdout, popen.stderr))
    return Process(popen.pid, popen.kill, wait, sink=sink, source=source, errors=errors, program=program)


def _held(popen: subprocess.Popen[bytes], tag: str, program: Program) -> Process:
    """Somebody else's process, which may start others: they are ended with it, and never waited for."""
    files = [cast("io.BufferedIOBase", one).detach() for one in (popen.stdin, popen.stdout, popen.stderr)]
    sink, source, errors = pipes = [HeldPipe(os.dup(file.fileno())) for file in files]
    theirs = {os.fstat(one.fileno()).st_ino: one is not sink for one in pipes}  # whether their end is written to
    for file in files:
        file.close()
    group, descendants = Group(popen), Descendants(popen.pid)

    def kill() -> None:
        group.stop()
        descendants.end()
        group.kill()
        end_strays(tag, theirs)
        for one in pipes:
            one.leave()

    streams = {"sink": io.BufferedWriter(sink), "source": io.BufferedReader(source), "errors": errors}
    made = Process(popen.pid, kill, group.wait, **cast("dict[str, BinaryIO]", streams), program=program)
    made.descendants = descendants
    return made


def _forked(program: Program) -> Process:
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
    return Process(process.pid or 0, process.kill, wait, **files, program=program)
