"""The tokenizer that comes with the application: 2,048 byte-level tokens, plus the markers of one family.

Its segmentation is a demonstration, not that of any model, but it has what makes parsers fail: tokens that glue
brackets, quotes and line ends together, characters cut into several tokens, and markers that are one id.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

# One text at a time gains nothing from its thread pool, and a pool that has run makes every later fork complain.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import AddedToken, Tokenizer

from parsers.replays.cut_grades import split_markup
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers.adapter import (
    MarkerState,
    MarkerTable,
    Splits,
    Token,
    TokenizerInfo,
    require_encodable,
    require_few,
)
from webapp.tokenizers.tables import TokenTable, token_of
from webapp.vocabularies.spelling import bytes_of

EMBEDDED = "embedded"

_SLICE = 32_768  # characters: so much is cut at once, about
# Between these two the vocabulary's regular expression always cuts, so a text may be cut there and in slices.
_SEAM = re.compile(r"[A-Za-z0-9][ \n]")


@cache
def model() -> bytes:
    """The trained tokenizer as committed; see train.py."""
    return (resources.files("webapp.tokenizers") / "embedded.json").read_bytes()


@cache
def _base_tokens() -> Mapping[int, Token]:
    vocab = Tokenizer.from_buffer(model()).get_vocab()
    return {token_id: token_of(string, bytes_of(string)) for string, token_id in vocab.items()}


class Embedded(TokenTable):
    """The tokenizer with the markers of a table; new ones get the ids 2048, 2049, ... in the table's order.

    Markup of `splits` is cut into these tokens; those that it has not get the ids that follow, in their order. Without
    it ids, tokens and fingerprint are what they always were. Raises UsageError for a marker that spells other bytes in
    this vocabulary.
    """

    def __init__(self, table: MarkerTable, splits: Splits = ()) -> None:
        base = _base_tokens()
        _require_own_bytes(base, table)
        self._backend = Tokenizer.from_buffer(model())
        self._backend.add_tokens([AddedToken(text, special=special, normalized=False) for text, special in table])
        added = self._backend.get_added_tokens_decoder()
        tokens = {**base, **{token_id: _marker_token(token) for token_id, token in added.items()}}
        more = len(tokens) - len(base)
        self._split_ids = _with_splits(tokens, splits)
        self._splits = splits
        told = (table, splits) if splits else table
        markers = json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode()
        info = TokenizerInfo(
            name=EMBEDDED,
            kind="embedded",
            vocab_size=len(tokens),
            label=f"Embedded, {len(base):,}" + (f" + {more}" if more else ""),
            realism="demo",
            decoder="byte_level",
            fingerprint=hashlib.sha256(model() + markers).hexdigest(),
            loses=[],
        )
        super().__init__(info, tokens)
        whole = [text for text, _ in table] + ["".join(parts) for parts in splits]
        self._slices = not any(_SEAM.search(text) for text in whole)

    def encode(self, text: str) -> list[int]:
        return self._ids(text, None)

    def pieces(self, text: str, most: int | None = None) -> tuple[Piece, ...]:
        return self.pieces_of(self._ids(text, most), recorded=False)

    def _ids(self, text: str, most: int | None) -> list[int]:
        require_encodable(text)
        ids: list[int] = []
        at = 0
        while at < len(text):
            seam = _SEAM.search(text, at + _SLICE) if self._slices else None
            end = seam.start() + 1 if seam else len(text)
            ids += self._cut(text[at:end])
            require_few(len(ids), most, all_counted=end == len(text))
            at = end
        return ids

    def _cut(self, text: str) -> list[int]:
        """The ids of a slice: the tokens of known markup, and of what stands between."""
        between, known, at = list[str](), list[list[int]](), 0
        for start, parts in split_markup(text, self._splits):
            between.append(text[at:start])
            known.append([self._split_ids[part] for part in parts])
            at = start + len("".join(parts))
        # encode() would hold the GIL for the whole slice; the batch call releases it.
        found = self._backend.encode_batch([*between, text[at:]], add_special_tokens=False)
        return [one for part, ids in zip(found, [*known, []], strict=True) for one in (*part.ids, *ids)]

    def marker_state(self, text: str) -> MarkerState:
        ids = tuple(self.encode(text))
        return MarkerState("one" if len(ids) == 1 else "several", ids)


def _with_splits(tokens: dict[int, Token], splits: Splits) -> dict[str, int]:
    """The ids of the tokens that markup is cut into; those that are not in `tokens` are put there."""
    known = {token.text: token_id for token_id, token in tokens.items() if token.kind == "text"}
    found: dict[str, int] = {}
    for part in dict.fromkeys([part for parts in splits for part in parts]):
        token_id = known.get(part)
        if token_id is None:
            token_id = len(tokens)
            tokens[token_id] = token_of(part, part.encode())
        found[part] = token_id
    return found


def _marker_token(token: AddedToken) -> Token:
    return token_of(token.content, token.content.encode(), "special" if token.special else "added")


def _require_own_bytes(base: Mapping[int, Token], table: MarkerTable) -> None:
    spelled = {known.string: known.raw for known in base.values()}
    for text, _ in table:
        raw = spelled.get(text, text.encode())
        if raw != text.encode():
            raise UsageError(
                f"{text!r} cannot be a marker: the embedded vocabulary spells the bytes {raw.hex(' ')} that way"
            )
