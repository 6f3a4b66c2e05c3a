"""An API's answer inside other JSON: a request and its answer in one object, as proxies and tracing tools save them,
and log lines that hold one chunk each.

The names of the parts differ; what counts is that a part has the shape of an API's answer.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from parsers.intake.families import family_of
from parsers.intake.jsonread import skip_space, value_at
from parsers.intake.log import Log, event_log, object_log, response_log
from parsers.intake.logs import logged
from parsers.intake.model import Recognised, number
from parsers.intake.requests import is_request, request_of

_ANSWERS = ("response", "responses", "response_body", "chunks", "events", "stream", "output", "completion", "result")
_KEYS = 8  # the commonest keys of log lines are looked into
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


def read_logged_lines(body: str) -> Recognised | None:
    """JSON log lines with a chunk of the stream under one key each, as an object or as the text that came."""
    rows = [value for line in body.split("\n") if isinstance(value := _line(line), dict)]
    if len(rows) < 2 or _is_known(rows[0]):
        return None
    counted = Counter([key for row in rows for key in row if isinstance(row[key], dict | str)])
    for key, _ in counted.most_common(_KEYS):
        found = logged(_joined([row[key] for row in rows if key in row]))
        if found is not None and found.usable:
            found.why = (f"It stands in {number(len(rows), 'log line')} of JSON, under `{key}`.", *found.why)
            return found
    return None


def _line(line: str) -> Any:
    found = value_at(line, 0) if line.startswith("{") else None
    return found[0] if found is not None and skip_space(line, found[1]) == len(line) else None


def _is_known(row: dict[str, Any]) -> bool:
    """Whether the line is a chunk itself."""
    family = family_of(row)
    return family is not None and family.name != "log_line"


def _joined(values: list[Any]) -> Log | None:
    """The log that the parts of all lines make."""
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) * 2 > len(values):
        return response_log(objects)
    text = "\n".join([value.removesuffix("\n") for value in values if isinstance(value, str)])
    return event_log(text) or object_log(text)


def _log(value: Any) -> Log | None:
    """The log that a part is, or that its text is."""
    if not isinstance(value, str):
        return response_log(value)
    return event_log(value) or object_log(value)


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and is_request(value)
