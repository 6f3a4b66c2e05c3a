"""`check --upload URL`: failing cases posted to a server of a team, whose permalinks are told.

A case is posted as it ran: with its tokens, under the parser that ran. Where the server does not know its engine, the
case is posted as it is written, and its notes say who failed. To post a case twice is to post it once, so what was not
answered is asked again:

==========================  ==========================================================================================
an answer                   is
==========================  ==========================================================================================
none: a connection refused  asked again after a second, three times in all
or dropped; 502, 504
429, 503                    the same, after the seconds that it says; one that says more than 10 is taken for the last
409: a request under this   asked again when it says, until the server gives up on that one: it may be of a job that
key is at work              was ended
any other                   the last
==========================  ==========================================================================================

An address is followed nowhere else: the secret that goes along is for this server alone.

At most MOST_UPLOADED are new in a run. What the server has already is posted too, for its link, and does not count: so
a run after it goes on where the first one ended.

Each request has an `Idempotency-Key`. Where a secret goes along, the key comes of it and of the case, so that a job
that runs again asks the same; who has the key is told the delete key, so without a secret it is made up.
"""

from __future__ import annotations

import hmac
import http.client
import json
import os
import re
import secrets
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from time import sleep
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from parsers.cases.case import Case, CaseError
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun
from parsers.vocabulary.types import UsageError
from webapp.cli import one_line
from webapp.commands.case_outcomes import CaseResult
from webapp.release import NAME, installed_version
from webapp.runs.prepare import stored_form

OPTION = "--upload"
HEADER_VARIABLE = "TOOLCALL_UPLOAD_HEADER"
MOST_UPLOADED = 50
PATH = "/api/v1/cases"
_RUN = "?run=1"  # refuse what cannot be run there: as it is written the case mostly can
SECONDS = 60.0
_TRIES = 3
_BUSY, _UNANSWERED = frozenset((429, 503)), frozenset((0, 502, 504))
_AT_WORK, _LONGEST_AT_WORK = 409, 330.0  # seconds of waiting: longer than a server keeps a key for a request that ended
_CREATED = 201
_AGAIN = "Idempotent-Replayed"  # with an answer of before
_MOST_BYTES = 1_000_000  # of an answer
_LONGEST_WAIT = 10.0
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*))\s*")


class _CaseRefusedError(Exception):
    """The server takes others, but not this one. `engine`: because of who parses it."""

    def __init__(self, message: str, *, engine: bool) -> None:
        super().__init__(message)
        self.engine = engine


