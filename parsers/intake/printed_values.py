"""Objects as a program printed them, whatever its language and library, read by the keys that they hold.

    Message(id='msg_1', content=[TextBlock(...)], stop_reason='tool_use')     Python's repr
    model='qwen3:8b' done=True message=Message(role='assistant', ...)         print() of a pydantic model
    {'choices': [{'delta': {'content': 'Hi'}}]}                               dict, list, pprint
    { id: 'chatcmpl-1', choices: [ { index: 0, delta: [Object] } ] }          console.log, util.inspect

All become one tree of JSON values, which the table of API families knows. They may be printed in a loop, with a word
before each; what a class says and its fields do not is in a table here. Where most of a text is something else it is no
print. (anthropic 0.60, openai-python 2, google-genai 1, ollama 0.5, mistralai 1, pydantic-ai 1, Node 20.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsers.intake.answers import found_in, log_intake
from parsers.intake.api_families import family_of
from parsers.intake.api_logs import response_log
from parsers.intake.client_objects import ASKERS, NAMES, as_json, is_unset
from parsers.intake.content_blocks import in_one_message
from parsers.intake.envelopes import unwrapped
from parsers.intake.evidence import Intake, Payload, Warn, ends_with_marker, number
from parsers.intake.written_values import LEFT_OUT, Named, literal_at, object_of, value_at
from parsers.wire.read import read_stream

_ASKED = "request"  # the kind of what pydantic-ai sent, which is no output
# What the name of a class says that its fields do not.
_SAYS: Mapping[str, Payload] = {
    "TextPart": {"part_kind": "text"}, "ThinkingPart": {"part_kind": "thinking"},
    "ToolCallPart": {"part_kind": "tool-call"}, "ModelResponse": {"kind": "response"},
    "PartStartEvent": {"event_kind": "part_start"}, "PartDeltaEvent": {"event_kind": "part_delta"},
    "PartEndEvent": {"event_kind": "part_end"}, "FinalResultEvent": {"event_kind": "final_result"},
    "TextPartDelta": {"part_delta_kind": "text"}, "ThinkingPartDelta": {"part_delta_kind": "thinking"},
    "ModelRequest": {"kind": _ASKED}, "FunctionCall": {"part_kind": "function-call"},
    "Part": {"part_kind": "text"}, "TextBlock": {"block_type": "text"},
    "ThinkingBlock": {"block_type": "thinking"}, "ToolCallBlock": {"block_type": "tool_call"},
    "ToolSelection": {"block_type": "tool_call"},
}  # fmt: skip
_START = re.compile(
    r"(?:(?<=^)|(?<=\n))(?P<label>[^\n{\[('\"<=]{0,120}?(?:(?:=>|[:=>-]) ?)?)"
    r"(?:(?P<value>[{\[]|[A-Z]\w*+(?:\.[A-Z]\w*+)*+\()"
    r"|(?P<bare>(?=[a-z_]\w*+=(?:['\"\d\[{(<]|None|True|False|[A-Z]\w*+\())))"
)
_TORN = re.compile(r"[:=,].{0,400}[}\])],?\s*\Z", re.DOTALL)  # what stands before the first object is the end of one
_CLASS = re.compile(r"(?<![\w.])[A-Z]\w*+(?:\.[A-Z]\w*+)*+\(\s*[a-z_]\w*+=|^[a-z_]\w*+=", re.MULTILINE)
_NO_JSON = re.compile(r"[:\[{,(] ?(?:'|None\b|True\b|False\b|[A-Za-z]\w*+\()|[{,] *[A-Za-z_]\w*+ ?:")
_FIELD = re.compile(r"\s*+([a-z_]\w*+)=(?=\S)", re.ASCII)
# Fields that hold calls, and those of calls, which have a name.
_CALLS = frozenset(("tool_calls", "toolCalls", "function", "functionCall", "function_call", "toolUse"))
_ARGUMENTS = frozenset(("args", "arguments", "input", "rawInput", "tool_kwargs"))
_NAMES = frozenset(("name", "toolName", "tool_name"))
_PRINT_ALL = "print it as JSON (JSON.stringify, model_dump_json), or with depth: null."
_UNREAD = 12  # values that begin and cannot be read: then it is something else
_SHARE = 0.6  # of the characters must be printed values
_FUNCTION = frozenset(("name", "arguments"))
_CALL = frozenset(("index", "id", "type", "function"))


@dataclass(slots=True)
class _Printed:
    """The objects that were printed, in order; how many characters they take, how many values were left out, and how
    many are `stray`: no objects; `lost_calls` are values left out that say what a call is."""

    objects: list[Payload] = field(default_factory=list)
    first: str = ""
    size: int = 0
    stray: int = 0
    left_out: int = 0
    lost_calls: int = 0
    unread: int = 0
    cut: bool = False
    plain: bool = True  # as JSON, which models write, too


def read_printed_objects(body: str) -> Intake | None:
    """Read printed values of which one at least has a class, if that says no more than its keys."""
    printed = _printed_in(body) if _CLASS.search(body) else _Printed()
    return _found(printed, body) if printed.first and printed.first not in NAMES else None


def read_printed_values(body: str) -> Intake | None:
    """Read printed values where they have the shape of an API's answer, of its events, or of a part of either."""
    return _found(_printed_in(body), body)


