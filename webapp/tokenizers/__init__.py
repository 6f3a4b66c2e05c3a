"""Tokenizers: how text becomes tokens, and tokens become text.

`get_tokenizer` gives an adapter (`base.TokenizerAdapter`) by name, built once for each marker table and shared from
then on. Importing this package loads no transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from threading import Lock

from parsers.formats.model import Format
from parsers.types import UsageError
from webapp.tokenizers import characters, embedded
from webapp.tokenizers.base import Token, TokenizerAdapter, TokenizerInfo, TokenStream
from webapp.tokenizers.markers import MarkerTable, marker_table, markers_of

__all__ = [
    "Token",
    "TokenStream",
    "TokenizerAdapter",
    "TokenizerInfo",
    "get_tokenizer",
    "list_tokenizers",
    "markers_of",
]

_BUILDERS: dict[str, Callable[[MarkerTable], TokenizerAdapter]] = {
    embedded.NAME: embedded.build,
    characters.NAME: lambda _table: characters.Characters(),
}
# Formats edited in the page bring tables of their own, so the cache has an end; an entry weighs about half a megabyte.
_CACHED = 64
_lock = Lock()


def get_tokenizer(
    name: str = embedded.NAME,
    markers: Mapping[str, bool] | None = None,
    *,
    format: Format | None = None,
) -> TokenizerAdapter:
    """The tokenizer called `name` with one family's markers.

    `markers` maps marker texts to their special flags; `format` stands for the markers of that format, unless
    `markers` are given. Raises UsageError for an unknown name or a marker that cannot be one.
    """
    if name not in _BUILDERS:
        raise UsageError(f"there is no tokenizer {name!r}; choose one of: {', '.join(_BUILDERS)}")
    if markers is None:
        markers = markers_of(format) if format is not None else {}
    table = marker_table(markers)
    with _lock:
        return _built(name, table)


def list_tokenizers() -> list[TokenizerInfo]:
    """What `GET /api/v1/tokenizers` answers: every tokenizer that can be chosen by name, without markers."""
    return [get_tokenizer(name).info for name in _BUILDERS]


@lru_cache(maxsize=_CACHED)
def _built(name: str, table: MarkerTable) -> TokenizerAdapter:
    return _BUILDERS[name](table)
