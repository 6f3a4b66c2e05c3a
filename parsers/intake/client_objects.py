"""Printed objects of a client library, as the chunks or the answer that the server sent.

openai-python 1 to 3, LiteLLM 1, LangChain 1, LlamaIndex 0.14, mistralai 3, vLLM 0.33 and SGLang 0.5: their classes are
listed below.
Other text may stand between the objects: people print them in loops. LangChain's messages are also read as print()
shows them:

    content='Hi' additional_kwargs={} response_metadata={'finish_reason': 'stop'} id='run-1'

Such a message is a chunk where it has the parts of calls, or where another one has the same id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from parsers.intake.api_families import CHAT, rewritten_arguments
from parsers.intake.api_logs import Log
from parsers.intake.chat_dialects import ChatState, with_text
from parsers.intake.chat_streams import chat_intake, may_finish
from parsers.intake.content_blocks import block_message
from parsers.intake.evidence import REPLAY, Intake, Payload, Warn, intake_of, make_labels_differ, number
from parsers.intake.json_frames import Frame
from parsers.intake.library_dialects import langchain_choice, llama_index_as_chat
from parsers.intake.plain_text import without_lone_surrogates
from parsers.intake.written_values import Named, ids_of, literal_at, object_of, word_of, word_or_number_of
from parsers.vocabulary.types import Recording

_CHUNKS = ("ChatCompletionChunk", "CompletionChunk", "ModelResponseStream")
_ANSWERS = ("ChatCompletion", "ParsedChatCompletion", "ModelResponse")
_CALLS = ("ChoiceDeltaToolCall", "DeltaToolCall", "ToolCallItem", "ChatCompletionDeltaToolCall")
_DELTAS = ("ChoiceDelta", "ChatMessageStreamDelta", "Delta", "DeltaMessage", "StreamingParseResult", "AIMessageChunk")
_MESSAGES = ("ChatCompletionMessage", "ChatMessage", "AIMessage")
_WHOLE_CALLS = ("ChatCompletionMessageToolCall", "ChatCompletionMessageFunctionToolCall", "ParsedFunctionToolCall")
_RAW = ("RequestOutput", "CompletionOutput")
_RESPONSE = "ChatResponse"  # of LlamaIndex: around a message; Ollama's of the same name is read by its keys
ASKERS = frozenset(("user", "system", "developer", "tool", "function"))  # who speaks in what a model was asked
NAMES = (*_CHUNKS, *_ANSWERS, *_CALLS, *_DELTAS, *_MESSAGES, *_WHOLE_CALLS, *_RAW)
# What OpenAI's Agents SDK puts around an item of a response has the name of SGLang's part of a call.
_OBJECT = re.compile(
    rf"(?:\[\s*+)?(?<![\w.])(?:[a-z_]\w*+\.)*+(?:(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})\("
    rf"(?!agent=)|{_RESPONSE}\((?=message=ChatMessage\())",
    re.ASCII,
)
_UNSET = ("Unset", "NotGiven", "Omit")  # what clients print of a field that was not sent
_CHUNK, _ANSWER = "chat.completion.chunk", "chat.completion"
_UNREAD = 20  # objects that cannot be read: then it is something else, or too damaged
# Fields that are printed as a text or a number: where a variable stands in one, a program makes the object.
_VALUES = ("content", "reasoning", "reasoning_content", "normal_text", "text", "index", "id", "name", "arguments")

_BARE_START = re.compile(r"^[ \t]*(?=content=['\"\[])", re.MULTILINE)
_BARE_FIELD = re.compile(r"[ \t]*+([a-z_]\w*+)=(?=\S)", re.ASCII)
_ALWAYS, _PARTS = "additional_kwargs", "tool_call_chunks"

_CUT = Warn("broken_off", "The last object breaks off: what was pasted is not whole.")


@dataclass(slots=True)
class _Printed:
    """The stream in the making: chunks by response, whole answers, calls without a message, raw outputs, LlamaIndex's
    responses, and the numbers of LangChain's calls among its blocks."""

    chunks: dict[str | None, list[Payload]] = field(default_factory=dict)
    answers: list[Payload] = field(default_factory=list)
    calls: list[Payload] = field(default_factory=list)
    raw: list[Recording] = field(default_factory=list)
    responses: list[Payload] = field(default_factory=list)
    places: dict[Any, int] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    rewritten: bool = False
    cut: bool = False


def read_client_objects(body: str) -> Intake | None:
    """Read printed objects, in the order printed."""
    printed = _Printed()
    bare = not any(f"{name}(" in body for name in NAMES)
    if bare:
        _take_bare_messages(printed, body)
    else:
        _take_objects(printed, body)
    if not printed.names:
        return None
    most = max(printed.names, key=lambda name: printed.names[name])
    why = (
        f"`content='...' additional_kwargs={{...}}` is how print() shows a message of LangChain ({most})."
        if bare
        else f"{most}(...) is how Python prints an object of a client library."
    )
    made = _intake(printed, most, why)
    return made if made.outputs else None


