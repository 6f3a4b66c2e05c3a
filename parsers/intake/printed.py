"""Printed objects of a client library, as the chunks or the answer that the server sent.

The classes are those of `client_classes`. Other text may stand between them: people print them in loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from parsers.intake.bare_fields import bare_messages
from parsers.intake.chat import chat_log
from parsers.intake.chunks import ids_of
from parsers.intake.client_classes import (
    ANSWERS,
    CALLS,
    CHUNKS,
    DELTAS,
    MESSAGES,
    NAMES,
    RAW,
    WHOLE_CALLS,
    call_of,
    delta_of,
    message_of,
    rewrites,
)
from parsers.intake.families import FAMILIES
from parsers.intake.literals import Named, literal_at
from parsers.intake.log import Log
from parsers.intake.model import Frame, Payload, Recognised, Warn, number
from parsers.intake.outputs import distinct
from parsers.intake.spelled import mended
from parsers.vocabulary.types import Recording

_CHUNK = "chat.completion.chunk"
_ANSWER = "chat.completion"
_CHAT = next(family for family in FAMILIES if family.name == "chat")
_OBJECT = re.compile(
    rf"(?:\[\s*+)?(?<![\w.])(?:[a-z_]\w*+\.)*+(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})\(", re.ASCII
)
_UNREAD = 20  # objects that cannot be read: then it is something else, or too damaged

BARE = "`content='...' additional_kwargs={{...}}` is how print() shows a message of LangChain ({most})."
CUT = Warn("broken_off", "The last object breaks off: what was pasted is not whole.")


@dataclass(slots=True)
class _Found:
    """The stream in the making: chunks by response, whole answers, calls without a message, raw outputs."""

    chunks: dict[str | None, list[Payload]] = field(default_factory=dict)
    answers: list[Payload] = field(default_factory=list)
    calls: list[Payload] = field(default_factory=list)
    raw: list[Recording] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    unread: int = 0
    rewritten: bool = False
    cut: bool = False


def read_client_objects(body: str) -> Recognised | None:
    """What the printed objects say, in the order printed."""
    found = _Found()
    if not any(f"{name}(" in body for name in NAMES):
        return _bare(body, found)
    at = 0
    while found.unread < _UNREAD and (mark := _OBJECT.search(body, at)):
        literal = literal_at(body, mark.start())
        if literal is None:
            found.unread += 1
            at = mark.end()
            continue
        at = literal.end
        found.cut = not literal.whole
        _take(found, _whole_part(literal.value) if found.cut and found.names else literal.value)
    made = _recognised(found) if found.names else None
    return made if made is not None and made.usable else None


def _bare(body: str, found: _Found) -> Recognised | None:
    """Messages that were printed without their class."""
    bare = bare_messages(body)
    found.cut = bare.cut
    for message in bare.objects:
        _take(found, message)
    made = _recognised(found, BARE) if found.names else None
    return made if made is not None and made.usable else None


def _whole_part(value: Any) -> Any:
    """Without the object that breaks off, as others were whole."""
    return value[:-1] if isinstance(value, list) else None


def _take(found: _Found, value: Any) -> None:
    """One printed object, or a list of them: calls in one list came in one chunk."""
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Named)]
    for item in items:
        name = _short(item)
        found.names[name] = found.names.get(name, 0) + 1
    calls = [_plain(item) for item in items if _short(item) in CALLS]
    if calls:
        _add(found, {"delta": {"tool_calls": [call_of(call) for call in calls]}, "finish_reason": None})
    for item in items:
        _take_one(found, item)


def _take_one(found: _Found, item: Named) -> None:
    name, fields = _short(item), _plain(item)
    if name in CHUNKS:
        found.chunks.setdefault(_word(fields.get("id")), []).append({**fields, "object": _CHUNK})
    elif name in ANSWERS:
        found.answers.append({**fields, "object": _ANSWER})
    elif name in DELTAS:
        _add(found, delta_of(name, fields))
    elif name in MESSAGES:
        found.rewritten = found.rewritten or rewrites(name, fields)
        found.answers.append({"object": _ANSWER, "choices": [{"index": 0, **message_of(name, fields)}]})
    elif name in WHOLE_CALLS:
        found.calls.append(fields)
    elif name == "RequestOutput":
        found.raw += [_raw(output, fields) for output in item.fields.get("outputs") or [] if isinstance(output, Named)]
    elif name in RAW:
        found.raw.append(_raw(item, {}))


def _add(found: _Found, choice: Payload) -> None:
    found.chunks.setdefault(None, []).append({"object": _CHUNK, "choices": [{"index": 0, **choice}]})


def _raw(output: Named, request: Payload) -> Recording:
    """An output of vLLM's offline engine: text and ids before any parser."""
    fields = _plain(output)
    text, stop = fields.get("text"), fields.get("stop_reason")
    return Recording(
        text if isinstance(text, str) else None,
        "client_objects",
        f"output {fields.get('index', 0)}",
        ids=ids_of(fields.get("token_ids")),
        prompt_ids=ids_of(request.get("prompt_token_ids")),
        prompt_text=_word(request.get("prompt")),
        finish_reason=_word(fields.get("finish_reason")),
        stop_reason=stop if isinstance(stop, str) or type(stop) is int else None,
    )