def read_quoted_values(body: str) -> Intake | None:
    """Read the same where it stands among other text: not as JSON, which a model writes when it explains an API."""
    printed = _printed_in(body)
    return None if printed.plain else _found(printed, body)


def _found(printed: _Printed, body: str) -> Intake | None:
    share = 1 if printed.plain else _SHARE
    if not printed.objects or printed.size < share * len("".join(body.split())):
        return None
    if _is_conversation(printed.objects):
        found = found_in(printed.objects)
        return None if found is None else _told(found, printed)
    sent = in_one_message(list(map(unwrapped, _answered(printed.objects))))
    values = sent if printed.plain else _as_sent(sent)
    known = [value for value in values if family_of(value, framed=len(values) > 1) is not None]
    if printed.plain and (printed.stray or 0 < len(known) < len(values)):
        return None  # a model may have written it: all of it must be an API's
    found = (
        log_intake(response_log(known[0] if len(known) == 1 else known, framed=len(values) > 1))
        if len(known) * 3 > len(values)
        else None
    )
    if found is None:
        inner = [one for value in values if (one := found_in(value)) is not None]
        found = inner[0] if len(inner) == 1 and inner[0].usable else None
    return None if found is None else _told(found, printed)


def _answered(values: list[Payload]) -> list[Payload]:
    """Return the last response among the messages of pydantic-ai, the items and the server's own events in those of
    OpenAI's Agents SDK, and any other values as they are."""
    values = [value["raw_item"] if isinstance(value.get("raw_item"), dict) else value for value in values]
    raw = [value["data"] for value in values if value.get("type") == _RAW and isinstance(value.get("data"), dict)]
    values = raw or values
    last = [value for value in values if value.get("kind") == "response"][-1:]
    return last if last and any(value.get("kind") == _ASKED for value in values) else values


def _is_conversation(values: Sequence[Payload]) -> bool:
    """Return whether the objects are messages, of others than the assistant too: theirs are no output."""
    roles = [value.get("role") for value in values]
    return len({*map(str, roles)}) > 1 and all(isinstance(role, str) for role in roles) and not ASKERS.isdisjoint(roles)


def _told(found: Intake, printed: _Printed) -> Intake:
    """Say that it was printed, and what is missing of it."""
    for output in found.outputs:
        output.kind = "client_objects"
    count = number(len(printed.objects), "printed object")
    found.kind, found.title = "client_objects", f"{count}, {printed.first or found.title}"
    how = f"{printed.first}(...) is how Python prints an object of a client library."
    found.why = (how if printed.first else "It is printed as a program shows its objects.", *found.why[1:])
    if printed.left_out:
        told = Warn("left_out", f"{number(printed.left_out, 'value')} not printed (`[Object]`, `<... Max depth ...>`).")
        found.warnings += (told,)
        for output in found.outputs:
            output.gaps = output.gaps or _lacks_calls(output.stream or ())
        lost = printed.lost_calls or not any(output.text or output.stream for output in found.outputs)
        if lost or not found.usable or _is_hollow(found):
            found.usable, found.outputs, found.warnings = False, (), (told,)
            found.advice = f"What {'its calls say' if printed.lost_calls else 'it says'} was left out: {_PRINT_ALL}"
    if printed.cut or printed.unread:
        found.warnings += (Warn("bad_object", "Not all of it can be read: an object breaks off or is not whole."),)
    return found


def _lacks_calls(stream: Sequence[Payload]) -> bool:
    """Return whether no call came where one was announced: it stood in a chunk that was not printed."""
    chunks = read_stream(stream)
    announced = any(chunk.finish_reason == "tool_calls" for chunk in chunks)
    return announced and not any(chunk.delta.tool_calls for chunk in chunks if chunk.delta is not None)


def _is_hollow(found: Intake) -> bool:
    """Return whether no chunk says anything: the objects inside were not printed."""
    choices = [choice for one in found.outputs for chunk in one.stream or () for choice in chunk.get("choices", ())]
    return not any(object_of(choice.get("delta", choice.get("message"))) for choice in choices)


