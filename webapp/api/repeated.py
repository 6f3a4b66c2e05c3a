"""Requests that store something, sent again with the same `Idempotency-Key`: the same answer, and nothing done twice.

As the IETF's draft has it (draft-ietf-httpapi-idempotency-key-header): the key is a string of the client's, `"..."` or
the bare text. A request of the same key that is another one is refused with 422, one that is still at work with 409.
Answers of success are kept for a day; after any other the request may be mended and sent again, and has the keys
of what was stored by then. Where what was stored
was deleted meanwhile, the answer is 410 and nothing is stored again: what was wanted under this key was done once.
An answer that is given again says so in the header REPEATED.

A key belongs to whoever used it: the name that the proxy gave, else the secret. The same key of somebody else is
another one. All who are nobody known have their keys together, so a key is to be one that nobody guesses.

Delete keys of cases are not among what is kept: they come of the client's key and a salt, and of the case's name where
a request stores several, so they can be told again to who has that key, and nobody reads them in the database.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from flask import Response, current_app, g, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequest

from webapp.clients import owner_of
from webapp.security import api_error
from webapp.services import services
from webapp.store import Gone
from webapp.store.answers import Answer, Busy, Refused
from webapp.store.keys import KEY_BYTES
from webapp.trouble import TROUBLES

HEADER = "Idempotency-Key"
REPEATED = "Idempotent-Replayed"  # true: nothing was done for this answer
SHORTEST, LONGEST = 16, 255
_KEY = re.compile(rf'"([ !#-\[\]-~]{{{SHORTEST},{LONGEST}}})"|([!#-~]{{{SHORTEST},{LONGEST}}})')
_SECRET = "delete_key"  # noqa: S105 - where it stands in an answer
_ROWS = "cases"  # of an answer that tells of several
View = Callable[..., ResponseReturnValue]


def repeatable(view: View) -> View:
    """The view, whose requests may have a key."""

    @wraps(view)
    def answered(**given: Any) -> ResponseReturnValue:
        said = request.headers.get(HEADER)
        return view(**given) if said is None else _answered(_key(said), lambda: view(**given))

    return answered


def delete_key(name: str = "") -> str | None:
    """The delete key of what this request stores under this name, where it has a key; else one is made up."""
    found: str | None = g.get(_SECRET)
    return _of_one(found, name) if found else None


def _answered(key: str, work: Callable[[], ResponseReturnValue]) -> ResponseReturnValue:
    answers, digest = services().store.answers, _digest(key)
    claim = answers.claim(digest, _request_digest())
    if claim is Refused.OTHER:
        return api_error("key_reused", f"This {HEADER} came with another request: make up a new one for each.")
    if isinstance(claim, Busy):
        busy = api_error("at_work", f"The request with this {HEADER} is not done yet.", status=409)
        busy.headers["Retry-After"] = str(claim.seconds)
        return busy
    if isinstance(claim, Answer):
        return _again(claim, key)
    setattr(g, _SECRET, _secret(key, claim.salt))
    done = False
    try:
        response = current_app.make_response(work())
        done = response.status_code in (200, 201)
        if done:  # one that cannot be kept is given all the same: what it tells of is stored
            with suppress(*TROUBLES):
                answers.keep(digest, response.status_code, _kept(response), response.headers.get("Location", ""))
    finally:
        if not done:
            with suppress(*TROUBLES):
                answers.reopen(digest)
    return response


def _key(said: str) -> str:
    """The key in the header. Raises BadRequest."""
    found = _KEY.fullmatch(said.strip())
    if found is None:
        raise BadRequest(f"{HEADER}: give {SHORTEST} to {LONGEST} characters of ASCII, such as a UUID, in quotes.")
    return found[1] or found[2]


def _digest(key: str) -> str:
    """What a key is known by: it belongs to whoever used it."""
    owner = owner_of(request.environ, services().settings)
    return hashlib.sha256(json.dumps([owner, key]).encode()).hexdigest()


def _request_digest() -> str:
    """What tells requests apart: method, path and query, and the body."""
    body = hashlib.sha256(request.get_data()).hexdigest()
    words = [request.method, request.path, request.query_string.decode("latin-1"), request.mimetype, body]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def _secret(key: str, salt: str) -> str:
    """The delete key of a key: nobody has it who has only one of the two."""
    made = hmac.digest(key.encode(), salt.encode(), "sha256")[:KEY_BYTES]
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def _of_one(secret: str, name: str) -> str:
    """The delete key of one of several, and that of the only one."""
    return _secret(secret, name) if name else secret


def _kept(response: Response) -> str:
    """The body without what only its receiver may read."""
    return json.dumps(_with_keys(response.get_json(), lambda _name: None))


def _with_keys(body: dict[str, Any], key_of: Callable[[str], str | None]) -> dict[str, Any]:
    """The body with other delete keys, wherever it has some."""
    found = {**body, _SECRET: key_of("")} if _SECRET in body else {**body}
    if _ROWS in body:
        found[_ROWS] = [{**one, _SECRET: key_of(one["name"])} for one in body[_ROWS]]
    return found


def _again(answer: Answer, key: str) -> Response:
    secret, status = _secret(key, answer.salt), answer.status
    body = _with_keys(json.loads(answer.body), lambda name: _of_one(secret, name))
    store, case_id = services().store, body.get("id")
    try:
        if case_id is not None:
            store.get(case_id)
    except Gone as gone:
        words = f"The case that was stored with this {HEADER} {gone.words}"
        return api_error("gone", f"{words}: to store it again, make up a new key.", status=410)
    for one in (body, *body.get(_ROWS, ())):
        if _SECRET in one and not store.has_key(one["id"], one[_SECRET]):  # deleted, and perhaps somebody else's since
            del one[_SECRET]
            status = 200
    response = jsonify(body)
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    if answer.location:
        response.headers["Location"] = answer.location
    response.headers[REPEATED] = "true"
    return response
