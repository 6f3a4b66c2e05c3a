"""The name of a call as text: which characters one may have before it is whole, and where it stands in a header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum

_SPACE = re.compile(r"\s")
_CHARS = r"\w.:/@$\-\\\"'"  # a backslash may be an escape, quotes may stand around it


class NamePart(Enum):
    """What was read of a name, before which text it is judged."""

    BEGINS = "nothing but white space"
    GOES_ON = "some of it"
    IS_OVER = "some of it, and white space behind it"
    QUOTED = "it stands between quotes"


def name_patterns(names: Iterable[str]) -> Mapping[NamePart, re.Pattern[str]]:
    """Patterns for the text of a name, by what was read of it: it may have what tools' names have."""
    declared = tuple(names)
    bare = _CHARS + re.escape("".join([name for name in declared if not _SPACE.search(name)]))
    quoted = _CHARS + re.escape("".join(declared))
    patterns = {
        NamePart.BEGINS: rf"\s*[{bare}]*\s*",
        NamePart.GOES_ON: rf"[{bare}]*\s*",
        NamePart.IS_OVER: r"\s*",
        NamePart.QUOTED: f"[{quoted}]*",
    }
    return {part: re.compile(pattern) for part, pattern in patterns.items()}


def split_header(text: str) -> tuple[int, int]:
    """Return where the name stands in the header: after the last dot before the last colon, up to that colon.

    A header without dot or colon is all name. (Rule of vLLM 0.33.0's kimi_k2 parser.)
    """
    colon = text.rfind(":")
    end = colon if colon > 0 else len(text)
    start = text.rfind(".", 0, end) + 1
    return (start, end) if start < end else (0, end)
