"""What one payload of a server's native API adds to the output: its raw text, its token ids, its tokens.

Each reader returns the chunks of its payload, [] where the payload carries none by design (a usage chunk), or
None where the payload is not what the API sends. Shapes: OpenAI API reference (completions; `token_ids` is vLLM's),
vLLM 0.33 (`/inference/v1/generate`), llama.cpp tools/server/README.md (completion), SGLang 0.5 docs/basic_usage
(native API, streaming) and request_logger, text-generation-inference (generate, generate_stream).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parsers.decoding.utf8 import Utf8Decoder
from parsers.intake.jsonread import has_lone_surrogate
from parsers.intake.logprobs import ids_in, logged_tokens
from parsers.intake.model import Payload, Warn
from parsers.vocabulary.types import Piece, Request

# Finish reasons in the words of the OpenAI API; others stay as they are.
_FINISH = {"eos": "stop", "eos_token": "stop", "word": "stop", "stop_sequence": "stop", "limit": "length"}
_CUT_AT = 2048  # characters of a string that SGLang's request log keeps below level 3
_DOTS = " ... "

CUT = Warn(
    "text_cut",
    "The log cut the middle out of the text, so only its beginning is used: --log-requests-level 3 keeps all of it.",
)
SHORT_IDS = Warn("ids_cut", "The log kept only some of the token ids, so they are left out.")
NO_SPECIALS = Warn("specials_missing", "Special tokens are not in generated_text: /generate_stream keeps them.")


@dataclass(slots=True)
class RawChunk:
    """What one step of one output holds; None where the step does not tell.

    `request` and `index` (the choice) tell outputs apart; nothing may follow a chunk that is `last`. `pieces` are the
    tokens of `text`, special ones kept; `delta` is what the server's own parser made of the step, as OpenAI's API
    would send it.
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
    warnings: tuple[Warn, ...] = ()


Reader = Callable[[Payload], list[RawChunk] | None]


def choices(payload: Payload) -> list[Payload] | None:
    """The payload's `choices` when they are a list of objects, else None."""
    return objects(payload.get("choices"))


def objects(value: Any) -> list[Payload] | None:
    """The value when it is a list of objects, else None."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


def ids_of(value: Any) -> tuple[int, ...] | None:
    """A tuple of token ids when the value is a list of non-negative integers, else None."""
    if isinstance(value, list) and all(type(item) is int and item >= 0 for item in value):
        return tuple(value)
    return None


def word_of(value: Any) -> str | None:
    """The value when it is a string, else None."""
    return value if isinstance(value, str) else None


def _words(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def finish_of(value: Any) -> str | None:
    """The finish reason in OpenAI's words."""
    word = word_of(value)
    return None if word is None else _FINISH.get(word, word)


def _stop(value: Any) -> str | int | None:
    return value if isinstance(value, str) or type(value) is int else None


def index_of(value: Any) -> int:
    """The number of a choice; 0 where it is none."""
    return value if type(value) is int else 0


def object_of(value: Any) -> Payload:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def asked_of(payload: Payload) -> Request | None:
    """What the answer itself tells of the request: the model's name."""
    model = word_of(payload.get("model"))
    return Request(model=model) if model else None


def completion(payload: Payload) -> list[RawChunk] | None:
    """`choices[].text` of /v1/completions."""
    found = choices(payload)
    if found is None or not all(isinstance(choice.get("text"), str) for choice in found):
        return None
    return [
        RawChunk(
            choice["text"],
            request=word_of(payload.get("id")),
            index=index_of(choice.get("index")),
            ids=ids_of(choice.get("token_ids")) or ids_in(logged_tokens(choice) or ()),
            finish=finish_of(choice.get("finish_reason")),
            stop=_stop(choice.get("stop_reason", choice.get("matched_stop"))),
            prompt_ids=ids_of(choice.get("prompt_token_ids", payload.get("prompt_token_ids"))),
            asked=asked_of(payload),
        )
        for choice in found
    ]


