"""A request as a message to a child, and its answer on the way back: nothing is added, nothing is lost.

Whatever keeps a child from answering becomes an HTTP error with one sentence, in the look of the application.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from werkzeug.datastructures import Accept
from werkzeug.exceptions import (
    BadRequest,
    Gone,
    HTTPException,
    InternalServerError,
    RequestEntityTooLarge,
    ServiceUnavailable,
)
from werkzeug.http import parse_accept_header

from webapp.bodies import measure_chunked
from webapp.children.endings import ChildError, Ending
from webapp.compression import LINES, PACKS_LINES, Packer
from webapp.runs.held import HELD_HEADER
from webapp.security import TooLarge
from webapp.settings import ENV_PREFIX, Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RETRY_SECONDS = 5
_MOST_DIGITS = 100

_STOPPED = "The work on this request of {size:,} bytes"
_WORDS = {
    Ending.LATE: _STOPPED + " took longer than {prefix}REPLAY_SECONDS allows ({settings.replay_seconds}), so it was"
    " stopped. Cut the output shorter, or ask for less of it.",
    Ending.MEMORY: _STOPPED + " needs more memory than {prefix}REPLAY_MEMORY_BYTES allows"
    " ({settings.replay_memory_bytes:,}). Cut the output shorter.",
    Ending.LARGE: "The answer to this request is larger than any answer may be ({error.size:,} bytes). Ask for less of"
    " it.",
    Ending.CANCELLED: "Nobody waits for this answer.",
    Ending.ABSENT: "No process can be started for this request. Try again in a moment.",
}
_ENDED = _STOPPED + " ended with the process that did it. Try again; if it happens again, cut the output shorter."

log = logging.getLogger(__name__)


class TooBusy(ServiceUnavailable):
    """More requests wait than may, or this one waited too long."""

    def __init__(self, words: str = "The server is busy with the requests of others. Try again in a moment.") -> None:
        super().__init__(words, retry_after=RETRY_SECONDS)


class NotHeld(Gone):
    """The process that held a run is gone, or holds it no more."""

    def __init__(self) -> None:
        super().__init__("This run is held here no more.")


def refusal_of(error: ChildError, size: int, settings: Settings) -> HTTPException:
    """What to say of a request of so many bytes that has no answer."""
    if error.ending in (Ending.ERROR, Ending.PANIC):
        log.error("A request failed in a child: %s", error.detail or error.message)
        return InternalServerError()
    words = _WORDS.get(error.ending, _ENDED)
    words = words.format(error=error, size=size, settings=settings, prefix=ENV_PREFIX)
    if error.ending in (Ending.MEMORY, Ending.LARGE):
        return RequestEntityTooLarge(words)
    again = error.ending in (Ending.LATE, Ending.CANCELLED)  # it would take as long again
    return ServiceUnavailable(words, retry_after=None if again else RETRY_SECONDS)


def body_of(environ: WSGIEnvironment, settings: Settings) -> bytes:
    """The body of a request, whole. Raises TooLarge over the limit of all addresses, before it is read."""
    most = settings.max_request_bytes
    if environ.get("CONTENT_TYPE", "").lower().startswith("multipart/form-data") and settings.tokenizer_uploads:
        most += settings.tokenizer_upload_bytes
    if not measure_chunked(environ, most):
        raise TooLarge("The request", None, most, "max_request_bytes")
    given = environ.get("CONTENT_LENGTH", "")
    if len(given) > _MOST_DIGITS:  # Python reads no number of thousands
        raise TooLarge("The request", None, most, "max_request_bytes")
    size = int(given) if given.isascii() and given.isdigit() else 0
    if size > most:
        raise TooLarge("The request", size, most, "max_request_bytes")
    data: bytes = environ["wsgi.input"].read(size) if size else b""
    if len(data) < size:
        raise BadRequest("The request is not whole.")
    return data


def message_of(environ: WSGIEnvironment, body: bytes) -> dict[str, Any]:
    """Everything of a request that is text, as WSGI has it, and its body."""
    texts = {name: value for name, value in environ.items() if type(value) is str}
    return {"environ": {**texts, PACKS_LINES: "1"}, "raw": body}


def takes_gzip(environ: Mapping[str, str]) -> bool:
    """Return whether whoever asks reads gzip."""
    return parse_accept_header(environ.get("HTTP_ACCEPT_ENCODING", ""), Accept).quality("gzip") > 0


class CutShortError(ConnectionError):
    """An answer that has begun has no end; it says why."""


class Relay:
    """Takes the answer of a child to whoever asked, piece by piece.

    `has_left` says that whoever asked has hung up. `note_held` is told the token of a run before anybody sees the
    answer. JSON Lines are packed here where `takes_gzip`.
    """

    def __init__(
        self,
        start: StartResponse,
        has_left: Callable[[], bool],
        note_held: Callable[[str], object],
        *,
        takes_gzip: bool = False,
    ) -> None:
        self.begun = False
        self._takes_gzip = takes_gzip
        self._packer: Packer | None = None
        self._lines = False
        self._start = start
        self._has_left = has_left
        self._note_held = note_held
        self._write: Callable[[bytes], object] | None = None
        self._failure: Exception | None = None

    def gone(self) -> bool:
        """Return whether nobody reads on."""
        return self._failure is not None or self._has_left()

    def piece(self, piece: dict[str, Any]) -> None:
        """A piece of an answer that comes in several."""
        if self._failure is not None:
            return
        try:
            self._begin(piece)
            self._send(piece["raw"] if self._packer is None else self._packer.add(piece["raw"]))
        except Exception as error:  # whatever a server raises where the reader is gone
            self._failure = error

    def _send(self, data: bytes) -> None:
        if self._write is not None:
            self._write(data)

    def end(self, piece: dict[str, Any]) -> Iterable[bytes]:
        """The last piece of an answer, or all of it."""
        if "status" not in piece:  # a server would take a list of one piece for all there is
            self.piece(piece)
            if self._failure is not None:
                raise self._failure
            return [] if self._packer is None else [self._packer.end()]
        self._begin(piece)
        return [piece["raw"] if self._packer is None else self._packer.add(piece["raw"]) + self._packer.end()]

    def cut_short(self, refusal: HTTPException) -> Exception:
        """What to raise where an answer that has begun has no end. JSON Lines end with one that says why; a server
        knows its own word for a reader who left, and does not log it as a fault."""
        if self._lines and not self.gone():
            self.piece({"raw": json.dumps({"error": refusal.description}).encode() + b"\n"})
            with suppress(OSError):  # the reader left meanwhile
                self._send(b"" if self._packer is None else self._packer.end())
        elif self._has_left():
            self.piece({"raw": b""})
        return self._failure or CutShortError(refusal.description)

    def _begin(self, piece: dict[str, Any]) -> None:
        """Send status and headers, which are in the first piece."""
        if "status" not in piece:
            return
        headers = []
        for name, value in piece["headers"]:
            if name == HELD_HEADER:
                self._note_held(value)
            else:
                headers.append((name, value))
        self.begun = True
        self._lines = dict(headers).get("Content-Type") == LINES
        if self._lines and self._takes_gzip:
            self._packer = Packer()
            headers = [(name, value) for name, value in headers if name != "Content-Length"]
            headers.append(("Content-Encoding", "gzip"))
        self._write = self._start(piece["status"], headers)
