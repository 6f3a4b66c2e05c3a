"""Which API a payload comes from: a table of shapes, the most telling keys first, and what each one is worth.

A family with `read` sends the model's own text, so the raw output can be rebuilt; `caveat` says what may be
missing from it. Any other family holds what a parser has already eaten (or no text at all) and `verdict` says so
and what to do. A shape must be unlike anything a model writes as a call or as structured output, so each test asks
for keys of the envelope, never for the payload alone; `framed` shapes are weaker and count inside SSE only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from parsers.intake import chunks, ollama
from parsers.intake.model import Payload

_LLAMA_CPP = "Special tokens are in the text only if the server runs with --special."


@dataclass(frozen=True, slots=True)
class Family:
    """One API's shape.

    `cumulative`: each chunk repeats the text so far. `weight`: 2 sure, 1 told in frames only, 0 an error. `server`:
    the server that has this API, where one has. `skips`: the caveat falls where skip_special_tokens is false.
    """

    name: str
    title: str
    matches: Callable[[Payload], bool]
    read: chunks.Reader | None = None
    caveat: str = ""
    verdict: str = ""
    cumulative: bool = False
    weight: int = 2
    server: str | None = None
    skips: bool = False


def _choice(payload: Payload) -> Payload:
    found = chunks.choices(payload)
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


FAMILIES = (
    Family(
        "case", "case", is_case,
        verdict="These are several cases. Run them with `toolcall-inspector sweep`, or give one of them.",
    ),
    Family("chat", "OpenAI chat", _chat),
    Family(
        "completion", "OpenAI completions", _completion, chunks.completion,
        caveat="Special tokens are in the text only if the request said skip_special_tokens: false.", skips=True,
    ),
    Family(
        "vllm_generate", "vLLM token generation", _vllm_generate, chunks.vllm_generate, server="vLLM",
    ),
    Family("responses", "OpenAI Responses", _responses),
    Family("anthropic", "Anthropic Messages", _anthropic),
    Family(
        "sglang", "SGLang /generate", _sglang, chunks.sglang,
        caveat="Special tokens are in the text only if sampling_params said skip_special_tokens: false.",
        cumulative=True, server="SGLang", skips=True,
    ),
    Family(
        "sglang_log", "SGLang request", _sglang_log, chunks.sglang_log,
        caveat="Special tokens are in the text only if sampling_params said skip_special_tokens: false.",
        server="SGLang", skips=True,
    ),
    Family(
        "llama_cpp", "llama.cpp /completion", _llama_cpp, chunks.llama_cpp, caveat=_LLAMA_CPP, server="llama.cpp",
    ),
    Family(
        "tgi", "TGI /generate_stream", lambda p: _is(p, token=dict) and "generated_text" in p, chunks.tgi_token,
        server="TGI",
    ),
    Family(
        "tgi_answer", "TGI /generate", lambda p: _is(p, generated_text=str), chunks.tgi_answer, server="TGI",
    ),
    Family(
        "ollama", "Ollama /api/generate", lambda p: _ollama(p) and _is(p, response=str), ollama.generate,
        caveat="The text is the raw output only if the request said raw: true.", server="Ollama",
    ),
    Family(
        "ollama_chat", "Ollama /api/chat", lambda p: _ollama(p) and _is(p, message=dict), ollama.chat,
        caveat="The text is the raw output only if the request had no tools and Ollama no parser for the model.",
        server="Ollama",
    ),
    Family(
        "log_line", "JSON application", _log_line,
        verdict="Its lines are about the output. Paste only what the log quotes as the model's output.",
    ),
    Family(
        "llama_cpp", "llama.cpp /completion", lambda p: _is(p, content=str, stop=bool), chunks.llama_cpp,
        caveat=_LLAMA_CPP, weight=1, server="llama.cpp",
    ),
    Family(
        "error", "API error", is_error,
        verdict="There is no output in it. If its message quotes the raw output, paste only that.", weight=0,
    ),
    Family(
        "chat_ids", "OpenAI chat", lambda p: _is(p, sglext=dict) or _is(p, output_ids=list), weight=1,
        server="SGLang",
    ),
    Family(
        "unknown", "unknown API's", _some_stream,
        verdict="The shape of its payloads is not known. Paste the raw output, or a JSON array of its deltas' texts.",
        weight=1,
    ),
)  # fmt: skip
UNKNOWN = FAMILIES[-1]
# A payload without any of these keys has none of the shapes: most objects are told apart by this alone.
_CLUES = frozenset(
    ("choices", "content", "delta", "error", "event", "generated_text", "message", "msg", "object", "response")
) | {"output_ids", "schema", "sglext", "text", "token", "type"}


def family_of(payload: Payload, *, framed: bool = False) -> Family | None:
    """The first family whose shape the payload has; weak shapes only inside a frame."""
    if _CLUES.isdisjoint(payload):
        return None
    return next((f for f in FAMILIES if (framed or f.weight != 1) and f.matches(payload)), None)
