"""Which API a payload comes from: a table of shapes, the most telling keys first, and what each one is worth.

A family with `read` sends the model's own text, so the raw output can be rebuilt; `caveat` says what may be
missing from it. One that is `parsed` holds what a parser has made of the output. Any other has no output in it, and
`verdict` says so and what to do. A shape must be unlike anything a model writes as a call or as structured output, so
each test asks for keys of the envelope, never for the payload alone; weak shapes count inside frames only.

Which server wrote a log is told by the fields and names that only one of them uses (recorded answers of these servers
in 2025 and 2026).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from parsers.intake.chat_dialects import anthropic_as_chat, responses_as_chat
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.raw_chunks import (
    ChunkReader,
    completion,
    llama_cpp,
    ollama_chat,
    ollama_generate,
    sglang,
    sglang_log,
    tgi_answer,
    tgi_token,
    vllm_generate,
)
from parsers.intake.written_values import choices_of

_KEYS = {
    "prompt_token_ids": "vLLM", "prompt_text": "vLLM", "kv_transfer_params": "vLLM", "prompt_logprobs": "vLLM",
    "sglext": "SGLang", "timings": "llama.cpp", "__verbose": "llama.cpp", "nvext": "Dynamo", "stats": "LM Studio",
    "model_info": "LM Studio",
}  # fmt: skip
_CHOICE_KEYS = {
    "stop_reason": "vLLM", "token_ids": "vLLM", "matched_stop": "SGLang", "response_token_ids": "SGLang",
    "hidden_states": "SGLang",
}  # fmt: skip
_DELTA_KEYS = {"reasoning": "vLLM"}
_FINGERPRINTS = (
    (re.compile(r"b\d{3,6}-"), "llama.cpp"),
    (re.compile(r"fp_ollama"), "Ollama"),
    (re.compile(r"\d+\.\d+\.\d+(?:-\w+)?-(?:sha-|native)"), "TGI"),
    (re.compile(r"vllm"), "vLLM"),
)
_HEX_ID = re.compile(r"[0-9a-f]{32}")
_LOOKED_AT = 200  # payloads: the first ones tell, and a usage chunk at the end


@dataclass(frozen=True, slots=True)
class Family:
    """One API's shape.

    `title`: its name before a noun, where that is another. `translate`: to chat frames that say the same; `rewrites`:
    who changed the arguments of whole calls on the way. `cumulative`: each chunk repeats the text so far. `whole`: each
    payload is a whole answer, so several are no stream. `ends_done`: a stream ends with `[DONE]`. `weight`: 2 sure, 1
    told in frames only, 0 an error. `server`: the server that has this API, where one has. `skips`: the caveat falls
    where skip_special_tokens is false. `quotes`: its payloads may hold another API's.
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
    weight: int = 2
    server: str | None = None
    skips: bool = False
    quotes: bool = False


def _choice(payload: Payload) -> Payload:
    found = choices_of(payload)
    return found[0] if found else {}


def _is(payload: Payload, **types: type | tuple[type, ...]) -> bool:
    return all(isinstance(payload.get(key), kind) for key, kind in types.items())


def _starts(payload: Payload, key: str, prefix: str) -> bool:
    value = payload.get(key)
    return isinstance(value, str) and value.startswith(prefix)


def is_case(payload: Payload) -> bool:
    """Whether the object is a case: its version, its parser and its input."""
    return type(payload.get("schema")) is int and "input" in payload and "parser" in payload


def _chat(payload: Payload) -> bool:
    named = payload.get("object") in ("chat.completion.chunk", "chat.completion")
    choice = _choice(payload)
    return named or _is(choice, delta=dict) or _is(choice, message=dict)


def _completion(payload: Payload) -> bool:
    choice = _choice(payload)
    return payload.get("object") == "text_completion" or (_is(choice, text=str) and "finish_reason" in choice)


def _vllm_generate(payload: Payload) -> bool:
    return _is(payload, request_id=str) and _is(_choice(payload), token_ids=list)


def _responses(payload: Payload) -> bool:
    if payload.get("object") == "response":
        return _is(payload, output=list)
    return _starts(payload, "type", "response.")


_ANTHROPIC_EVENTS = frozenset(
    f"{part}_{step}" for part in ("message", "content_block") for step in ("start", "delta", "stop")
)


def _anthropic(payload: Payload) -> bool:
    kind = payload.get("type")
    if kind == "message":
        return payload.get("role") == "assistant" and "stop_reason" in payload
    return isinstance(kind, str) and kind in _ANTHROPIC_EVENTS


def _sglang(payload: Payload) -> bool:
    return _is(payload, meta_info=dict) and (_is(payload, text=str) or _is(payload, output_ids=list))


def _sglang_log(payload: Payload) -> bool:
    return _starts(payload, "event", "request.") and ("obj" in payload or "out" in payload)


def _llama_cpp(payload: Payload) -> bool:
    return _is(payload, content=str, stop=bool) and ("tokens_predicted" in payload or "generation_settings" in payload)


def _ollama(payload: Payload) -> bool:
    return _is(payload, model=str, created_at=str, done=bool)


def _tgi_token(payload: Payload) -> bool:
    return _is(payload, token=dict) and "generated_text" in payload


def _log_line(payload: Payload) -> bool:
    level = any(key in payload for key in ("level", "levelname", "severity"))
    stamp = any(key in payload for key in ("timestamp", "time", "asctime", "ts"))
    return level and stamp and any(key in payload for key in ("message", "msg"))


