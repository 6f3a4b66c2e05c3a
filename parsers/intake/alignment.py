"""Which tokens came with each recorded chunk, where only its text says so: the ids came all at once, or without counts.

The tokens are those that the model's own tokenizer makes of the ids. A token came with the chunk in which its text
begins; one without text, and one whose text no chunk has, with the text behind it. Chunks may lack the text of markers,
white space (a parser takes it away) and all behind a stop string; any other difference means that the chunks are not of
these tokens. O(n) in characters and tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from parsers.intake.evidence import Payload
from parsers.vocabulary.types import Piece
from parsers.wire.read import read_stream


def chunk_texts(stream: Sequence[Payload]) -> list[str]:
    """Return the text of each chunk that a server's parser sent; none of a stream with calls, whose tokens are in no
    chunk as they were."""
    deltas = [chunk.delta for chunk in read_stream(stream)]
    if len(stream) < 2 or any(delta is not None and delta.tool_calls for delta in deltas):
        return []
    return ["" if delta is None else (delta.reasoning or "") + (delta.content or "") for delta in deltas]


def token_counts(texts: Sequence[str], pieces: Sequence[Piece]) -> list[int] | None:
    """Return how many tokens came with each chunk; None where the chunks do not spell the tokens, or say nothing."""
    whole = "".join(texts)
    begins = _begins(whole, pieces) if whole else None
    if begins is None:
        return None
    edges = [bisect_left(begins, end) for end in accumulate([len(text) for text in texts])]
    edges[-1] = len(pieces)
    return [stop - start for start, stop in pairwise([0, *edges])]


def _begins(whole: str, pieces: Sequence[Piece]) -> list[int] | None:
    """Return where in the text each token begins, or what follows it does."""
    begins, at = list[int](), 0
    for piece in pieces:
        begins.append(at)
        text = piece.text
        if not at and not whole.startswith(text) and whole[:1] != " ":
            text = text.lstrip(" ")  # a server takes the blank that SentencePiece puts before a text
        if whole.startswith(text, at):
            at += len(text)
        elif at and len(whole) - at <= len(text) and text.startswith(whole[at:]):  # cut at a stop string
            at = len(whole)
        elif piece.kind not in ("special", "added") and not text.isspace():
            return None
    return begins if at == len(whole) else None
