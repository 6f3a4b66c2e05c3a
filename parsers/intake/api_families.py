"""Which API a payload comes from, and what it adds to the output: a table of shapes, the most telling keys first.

A family with `read` sends the model's own text, so the raw output can be rebuilt; `caveat` says what may be
missing from it. One that is `parsed` holds what a parser has made of the output. Any other has no output in it, and
`verdict` says so and what to do. A shape must be unlike anything a model writes as a call or as structured output, so
each test asks for keys of the envelope, never for the payload alone; weak shapes count inside frames only.

Shapes: OpenAI API reference (completions; `token_ids` is vLLM's), vLLM 0.33 (`/inference/v1/generate`), llama.cpp
tools/server/README.md (completion), SGLang 0.5 docs/basic_usage (native API, streaming) and request_logger,
text-generation-inference (generate, generate_stream), Ollama docs/api.md (generate, chat; `thinking`, `tool_calls`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.intake.chat_dialects import anthropic_as_chat, parts_as_chat, responses_as_chat
from parsers.intake.cloud_dialects import BEDROCK_EVENTS, bedrock_as_chat, gemini_as_chat, is_bedrock, is_gemini
from parsers.intake.cohere_dialects import cohere_as_chat, cohere_v1_as_chat, is_cohere, is_cohere_v1
from parsers.intake.content_blocks import blocks_as_chat, is_block, is_block_message
from parsers.intake.evidence import Payload, Warn
from parsers.intake.json_frames import Frame
from parsers.intake.library_dialects import (
    is_langchain,
    is_llama_index,
    is_pydantic_ai,
    is_vercel,
    langchain_as_chat,
    llama_index_as_chat,
    pydantic_ai_as_chat,
    vercel_as_chat,
)
from parsers.intake.moments import Moment
from parsers.intake.plain_text import has_lone_surrogate
from parsers.intake.token_bytes import choice_tokens, ids_in, llama_tokens, pieces_spelling, sglang_tokens
from parsers.intake.written_values import choices_of, ids_of, object_of, objects_of, word_of, word_or_number_of
from parsers.vocabulary.types import Piece, Request
from parsers.wire.chat_parts import chat_part_of, may_be_delta
from parsers.wire.endings import ended_by

# Finish reasons in the words of the OpenAI API; others stay as they are.
_FINISH = {"eos": "stop", "eos_token": "stop", "word": "stop", "stop_sequence": "stop", "limit": "length"}
_CUT_AT = 2048  # characters of a string that SGLang's request log keeps below level 3
_DOTS = " ... "

_CUT = Warn(
    "text_cut",
    "The log cut the middle out of the text, so only its beginning is used: --log-requests-level 3 keeps all of it.",
)
_SHORT_IDS = Warn("ids_cut", "The log kept only some of the token ids, so they are left out.")
_NO_SPECIALS = Warn("specials_missing", "Special tokens are not in generated_text: /generate_stream keeps them.")
_OLLAMA_PARSED = Warn("parsed", "Ollama's own parser was at work: the text is what it left over, not the raw output.")


@dataclass(slots=True)
class RawChunk:
    """One step of one output, as one payload holds it; None where the step does not tell.

    `request` and `index` (the choice) tell outputs apart; nothing may follow a chunk that is `last`. `pieces` are the
    tokens of `text`, special ones kept; `delta` is what the server's own parser made of the step, as OpenAI's API
    would send it; `moment` the time stamp of the payload.
    """

    text: str | None
    request: str | None = None
    index: int = 0
    ids: tuple[int, ...] | None = None
    pieces: tuple[Piece, ...] | None = None
    delta: Payload | None = None
    finish: str | None = None
    stop: str | int | None = None
    last: bool = False
    prompt_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    asked: Request | None = None
    moment: Moment | None = None
    warnings: tuple[Warn, ...] = ()


# The chunks of a payload, [] where it carries none by design (a usage chunk), None where it is not what the API sends.
ChunkReader = Callable[[Payload], list[RawChunk] | None]


@dataclass(frozen=True, slots=True)
class Family:
    """One API's shape.

    `title`: its name before a noun, where that is another. `translate`: to chat frames that say the same; `rewrites`:
    who changed the arguments of whole calls on the way. `cumulative`: each chunk repeats the text so far. `whole`: each
    payload is a whole answer, so several are no stream. `ends_done`: a stream ends with `[DONE]`. `framed`: it is weak
    and counts inside frames only. `error`: any other family of a log says more. `server`: the server that has this API,
    where one has. `skips`: the caveat falls where skip_special_tokens is false. `quotes`: it may hold another API's.
    """

    name: str
    matches: Callable[[Payload], bool]
    title: str = ""
    read: ChunkReader | None = None
    parsed: bool = False
    translate: Callable[[list[Frame]], list[Frame]] | None = None
    rewrites: str = ""
    caveat: str = ""
    verdict: str = ""
    cumulative: bool = False
    whole: bool = False
    ends_done: bool = False
    framed: bool = False
    error: bool = False
    server: str | None = None
    skips: bool = False
    quotes: bool = False


def is_failure(frame: Frame) -> bool:
    """Return True for an error that the server sent in place of a chunk."""
    payload = frame.payload or {}
    return frame.event == "error" or _is_error(payload) or (bool(payload.get("error")) and "choices" not in payload)


def family_of(payload: Payload, *, framed: bool = False) -> Family | None:
    """Return the first family whose shape the payload has; weak shapes count only inside a frame."""
    if _CLUES.isdisjoint(payload):
        return None
    return next((f for f in FAMILIES if (framed or not f.framed) and f.matches(payload)), None)


def _has(payload: Payload, **types: type | tuple[type, ...]) -> bool:
    return all(isinstance(payload.get(key), kind) for key, kind in types.items())


def _starts(payload: Payload, key: str, prefix: str) -> bool:
    value = payload.get(key)
    return isinstance(value, str) and value.startswith(prefix)


def _first_choice(payload: Payload) -> Payload:
    found = choices_of(payload)
    return found[0] if found else {}


def _finish_of(value: Any) -> str | None:
    word = word_of(value)
    return None if word is None else _FINISH.get(word, word)


def _index_of(value: Any) -> int:
    return value if type(value) is int else 0


def _request_of(payload: Payload) -> Request | None:
    """Return all that an answer itself tells of the request: the model's name."""
    model = word_of(payload.get("model"))
    return Request(model=model) if model else None


