"""Tokens out of log probabilities: ids and true bytes, where they really are true.

OpenAI's `logprobs.content[]` gives each token's bytes. Servers fill them in from the decoded token, so half a character
has become U+FFFD (EF BF BD): such bytes are lossy. vLLM's `return_tokens_as_token_ids` writes token_id:N in place of
the token; llama.cpp adds the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from parsers.decoding.utf8 import Utf8Decoder
from parsers.intake.model import Payload
from parsers.vocabulary.types import Piece, PieceKind

_NAMED = re.compile(r"token_id:(\d{1,10})")
_LOST = "\ufffd".encode()


@dataclass(slots=True)
class Logged:
    """One token: its id, its bytes, and whether bytes were lost. None: not recorded."""

    token_id: int | None = None
    raw: bytes | None = None

    @property
    def lossy(self) -> bool:
        """Whether the bytes hold U+FFFD, which stands for bytes that are gone."""
        return self.raw is not None and _LOST in self.raw


def logged_tokens(choice: Payload) -> list[Logged] | None:
    """The tokens of one choice of one chunk; None where it has no log probabilities."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    content = logprobs.get("content")
    if isinstance(content, list):
        return [_chat_token(entry) for entry in content if isinstance(entry, dict)]
    tokens = logprobs.get("tokens")
    if isinstance(tokens, list):
        return [Logged(token_id=_named(token)) for token in tokens]
    return None


def _chat_token(entry: Payload) -> Logged:
    token, raw = entry.get("token"), _bytes(entry.get("bytes"))
    token_id = _named(token)
    if token_id is not None and raw == str(token).encode():
        raw = None  # the bytes of the name, not of the token
    if token_id is None and type(entry.get("id")) is int and entry["id"] >= 0:
        token_id = entry["id"]
    return Logged(token_id, raw)


def _named(token: Any) -> int | None:
    found = _NAMED.fullmatch(token) if isinstance(token, str) else None
    return int(found[1]) if found else None


def _bytes(value: Any) -> bytes | None:
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < 256 for one in value):
        return None
    return bytes(value)


def ids_in(tokens: Iterable[Logged]) -> tuple[int, ...] | None:
    """The ids, if every token has one."""
    ids = [token.token_id for token in tokens]
    known = [one for one in ids if one is not None]
    return tuple(known) if known and len(known) == len(ids) else None


def pieces_of(tokens: list[Logged]) -> tuple[Piece, ...] | None:
    """The tokens as pieces, each with the text it completes; None where one has no bytes, or lossy ones."""
    if not tokens or any(token.raw is None or token.lossy for token in tokens):
        return None
    decoder = Utf8Decoder()
    pieces = [_piece(decoder, token.token_id, token.raw or b"") for token in tokens]
    pieces[-1].text += decoder.finish()
    return tuple(pieces)


def _piece(decoder: Utf8Decoder, token_id: int | None, raw: bytes) -> Piece:
    text = decoder.feed(raw)
    kind: PieceKind = "partial" if decoder.pending else "text"
    return Piece(text, token_id, raw, kind, recorded=True)


def lossy_text(tokens: list[Logged]) -> str | None:
    """The bytes as text where some were lost; None where a token has none at all."""
    if not tokens or any(token.raw is None for token in tokens):
        return None
    return b"".join([token.raw or b"" for token in tokens]).decode("utf-8", "replace")
