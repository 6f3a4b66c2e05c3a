"""Request bodies: from bytes to a Case, or to the error that says why not."""

from __future__ import annotations

from flask import request
from werkzeug.exceptions import BadRequest, UnsupportedMediaType

from parsers.cases import jsontext
from parsers.cases.io import load_case
from parsers.cases.jsontext import JsonError
from parsers.cases.model import Case, CaseError

MOST_CHUNKINGS = 64


class BadJson(BadRequest):
    """A body that is not JSON; says where."""


def posted_case() -> Case:
    """The case in the body of this request.

    Raises UnsupportedMediaType, BadJson with line and column, and CaseError with the pointer of what is wrong.
    """
    if request.mimetype != "application/json" and not request.mimetype.endswith("+json"):
        given = f"is {request.mimetype}" if request.mimetype else "has no content type"
        raise UnsupportedMediaType(f"The body {given}; send a case as application/json.")
    try:
        data = jsontext.read(request.get_data(cache=False).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadJson(f"The body is not UTF-8 text: byte {error.start:,} is not.") from error
    except JsonError as error:
        raise BadJson(f"The body cannot be read: {error.message}.") from error
    case = load_case(data)
    if len(case.replay) > MOST_CHUNKINGS:
        message = f"{len(case.replay):,} chunkings are too many for one request: at most {MOST_CHUNKINGS}"
        raise CaseError(message, "/replay")
    return case