def _take_objects(printed: _Printed, body: str) -> None:
    at = 0
    while printed.unread < _UNREAD and (mark := _OBJECT.search(body, at)):
        literal = literal_at(body, mark.start())
        if literal is None:
            printed.unread += 1
            at = mark.end()
            continue
        at, printed.cut = literal.end, not literal.whole
        found = literal.value if isinstance(literal.value, list) else [literal.value]
        found = [one for one in found if not _is_made(one)]
        # As others were whole, the one that breaks off is left out.
        _take_list(printed, found[:-1] if printed.cut and printed.names else found)


def _is_made(value: Any) -> bool:
    """Return whether it is the source of an object, not one that was printed."""
    if not isinstance(value, Named):
        return isinstance(value, list) and any(map(_is_made, value))
    named = [one for key in _VALUES if isinstance(one := value.fields.get(key), Named)]
    return any(not one.called for one in named) or any(map(_is_made, value.fields.values()))


def _take_bare_messages(printed: _Printed, body: str) -> None:
    """Take messages that were printed without their class; all are read before it shows which are chunks."""
    read = list(_bare_messages(body)) if f" {_ALWAYS}=" in body else []
    messages = [fields for fields, _ in read if _ALWAYS in fields]
    ids = Counter([fields["id"] for fields in messages if isinstance(fields.get("id"), str)])
    for fields in messages:
        name = fields.get("id")
        chunk = _PARTS in fields or (isinstance(name, str) and ids[name] > 1)
        _take_list(printed, [Named("AIMessageChunk" if chunk else "AIMessage", [], fields, called=True)])
    printed.cut = bool(read) and read[-1][1]