def is_error(payload: Payload) -> bool:
    """Whether the payload is an error as OpenAI's, vLLM's and Anthropic's APIs send it."""
    error = payload.get("error")
    if payload.get("object") == "error":
        return True
    return isinstance(error, dict) and "message" in error and ("code" in error or "type" in error)


def _some_stream(payload: Payload) -> bool:
    return any(key in payload for key in ("choices", "delta", "response", "error"))


CHAT = Family("OpenAI chat", _chat, parsed=True)
UNKNOWN = Family(
    "unknown API", _some_stream, title="unknown API's", weight=1,
    verdict="The shape of its payloads is not known. Paste the raw output, or a JSON array of its deltas' texts.",
)  # fmt: skip
_SAMPLED = "Special tokens are in the text only if sampling_params said skip_special_tokens: false."
_SPECIAL = "Special tokens are in the text only if the server runs with --special."
_FAMILIES = (
    Family(
        "case", is_case,
        verdict="These are several cases. Run them with `toolcall-inspector sweep`, or give one of them.",
    ),
    CHAT,
    Family(
        "OpenAI completions", _completion, read=completion, skips=True,
        caveat="Special tokens are in the text only if the request said skip_special_tokens: false.",
    ),
    Family("vLLM token generation", _vllm_generate, read=vllm_generate, server="vLLM"),
    Family("OpenAI Responses", _responses, parsed=True, translate=responses_as_chat),
    Family(
        "Anthropic Messages", _anthropic, parsed=True, translate=anthropic_as_chat, rewrites="Anthropic's API sends",
    ),
    Family(
        "SGLang /generate", _sglang, read=sglang, caveat=_SAMPLED, skips=True, cumulative=True, ends_done=True,
        server="SGLang",
    ),
    Family(
        "SGLang request", _sglang_log, read=sglang_log, caveat=_SAMPLED, skips=True, whole=True, server="SGLang",
    ),
    Family("llama.cpp /completion", _llama_cpp, read=llama_cpp, caveat=_SPECIAL, server="llama.cpp"),
    Family("TGI /generate_stream", _tgi_token, read=tgi_token, server="TGI"),
    Family("TGI /generate", lambda p: _is(p, generated_text=str), read=tgi_answer, whole=True, server="TGI"),
    Family(
        "Ollama /api/generate", lambda p: _ollama(p) and _is(p, response=str), read=ollama_generate,
        caveat="The text is the raw output only if the request said raw: true.", server="Ollama",
    ),
    Family(
        "Ollama /api/chat", lambda p: _ollama(p) and _is(p, message=dict), read=ollama_chat, parsed=True,
        caveat="The text is the raw output only if the request had no tools and Ollama no parser for the model.",
        server="Ollama",
    ),
    Family(
        "JSON application", _log_line, quotes=True,
        verdict="Its lines are about the output. Paste only what the log quotes as the model's output.",
    ),
    Family(
        "llama.cpp /completion", lambda p: _is(p, content=str, stop=bool), read=llama_cpp, caveat=_SPECIAL, weight=1,
        server="llama.cpp",
    ),
    Family(
        "API error", is_error, weight=0,
        verdict="There is no output in it. If its message quotes the raw output, paste only that.",
    ),
    Family(
        "OpenAI chat", lambda p: _is(p, sglext=dict) or _is(p, output_ids=list), parsed=True, weight=1, server="SGLang",
    ),
    UNKNOWN,
)  # fmt: skip
# A payload without any of these keys has none of the shapes: most objects are told apart by this alone.
_CLUES = frozenset(
    ("choices", "content", "delta", "error", "event", "generated_text", "message", "msg", "object", "response")
) | {"output_ids", "schema", "sglext", "text", "token", "type"}


def family_of(payload: Payload, *, framed: bool = False) -> Family | None:
    """The first family whose shape the payload has; weak shapes only inside a frame."""
    if _CLUES.isdisjoint(payload):
        return None
    return next((f for f in _FAMILIES if (framed or f.weight != 1) and f.matches(payload)), None)


def server_of(payloads: Iterable[Payload]) -> tuple[str | None, str | None]:
    """The server with the most signs, and the evidence as a sentence; (None, None) without any."""
    seen = list(payloads)
    signs: dict[str, dict[str, None]] = {}
    for payload in seen[:_LOOKED_AT] + seen[_LOOKED_AT:][-3:]:
        for server, sign in _signs(payload):
            signs.setdefault(server, {})[sign] = None
    if not signs:
        return None, None
    best = max(signs, key=lambda server: len(signs[server]))
    named = ", ".join(f"`{sign}`" for sign in list(signs[best])[:4])
    return best, f"{named} {'points' if len(signs[best]) == 1 else 'point'} to {best}."


def _signs(payload: Payload) -> Iterator[tuple[str, str]]:
    yield from [(server, key) for key, server in _KEYS.items() if key in payload]
    mark = payload.get("system_fingerprint")
    if isinstance(mark, str):
        yield from [(server, "system_fingerprint") for pattern, server in _FINGERPRINTS if pattern.match(mark)]
    name = payload.get("id")
    if isinstance(name, str) and _HEX_ID.fullmatch(name):
        yield "SGLang", "id"
    for choice in (choices_of(payload) or [])[:4]:
        yield from [(server, key) for key, server in _CHOICE_KEYS.items() if key in choice]
        part = choice.get("delta", choice.get("message"))
        if isinstance(part, dict) and str(name).startswith("chatcmpl-"):
            yield from [(server, key) for key, server in _DELTA_KEYS.items() if key in part]