def rewritten_arguments(who_does_it: str) -> Warn:
    """Warn that arguments are not as the model wrote them; `who_does_it` is such as `Ollama sends`."""
    words = f"{who_does_it} arguments as objects: their exact text, spaces and order of keys, is lost."
    return Warn("arguments_rewritten", words)


_ANTHROPIC_EVENTS = frozenset(
    f"{part}_{step}" for part in ("message", "content_block") for step in ("start", "delta", "stop")
)


def _is_anthropic(payload: Payload) -> bool:
    kind = payload.get("type")
    if kind == "message":
        return payload.get("role") == "assistant" and "stop_reason" in payload
    return isinstance(kind, str) and kind in _ANTHROPIC_EVENTS


def _completion_chunks(payload: Payload) -> list[RawChunk] | None:
    found = choices_of(payload)
    if found is None or not all(isinstance(choice.get("text"), str) for choice in found):
        return None
    return [
        RawChunk(
            choice["text"],
            request=word_of(payload.get("id")),
            index=_index_of(choice.get("index")),
            ids=ids_of(choice.get("token_ids")) or ids_in(choice_tokens(choice) or ()),
            finish=_finish_of(choice.get("finish_reason")),
            stop=word_or_number_of(choice.get("stop_reason", choice.get("matched_stop"))),
            prompt_ids=ids_of(choice.get("prompt_token_ids", payload.get("prompt_token_ids"))),
            asked=_request_of(payload),
        )
        for choice in found
    ]


def _bedrock_outputs(payload: Payload) -> list[Payload] | None:
    """What Bedrock's Mistral models wrote, each text with why it ended."""
    outputs = objects_of(payload.get("outputs")) or []
    return outputs if outputs and all(_has(one, text=str) and "stop_reason" in one for one in outputs) else None


def _bedrock_chunks(payload: Payload) -> list[RawChunk]:
    outputs = _bedrock_outputs(payload) or []
    return [RawChunk(one["text"], index=at, finish=_finish_of(one["stop_reason"])) for at, one in enumerate(outputs)]


