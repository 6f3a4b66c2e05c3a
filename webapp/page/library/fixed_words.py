"""The fields of the library's search that take fixed words, and what is said of a word that is none of them.

A verdict that a case was saved with by another version counts as known: what is in the library is always found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import get_args

from parsers.checks import CHECKS
from parsers.search.found import VerdictKind
from parsers.vocabulary.types import UsageError
from webapp.page.library.listed_case import UNCHECKED, UNEXPECTED
from webapp.runs.unrun import NOT_RUN
from webapp.store.listings import Counts, Facet, Wanted

_WORDS: Mapping[Facet, tuple[str, ...]] = {
    "verdict": (*get_args(VerdictKind), UNEXPECTED, UNCHECKED, NOT_RUN),
    "check": tuple(CHECKS),
}


def unknown_words(wanted: Wanted, counts: Callable[[], Counts]) -> list[str]:
    """A sentence for each word of a query that its field does not take: which it does, those that are like it first.
    `counts` tells what is in the library; it is asked only where a word is none of ours."""
    asked = [(name, value) for name, value in wanted.facets if value not in _WORDS.get(name, (value,))]
    kept = counts().values if asked else {}
    return [_said(name, value) for name, value in asked if value not in dict(kept[name])]


def refuse_unknown(wanted: Wanted, counts: Callable[[], Counts]) -> Wanted:
    """The same query. Raises UsageError for a word that its field does not take."""
    if unknown := unknown_words(wanted, counts):
        raise UsageError(" ".join(unknown))
    return wanted


def _said(name: Facet, value: str) -> str:
    words = _WORDS[name]
    near = get_close_matches(value, words, 3)
    return f"There is no {name} {value[:40]!r}. There are: {', '.join(dict.fromkeys([*near, *words]))}."