def _bare_messages(text: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the fields of each message, and whether the text ends inside them."""
    at = 0
    while mark := _BARE_START.search(text, at):
        at, fields, cut = mark.start(), {}, False
        while not cut and (name := _BARE_FIELD.match(text, at)):
            literal = literal_at(text, name.end())
            if literal is None:
                cut = text.find("\n", name.end()) < 0  # an open quote at the end of the paste
                break
            cut, at = not literal.whole, literal.end
            fields[name[1]] = literal.value
        at = max(at, mark.start() + 1)
        yield fields, cut


def _take_list(printed: _Printed, values: list[Any]) -> None:
    """Take printed objects; calls in one list came in one chunk."""
    items = [(item.name.rpartition(".")[2], item) for item in values if isinstance(item, Named)]
    printed.names.update([name for name, _ in items])
    calls = [_call_delta(as_json(item)) for name, item in items if name in _CALLS]
    if calls:
        _add_chunk(printed, {"delta": {"tool_calls": calls}})
    for name, item in items:
        _take(printed, name, item)


def _take(printed: _Printed, name: str, item: Named) -> None:
    fields = as_json(item)
    if name in _CHUNKS:
        printed.chunks.setdefault(word_of(fields.get("id")), []).append({**fields, "object": _CHUNK})
    elif name in _ANSWERS:
        printed.answers.append({**fields, "object": _ANSWER})
    elif name in _DELTAS:
        _add_chunk(printed, _delta_choice(name, fields, printed.places))
    elif name == _RESPONSE:
        printed.responses.append(fields)
    elif name in _MESSAGES and fields.get("role") not in ASKERS:
        # LangChain keeps the text that a provider sent beside the objects, or not.
        calls = _objects(fields.get("tool_calls"))
        rewritten = name == "AIMessage" and bool(calls) and not object_of(fields.get(_ALWAYS)).get("tool_calls")
        objects = any(isinstance(object_of(call.get("function")).get("arguments"), dict) for call in calls)
        printed.rewritten = printed.rewritten or rewritten or objects
        fields = {**fields, "tool_calls": list(map(with_text, calls, range(len(calls))))} if objects else fields
        printed.answers.append({"object": _ANSWER, "choices": [{"index": 0, **_message_choice(name, fields)}]})
    elif name in _WHOLE_CALLS:
        printed.calls.append(fields)
    elif name == "RequestOutput":
        outputs = item.fields.get("outputs")
        outputs = [output for output in outputs if isinstance(output, Named)] if isinstance(outputs, list) else []
        printed.raw += [_raw_output(as_json(output), fields) for output in outputs]
    elif name in _RAW:
        printed.raw.append(_raw_output(fields, {}))


def _add_chunk(printed: _Printed, choice: Payload) -> None:
    printed.chunks.setdefault(None, []).append({"object": _CHUNK, "choices": [{"index": 0, **choice}]})


def _raw_output(fields: Payload, request: Payload) -> Recording:
    """Return an output of vLLM's offline engine: text and ids before any parser."""
    return Recording(
        word_of(fields.get("text")),
        "client_objects",
        f"output {fields.get('index', 0)}",
        ids=ids_of(fields.get("token_ids")),
        prompt_ids=ids_of(request.get("prompt_token_ids")),
        prompt_text=word_of(request.get("prompt")),
        finish_reason=word_of(fields.get("finish_reason")),
        stop_reason=word_or_number_of(fields.get("stop_reason")),
    )


def as_json(item: Named) -> Payload:
    """Return a printed object as the JSON that it stands for."""
    return {key: _field_as_json(value) for key, value in item.fields.items() if not is_unset(value)}


def is_unset(value: Any) -> bool:
    """Return whether a printed value says that there was none."""
    return isinstance(value, Named) and value.called and value.name in _UNSET


def _field_as_json(value: Any) -> Any:
    """Return a field: objects become dicts, a printed array its list, a bare name its word."""
    if isinstance(value, Named):
        if value.called and value.args:
            return _field_as_json(value.args[-1])
        return as_json(value) if value.called else value.name
    if isinstance(value, dict):
        return {str(key): _field_as_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_field_as_json(one) for one in value]
    if isinstance(value, str):
        return without_lone_surrogates(value)
    return value if isinstance(value, int | float | None) else None


def _delta_choice(name: str, fields: Payload, places: dict[Any, int]) -> Payload:
    if name == "AIMessageChunk":
        return langchain_choice(fields, places, chunk=True)[1]
    if name == "StreamingParseResult":
        calls = [_call_delta(call) for call in _objects(fields.get("calls"))]
        fields = {"content": fields.get("normal_text") or None, **({"tool_calls": calls} if calls else {})}
    return {"delta": fields}


def _message_choice(name: str, fields: Payload) -> Payload:
    if name == "AIMessage":
        return langchain_choice(fields, {}, chunk=False)[1]
    # LlamaIndex's message has the name of others, and blocks.
    answer = block_message(ChatState(), fields) if "blocks" in fields else None
    return {"message": fields} if answer is None else answer["choices"][0]


def _call_delta(call: Payload) -> Payload:
    """Return a call's delta; SGLang's ToolCallItem has its own names."""
    return (
        call if "tool_index" not in call else {"index": call["tool_index"], "function": _function(call, "parameters")}
    )


def _function(call: Payload, arguments: str) -> Payload:
    """Return the function of a part of a call, which keeps its arguments under another name."""
    return {key: call[own] for key, own in (("name", "name"), ("arguments", arguments)) if call.get(own)}


def _objects(value: Any) -> list[Payload]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _intake(printed: _Printed, most: str, why: str) -> Intake:
    """Read the streams as chat logs are read: choices, token ids and markers tell the same things."""
    for frame in llama_index_as_chat([Frame(0, fields) for fields in printed.responses]):
        said = frame.payload or {}
        kept = printed.answers if said.get("object") == _ANSWER else printed.chunks.setdefault(said.get("id"), [])
        kept.append(said)
    streams = [*printed.chunks.values(), *([answer] for answer in printed.answers)]
    if printed.calls:
        message = {"role": "assistant", "content": None, "tool_calls": printed.calls}
        streams.append([{"object": _ANSWER, "choices": [{"index": 0, "message": message}]}])
    framed = [[Frame(at, payload) for at, payload in enumerate(stream, 1)] for stream in streams]
    contents = [
        chat_intake(Log("ndjson_log", CHAT, frames, listed=True, finishes=may_finish(stream)))
        for stream, frames in zip(streams, framed, strict=True)
    ]
    outputs = [output for content in contents for output in content.outputs]
    for place, output in enumerate(outputs, 1):
        output.kind, output.label = "client_objects", f"output {place}"
    outputs += [raw for raw in printed.raw if raw.text is not None or raw.ids is not None]
    make_labels_differ(outputs)
    if len(outputs) == 1:
        outputs[0].label = ""
    doubts = [_CUT] if printed.cut else []
    doubts += [rewritten_arguments("The library shows")] if printed.rewritten else []
    if printed.unread:
        words = f"{number(printed.unread, 'object')} cannot be read and left out: not printed whole, perhaps."
        doubts.append(Warn("bad_object", words))
    return intake_of(
        "client_objects",
        f"{number(printed.names.total(), 'printed object')}, {most}",
        outputs,
        why=why,
        advice=contents[-1].advice if contents else REPLAY,
        facts=[fact for content in contents for fact in content.facts] if len(outputs) == 1 else (),
        warnings=[*doubts, *[warn for content in contents for warn in content.warnings]],
        server="vLLM" if printed.raw or most.startswith("Delta") else "SGLang" if most == "ToolCallItem" else None,
    )