def _vllm_chunks(payload: Payload) -> list[RawChunk] | None:
    """Read `choices[].token_ids` of vLLM's /inference/v1/generate, and `text` where the server decoded it."""
    found = choices_of(payload)
    if found is None or any(ids_of(choice.get("token_ids")) is None for choice in found):
        return None
    return [
        RawChunk(
            word_of(choice.get("text")),
            request=word_of(payload.get("request_id")),
            index=_index_of(choice.get("index")),
            ids=ids_of(choice["token_ids"]),
            finish=_finish_of(choice.get("finish_reason")),
            stop=word_or_number_of(choice.get("stop_reason")),
            prompt_ids=ids_of(payload.get("prompt_token_ids")),
        )
        for choice in found
    ]


def _llama_chunks(payload: Payload) -> list[RawChunk] | None:
    """Read `content` of llama.cpp's /completion; the chunk with `stop: true` is the last."""
    content, stop = payload.get("content"), payload.get("stop")
    if not isinstance(content, str) or not isinstance(stop, bool):
        return None
    finish = "length" if payload.get("stopped_limit") is True else _finish_of(payload.get("stop_type")) or "stop"
    tokens = llama_tokens(payload)
    pieces = pieces_spelling(tokens, content)
    ids = ids_of(payload.get("tokens")) or (ids_in(tokens or ()) if pieces else ())
    return [
        RawChunk(
            content,
            index=_index_of(payload.get("index")),
            ids=ids or (None if content else ids_of(payload.get("tokens"))),
            pieces=pieces,
            finish=finish if stop else None,
            stop=word_of(payload.get("stopping_word")) or None,
            last=stop,
            prompt_text=word_of(payload.get("prompt")) or None,
            asked=_request_of(payload),
        )
    ]


def _sglang_chunks(payload: Payload) -> list[RawChunk] | None:
    """Read `text` of SGLang's /generate: everything so far, unless the server streams increments."""
    text, meta = payload.get("text"), object_of(payload.get("meta_info"))
    ids = ids_of(payload.get("output_ids"))
    if not isinstance(text, str) and ids is None:
        return None
    reason = meta.get("finish_reason")
    tokens = sglang_tokens(meta.get("output_token_logprobs"))
    return [
        RawChunk(
            word_of(text),
            request=word_of(meta.get("id")),
            index=_index_of(payload.get("index")),
            ids=ids_in(tokens or ()) if ids is None else ids,
            pieces=pieces_spelling(tokens, text) if isinstance(text, str) and not _is_lossy(text) else None,
            finish=_finish_of(object_of(reason).get("type", reason)),
            stop=word_or_number_of(object_of(reason).get("matched")),
        )
    ]


def _is_lossy(text: str) -> bool:
    return "\ufffd" in text or has_lone_surrogate(text)


