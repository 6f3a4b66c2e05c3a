"""Tokenizers: how text becomes tokens, and tokens become text.

`get_tokenizer` gives an adapter (`adapter.TokenizerAdapter`) by name, built once for each marker table and shared from
then on. Importing this package loads no transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from parsers.formats.model import Format
from parsers.vocabulary.types import UsageError
from webapp.tokenizers.adapter import MarkerState, Token, TokenizerAdapter, TokenizerInfo, markers_of
from webapp.tokenizers.embedded import EMBEDDED
from webapp.tokenizers.library import library
from webapp.tokenizers.tables import CASE, CaseVocabulary

if TYPE_CHECKING:
    from parsers.cases.case import Case

__all__ = [
    "MarkerState",
    "Token",
    "TokenizerAdapter",
    "TokenizerInfo",
    "get_tokenizer",
    "library",
    "list_tokenizers",
    "markers_of",
]


def get_tokenizer(
    name: str = EMBEDDED,
    markers: Mapping[str, bool] | None = None,
    *,
    format: Format | None = None,
    case: Case | None = None,
) -> TokenizerAdapter:
    """The tokenizer called `name` with one family's markers.

    `markers` maps marker texts to their special flags; `format` stands for the markers of that format, unless
    `markers` are given; with it the embedded tokenizer cuts other markup as that format's models do, but not for a
    case that was cut without. The name "case" means the tokens of `case` itself. Raises UsageError for an unknown name
    or a marker that cannot be one.
    """
    if name == CASE:
        if case is None:
            raise UsageError("the tokenizer 'case' is that of a case with tokens; choose another one for a text")
        return CaseVocabulary(case)
    if markers is None:
        markers = markers_of(format) if format is not None else {}
    plain = library().get(name, markers)
    if name != EMBEDDED or format is None or format.splits is None:
        return plain
    saved = case.tokenizer.fingerprint if case is not None and case.tokenizer is not None else None
    return plain if saved == plain.fingerprint else library().get(name, markers, format.splits.markup)


def list_tokenizers() -> list[TokenizerInfo]:
    """Return what `GET /api/v1/tokenizers` answers: every tokenizer that can be chosen by name, without markers."""
    return library().listing()
