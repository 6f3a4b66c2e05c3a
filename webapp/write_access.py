"""Who may write: anybody, or, where the settings say so, whoever has the secret or comes through the proxy.

What replays, searches, compares and exports stores nothing and is everybody's. WRITES lists what stores or deletes.

==================  ==================================================================================================
setting             a request may write that has
==================  ==================================================================================================
neither             nothing more: the server is on somebody's own machine, or all who reach it may write
write_secret        the secret, as `Authorization: Bearer SECRET`, or as the password of HTTP's Basic scheme, for which
                    browsers ask by themselves, with or without script
write_header        a header of that name that is not empty: a proxy sets it for whom it has authenticated, and takes it
                    from everybody else. No header means anything unless this setting names it
==================  ==================================================================================================

Before that, `writes` says what is stored at all: `all`; `no_sharing`, everything but SHARES; `none`, nothing, and
nothing is deleted. Where both of the others are set, either is enough. Secrets are compared in constant time, as
digests, so that their length is not told either.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from functools import partial

from flask import Flask, request
from werkzeug.datastructures import Headers, WWWAuthenticate
from werkzeug.exceptions import Forbidden, Unauthorized

from webapp.security import SAFE_METHODS
from webapp.settings import Settings

REALM = "Toolcall Inspector: storing and deleting"
WRITES = frozenset({
    *("api.add_tokenizer", "api.delete_case", "api.delete_tokenizer", "api.import_cases", "api.save_case"),
    *("page.collection_delete", "page.collection_make", "page.delete", "page.library_import", "page.library_run"),
    *("page.save", "page.tokenizer_delete", "page.tokenizer_fetch", "page.tokenizer_upload"),
})  # fmt: skip

SHARES = frozenset({"api.import_cases", "api.save_case", "page.collection_make", "page.library_import", "page.save"})


class _NotHere(Forbidden):
    """A request that would store what this server stores for nobody."""

    def __init__(self, writes: str, *, shares: bool) -> None:
        said = "stores no cases" if writes == "no_sharing" else "stores and deletes nothing"
        advice = " Download the case as a file, or copy a private link to it." if shares else ""
        super().__init__(f"This server {said}.{advice}")


class _NoSecret(Unauthorized):
    """A request that would write, without the secret."""

    def __init__(self) -> None:
        super().__init__(
            "This server stores and deletes only for those who have its secret: as the password your browser asks for"
            " (any name), or as Authorization: Bearer.",
            www_authenticate=WWWAuthenticate("basic", {"realm": REALM, "charset": "UTF-8"}),
        )


class _NotByProxy(Forbidden):
    """A request that would write, and did not come through the proxy."""

    def __init__(self) -> None:
        super().__init__("This server stores and deletes only for those whom its proxy has signed in.")


def init_app(app: Flask, settings: Settings) -> None:
    """Refuse requests that would write and may not, where the settings say so."""
    app.jinja_env.globals["serves"] = partial(serves, settings)
    for_all = settings.write_secret is None and settings.write_header is None

    @app.before_request
    def refuse_writing() -> None:
        if request.endpoint not in WRITES or request.method in SAFE_METHODS:
            return
        if not serves(settings, request.endpoint):
            raise _NotHere(settings.writes, shares=request.endpoint in SHARES)
        if not for_all and not may_write(settings, request.headers):
            raise _NotByProxy if settings.write_secret is None else _NoSecret


def serves(settings: Settings, endpoint: str) -> bool:
    """Return whether this server takes requests to this endpoint from anybody at all; pages offer nothing else."""
    closed = {"all": frozenset[str](), "no_sharing": SHARES, "none": WRITES}[settings.writes]
    return endpoint not in closed


def may_write(settings: Settings, headers: Headers | Mapping[str, str]) -> bool:
    """Return whether a request with these headers may write."""
    if settings.write_header is not None and headers.get(settings.write_header, "").strip():
        return True
    return is_secret(settings, secret_of(headers.get("Authorization", "")))


def is_secret(settings: Settings, given: str) -> bool:
    """Return whether this is the secret of the settings, where there is one."""
    return settings.write_secret is not None and _same(given, settings.write_secret)


def secret_of(authorization: str) -> str:
    """The secret of a request: a token, or the password of a Basic pair; "" where there is none."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "bearer":  # WSGI has each byte of a header as a character
        return credentials.strip().encode("latin-1", "replace").decode("utf-8", "replace")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def _same(given: str, secret: str) -> bool:
    digests = [hashlib.sha256(one.encode("utf-8", "surrogatepass")).digest() for one in (given, secret)]
    return hmac.compare_digest(*digests)
