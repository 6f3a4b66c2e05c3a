"""Printed objects of libraries whose classes are not known by name, read by the shape of what they print.

`Message(id='msg_1', content=[TextBlock(...)], stop_reason='tool_use', type='message')`, as anthropic prints it, holds
the keys of the API's own JSON; so do its events, and the Responses of openai. Blocks of a message and items of a
response that were printed alone get it back around them, without a reason why it ended. (anthropic 0.60, openai-python
2, mistralai 1.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from parsers.intake.answers import log_intake
from parsers.intake.api_families import rewritten_arguments
from parsers.intake.api_logs import response_log
from parsers.intake.chat_dialects import anthropic_as_chat, responses_as_chat
from parsers.intake.client_objects import as_json
from parsers.intake.evidence import Intake, Payload, number
from parsers.intake.json_frames import Frame
from parsers.intake.written_values import Named, choices_of, literal_at, object_of
from parsers.search.pasted_printed import is_printed_object

_OBJECT = re.compile(r"\[?\s*+(?<![\w.])(?:[a-z_]\w*+\.)*+[A-Z]\w*+\(", re.ASCII)
_BLOCKS = frozenset(("text", "thinking", "redacted_thinking", "tool_use"))
_ITEMS = frozenset(("function_call", "reasoning", "message"))


def read_printed_answer(body: str) -> Intake | None:
    """Read printed objects, in the order printed, where they have the shape of an API's answer or of its events."""
    named = list(_objects(body)) if is_printed_object(body) else []
    values = _in_message([as_json(one) for one in named])
    found = log_intake(response_log(values[0] if len(values) == 1 else values))
    if found is None or not found.usable:
        return None
    for output in found.outputs:
        output.kind = "client_objects"
    found.kind, found.title = "client_objects", f"{number(len(named), 'printed object')}, {named[0].name}"
    found.why = (f"{named[0].name}(...) is how Python prints an object of a client library.", *found.why[1:])
    if any(one.fields.get("type") == "tool_use" for one in named):
        found.warnings += (rewritten_arguments("Anthropic's API sends"),)
    return found


def _objects(body: str) -> Iterator[Named]:
    at = 0
    while (mark := _OBJECT.search(body, at)) and (literal := literal_at(body, mark.start())) is not None:
        at = literal.end
        items = literal.value if isinstance(literal.value, list) else [literal.value]
        yield from [item for item in items if isinstance(item, Named)]


def _in_message(values: Sequence[Payload]) -> Sequence[Payload]:
    """Return the message that blocks or items make up which were printed alone; anything else as it is."""
    kinds = {str(value.get("type")) for value in values}
    whole = any("stop_reason" in value for value in values)
    if not kinds or whole or not any(kinds <= known for known in (_BLOCKS, _ITEMS)):
        return values
    if kinds <= _BLOCKS:
        made = anthropic_as_chat([Frame(1, {"type": "message", "content": list(values)})])
    else:
        made = responses_as_chat([Frame(1, {"object": "response", "output": list(values)})])
    return [object_of(choice.get("message")) for frame in made for choice in choices_of(frame.payload or {}) or []]
