"""POST /api/v1/guests/...: cases checked with a parser that the client serves. Nothing is stored, and nothing is kept
between two requests (webapp/guests/answers.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Response, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import UnsupportedMediaType

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError
from parsers.vocabulary.types import UsageError
from webapp.api.answers import ErrorBody
from webapp.api.operations import API, BadJsonError, operation
from webapp.guests.answers import Answers, WantedError, digest
from webapp.guests.guest import Ask
from webapp.guests.narrowed import find
from webapp.guests.requests import CaseAsked, Checked, Outputs, OutputsAsked, Smaller, WantedRun, WantedRuns, refused
from webapp.guests.tasks import check, outputs, stand_in_for
from webapp.services import services

FIND_REPLAYS = 150  # of a search, which is done anew with every request
FIND_SHARE = 0.3  # of the time of a request: a search may be made twice in one

_ERRORS: dict[int, Any] = {400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody, 503: ErrorBody}
_Asked = TypeVar("_Asked", bound=BaseModel)


@operation("POST", f"{API}/guests/check", {200: Checked | WantedRuns, **_ERRORS}, takes=CaseAsked)
def guests_check() -> Response:
    """Check a case with a parser that the client serves."""
    asked = _asked(CaseAsked)
    return _answer(asked, lambda ask: check(asked, services().settings, ask))


@operation("POST", f"{API}/guests/find", {200: Smaller | WantedRuns, **_ERRORS}, takes=CaseAsked)
def guests_find() -> Response:
    """Look for a smaller case that fails with a parser that the client serves."""
    asked, settings = _asked(CaseAsked), services().settings
    seconds = FIND_SHARE * settings.replay_seconds
    return _answer(asked, lambda ask: find(asked, settings, ask, seconds, FIND_REPLAYS))


@operation("POST", f"{API}/guests/outputs", {200: Outputs, **_ERRORS}, takes=OutputsAsked)
def guests_outputs() -> Response:
    """Generate outputs of a format, as cases that expect what was meant."""
    return _json(outputs(_asked(OutputsAsked)))


def _asked(kind: type[_Asked]) -> _Asked:
    """The body of this request. Raises UsageError for what is none."""
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("Send what is asked as application/json.")
    body = request.get_data(cache=False)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        if error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid":
            raise BadJsonError(f"The body cannot be read: {_unread(body)}. Send one JSON object.") from error
        raise UsageError(refused(error)) from error


def _unread(body: bytes) -> str:
    """Why that is no JSON."""
    try:
        jsontext.read(body.decode())
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 text: byte {error.start:,} is not"
    except JsonError as error:
        return error.message
    return "it is no JSON"


def _answer(asked: CaseAsked, work: Callable[[Ask], BaseModel]) -> Response:
    """What comes of the work, or what the guest has to say first."""
    answers = Answers(asked.known, stand_in_for(asked))
    try:
        found = work(answers.ask)
    except (WantedError, UsageError):
        if not answers.wanted:
            raise
    if answers.wanted:
        return _json(WantedRuns(wanted=tuple([WantedRun(run=run, of=digest(run)) for run in answers.wanted])))
    return _json(found)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json() + "\n", mimetype="application/json")
