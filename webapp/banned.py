"""Who is banned gets 403 for whatever is more than reading: nothing is run, searched or stored for them."""

from __future__ import annotations

from flask import Flask, request
from werkzeug.exceptions import Forbidden

from webapp.clients import words_of
from webapp.quotas import client
from webapp.security import SAFE_METHODS
from webapp.services import services
from webapp.store.keys import digest_of
from webapp.write_access import secret_of


class _Banned(Forbidden):
    """A request of a client that is banned."""

    def __init__(self) -> None:
        super().__init__("Whoever runs this server takes no requests like this from you at the moment.")


def init_app(app: Flask) -> None:
    """Refuse what banned clients send."""

    @app.before_request
    def refuse_banned() -> None:
        if request.method not in SAFE_METHODS and is_banned():
            raise _Banned


def is_banned() -> bool:
    """Return whether the client of this request is banned."""
    known = services().store.bans.known()
    if not known:  # as nearly always: no digest is made, and no day begun
        return False
    words = words_of(request.environ, services().settings)
    secret = secret_of(request.headers.get("Authorization", "")) if words.startswith("secret ") else ""
    return (bool(secret) and digest_of(secret) in known) or client().digest in known
