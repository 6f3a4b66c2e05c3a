"""Tokens that servers log beside an output: ids and true bytes, where they really are true.

OpenAI's `logprobs.content[]` gives each token's bytes. Servers fill them in from the decoded token, so half a character
has become U+FFFD (EF BF BD): such bytes are lossy. vLLM's `return_tokens_as_token_ids` writes token_id:N in place of
the token; llama.cpp adds the id. SGLang logs id and text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parsers.decoding.utf8 import Utf8Decoder
from parsers.intake.evidence import Payload
from parsers.intake.plain_text import has_lone_surrogate
from parsers.intake.written_values import ids_of, objects_of
from parsers.vocabulary.types import Piece, PieceKind

_NAMED = re.compile(r"token_id:(\d{1,10})")
_LOST = "\ufffd".encode()


@dataclass(slots=True, frozen=True)
class LoggedToken:
    """One token: its id and its bytes. None: not recorded."""

    token_id: int | None = None
    raw: bytes | None = None

    @property
    def lossy(self) -> bool:
        """True where the bytes hold U+FFFD, which stands for bytes that are gone."""
        return self.raw is not None and _LOST in self.raw


def choice_tokens(choice: Payload) -> list[LoggedToken] | None:
    """Return the tokens of one choice of OpenAI's API; None where it has no log probabilities."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    content, tokens = logprobs.get("content"), logprobs.get("tokens")
    if isinstance(content, list):
        return [_chat_token(entry) for entry in content if isinstance(entry, dict)]
    return [LoggedToken(_named_id(token)) for token in tokens] if isinstance(tokens, list) else None


def _chat_token(entry: Payload) -> LoggedToken:
    token, raw = entry.get("token"), _bytes_of(entry.get("bytes"))
    token_id = _named_id(token)
    if token_id is not None and raw == str(token).encode():
        raw = None  # the bytes of the name, not of the token
    return LoggedToken(_id_of(entry.get("id")) if token_id is None else token_id, raw)


def _named_id(token: Any) -> int | None:
    found = _NAMED.fullmatch(token) if isinstance(token, str) else None
    return int(found[1]) if found else None


def _id_of(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _bytes_of(value: Any) -> bytes | None:
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < 256 for one in value):
        return None
    return bytes(value)


def llama_tokens(payload: Payload) -> list[LoggedToken] | None:
    """Return id and bytes of each token, if `n_probs` asked llama.cpp for them and none lacks bytes."""
    found = objects_of(payload.get("completion_probabilities"))
    tokens = [LoggedToken(_id_of(one.get("id")), _bytes_of(one.get("bytes"))) for one in found or []]
    return tokens if tokens and all(token.raw is not None for token in tokens) else None


def sglang_tokens(value: Any) -> list[LoggedToken] | None:
    """Return the tokens of `[[log probability, id, text or null] ...]`; one without text has no bytes."""
    if not isinstance(value, list) or not value:
        return None
    tokens = []
    for one in value:
        if not isinstance(one, list) or len(one) < 2 or ids_of([one[1]]) is None:
            return None
        text = one[2] if len(one) > 2 and isinstance(one[2], str) else ""
        tokens.append(LoggedToken(one[1], text.encode("utf-8", "surrogatepass")))
    return tokens


def ids_in(tokens: Sequence[LoggedToken]) -> tuple[int, ...] | None:
    """Return the ids, if every token has one."""
    known = [token.token_id for token in tokens if token.token_id is not None]
    return tuple(known) if known and len(known) == len(tokens) else None


def pieces_of(tokens: Sequence[LoggedToken]) -> tuple[Piece, ...] | None:
    """Return the tokens as pieces with the text each completes; None where one has no bytes, or lossy ones."""
    return None if not tokens or any(token.raw is None or token.lossy for token in tokens) else _pieces(tokens)


def pieces_spelling(tokens: Sequence[LoggedToken] | None, text: str) -> tuple[Piece, ...] | None:
    """Return the tokens as pieces, if their bytes spell exactly the text."""
    if not tokens or has_lone_surrogate(text) or b"".join([token.raw or b"" for token in tokens]) != text.encode():
        return None
    return _pieces(tokens)


def _pieces(tokens: Sequence[LoggedToken]) -> tuple[Piece, ...]:
    decoder, pieces = Utf8Decoder(), list[Piece]()
    for token in tokens:
        text = decoder.feed(token.raw or b"")
        kind: PieceKind = "partial" if decoder.pending else "text"
        pieces.append(Piece(text, token.token_id, token.raw or b"", kind, recorded=True))
    pieces[-1].text += decoder.finish()
    return tuple(pieces)


def lossy_text(tokens: Sequence[LoggedToken]) -> str | None:
    """Return the bytes as text where some were lost; None where a token has none at all."""
    known = [token.raw for token in tokens if token.raw is not None]
    return b"".join(known).decode("utf-8", "replace") if known and len(known) == len(tokens) else None
