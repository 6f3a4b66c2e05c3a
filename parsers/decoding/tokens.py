"""Stored tokens as a policy sees them: those left out are gone, and it is known which ones are single bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from parsers.decoding.policy import Decode, Decoder
from parsers.vocabulary.types import Piece

_MISTRAL_KEEPS = frozenset({"[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"})
_MARKERS = ("special", "added")


class Token(NamedTuple):
    """One token for a decoder. `raw` are its bytes, '' and none where it is left out or has no text of its own.

    `whole`: a character cannot go on from the token before into it: a marker, or text whose bytes are not known.
    `single`: a byte of byte fallback, which forms characters with its neighbours only.
    """

    raw: bytes
    text: str
    whole: bool = False
    single: bool = False
    skipped: bool = False


_SILENT = Token(b"", "")
_SKIPPED = Token(b"", "", skipped=True)


def decoder_tokens(pieces: Sequence[Piece], decode: Decode, decoder: Decoder, end_tokens: Iterable[str]) -> list[Token]:
    """The tokens as the decoder gets them. Pieces that are one object are looked at once."""
    base = _byte_base(pieces) if decoder == "byte_fallback" else None
    known = {id(piece): piece for piece in pieces}
    made = {one: _token(piece, decoder, base) for one, piece in known.items()}
    tokens = list(map(made.__getitem__, map(id, pieces)))
    kept = _MISTRAL_KEEPS if decode.policy == "vllm_mistral" else frozenset[str]()
    if kept or decode.skip_special_tokens:  # Mistral's tokenizer leaves out the same whatever the request says
        for at, piece in enumerate(pieces):
            if piece.kind == "special" and tokens[at].text not in kept:
                tokens[at] = _SKIPPED
    if decode.drop_eos and pieces and _ends(pieces[-1], tokens[-1].text, frozenset(end_tokens)):
        tokens[-1] = _SKIPPED
    return tokens


def _ends(last: Piece, text: str, end_tokens: frozenset[str]) -> bool:
    """Return whether the last token is the one that ended the output: one the format names, else any special one."""
    named = text in end_tokens or text.lstrip(" ") in end_tokens
    return last.kind in _MARKERS and (named or (last.kind == "special" and not end_tokens))


def _token(piece: Piece, decoder: Decoder, base: int | None) -> Token:
    raw = piece.raw
    if raw is None:
        return Token(b"", piece.text, whole=True) if piece.text else _SILENT
    if not raw:
        return _SILENT
    if piece.kind in _MARKERS:
        return Token(raw, raw.decode("utf-8", "replace"), whole=True)
    if decoder != "byte_fallback":
        return Token(raw, "")
    single = len(raw) == 1 and (raw[0] >= 0x80 or (base is not None and piece.token_id == base + raw[0]))
    return Token(raw, "" if single else raw.decode("utf-8", "replace"), single=single)


def _byte_base(pieces: Sequence[Piece]) -> int | None:
    """The id of byte 0, where the ids of the output's bytes above 7F are those of one row of 256.

    Such a byte is always one of byte fallback; a byte below may be an ordinary token too, and its id tells which.
    """
    singles = [(piece.token_id, piece.raw[0]) for piece in pieces if piece.raw is not None and len(piece.raw) == 1]
    found = {token_id - byte for token_id, byte in singles if token_id is not None and byte >= 0x80}
    return found.pop() if len(found) == 1 else None


# Stop strings: where they end the text, and what servers keep back while one may have begun.
#
# vLLM (0.33, v1/engine/detokenizer.py) looks for them in the text that is out after each token, in the order in which
# they were given, and keeps back one character less than the longest of them has, unless it is sent anyway.


class StopPlace(NamedTuple):
    """The token that completes a stop string, and where the text ends then."""

    token: int
    end: int


def find_stop(text: str, out: Sequence[int], stop: Sequence[str], *, include: bool) -> StopPlace | None:
    """Return where the first stop string ends the text, None where none is in it.

    `out`: how much of the text is out after each token.
    """
    found: list[tuple[int, int, int]] = []
    for order, one in enumerate(stop):
        if (at := text.find(one)) >= 0:
            found.append((bisect_left(out, at + len(one)), order, at + len(one) * include))
    if not found:
        return None
    token, _, end = min(found)
    return StopPlace(token, end)


def characters_kept_back(stop: Sequence[str], *, include: bool) -> int:
    """Return how many last characters wait while the output goes on."""
    return 0 if include else max([len(one) for one in stop], default=1) - 1
