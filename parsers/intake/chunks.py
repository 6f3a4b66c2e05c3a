"""The raw text inside one payload, for each API that sends the model's output before any parser.

Each reader returns the chunks of its payload, [] where the payload carries none by design (a usage chunk), or
None where the payload is not what the API sends. Shapes: OpenAI API reference (completions; `token_ids` is vLLM's),
llama.cpp tools/server/README.md (completion), SGLang docs/basic_usage (native API, streaming), Ollama docs/api.md
(generate), text-generation-inference (generate_stream).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parsers.intake.model import Payload
from parsers.types import Piece

# Finish reasons in the words of the OpenAI API; others stay as they are.
_FINISH = {"eos": "stop", "eos_token": "stop", "word": "stop", "stop_sequence": "stop", "limit": "length"}


@dataclass(slots=True)
class RawChunk:
    """Raw output of one step; `text` None: its ids alone.

    `request` and `index` (of the choice) tell outputs apart; after a chunk that is `last` another output begins.
    `pieces` are its tokens where their bytes were recorded.
    """

    text: str | None
    request: str | None = None
    index: int = 0
    ids: tuple[int, ...] | None = None
    finish: str | None = None
    last: bool = False
    stop: str | int | None = None
    pieces: tuple[Piece, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None


Reader = Callable[[Payload], list[RawChunk] | None]


def choices(payload: Payload) -> list[Payload] | None:
    """The payload's `choices` when they are a list of objects, else None."""
    value = payload.get("choices")
    if isinstance(value, list) and all(isinstance(choice, dict) for choice in value):
        return value
    return None


def ids_of(value: Any) -> tuple[int, ...] | None:
    """A tuple of token ids when the value is a list of non-negative integers, else None."""
    if isinstance(value, list) and all(type(item) is int and item >= 0 for item in value):
        return tuple(value)
    return None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _finish(value: Any) -> str | None:
    word = _word(value)
    return None if word is None else _FINISH.get(word, word)


def _index(value: Any) -> int:
    return value if type(value) is int else 0


def _object(value: Any) -> Payload:
    return value if isinstance(value, dict) else {}


def completion(payload: Payload) -> list[RawChunk] | None:
    """`choices[].text` of /v1/completions."""
    found = choices(payload)
    if found is None or not all(isinstance(choice.get("text"), str) for choice in found):
        return None
    request = _word(payload.get("id"))
    return [
        RawChunk(
            choice["text"],
            request=request,
            index=_index(choice.get("index")),
            ids=ids_of(choice.get("token_ids")),
            finish=_finish(choice.get("finish_reason")),
        )
        for choice in found
    ]


def llama_cpp(payload: Payload) -> list[RawChunk] | None:
    """`content` of llama.cpp's /completion; the chunk with `stop: true` is the last."""
    content, stop = payload.get("content"), payload.get("stop")
    if not isinstance(content, str) or not isinstance(stop, bool):
        return None
    finish = "length" if payload.get("stopped_limit") is True else _finish(payload.get("stop_type")) or "stop"
    return [
        RawChunk(
            content,
            index=_index(payload.get("index")),
            ids=ids_of(payload.get("tokens")),
            finish=finish if stop else None,
            last=stop,
        )
    ]


def sglang(payload: Payload) -> list[RawChunk] | None:
    """`text` of SGLang's /generate: everything so far, in each chunk."""
    text, meta = payload.get("text"), _object(payload.get("meta_info"))
    if not isinstance(text, str):
        return None
    reason = meta.get("finish_reason")
    finish = _finish(_object(reason).get("type", reason))
    return [RawChunk(text, _word(meta.get("id")), _index(payload.get("index")), finish=finish)]


def tgi_token(payload: Payload) -> list[RawChunk] | None:
    """`token.text` of TGI's /generate_stream, one token in each event."""
    token = _object(payload.get("token"))
    text, ids = token.get("text"), ids_of([token.get("id")])
    if not isinstance(text, str) or ids is None:
        return None
    finish = _finish(_object(payload.get("details")).get("finish_reason"))
    return [RawChunk(text, ids=ids, finish=finish, last=isinstance(payload.get("generated_text"), str))]


def tgi_answer(payload: Payload) -> list[RawChunk] | None:
    """`generated_text` of TGI's /generate."""
    text = payload.get("generated_text")
    if not isinstance(text, str):
        return None
    return [RawChunk(text, finish=_finish(_object(payload.get("details")).get("finish_reason")), last=True)]


def ollama(payload: Payload) -> list[RawChunk] | None:
    """`response` of Ollama's /api/generate, unless Ollama split reasoning or calls off it."""
    text = payload.get("response")
    if not isinstance(text, str) or payload.get("thinking") or payload.get("tool_calls"):
        return None
    done = payload.get("done") is True
    return [RawChunk(text, finish=_finish(payload.get("done_reason")), last=done)]
