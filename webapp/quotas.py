"""Quotas: how much a client may store in a day, and all together; what is over is answered with 429 and one sentence.

Nothing that is answered so is stored, and nothing of it is lost: a form comes back with what was typed into it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flask import Flask, Response, request
from werkzeug.exceptions import TooManyRequests

from webapp.clients import words_of
from webapp.services import services
from webapp.settings import ENV_PREFIX, Settings
from webapp.store import Client, Cost, OverQuota

FULL_SECONDS = 3600  # after which to try again where the server has as much as it may: somebody has to delete something
_DAILY = {"cases": "{:,} cases", "bytes": "{:,} bytes of cases", "uploads": "{:,} tokenizers"}
_ELSE = {"uploads": "use one of those that are here"}
_DOWNLOAD = "download the case as a file, or copy a private link to it"


def client() -> Client:
    """Whom this request is counted for."""
    settings = services().settings
    return services().store.spending.client(words_of(request.environ, settings), *limits_of(settings))


def limits_of(settings: Settings) -> tuple[Cost, Cost]:
    """How much a client may store in a day, and all together."""
    own = Cost(settings.client_cases, settings.client_bytes, settings.client_uploads)
    return own, Cost(settings.most_cases, settings.most_bytes)


def count_upload() -> None:
    """Count an upload of a tokenizer, before anything is done with it. Raises OverQuota."""
    services().store.spending.charge(client(), Cost(uploads=1))


def count_collection() -> None:
    """Count a collection as a case, before it is made. Raises OverQuota."""
    services().store.spending.charge(client(), Cost(cases=1))


def said_of(over: OverQuota) -> str:
    """What a client is told, in a sentence."""
    much = _DAILY[over.what].format(over.most)
    until = _ELSE.get(over.what, _DOWNLOAD)
    if over.of_all:
        return f"This server keeps at most {much} ({ENV_PREFIX}MOST_{over.what.upper()}), and has them: {until}."
    setting = f"{ENV_PREFIX}CLIENT_{over.what.upper()}"
    return f"This server takes at most {much} a day from one client ({setting}): go on after midnight UTC, or {until}."


def too_many(response: Response, over: OverQuota) -> Response:
    """A page as the answer to who is over a quota."""
    response.status_code = TooManyRequests.code
    response.headers["Retry-After"] = str(_seconds(over))
    return response


def init_app(app: Flask) -> None:
    """Answer requests that are over a quota."""

    def told(over: Exception) -> Response:
        assert isinstance(over, OverQuota)  # noqa: S101 - it is registered for nothing else
        error = TooManyRequests(said_of(over), retry_after=_seconds(over))
        found: Response = app.handle_http_exception(error)  # type: ignore[assignment]
        return found

    app.register_error_handler(OverQuota, told)


def _seconds(over: OverQuota) -> int:
    """After which to try again."""
    if over.of_all:
        return FULL_SECONDS
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - now).total_seconds()) + 1
