"""The inspector, which is never imported here: a process that is talked to over its pipes, or a server.

Over pipes it asks the parser in the middle of a task. A server cannot ask, so it is given all that the parser has said
so far, and answers what it wants to know next until that is enough. Nothing that comes from either names a program or a
file here; all that is done with it is to feed texts to the parser, and to print.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from time import monotonic, sleep
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

PROTOCOL = 1
START_SECONDS = 180.0  # a container may be fetched, or a package by uvx
SECONDS = 600.0
MOST_LINE = 100_000_000
GOODBYE_SECONDS = 5.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
REFUSED = (401, 403, 407)
BUSY = (429, 503)
TIMES = 5  # that a busy server is asked
MOST_WAIT = 60  # seconds in between
HEADER_VARIABLE = "TOOLCALL_INSPECTOR_HEADER"  # NAME: VALUE, for a server that lets only those in who have a secret
NOT_PASSED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONPLATLIBDIR", "__PYVENV_LAUNCHER__")
HOW = (
    "say where it is with --toolcall-inspector, or with toolcall_inspector in the configuration of pytest: a command "
    "(uvx toolcall-inspector, docker run --rm -i IMAGE toolcall-inspector), or the address of a server"
)

Play = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class InspectorError(Exception):
    """The inspector cannot be asked, or says that it cannot do what was asked. One sentence."""


class InspectorLostError(InspectorError):
    """The process is gone, or nobody knows what it says next: another one has to be started."""


class Inspector(Protocol):
    """One inspector."""

    def ask(self, task: str, asked: Mapping[str, Any], play: Play | None) -> dict[str, Any]:
        """The answer to a task; `play` answers for the parser that is served. Raises InspectorError."""

    def is_gone(self) -> bool:
        """Whether it is a process of ours that ended."""

    def close(self) -> None:
        """End it, if it is ours."""


def inspector_at(where: str, folder: str) -> Inspector:
    """The one of an address or a command, which is started in a folder. Raises InspectorError."""
    if where.startswith(("http://", "https://")):
        return Server(where)
    return Piped(where, folder)


class Piped:
    """A process of ours. It gets the environment without what says where Python finds modules: that is for ours."""

    def __init__(self, command: str, folder: str) -> None:
        self._command = command
        words = [*shlex.split(command, posix=os.name != "nt"), "attend"]
        environment = {name: value for name, value in os.environ.items() if name not in NOT_PASSED}
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the user said
                words, stdin=pipe, stdout=pipe, stderr=self._errors, cwd=folder, env=environment
            )
        except OSError as error:
            self._errors.close()
            words_of_error = f"the inspector cannot be started ({command}: {error.strerror})"
            raise InspectorError(f"{words_of_error}; {HOW}") from error
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            said = self._told({"hello": {"protocol": PROTOCOL}}, START_SECONDS, f"; {HOW}")
            answer = said.get("answer")
            if not isinstance(answer, dict) or answer.get("protocol") != PROTOCOL:
                raise InspectorError(f"the inspector ({command}) speaks another protocol than this plugin: update one")
        except InspectorError:
            self.close()
            raise

    def ask(self, task: str, asked: Mapping[str, Any], play: Play | None) -> dict[str, Any]:
        """The answer, after whatever it asks the parser."""
        said = self._told({task: asked})
        while "run" in said:
            said = self._told(_answered(said["run"], play))
        return _answer_in(said)

    def is_gone(self) -> bool:
        """Whether the process ended."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End it: it does so itself once nobody writes to it any more."""
        process = self._process
        with suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join(GOODBYE_SECONDS)
        if process.stdout is not None:
            process.stdout.close()
        self._errors.close()

    def _told(self, message: Mapping[str, Any], seconds: float = SECONDS, advice: str = "") -> dict[str, Any]:
        """Its next message after one of ours. Raises InspectorLostError where none comes; `advice` is for one that
        ends."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        try:
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except (OSError, ValueError):
            line = b""
        except queue.Empty:
            self._process.kill()
            raise InspectorLostError(f"the inspector ({self._command}) said nothing for {seconds:g} seconds") from None
        if not line:
            raise InspectorLostError(f"the inspector ({self._command}) ended{self._last_words()}{advice}")
        try:
            return _message_in(line, self._command)
        except InspectorError as error:
            raise InspectorLostError(str(error)) from error

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        while True:
            line = self._process.stdout.readline(MOST_LINE)
            self._lines.put(line)
            if not line:
                return

    def _last_words(self) -> str:
        if self._errors.closed:
            return ""
        try:
            self._process.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._errors.seek(0)
        lines = self._errors.read()[-4_000:].decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""


class _NowhereElse(urllib.request.HTTPRedirectHandler):
    """What is sent, and the secret that may go along, is for the address that was given."""

    def redirect_request(self, *_: Any) -> None:
        """Follow to no other address: its answer is the error that it is."""


class Server:
    """A server that somebody runs. HEADER_VARIABLE may have a header of each request. Raises InspectorError."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **_header_of_user()}
        here = (urlsplit(address).hostname or "") in LOOPBACK
        handlers = [urllib.request.ProxyHandler({})] if here else []
        self._opener = urllib.request.build_opener(_NowhereElse, *handlers)

    def ask(self, task: str, asked: Mapping[str, Any], play: Play | None) -> dict[str, Any]:
        """The answer, once the parser has said all that is wanted for it."""
        known: list[dict[str, Any]] = []
        began = monotonic()
        while True:
            more: dict[str, Any] = {"known": known} if known else {}
            if "seconds" in asked:  # each time it begins anew
                more["seconds"] = max(0.0, asked["seconds"] - (monotonic() - began))
            said = self._posted(task, {**asked, **more})
            if "wanted" not in said:
                return said
            known += [self._known(one, play) for one in said["wanted"]]

    def is_gone(self) -> bool:
        """It is not ours."""
        return False

    def close(self) -> None:
        """It is not ours."""

    def _known(self, wanted: Mapping[str, Any], play: Play | None) -> dict[str, Any]:
        answered = _answered(wanted["run"], play)
        if "answer" not in answered:
            raise InspectorError(f"the parser cannot answer: {answered['failed']}")
        return {"of": wanted["of"], "answer": answered["answer"]}

    def _posted(self, task: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - http or https, see inspector_at
            f"{self._address}/api/v1/guests/{task}",
            data=json.dumps(asked).encode("ascii"),
            headers=self._headers,
        )
        for _ in range(TIMES):
            said = self._asked(request)
            if isinstance(said, dict):
                return said
            sleep(said)
        raise InspectorError(f"the inspector at {self._address} was busy {TIMES} times: ask again later")

    def _asked(self, request: urllib.request.Request) -> dict[str, Any] | float:
        """The answer, or how many seconds to wait for one."""
        try:
            with self._opener.open(request, timeout=SECONDS) as response:
                return _message_in(response.read(), self._address)
        except urllib.error.HTTPError as error:
            with error:
                words, wait = _words_of(error), _wait_of(error)
            if wait is not None:
                return wait
            raise InspectorError(f"the inspector at {self._address}: {words}") from error
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", error)
            raise InspectorError(f"the inspector at {self._address} cannot be reached ({why}); {HOW}") from error