class _Reply(NamedTuple):
    """What came back: the status, 0 where nothing did, for that is `why`; after how many seconds to ask again; whether
    something was stored for it."""

    status: int
    wait: float = 1.0
    data: bytes = b""
    why: str = ""
    stored: bool = False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Uploads:
    """A server by its address, as https://inspector.example/team. Raises UsageError for what is no address or header.

    `headers` are lines NAME: VALUE that each request has; without them HEADER_VARIABLE may have one. `stopped`: why
    nothing more is posted, once that is so.
    """

    def __init__(self, address: str, headers: Sequence[str]) -> None:
        self.stopped: UsageError | None = None
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"{OPTION} {address}: give the address of a server, such as https://inspector.example")
        if parts.username is not None:
            raise UsageError(f"{OPTION}: a password in an address is seen by many; give it with --upload-header")
        self._address = address.rstrip("/")
        self._headers = {
            "Content-Type": "application/json",
            "User-Agent": f"{NAME}/{installed_version()}",
            **dict([_header(line) for line in headers or filter(None, [os.environ.get(HEADER_VARIABLE)])]),
        }
        self._key = _key_of(self._headers)
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._new = self._left_out = 0
        self._refused: list[str] = []

    def take(self, result: CaseResult) -> None:
        """Post the case of a result that failed, and tell the result its link. What goes wrong is remembered."""
        run, result.run = result.run, None
        if run is None or self.stopped is not None:
            return
        if self._new == MOST_UPLOADED:
            self._left_out += 1
            return
        try:
            result.link = self._uploaded(result, run)
        except (_CaseRefusedError, CaseError) as error:
            self._refused.append(f"{result.called} is not uploaded: {error}")
        except UsageError as error:
            self.stopped = error

    def remarks(self) -> list[str]:
        """What the server did not take, a line each."""
        more = f"{self._left_out:,} more are not uploaded: at most {MOST_UPLOADED} new ones at a time; run it again"
        return [*self._refused, *[more] * bool(self._left_out)]

    def _uploaded(self, result: CaseResult, run: CaseRun) -> str:
        told = {"title": run.case.title or result.entry_name, "notes": (*run.case.notes, *_notes(result))}
        try:
            return self._posted(stored_form(run).model_copy(update=told), PATH + _RUN)
        except _CaseRefusedError as error:
            if not error.engine or result.written is None:
                raise
            return self._posted(result.written.model_copy(update=told))

    def _posted(self, case: Case, path: str = PATH) -> str:
        reply, answer = self._asked(path, dumps(case).encode())
        status = reply.status
        if status in (200, 201) and isinstance(answer.get("url"), str):
            self._new += reply.stored
            return str(answer["url"])
        found = answer.get("error")
        detail: Mapping[str, Any] = found if isinstance(found, dict) else {}
        message = one_line(str(detail.get("message") or f"HTTP {status}"))[:500]
        if status in (400, 410, 413, 422) and detail:
            raise _CaseRefusedError(message, engine=str(detail.get("field")).startswith("/parser/"))
        raise UsageError(f"{OPTION} {self._address}: {_why(status, message, known=bool(detail))}")

    def _asked(self, path: str, body: bytes) -> tuple[_Reply, Mapping[str, Any]]:
        """An answer, and its object; see the module's table for what is asked again."""
        reply = self._once(path, body)
        tries, waited = 1, reply.wait
        while self._is_asked_again(reply, tries, waited):
            sleep(reply.wait)
            reply = self._once(path, body)
            tries += reply.status != _AT_WORK
            waited += reply.wait
        if not reply.status:
            raise UsageError(f"{OPTION} {self._address}: it cannot be reached: {reply.why}")
        try:
            found = json.loads(reply.data)
        except ValueError:
            found = None
        return reply, found if isinstance(found, dict) else {}

    def _is_asked_again(self, reply: _Reply, tries: int, waited: float) -> bool:
        if reply.status == _AT_WORK:
            return waited <= _LONGEST_AT_WORK
        again = reply.status in _UNANSWERED or (reply.status in _BUSY and reply.wait <= _LONGEST_WAIT)
        return again and tries < _TRIES

    def _once(self, path: str, body: bytes) -> _Reply:
        key = hmac.digest(self._key, path.encode() + body, "sha256").hex()
        headers = {**self._headers, "Idempotency-Key": f'"{key}"'}
        request = urllib.request.Request(self._address + path, body, headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                return _Reply(answer.status, data=_read(answer), stored=_is_new(answer))
        except urllib.error.HTTPError as error:
            with error:
                location = error.headers.get("Location", "")
                if 300 <= error.code < 400:
                    words = f"it sends elsewhere ({one_line(location)[:200]}); give that address"
                    raise UsageError(f"{OPTION} {self._address}: {words}") from error
                return _refusal(error)
        except (OSError, http.client.HTTPException) as error:
            return _Reply(0, why=one_line(str(getattr(error, "reason", None) or error)))
        except ValueError as error:
            raise UsageError(f"{OPTION} {self._address}: it cannot be reached: {one_line(str(error))}") from error


def _refusal(error: urllib.error.HTTPError) -> _Reply:
    """What a server says instead of taking a case; nothing, where its words are cut off."""
    try:
        return _Reply(error.code, _seconds(error.headers.get("Retry-After")), _read(error.fp))
    except (OSError, http.client.HTTPException) as cut:
        return _Reply(0, why=one_line(str(cut)))


def _is_new(answer: Any) -> bool:
    """Whether a case was stored for this answer, and not for one of before."""
    return answer.status == _CREATED and _AGAIN not in answer.headers


def _read(answer: Any) -> bytes:
    """The body of an answer. Raises IncompleteRead where its end is missing."""
    data: bytes = answer.read(_MOST_BYTES)
    if answer.length and len(data) < _MOST_BYTES:
        raise http.client.IncompleteRead(data, answer.length)
    return data


def _key_of(headers: Mapping[str, str]) -> bytes:
    """What the keys of requests are made with: of the headers that only this server's users have, else by chance."""
    own = {name: value for name, value in headers.items() if name not in ("Content-Type", "User-Agent")}
    return json.dumps(own, sort_keys=True).encode() if own else secrets.token_bytes(32)


def _header(line: str) -> tuple[str, str]:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise UsageError(f"--upload-header: give NAME: VALUE, as in 'Authorization: Bearer SECRET' ({HEADER_VARIABLE})")
    return found[1], found[2].rstrip()


def _seconds(given: str | None) -> float:
    return max(1.0, float(given)) if given is not None and given.isdecimal() else 1.0


def _why(status: int, message: str, *, known: bool) -> str:
    if status in (401, 403, 407):
        return f"it refuses ({status}): {message}; give its secret with --upload-header or {HEADER_VARIABLE}"
    if not known:
        return f"it answers HTTP {status} and no JSON of ours: is it the address of a Toolcall Inspector?"
    return f"it answers {status}: {message}"


def _notes(result: CaseResult) -> list[str]:
    who = f" by {result.engine}" if result.engine else ""
    return [f"{NAME} check{who}: {line}" for line in result.details[:-1]]
