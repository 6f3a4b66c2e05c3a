"""The program of a child that answers requests: the application, one request at a time.

It has neither searches nor processes of tokenizers and engines, it asks for them. A view that would wait for a search,
or for an engine that takes its time, does not: the request is given back with what to wait for, and comes again.
"""

from __future__ import annotations

import contextvars
import io
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from parsers.vocabulary.types import UsageError
from webapp.app import create_app
from webapp.children.collector import collect_seldom
from webapp.children.worker import Interrupted, Parent, Task
from webapp.request_log import set_up
from webapp.security import REFUSAL
from webapp.services import EXTENSION, Services
from webapp.settings import ANSWER_TIMES, ENV_PREFIX, Settings

PIECE = 262_144  # bytes: a longer answer travels in pieces of about this size

_WSGI = {
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": False,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}


class _Waiting(BaseException):
    """A view wants to wait for a search or an engine. Not an Exception: no view is to handle it, nor what replays."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        super().__init__()
        self.question = question


class _NoMemory(BaseException):
    """A view ran out of memory. Not an Exception: the process is to end."""


def tasks(settings: Mapping[str, Any]) -> Mapping[str, Task]:
    """A request; and less memory between requests."""
    found = Settings(**settings)
    set_up(found)
    replays = _Replays(found)
    collect_seldom()
    return {"answer": replays.answer, "keep": replays.keep}


class _Replays:
    """The application and the request it is at. Everything is done in one thread."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.most_answer_bytes
        self._least = settings.max_request_bytes
        self._app = create_app(settings, self._ask)
        self._app.register_error_handler(MemoryError, _give_up)
        self._parent: Parent | None = None
        self._waited = ""
        found: Services = self._app.extensions[EXTENSION]
        self._runner, self._held = found.runner, found.held
        self._held_bytes = self._held.most_bytes

    def answer(self, request: dict[str, Any], parent: Parent) -> Mapping[str, Any]:
        """Answer a request. All but the end of a long answer is sent as progress."""
        self._parent, self._waited = parent, request["waited"]
        try:
            self._keep_within(request["cache_bytes"])
            last_piece = self._last_piece(request)
            self._keep_within(request["cache_bytes"])
        except _NoMemory as error:
            raise MemoryError from error
        except Interrupted:
            self._mend()
            raise
        return {**last_piece, "kept": self._kept, "held_seconds": self._held.seconds_left}

    def keep(self, request: dict[str, Any], _parent: Parent) -> Mapping[str, Any]:
        """Forget what is over another budget of memory."""
        self._keep_within(request["cache_bytes"])
        return {"kept": self._kept}

    def _mend(self) -> None:
        """Put right what a request may have left half done that was left anywhere."""
        self._runner.mend()
        self._held.mend()

    @property
    def _kept(self) -> int:
        return self._runner.used + self._held.used

    def _keep_within(self, cache_bytes: int) -> None:
        """One budget for posted runs, which may have half of it, and for what is computed."""
        self._held.keep_within(min(max(cache_bytes // 2, self._least), self._held_bytes))
        self._runner.keep_within(max(cache_bytes - self._held.used, 0))

    def _last_piece(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return contextvars.copy_context().run(self._answer, request["environ"], request["raw"])
        except _Waiting as waiting:
            self._mend()
            return {"wait": dict(waiting.question)}

    def _answer(self, environ: dict[str, Any], body: bytes) -> dict[str, Any]:
        try:
            return self._run(environ, body)
        except RequestEntityTooLarge as error:
            return self._run({**environ, REFUSAL: error}, body)

    def _run(self, environ: dict[str, Any], body: bytes) -> dict[str, Any]:
        head: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Any:
            head.update(status=status, headers=headers)

        whole = {**_WSGI, **environ, "wsgi.input": io.BytesIO(body)}
        parts = self._app(whole, start_response)
        try:
            if head["status"] == "200 OK":
                self._refuse_large(head["headers"])
            return self._sent(head, parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def _refuse_large(self, headers: list[tuple[str, str]]) -> None:
        size = next((int(value) for name, value in headers if name == "Content-Length"), 0)
        if size > self._most:
            raise RequestEntityTooLarge(
                f"The answer has {size:,} bytes, and none may have more than {self._most:,}"
                f" ({ANSWER_TIMES} times {ENV_PREFIX}ANSWER_BYTES). Ask for less of it."
            )

    def _sent(self, head: dict[str, Any], parts: Iterable[bytes]) -> dict[str, Any]:
        """Send an answer but for its end, which is returned."""
        assert self._parent is not None, "somebody asked"  # noqa: S101
        pieces: list[bytes] = []
        size = 0
        for part in parts:
            pieces.append(part)
            size += len(part)
            if size >= PIECE:
                self._parent({**head, "raw": b"".join(pieces)})
                head, pieces, size = {}, [], 0
        return {**head, "raw": b"".join(pieces)}

    def _ask(self, question: dict[str, Any]) -> Mapping[str, Any]:
        """Ask the process that has searches and tokenizers. Raises UsageError that was raised there."""
        assert self._parent is not None, "views run in requests"  # noqa: S101
        if question["do"] == "wait":
            if not self._waited:
                raise _Waiting({name: value for name, value in question.items() if name != "of"})
            question = {**question, "do": "known", "key": self._waited}
        elif self._waited and question["do"] == "start":
            # What failed while the request waited is its answer; nor does another key count, such as one of an engine
            # that has said who it is meanwhile.
            question = {**question, "again": False, "key": self._waited}
        reply = self._parent.ask(question)
        if "later" in reply:
            raise _Waiting({"do": "engine"})
        if "refused" in reply:
            raise UsageError(reply["refused"])
        if "failed" in reply:
            raise RuntimeError("the server could not answer a question of a child")
        return reply


def _give_up(error: MemoryError) -> HTTPException:
    raise _NoMemory from error