def _header_of_user() -> dict[str, str]:
    line = os.environ.get(HEADER_VARIABLE, "")
    name, _, value = line.partition(":")
    if line and not (re.fullmatch(r"[\w-]+", name, re.ASCII) and re.fullmatch(r"[\x20-\x7e]+", value.strip())):
        raise InspectorError(f"{HEADER_VARIABLE} is no header: give NAME: VALUE, as in 'Authorization: Bearer SECRET'")
    return {name: value.strip()} if line else {}


def _wait_of(error: urllib.error.HTTPError) -> float | None:
    """How many seconds a busy server asks to wait; None where it is not busy, or not for long."""
    told = error.headers.get("Retry-After", "") if error.code in BUSY else ""
    return float(told) if told.isdecimal() and int(told) <= MOST_WAIT else None


def _answered(run: Any, play: Play | None) -> dict[str, Any]:
    """What the parser says to a run."""
    if play is None or not isinstance(run, dict):
        return {"failed": "no parser is served here"}
    try:
        return {"answer": play(run)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def _answer_in(said: Mapping[str, Any]) -> dict[str, Any]:
    answer = said.get("answer")
    if isinstance(answer, dict):
        return answer
    raise InspectorError(str(said.get("failed", "it says what is no answer"))[:1_000])


def _message_in(line: bytes, where: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise InspectorError(f"what answers at {where} is no inspector that this plugin knows: {line[:80]!r}")
    return message


def _words_of(error: urllib.error.HTTPError) -> str:
    try:
        told = str(json.loads(error.read())["error"]["message"])
    except (ValueError, KeyError, TypeError):
        told = f"it answers {error.code}; does that address belong to an inspector of this version?"
    secret = f"; the environment gives its secret: {HEADER_VARIABLE}='Authorization: Bearer SECRET'"
    return told.rstrip(".") + secret if error.code in REFUSED else told
