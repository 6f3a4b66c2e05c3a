"""The shapes that a body can have, one reader each, in the order in which they are tried.

The surest come first: the first that says yes is taken, the others are offered as other readings. A reader never
raises and is linear in the body. Anything that no reader takes is raw model output: calls and lists of calls written
as JSON are.
"""

from __future__ import annotations

import re

from parsers.intake.damage import CUT_JSON
from parsers.intake.dynamo import read_dynamo
from parsers.intake.har import read_har
from parsers.intake.jsonread import closed, skip_space, value_at, whole_object
from parsers.intake.log import event_log, object_log, response_log
from parsers.intake.logs import logged
from parsers.intake.model import Reader, Recognised
from parsers.intake.printed import read_client_objects
from parsers.intake.replay_record import read_replay_record
from parsers.intake.server_log import read_server_log
from parsers.intake.spelled import read_delta_lines, read_quoted, read_string_list
from parsers.intake.token_lists import read_token_ids
from parsers.intake.token_pairs import read_token_pairs
from parsers.intake.values import case_value
from parsers.intake.wrapped import read_logged_lines, read_wrapped

# An event stream's own line, not one that a log printed.
_STREAMED = re.compile(r"^data: ?[{\[]", re.MULTILINE)


def read_json(body: str) -> Recognised | None:
    """One JSON object or array: a case, an answer."""
    start = skip_space(body, 0)
    found = value_at(body, start) if body.startswith(("{", "["), start) else None
    if found is None or skip_space(body, found[1]) < len(body):
        return None
    value = found[0]
    return case_value(body, value) or logged(response_log(value))


def read_events(body: str) -> Recognised | None:
    """Server-sent events."""
    return logged(event_log(body))


def read_objects(body: str) -> Recognised | None:
    """JSON objects one after the other, or one on each line."""
    return logged(object_log(body)) if "{" in body else None


def read_quoted_log(body: str) -> Recognised | None:
    """A log that was printed as strings: one string, or a list of them."""
    quoted = read_string_list(body) or read_quoted(body)
    text = quoted.outputs[0].text if quoted is not None and len(quoted.outputs) == 1 else None
    found = read_events(text) if text is not None and _STREAMED.search(text) else None
    if found is not None:
        found.why = ("It is a log that was printed as strings; the strings were joined.", *found.why)
    return found


def read_cut_json(body: str) -> Recognised | None:
    """One answer whose JSON breaks off: what is whole of it."""
    start = skip_space(body, 0)
    if not body.startswith(("{", "["), start) or value_at(body, start) is not None:
        return None
    found = logged(response_log(closed(body)))
    if found is not None:
        found.warnings = (CUT_JSON, *found.warnings)
    return found


def read_quoting_log(body: str) -> Recognised | None:
    """A server's log, or one error, that quotes the output."""
    return None if _is_stream(body) else read_server_log(body)


def read_quoting_end(body: str) -> Recognised | None:
    """A stream that such an error ends: it is the stream first."""
    return read_server_log(body) if _is_stream(body) else None


def _is_stream(body: str) -> bool:
    return bool(_STREAMED.search(body)) or (body.lstrip().startswith("{") and whole_object(body) is None)


READERS: tuple[Reader, ...] = (
    read_replay_record,
    read_token_pairs,
    read_quoting_log,
    read_quoted_log,
    read_string_list,
    read_client_objects,
    read_token_ids,
    read_json,
    read_wrapped,
    read_logged_lines,
    read_har,
    read_events,
    read_objects,
    read_cut_json,
    read_delta_lines,
    read_quoted,
    read_dynamo,
    read_quoting_end,
)
