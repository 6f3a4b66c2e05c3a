"""Whether a marker in a text is only written about: in code, in quotes, or in the middle of a sentence."""

from __future__ import annotations

import re

_OPENING = tuple("\"'“‘«„「『《(*")
_CLOSING = {'"': '"', "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」", "『": "』"}
_QUOTED_MARKER = re.compile(r"([\"“‘«„「『])(?=[<\[])")
_SPACED = tuple(f"{quote}{blank}" for quote in "«„" for blank in " \u00a0\u202f")
_BEHIND_WORD = re.compile(r"[^\W\d_][,;:]?[ \u00a0]\Z")
_BEFORE_WORD = re.compile(
    r"[)\]]?(?:[.,;:!?](?=\s|\Z)|[ \u00a0](?:[^\W\d_]+(?:[,.;:!?](?=\s|\Z)|[ \u00a0](?=[^\W\d_]))"
    r"|(?:and|or|und|oder|et|ou) ))"
)


def is_shown(text: str, at: int) -> bool:
    """Return whether what stands at a place is code or quoted, and so only written about."""
    line = text.rfind("\n", 0, at) + 1
    if text.count("```", 0, at) % 2 or text.count("`", line, at) % 2:
        return True
    return text.endswith((*_OPENING, *_SPACED), 0, at) or _is_in_quotes(text, line, at)


def _is_in_quotes(text: str, line: int, at: int) -> bool:
    """Return whether quotation marks around a marker on this line are still open, and are closed behind the place."""
    opened = max(_QUOTED_MARKER.finditer(text, line, at), key=lambda found: found.start(), default=None)
    if opened is None:
        return False
    closing, end = _CLOSING[opened[1]], text.find("\n", at)
    return closing not in text[opened.end() : at] and closing in text[at : len(text) if end < 0 else end]


def is_inline_code(text: str, at: int) -> bool:
    """Return whether a place is between two backticks inside a line of words."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    before, behind = text[start:at], text[at : len(text) if end < 0 else end]
    opened = before.count("`") % 2 == 1 and "```" not in before
    return opened and "`" in behind and bool(before[: before.rfind("`")].strip())


def is_spoken_of(text: str, start: int, end: int) -> bool:
    """Return whether what stands at [start, end) is a word of a sentence: one comes before it, and another one or the
    end of the sentence behind it."""
    return _BEHIND_WORD.search(text, max(0, start - 3), start) is not None and _BEFORE_WORD.match(text, end) is not None