def vllm_generate(payload: Payload) -> list[RawChunk] | None:
    """`choices[].token_ids` of vLLM's /inference/v1/generate; `text` beside them where the server decoded it."""
    found = choices(payload)
    if found is None or any(ids_of(choice.get("token_ids")) is None for choice in found):
        return None
    return [
        RawChunk(
            word_of(choice.get("text")),
            request=word_of(payload.get("request_id")),
            index=index_of(choice.get("index")),
            ids=ids_of(choice["token_ids"]),
            finish=finish_of(choice.get("finish_reason")),
            stop=_stop(choice.get("stop_reason")),
            prompt_ids=ids_of(payload.get("prompt_token_ids")),
        )
        for choice in found
    ]


def llama_cpp(payload: Payload) -> list[RawChunk] | None:
    """`content` of llama.cpp's /completion; the chunk with `stop: true` is the last."""
    content, stop = payload.get("content"), payload.get("stop")
    if not isinstance(content, str) or not isinstance(stop, bool):
        return None
    finish = "length" if payload.get("stopped_limit") is True else finish_of(payload.get("stop_type")) or "stop"
    pieces = spelled(_probabilities(payload), content)
    ids = ids_of(payload.get("tokens"))
    if not ids and pieces and all(piece.token_id is not None for piece in pieces):
        ids = tuple([piece.token_id or 0 for piece in pieces])
    return [
        RawChunk(
            content,
            index=index_of(payload.get("index")),
            ids=ids if ids or not content else None,
            pieces=pieces,
            finish=finish if stop else None,
            stop=word_of(payload.get("stopping_word")) or None,
            last=stop,
            prompt_text=word_of(payload.get("prompt")) or None,
            asked=asked_of(payload),
        )
    ]


def _probabilities(payload: Payload) -> list[tuple[int | None, bytes]] | None:
    """Id and bytes of each token, where `n_probs` asked for them."""
    found = objects(payload.get("completion_probabilities"))
    if not found:
        return None
    tokens: list[tuple[int | None, bytes]] = []
    for one in found:
        raw = one.get("bytes")
        if not isinstance(raw, list) or not all(type(byte) is int and 0 <= byte <= 255 for byte in raw):
            return None
        ids = ids_of([one.get("id")])
        tokens.append((ids[0] if ids else None, bytes(raw)))
    return tokens


def spelled(tokens: list[tuple[int | None, bytes]] | None, text: str) -> tuple[Piece, ...] | None:
    """The tokens as pieces, if their bytes spell exactly the text."""
    if not tokens or has_lone_surrogate(text) or b"".join([raw for _, raw in tokens]) != text.encode():
        return None
    decoder = Utf8Decoder()
    pieces = []
    for token_id, raw in tokens:
        part = decoder.feed(raw)
        pieces.append(Piece(part, token_id, raw, "partial" if decoder.pending else "text", recorded=True))
    return tuple(pieces)


def sglang(payload: Payload) -> list[RawChunk] | None:
    """`text` of SGLang's /generate: everything so far in each chunk, unless the server streams increments."""
    text, meta = payload.get("text"), object_of(payload.get("meta_info"))
    ids = ids_of(payload.get("output_ids"))
    if not isinstance(text, str) and ids is None:
        return None
    reason = meta.get("finish_reason")
    tokens = _logged_tokens(meta.get("output_token_logprobs"))
    if ids is None and tokens is not None:
        ids = tuple([token_id for token_id, _ in tokens])
    return [
        RawChunk(
            word_of(text),
            request=word_of(meta.get("id")),
            index=index_of(payload.get("index")),
            ids=ids,
            pieces=_exact(tokens, text),
            finish=finish_of(object_of(reason).get("type", reason)),
            stop=_stop(object_of(reason).get("matched")),
        )
    ]


def _lossy(text: str) -> bool:
    return "\ufffd" in text or has_lone_surrogate(text)


def _logged_tokens(value: Any) -> list[tuple[int, str | None]] | None:
    """The tokens of `[[log probability, id, text or null] ...]`."""
    if not isinstance(value, list) or not value:
        return None
    tokens: list[tuple[int, str | None]] = []
    for one in value:
        if not isinstance(one, list) or len(one) < 2 or ids_of([one[1]]) is None:
            return None
        tokens.append((one[1], word_of(one[2]) if len(one) > 2 else None))
    return tokens


