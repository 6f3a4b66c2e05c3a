"""Whether a text still holds the markup of calls or reasoning: then no parser has taken it off."""

from __future__ import annotations

import re
from functools import cache

from parsers.formats.model import builtin_formats
from parsers.search.guess_read import BODY, LEFT_OVER, telling_of


@cache
def _markers() -> re.Pattern[str]:
    words = {word for fmt in builtin_formats().values() for word in telling_of(fmt)}
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def holds_markers(text: str) -> bool:
    """Whether a marker of any built-in format, or what looks like one, is in the text."""
    return any(pattern.search(text) for pattern in (_markers(), LEFT_OVER, BODY))