def _short(item: Named) -> str:
    return item.name.rpartition(".")[2]


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _plain(item: Named) -> Payload:
    """The object as JSON would hold it."""
    return {key: _value(value) for key, value in item.fields.items()}


def _value(value: Any) -> Any:
    """A field: objects become dicts, a printed array its list, a bare name its word. As deep as the reader allows."""
    if isinstance(value, Named):
        if value.called and value.args:
            return _value(value.args[-1])
        return _plain(value) if value.called else value.name
    if isinstance(value, dict):
        return {str(key): _value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one) for one in value]
    if isinstance(value, str):
        return mended(value)
    return value if isinstance(value, int | float | None) else None


def _streams(found: _Found) -> list[list[Payload]]:
    """What is one response each."""
    streams = [*found.chunks.values(), *([answer] for answer in found.answers)]
    if found.calls:
        message = {"role": "assistant", "content": None, "tool_calls": found.calls}
        streams.append([{"object": _ANSWER, "choices": [{"index": 0, "message": message, "finish_reason": None}]}])
    return streams


def _recognised(
    found: _Found, why: str = "{most}(...) is how Python prints an object of a client library."
) -> Recognised:
    """Streams are read as chat logs are: their choices, token ids and markers tell the same things."""
    most = max(found.names, key=lambda name: found.names[name])
    made = Recognised(
        kind="client_objects",
        title=f"{number(sum(found.names.values()), 'printed object')}, {most}",
        advice="Choose a parser and replay it.",
        why=(why.format(most=most),),
        warnings=tuple(_warnings(found)),
        server="vLLM" if found.raw or most.startswith("Delta") else "SGLang" if most == "ToolCallItem" else None,
    )
    outputs: list[Recording] = []
    for stream in _streams(found):
        log = Log("ndjson_log", _CHAT, [Frame(at, payload) for at, payload in enumerate(stream, 1)], listed=True)
        chat_log(made, log)
        outputs += made.outputs
    for place, output in enumerate(outputs, 1):
        output.kind, output.label = "client_objects", f"output {place}"
    outputs += [raw for raw in found.raw if raw.text is not None or raw.ids is not None]
    distinct(outputs)
    if len(outputs) == 1:
        outputs[0].label = ""
    made.outputs, made.usable = tuple(outputs), bool(outputs)
    made.warnings = tuple(dict.fromkeys(made.warnings))
    made.facts = made.facts if len(outputs) == 1 else ()
    return made


def _warnings(found: _Found) -> Iterator[Warn]:
    if found.cut:
        yield CUT
    if found.rewritten:
        words = "LangChain shows arguments as objects: their exact text, spaces and order of keys, is lost."
        yield Warn("arguments_rewritten", words)
    if found.unread:
        words = f"{number(found.unread, 'object')} cannot be read and left out: not printed whole, perhaps."
        yield Warn("bad_object", words)
