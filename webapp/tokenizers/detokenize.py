"""From ids to text: the pieces of a finished output, and the stream of one still being written.

==================  ===============================================================================================
tiling              the pieces' texts joined are the UTF-8 decode ("replace") of the tokens' bytes joined
silent tokens       a token that completes no character is a piece with text ''; the one that completes it has it
whole markers       a marker's piece has exactly the marker's text: a character it cuts off ends, as U+FFFD, in the
                    piece that began it
cut off at the end  the same: U+FFFD belongs to the last piece with bytes, nothing is lost
unknown ids         they have no bytes, so a character may go on behind them
==================  ===============================================================================================

A stream cannot reach back, so there the U+FFFD before a marker comes out together with the marker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, get_args

from parsers.decoding.utf8 import Utf8Decoder
from parsers.vocabulary.types import Piece, PieceKind, UsageError
from webapp.tokenizers.base import DecodePolicy, Token, TokenStream

UNKNOWN = Token("", b"", "unknown")
POLICIES: tuple[str, ...] = get_args(DecodePolicy)


class Entry(NamedTuple):
    """A token as the decoder wants it: `text` is None when its bytes alone are no whole characters."""

    text: str | None
    raw: bytes
    kind: PieceKind
    string: str


Entries = Mapping[int, Entry]


def entry(string: str, raw: bytes, marker: PieceKind | None = None) -> Entry:
    """The entry of a token; `marker` is special or added for a marker."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return Entry(None, raw, "partial", string)
    return Entry(text, raw, marker or "text", string)


def pieces_of(entries: Entries, ids: Sequence[int], recorded: bool) -> tuple[Piece, ...]:
    """One piece per id."""
    decoder = Utf8Decoder()
    pieces: list[Piece] = []
    begun: Piece | None = None
    for token_id in ids:
        known = entries.get(token_id)
        if known is None:
            pieces.append(Piece("", token_id, None, "unknown", recorded))
            continue
        text, raw, kind, _ = known
        if begun is not None and kind in ("special", "added"):
            begun.text += decoder.finish()
            begun = None
        if begun is not None or text is None:
            text = decoder.feed(raw)
            kind = "partial" if decoder.pending else "text"
        piece = Piece(text, token_id, raw, kind, recorded)
        begun = piece if kind == "partial" else None
        pieces.append(piece)
    if begun is not None:
        begun.text += decoder.finish()
    return tuple(pieces)


def decode(entries: Entries, ids: Sequence[int], skip_special: bool) -> str:
    """The text of the ids at once."""
    known = [entries[token_id] for token_id in ids if token_id in entries]
    kept = [e.raw for e in known if not (skip_special and e.kind == "special")]
    return b"".join(kept).decode("utf-8", errors="replace")


class ExactStream:
    """The decode policy `exact`: every byte ends up in the text, as soon as it can."""

    __slots__ = ("_decoder", "_entries", "_skip_special")

    def __init__(self, entries: Entries, skip_special: bool) -> None:
        self._entries = entries
        self._skip_special = skip_special
        self._decoder = Utf8Decoder()

    @property
    def pending(self) -> bytes:
        return self._decoder.pending

    def push(self, token_id: int) -> str:
        known = self._entries.get(token_id)
        if known is None or (self._skip_special and known.kind == "special"):
            return ""
        return self._decoder.feed(known.raw)

    def finish(self) -> str:
        return self._decoder.finish()


def open_stream(entries: Entries, policy: DecodePolicy, skip_special: bool) -> TokenStream:
    """A fresh stream. Raises UsageError for a policy that does not exist."""
    require_policy(policy)
    return ExactStream(entries, skip_special)


def require_policy(policy: str) -> None:
    """Raise UsageError for a policy that does not exist."""
    if policy not in POLICIES:
        raise UsageError(f"there is no decode policy {policy!r}; choose one of: {', '.join(POLICIES)}")


class TokenTable:
    """What a tokenizer answers from the table of its tokens alone."""

    __slots__ = ("_entries", "_marker_ids")

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._marker_ids = {e.string: i for i, e in entries.items() if e.kind in ("special", "added")}

    @property
    def vocab_size(self) -> int:
        return len(self._entries)

    @property
    def marker_ids(self) -> Mapping[str, int]:
        return MappingProxyType(self._marker_ids)

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        return pieces_of(self._entries, ids, recorded)

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        return decode(self._entries, ids, skip_special)

    def token(self, token_id: int) -> Token:
        known = self._entries.get(token_id)
        return UNKNOWN if known is None else Token(known.string, known.raw, known.kind)

    def stream(self, policy: DecodePolicy = "exact", skip_special: bool = False) -> TokenStream:
        return open_stream(self._entries, policy, skip_special)
