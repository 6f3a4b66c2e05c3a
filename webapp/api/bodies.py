"""Request bodies: from bytes to a Case, or to the error that says why not."""

from __future__ import annotations

from flask import request
from werkzeug.exceptions import BadRequest, UnsupportedMediaType

from parsers.cases import jsontext
from parsers.cases.io import load_case
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError
from parsers.intake import recognise
from parsers.vocabulary.types import UsageError

MOST_CHUNKINGS = 64
_RECORDING = ", and a recording of a server to /api/v1/intake"
_NO_RECORDING = frozenset({"raw_text", "case", "empty", "not_text", "text_literal"})


class NotACaseError(UsageError):
    """A body that is a recording; says what it was recognised as, and where it goes."""


class BadJson(BadRequest):
    """A body that is not JSON; says where."""


def posted_case() -> Case:
    """The case in the body of this request.

    Raises UnsupportedMediaType, BadJson with line and column, and CaseError with the pointer of what is wrong.
    """
    if request.mimetype != "application/json" and not request.mimetype.endswith("+json"):
        given = f"is {request.mimetype}" if request.mimetype else "has no content type"
        raise UnsupportedMediaType(f"The body {given}; send a case as application/json{_RECORDING}.")
    body = request.get_data(cache=False)
    try:
        data = jsontext.read(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadJson(f"The body is not UTF-8 text: byte {error.start:,} is not.") from error
    except JsonError as error:
        _refuse_recording(body)
        raise BadJson(f"The body cannot be read: {error.message}.") from error
    if not isinstance(data, dict) or "schema" not in data:
        _refuse_recording(body)
    case = load_case(data)
    if len(case.replay) > MOST_CHUNKINGS:
        message = f"{len(case.replay):,} chunkings are too many for one request: at most {MOST_CHUNKINGS}"
        raise CaseError(message, "/replay")
    return case


def _refuse_recording(body: bytes) -> None:
    """Raise NotACaseError for a log, a response, ids: what the intake knows and a case is not."""
    found = recognise(body, pasted=False)
    if found.kind not in _NO_RECORDING:
        raise NotACaseError(f"This is no case but {found.title}: send it to /api/v1/intake, which makes cases of it.")