def sglang_log_chunks(payload: Payload) -> list[RawChunk] | None:
    """Read `out` in a line of SGLang's request log; the start of a request holds no output."""
    out, obj = payload.get("out"), object_of(payload.get("obj"))
    if not isinstance(out, dict):
        return [] if payload.get("event") != "request.finished" else None
    found = _sglang_chunks(out)
    for chunk in found or []:
        chunk.request = chunk.request or word_of(payload.get("rid")) or word_of(obj.get("rid"))
        chunk.last = True
        chunk.prompt_text = None if _is_shortened(obj.get("text")) else word_of(obj.get("text"))
        chunk.prompt_ids = ids_of(obj.get("input_ids"))
        chunk.asked = _sampling_request(object_of(obj.get("sampling_params")))
        # A log of level 2 cuts: a text's halves are not the text, nor some ids its ids.
        count = object_of(out.get("meta_info")).get("completion_tokens")
        if chunk.ids is not None and type(count) is int and len(chunk.ids) < count:
            chunk.ids, chunk.warnings = None, (*chunk.warnings, _SHORT_IDS)
        if chunk.text is not None and _is_shortened(chunk.text):
            keep_beginning_only(chunk, chunk.text[: _CUT_AT // 2])
    return found


def keep_beginning_only(chunk: RawChunk, head: str) -> None:
    """Leave the chunk an honest prefix of a text that the log cut; the model did not end there."""
    chunk.text, chunk.pieces, chunk.finish, chunk.stop, chunk.warnings = head, None, None, None, (*chunk.warnings, _CUT)


def _is_shortened(text: Any) -> bool:
    """Return True for a text with the length and the dots of one that the log shortened."""
    return isinstance(text, str) and len(text) == _CUT_AT + len(_DOTS) and text.startswith(_DOTS, _CUT_AT // 2)


def _sampling_request(params: Payload) -> Request | None:
    if not params:
        return None
    stop, skip, trim = (params.get(name) for name in ("stop", "skip_special_tokens", "no_stop_trim"))
    words = [stop] if isinstance(stop, str) else stop
    return Request(
        stop=tuple(words) if isinstance(words, list) and all(isinstance(one, str) for one in words) else None,
        skip_special_tokens=skip if isinstance(skip, bool) else None,
        include_stop=trim if isinstance(trim, bool) else None,
    )


def _tgi_token_chunks(payload: Payload) -> list[RawChunk] | None:
    piece = _tgi_piece(object_of(payload.get("token")))
    if piece is None:
        return None
    return [_tgi_chunk([piece], object_of(payload.get("details")), last=isinstance(payload.get("generated_text"), str))]


def _tgi_answer_chunks(payload: Payload) -> list[RawChunk] | None:
    """Read `details.tokens` of TGI's /generate, or `generated_text`, which lacks special tokens."""
    text, details = payload.get("generated_text"), object_of(payload.get("details"))
    if not isinstance(text, str):
        return None
    pieces = [_tgi_piece(token) for token in objects_of(details.get("tokens")) or []]
    known = [piece for piece in pieces if piece is not None]
    if known and len(known) == len(pieces):
        return [_tgi_chunk(known, details, last=True)]
    return [RawChunk(text, finish=_finish_of(details.get("finish_reason")), last=True, warnings=(_NO_SPECIALS,))]


def _tgi_piece(token: Payload) -> Piece | None:
    text, ids = token.get("text"), ids_of([token.get("id")])
    if not isinstance(text, str) or ids is None:
        return None
    raw = text.encode("utf-8", "surrogatepass")
    return Piece(text, ids[0], raw, "special" if token.get("special") is True else "text", recorded=True)


def _tgi_chunk(pieces: list[Piece], details: Payload, *, last: bool) -> RawChunk:
    text = "".join([piece.text for piece in pieces])
    return RawChunk(
        text,
        ids=tuple([piece.token_id or 0 for piece in pieces]),
        pieces=None if _is_lossy(text) else tuple(pieces),
        finish=_finish_of(details.get("finish_reason")),
        last=last,
    )


def _is_ollama(payload: Payload) -> bool:
    return _has(payload, model=str, created_at=str, done=bool)


def _ollama_chunks(payload: Payload, message: Payload, text: Any) -> list[RawChunk] | None:
    """Read the text of a message; with `thinking` or calls beside it, Ollama's parser was at work."""
    if not message or not isinstance(text, str):
        return None
    delta: Payload = {"content": text} if text else {}
    thinking, calls = message.get("thinking"), objects_of(message.get("tool_calls"))
    if isinstance(thinking, str) and thinking:
        delta["reasoning"] = thinking
    if calls:
        delta["tool_calls"] = [_ollama_call(call) for call in calls]
    parsed = len(delta) > (1 if text else 0)
    warnings = [*([_OLLAMA_PARSED] if parsed else []), *([rewritten_arguments("Ollama sends")] if calls else [])]
    return [
        RawChunk(
            None if parsed else text,
            delta=delta,
            finish=_finish_of(payload.get("done_reason")),
            last=payload.get("done") is True,
            asked=_request_of(payload),
            warnings=tuple(warnings),
        )
    ]


def _ollama_call(call: Payload) -> Payload:
    """Return a call as OpenAI's API sends it; `index` and `id` are None where Ollama leaves them out."""
    function = object_of(call.get("function"))
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    index = function.get("index", call.get("index"))
    return {
        "index": index if type(index) is int else None,
        "id": word_of(call.get("id")),
        "type": "function",
        "function": {"name": word_of(function.get("name")) or "", "arguments": text},
    }


def parsed_stream(chunks: Sequence[RawChunk]) -> Iterator[Payload]:
    """Yield what the server's parser made of the chunks as OpenAI's API would send it, with calls counted."""
    count = 0
    for chunk in chunks:
        if chunk.delta is None:
            continue
        calls: list[Any] = chunk.delta.get("tool_calls", [])
        for call in calls:
            call["index"] = count if call["index"] is None else call["index"]
            call["id"] = call["id"] or f"call_{call['index']}"
            count = max(count, call["index"]) + 1
        finish = "tool_calls" if count and chunk.finish == "stop" else chunk.finish
        choice = {"index": 0, "delta": chunk.delta, "finish_reason": finish, **ended_by("done_reason", chunk.finish)}
        yield {"object": "chat.completion.chunk", "choices": [choice]}


def _is_log_line(payload: Payload) -> bool:
    level = any(key in payload for key in ("level", "levelname", "severity"))
    stamp = any(key in payload for key in ("timestamp", "time", "asctime", "ts"))
    return level and stamp and any(key in payload for key in ("message", "msg"))


def _is_error(payload: Payload) -> bool:
    error = payload.get("error")
    if payload.get("object") == "error" or (isinstance(error, str) and "error_type" in payload):
        return True
    return isinstance(error, dict) and "message" in error and ("code" in error or "type" in error)


def _failed_generation(payload: Payload) -> str | None:
    """Return the raw output that Groq puts beside an error, where its parser could not read it."""
    error = payload.get("error", payload)
    return word_of(object_of(error).get("failed_generation"))


def _failed_chunks(payload: Payload) -> list[RawChunk] | None:
    text = _failed_generation(payload)
    return None if text is None else [RawChunk(text, last=True)]


def _is_ollama_message(payload: Payload) -> bool:
    calls = objects_of(payload.get("tool_calls")) if payload.get("role") == "assistant" else None
    return any(isinstance(object_of(call.get("function")).get("arguments"), dict) for call in calls or ())


CASE = Family(
    "case", lambda p: type(p.get("schema")) is int and "input" in p and "parser" in p,
    verdict="These are several cases. Give one of them, or all as JSON Lines.",
)  # fmt: skip
CHAT = Family(
    "OpenAI chat",
    lambda p: (
        p.get("object") in ("chat.completion.chunk", "chat.completion")
        or _has(_first_choice(p), delta=dict)
        or _has(_first_choice(p), message=dict)
    ),
    parsed=True,
)
UNKNOWN = Family(
    "unknown API", lambda p: not {"choices", "delta", "response", "error"}.isdisjoint(p), title="unknown API's",
    framed=True,
    verdict="The shape of its payloads is not known. Paste the raw output, or a JSON array of its deltas' texts.",
)  # fmt: skip
_SAMPLED = "Special tokens are in the text only if sampling_params said skip_special_tokens: false."
_SPECIAL = "Special tokens are in the text only if the server runs with --special."
FAMILIES = (
    CASE,
    CHAT,
    Family("Groq", lambda p: _failed_generation(p) is not None, read=_failed_chunks, whole=True),
    Family("LangChain", is_langchain, parsed=True, translate=langchain_as_chat, rewrites="LangChain shows"),
    Family("LlamaIndex", is_llama_index, parsed=True, translate=llama_index_as_chat),
    Family("pydantic-ai", is_pydantic_ai, parsed=True, translate=pydantic_ai_as_chat),
    Family("Vercel AI SDK", is_vercel, parsed=True, translate=vercel_as_chat, rewrites="The AI SDK shows"),
    Family("Cohere", is_cohere, parsed=True, translate=cohere_as_chat),
    Family(
        "Cohere v1", is_cohere_v1, parsed=True, translate=cohere_v1_as_chat,
        rewrites="Version 1 of Cohere's API sends",
    ),
    Family(
        "OpenAI completions",
        lambda p: p.get("object") == "text_completion"
        or (_has(_first_choice(p), text=str) and "finish_reason" in _first_choice(p)),
        read=_completion_chunks, skips=True,
        caveat="Special tokens are in the text only if the request said skip_special_tokens: false.",
    ),
    Family(
        "vLLM token generation", lambda p: _has(p, request_id=str) and _has(_first_choice(p), token_ids=list),
        read=_vllm_chunks, server="vLLM",
    ),
    Family(
        "OpenAI Responses",
        lambda p: _has(p, output=list) if p.get("object") == "response" else _starts(p, "type", "response."),
        parsed=True, translate=responses_as_chat,
    ),
    Family(
        "Anthropic Messages", _is_anthropic, parsed=True, translate=anthropic_as_chat, rewrites="Anthropic's API sends",
    ),
    Family(
        "Bedrock Converse", is_bedrock, parsed=True, translate=bedrock_as_chat, rewrites="Bedrock's API sends",
    ),
    Family(
        "Bedrock's Llama", lambda p: _has(p, generation=str) and "generation_token_count" in p,
        read=lambda p: [RawChunk(p["generation"], finish=_finish_of(p.get("stop_reason")))],
        caveat="Special tokens are in the text only where Bedrock kept them.",
    ),
    Family(
        "Bedrock's Mistral", lambda p: _bedrock_outputs(p) is not None, read=_bedrock_chunks,
        caveat="Special tokens are in the text only where Bedrock kept them.",
    ),
    Family("Gemini", is_gemini, parsed=True, translate=gemini_as_chat, rewrites="Gemini's API sends"),
    Family(
        "a message of blocks", lambda p: is_block_message(p) or is_block(p), title="message of blocks,",
        parsed=True, translate=blocks_as_chat, rewrites="Such blocks hold",
    ),
    Family(
        "SGLang /generate", lambda p: _has(p, meta_info=dict) and (_has(p, text=str) or _has(p, output_ids=list)),
        read=_sglang_chunks, caveat=_SAMPLED, skips=True, cumulative=True, ends_done=True, server="SGLang",
    ),
    Family(
        "SGLang request", lambda p: _starts(p, "event", "request.") and ("obj" in p or "out" in p),
        read=sglang_log_chunks, caveat=_SAMPLED, skips=True, whole=True, server="SGLang",
    ),
    Family(
        "llama.cpp /completion",
        lambda p: _has(p, content=str, stop=bool) and ("tokens_predicted" in p or "generation_settings" in p),
        read=_llama_chunks, caveat=_SPECIAL, server="llama.cpp",
    ),
    Family(
        "TGI /generate_stream", lambda p: _has(p, token=dict) and "generated_text" in p,
        read=_tgi_token_chunks, server="TGI",
    ),
    Family("TGI /generate", lambda p: _has(p, generated_text=str), read=_tgi_answer_chunks, whole=True, server="TGI"),
    Family(
        "Triton /generate", lambda p: _has(p, text_output=str), server="Triton",
        read=lambda p: [RawChunk(p["text_output"], request=word_of(p.get("id")))],
        caveat="Special tokens are in the text only if the request asked for them.",
    ),
    Family(
        "Ollama /api/generate", lambda p: _is_ollama(p) and _has(p, response=str),
        read=lambda p: _ollama_chunks(p, p, p.get("response")),
        caveat="The text is the raw output only if the request said raw: true.", server="Ollama",
    ),
    Family(
        "Ollama /api/chat", lambda p: _is_ollama(p) and _has(p, message=dict), parsed=True,
        read=lambda p: _ollama_chunks(p, object_of(p.get("message")), object_of(p.get("message")).get("content", "")),
        caveat="The text is the raw output only if the request had no tools and Ollama no parser for the model.",
        server="Ollama",
    ),
    Family(
        "JSON application", _is_log_line, quotes=True,
        verdict="Its lines are about the output. Paste only what the log quotes as the model's output.",
    ),
    Family(
        "llama.cpp /completion", lambda p: _has(p, content=str, stop=bool), read=_llama_chunks, caveat=_SPECIAL,
        framed=True, server="llama.cpp",
    ),
    Family(
        "an Ollama message", _is_ollama_message, title="Ollama message", parsed=True, translate=parts_as_chat,
        rewrites="Ollama sends",
    ),
    Family(
        "a part of OpenAI chat", lambda p: chat_part_of(p) is not None, title="partial OpenAI chat", parsed=True,
        translate=parts_as_chat,
    ),
    Family(
        "API error", _is_error, error=True,
        verdict="There is no output in it. If its message quotes the raw output, paste only that.",
    ),
    Family(
        "a part of OpenAI chat", may_be_delta, title="partial OpenAI chat", parsed=True, framed=True,
        translate=parts_as_chat,
    ),
    Family(
        "OpenAI chat", lambda p: _has(p, sglext=dict) or _has(p, output_ids=list), parsed=True, framed=True,
        server="SGLang",
    ),
    UNKNOWN,
)  # fmt: skip
# A payload without any of these keys has none of the shapes: most objects are told apart by this alone.
_CLUES = BEDROCK_EVENTS | frozenset((
    "additional_kwargs", "args", "block_type", "blocks", "candidates", "choices", "content", "delta", "error", "event",
    "event_kind", "event_type", "failed_generation", "function", "functionCall", "function_call", "generated_text",
    "generation", "input", "kwargs", "message", "msg", "object", "output", "output_ids", "outputs", "part_kind",
    "parts", "reasoningContent", "reasoning_content", "response", "role", "schema", "sglext", "text", "text_output",
    "token", "toolCalls", "toolUse", "tool_calls", "type",
))  # fmt: skip
