"""A tokenizer that lives in a child process, behind the adapter interface.

Here are kept: its markers, and the tokens of the ids that were asked for, fetched in batches. Text is cut in the
child, ids become text here, by the spelling of the vocabulary, so that every token has its exact bytes.

A vocabulary whose normalizer changes the text (NFKC, a blank in front) does not give it back. Then the pieces are the
text itself, cut where the tokens begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from parsers.vocabulary.types import Piece
from webapp.tokenizers.adapter import (
    MarkerState,
    MarkerTable,
    Token,
    TokenizerAdapter,
    require_encodable,
    require_few,
)
from webapp.tokenizers.prepared import Vocabulary
from webapp.tokenizers.tables import MARKER_KINDS, UNKNOWN, pieces_of, token_of
from webapp.vocabularies.spelling import Spelling

BATCH = 4_000
MOST_TOKENS = 100_000
MAX_ID = 1 << 32

Span = tuple[int, int]  # where a token begins and ends in a text, in code points
Ask = Callable[[str, Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]


class HostedTokenizer(TokenizerAdapter):
    """One tokenizer with the markers of one family. They are looked up in it and never added to it.

    `ask` gives the answers of its process to a task and requests. Raises UsageError, and so does all that needs it.
    """

    def __init__(self, vocabulary: Vocabulary, ask: Ask, table: MarkerTable) -> None:
        super().__init__(vocabulary.info, {text: vocabulary.ids[text] for text, _ in table if text in vocabulary.ids})
        self._vocabulary = vocabulary
        self._ask = ask
        self._known: Mapping[int, Token] = vocabulary.added

    def encode(self, text: str) -> list[int]:
        ids, _ = self._encoded(text, offsets=False)
        return ids

    def pieces(self, text: str, most: int | None = None) -> tuple[Piece, ...]:
        ids = self.encode(text)
        require_few(len(ids), most)
        found = self.pieces_of(ids, recorded=False)
        if "".join([piece.text for piece in found]) == text:
            return found
        ids, offsets = self._encoded(text, offsets=True)
        if not ids:
            return (Piece(text),)  # the vocabulary or its normalizer has nothing for any of it
        return _cut(text, found, offsets)

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        tokens, spelling = self._tokens(ids), self._vocabulary.spelling
        found = pieces_of(tokens, ids, recorded)
        return _begun(found, tokens, spelling) if spelling.decoder == "word_piece" else _stripped(found, spelling)

    def token(self, token_id: int) -> Token:
        return self._tokens([token_id]).get(token_id, UNKNOWN)

    def marker_state(self, text: str) -> MarkerState:
        known = self._vocabulary.ids.get(text)
        if known is not None:
            return MarkerState("one", (known,))
        ids = tuple(self.encode(text))
        if self.decode(ids) != text:
            return MarkerState("absent", ids)
        return MarkerState("one" if len(ids) == 1 else "several", ids)

    def _encoded(self, text: str, *, offsets: bool) -> tuple[list[int], list[Span]]:
        require_encodable(text)
        (answer,) = self._ask("encode", [{"text": text, "offsets": offsets}])
        return answer["ids"], answer["offsets"] or []

    def _tokens(self, ids: Sequence[int]) -> Mapping[int, Token]:
        """Tokens by id, at least those of `ids`. What was given is never changed, so threads may share it."""
        known = self._known
        missing = [i for i in dict.fromkeys(ids) if i not in known and 0 <= i < MAX_ID]
        if missing:
            kept = known if len(known) < MOST_TOKENS else self._vocabulary.added
            # Threads that fetch at once overwrite each other's table: then some tokens are fetched again.
            self._known = known = {**kept, **dict(self._fetched([i for i in dict.fromkeys(ids) if i not in kept]))}
        return known

    def _fetched(self, ids: Sequence[int]) -> Iterator[tuple[int, Token]]:
        possible = [i for i in ids if 0 <= i < MAX_ID]
        answers = self._ask("strings", [{"ids": possible[at : at + BATCH]} for at in range(0, len(possible), BATCH)])
        strings = [string for answer in answers for string in answer["strings"]]
        for token_id, string in zip(possible, strings, strict=True):
            if string is not None:
                yield token_id, token_of(string, self._vocabulary.spelling.raw(string))


def _stripped(pieces: tuple[Piece, ...], spelling: Spelling) -> tuple[Piece, ...]:
    """The pieces without the blanks that the vocabulary puts before a text: so many, or all of the first token with
    text."""
    left, found = 1 if spelling.first else spelling.strip, [*pieces]
    for at, piece in enumerate(pieces):
        if not left:
            break
        if not piece.raw:
            continue
        blanks = len(piece.text) - len(piece.text.lstrip(" "))
        taken = blanks if spelling.first else min(blanks, left)
        left = left - taken if taken == len(piece.text) and not spelling.first else 0
        found[at] = replace(piece, text=piece.text[taken:], raw=piece.raw[taken:])
    return tuple(found)


def _begun(pieces: tuple[Piece, ...], tokens: Mapping[int, Token], spelling: Spelling) -> tuple[Piece, ...]:
    """The pieces of WordPiece, of which the first one that the vocabulary has begins the text."""
    for at, piece in enumerate(pieces):
        token = None if piece.token_id is None else tokens.get(piece.token_id)
        if token is not None:
            raw = spelling.begins(token.string)
            return (*pieces[:at], replace(piece, text=raw.decode(), raw=raw), *pieces[at + 1 :])
    return pieces


def _cut(text: str, pieces: Sequence[Piece], offsets: Sequence[Span]) -> tuple[Piece, ...]:
    """The text cut where the tokens are. A character of several tokens belongs to the last of them, what no token has
    to the one behind it; but for a marker, which is itself and nothing else."""
    edges = [0]
    for (_, end), (start, _), piece in zip(offsets, offsets[1:], pieces[1:], strict=False):
        edges.append(max(edges[-1], start if piece.kind in MARKER_KINDS else min(end, start)))
    found = []
    for piece, (begin, stop) in zip(pieces, pairwise([*edges, len(text)]), strict=True):
        part = text[begin:stop]
        kind = piece.kind if part in ("", piece.text, piece.marker) else "text"
        found.append(Piece(part, piece.token_id, part.encode(), kind, piece.recorded))
    return tuple(found)
