"""The tokenizer that comes with the application: 2,048 byte-level tokens, plus the markers of one family.

Its segmentation is a demonstration, not that of any model, but it has what makes parsers fail: tokens that glue
brackets, quotes and line ends together, characters cut into several tokens, and markers that are one id.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import resources

from tokenizers import AddedToken, Tokenizer

from parsers.vocabulary.types import UsageError
from webapp.tokenizers.bytelevel import ByteLevelTokenizer
from webapp.tokenizers.detokenize import Entries, Entry, entry
from webapp.tokenizers.markers import MarkerTable
from webapp.vocabularies.spelling import bytes_of

NAME = "embedded"


@cache
def model() -> bytes:
    """The trained tokenizer as committed; see train.py."""
    return (resources.files("webapp.tokenizers") / "embedded.json").read_bytes()


@cache
def base_entries() -> Entries:
    """The 2,048 tokens without any marker, by id."""
    vocab = Tokenizer.from_buffer(model()).get_vocab()
    return {token_id: entry(string, bytes_of(string)) for string, token_id in vocab.items()}


def build(table: MarkerTable) -> ByteLevelTokenizer:
    """The tokenizer with the markers of `table`; new ones get the ids 2048, 2049, ... in the table's order.

    Raises UsageError for a marker that spells other bytes in this vocabulary.
    """
    base = base_entries()
    _require_own_bytes(base, table)
    backend = Tokenizer.from_buffer(model())
    backend.add_tokens([AddedToken(text, special=special, normalized=False) for text, special in table])
    added = backend.get_added_tokens_decoder()
    entries = dict(base) | {token_id: _marker_entry(token) for token_id, token in added.items()}
    return ByteLevelTokenizer(
        backend,
        entries,
        name=NAME,
        label=_label(len(base), len(entries) - len(base)),
        kind="embedded",
        realism="demo",
        fingerprint=_fingerprint(table),
    )


def _marker_entry(token: AddedToken) -> Entry:
    return entry(token.content, token.content.encode(), "special" if token.special else "added")


def _require_own_bytes(base: Entries, table: MarkerTable) -> None:
    spelled = {known.string: known.raw for known in base.values()}
    for text, _ in table:
        raw = spelled.get(text, text.encode())
        if raw != text.encode():
            raise UsageError(
                f"{text!r} cannot be a marker: the embedded vocabulary spells the bytes {raw.hex(' ')} that way"
            )


def _label(base: int, added: int) -> str:
    return f"Embedded, {base:,}" + (f" + {added}" if added else "")


def _fingerprint(table: MarkerTable) -> str:
    markers = json.dumps(table, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(model() + markers).hexdigest()