def _exact(tokens: list[tuple[int, str | None]] | None, text: Any) -> tuple[Piece, ...] | None:
    """The tokens as pieces, if their texts are there, whole, and spell the text."""
    if not tokens or not isinstance(text, str) or _lossy(text) or "".join([part or "" for _, part in tokens]) != text:
        return None
    return tuple([Piece(part or "", one, (part or "").encode(), recorded=True) for one, part in tokens])


def sglang_log(payload: Payload) -> list[RawChunk] | None:
    """A line of SGLang's request log: `out` of request.finished; the start of a request holds no output."""
    out, obj = payload.get("out"), object_of(payload.get("obj"))
    if not isinstance(out, dict):
        return [] if payload.get("event") != "request.finished" else None
    found = sglang(out)
    for chunk in found or []:
        chunk.request = chunk.request or word_of(payload.get("rid")) or word_of(obj.get("rid"))
        chunk.last = True
        chunk.prompt_text = _uncut(obj.get("text"))
        chunk.prompt_ids = ids_of(obj.get("input_ids"))
        chunk.asked = _sampling(obj)
        _checked(chunk, out)
    return found


def _checked(chunk: RawChunk, out: Payload) -> None:
    """What a log of level 2 cut is not the text: neither its halves nor a part of its ids."""
    count = object_of(out.get("meta_info")).get("completion_tokens")
    if chunk.ids is not None and type(count) is int and len(chunk.ids) < count:
        chunk.ids, chunk.warnings = None, (*chunk.warnings, SHORT_IDS)
    if chunk.text is not None and _uncut(chunk.text) is None:
        shorten(chunk, chunk.text[: _CUT_AT // 2])


def shorten(chunk: RawChunk, head: str) -> None:
    """Keeps the beginning of a text that the log cut: an honest prefix, which ended for no reason of the model."""
    chunk.text, chunk.pieces, chunk.finish, chunk.stop = head, None, None, None
    chunk.warnings = (*chunk.warnings, CUT)


def _uncut(text: Any) -> str | None:
    """The text, unless it has the length and the dots of one that the log shortened."""
    half = _CUT_AT // 2
    if not isinstance(text, str) or (len(text) == _CUT_AT + len(_DOTS) and text.startswith(_DOTS, half)):
        return None
    return text


def _sampling(obj: Payload) -> Request | None:
    params = object_of(obj.get("sampling_params"))
    if not params:
        return None
    return Request(
        stop=_words(params.get("stop")),
        skip_special_tokens=_flag(params.get("skip_special_tokens")),
        include_stop=_flag(params.get("no_stop_trim")),
    )


def tgi_token(payload: Payload) -> list[RawChunk] | None:
    """`token.text` of TGI's /generate_stream, one token in each event."""
    details = object_of(payload.get("details"))
    piece = _tgi_piece(payload.get("token"))
    if piece is None:
        return None
    return [_tgi([piece], details, last=isinstance(payload.get("generated_text"), str))]


def tgi_answer(payload: Payload) -> list[RawChunk] | None:
    """`details.tokens` of TGI's /generate, or `generated_text`, which lacks special tokens."""
    text, details = payload.get("generated_text"), object_of(payload.get("details"))
    if not isinstance(text, str):
        return None
    pieces = [_tgi_piece(token) for token in objects(details.get("tokens")) or []]
    known = [piece for piece in pieces if piece is not None]
    if known and len(known) == len(pieces):
        return [_tgi(known, details, last=True)]
    return [RawChunk(text, finish=finish_of(details.get("finish_reason")), last=True, warnings=(NO_SPECIALS,))]


def _tgi_piece(value: Any) -> Piece | None:
    token = object_of(value)
    text, ids = token.get("text"), ids_of([token.get("id")])
    if not isinstance(text, str) or ids is None:
        return None
    raw = text.encode("utf-8", "surrogatepass")
    return Piece(text, ids[0], raw, "special" if token.get("special") is True else "text", recorded=True)


def _tgi(pieces: list[Piece], details: Payload, *, last: bool) -> RawChunk:
    text = "".join([piece.text for piece in pieces])
    return RawChunk(
        text,
        ids=tuple([piece.token_id or 0 for piece in pieces]),
        pieces=None if _lossy(text) else tuple(pieces),
        finish=finish_of(details.get("finish_reason")),
        last=last,
    )
