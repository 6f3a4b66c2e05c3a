"""A request and its answer in one JSON object, as proxies and tracing tools save them.

The names of the two parts differ; what counts is that a part has the shape of an API's answer.
"""

from __future__ import annotations

from typing import Any

from parsers.intake.families import family_of
from parsers.intake.jsonread import skip_space, value_at
from parsers.intake.log import Log, event_log, object_log, response_log
from parsers.intake.logs import logged
from parsers.intake.model import Recognised
from parsers.intake.requests import is_request, request_of

_ANSWERS = ("response", "responses", "response_body", "chunks", "events", "stream", "output", "completion", "result")
_REQUESTS = ("request", "request_body", "input", "kwargs", "params", "body")


def read_wrapped(body: str) -> Recognised | None:
    """An object that holds an answer under one of the usual names, and perhaps the request."""
    start = skip_space(body, 0)
    found = value_at(body, start) if body.startswith("{", start) else None
    if found is None or skip_space(body, found[1]) < len(body) or family_of(found[0]) is not None:
        return None
    value = found[0]
    for name in _ANSWERS:
        answer = logged(_log(value.get(name)))
        if answer is not None:
            answer.why = (f"It stands in an object, under `{name}`.", *answer.why)
            asked = next((value[key] for key in _REQUESTS if _is_request(value.get(key))), None)
            answer.request = request_of(asked) if asked is not None else None
            return answer
    return None


def _log(value: Any) -> Log | None:
    """The log that a part is, or that its text is."""
    if not isinstance(value, str):
        return response_log(value)
    return event_log(value) or object_log(value)


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and is_request(value)