def _printed_in(body: str) -> _Printed:
    printed, at = _Printed(), 0
    if " additional_kwargs=" in body:
        return printed  # messages of LangChain are known by class, and as print() shows them
    while printed.unread < _UNREAD and (mark := _START.search(body, at)):
        start = mark.end("label")
        if not printed.objects and ends_with_marker(body[at:start].rstrip()):
            break  # a model wrote it
        printed.cut = printed.cut or (not at and _TORN.search(body[: mark.start()]) is not None)
        end = _take_bare(printed, body, start) if mark["bare"] is not None else _take_value(printed, body, start)
        if end is None:
            printed.unread += 1
            at = max(mark.end(), mark.start() + 1)
            continue
        printed.size += len("".join(body[mark.start() : end].split()))
        at = end
    return printed


def _take_value(printed: _Printed, body: str, at: int) -> int | None:
    exact = value_at(body, at) if body[at] in "{[" else None
    if exact is not None:
        _take(printed, exact[0])
        return exact[1]
    found = literal_at(body, at)
    if found is None:
        return None
    printed.plain = printed.plain and not found.whole and _NO_JSON.search(body, at, found.end) is None
    printed.cut = printed.cut or not found.whole
    if found.whole or not printed.objects:
        _take(printed, found.value)
    return found.end


def _take_bare(printed: _Printed, body: str, at: int) -> int | None:
    """Take the fields that print() shows of a pydantic model: `name=value name=value`; two at least."""
    fields: dict[Any, Any] = {}
    while name := _FIELD.match(body, at):
        value = literal_at(body, name.end())
        if value is None or (fields and name[1] in fields):
            break
        fields[name[1]], at = value.value, value.end
    if len(fields) < 2:
        return None
    printed.plain = False
    _take(printed, Named("object", [], fields, called=True))
    return at


def _take(printed: _Printed, value: Any) -> None:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Named) and item.called and not printed.first:
            printed.first = item.name.rpartition(".")[2]
        payload = _said(printed, item)
        if not isinstance(payload, dict):
            printed.stray += 1
        elif payload:
            printed.objects.append(payload)


def _said(printed: _Printed, value: Any) -> Any:
    """Return a printed value as JSON, with what classes say; what was left out is counted and not there."""
    if isinstance(value, Named) and value.called:
        if is_unset(value):
            return _GONE
        name = value.name.rpartition(".")[2]
        said = _fields(printed, value.fields)
        kind = said.get("type")
        if isinstance(kind, str) and kind in _BLOCKS and not _is_called(name, kind):
            del said["type"]  # a function that a model calls, not a class of blocks
        return _SAYS.get(name, {}) | said
    if value is LEFT_OUT:
        printed.left_out += 1
        return _GONE
    if isinstance(value, dict):
        return _fields(printed, value)
    if isinstance(value, list):
        return [one for item in value if (one := _said(printed, item)) is not _GONE]
    return as_json(Named("", [], {"": value}, called=True))[""]


def _is_called(name: str, kind: str) -> bool:
    """Return whether a class has the name of a kind: ToolUseBlock, or mistralai's ThinkChunk for `thinking`."""
    return all(word[:_STEM] in name.lower() for word in kind.split("_"))


def _fields(printed: _Printed, fields: Mapping[Any, Any]) -> Payload:
    """Return the fields that were printed; counted are those left out without which nobody knows a call."""
    said = {str(key): _said(printed, one) for key, one in fields.items()}
    named = not _NAMES.isdisjoint(said)
    gone = [key for key, one in fields.items() if one is LEFT_OUT or one == [LEFT_OUT]]
    printed.lost_calls += any(key in _CALLS or (named and key in _ARGUMENTS) for key in gone)
    return {key: one for key, one in said.items() if one is not _GONE}


def plain_value(value: Any) -> Any:
    """Return a printed value as JSON; what the program left out is not there."""
    said = _said(_Printed(), value)
    return None if said is _GONE else said


_RAW = "raw_response_event"  # of openai-agents 0.2, beside which its other events say the same again
_BLOCKS = frozenset(("text", "thinking", "tool_use", "reasoning", "function_call", "tool_call"))
_STEM = 5  # letters of a kind that its class has, too
_GONE: Any = object()


def _as_sent(values: Sequence[Payload]) -> Sequence[Payload]:
    """Return the deltas that functions and calls stood in which were printed alone; anything else as it is."""
    if all(set(value) <= _FUNCTION and "arguments" in value for value in values):
        return list(_in_calls(values))
    if all(set(value) <= _CALL and isinstance(value.get("function"), dict) for value in values):
        if any(isinstance(object_of(value["function"]).get("arguments"), dict) for value in values):
            return [{"role": "assistant", "content": None, "tool_calls": list(values)}]
        if any("index" in value or "id" not in value for value in values):
            return [{"tool_calls": [{"index": 0, **value}]} for value in values]
    return values


def _in_calls(functions: Sequence[Payload]) -> Iterator[Payload]:
    """Put a call around each function; one with a name begins the next call."""
    place = -1
    for function in functions:
        named = bool(function.get("name"))
        place = max(place + named, 0)
        call = {"index": place, "type": "function", "function": function}
        yield {"tool_calls": [call | {"id": f"call_{place}"} if named else call]}
