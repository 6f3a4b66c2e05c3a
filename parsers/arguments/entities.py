"""HTML entities in values, decoded while the text arrives (policy entity_decoding).

An entity may be cut anywhere, so from an ampersand on, text waits until the entity is complete, cannot be one any
more, or is longer than any entity name. Names and numbers are those of HTML 5 (the standard library's table); a name
needs its semicolon.
"""

from __future__ import annotations

import re
from html import unescape
from typing import ClassVar

from parsers.vocabulary.states import NOWHERE, Part

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PARTIAL = re.compile(r"&(?:#(?:[0-9]{0,7}|[xX][0-9a-fA-F]{0,6})|[A-Za-z][A-Za-z0-9]{0,31})?\Z")


class EntityDecoder(Part):
    """`feed` gives (text, raw start, raw end) triples; pieces without an entity are as they were."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"_at"})

    def __init__(self) -> None:
        self._kept = ""
        self._at = NOWHERE

    def feed(self, text: str, at: int) -> list[tuple[str, int, int]]:
        """Decode text that stands at raw offset `at`."""
        start, text = at - len(self._kept), self._kept + text
        partial = _PARTIAL.search(text, max(0, text.rfind("&")))
        stop = partial.start() if partial is not None else len(text)
        self._kept, self._at = text[stop:], start + stop if stop < len(text) else NOWHERE
        return _decode(text[:stop], start)

    def finish(self) -> list[tuple[str, int, int]]:
        """What was kept is no entity."""
        kept, self._kept = self._kept, ""
        return [(kept, self._at, self._at + len(kept))] if kept else []

    @property
    def kept_at(self) -> int | None:
        """Raw offset of what is kept."""
        return self._at if self._kept else None


def unescape_attribute(text: str) -> str:
    """The value of an attribute in which a quote and an ampersand are escaped, and nothing else."""
    return text.replace("&quot;", '"').replace("&amp;", "&")


def decode_entities(text: str) -> str:
    """A whole text with its entities decoded."""
    return "".join([piece for piece, _, _ in _decode(text, 0)])


def _decode(text: str, start: int) -> list[tuple[str, int, int]]:
    out: list[tuple[str, int, int]] = []
    pos = 0
    for match in _ENTITY.finditer(text):
        value = unescape(match.group())
        if value == match.group() or "\ud800" <= value <= "\udfff":
            continue
        if match.start() > pos:
            out.append((text[pos : match.start()], start + pos, start + match.start()))
        out.append((value, start + match.start(), start + match.end()))
        pos = match.end()
    if pos < len(text):
        out.append((text[pos:], start + pos, start + len(text)))
    return out
