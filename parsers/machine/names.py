"""The name of a call as text: which characters one may have before it is whole, and where it stands in a header."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

_SPACE = re.compile(r"\s")
_PREFIX = "functions."
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


def split_header(text: str, declared: Collection[str]) -> tuple[int, int]:
    """Return where the name stands in a header, `functions.NAME:INDEX` or less of it: up to the last colon.

    A name may have dots of its own, so all behind the prefix is the name (as vLLM 0.33.0 and SGLang read it), unless
    the header only ends with a declared tool's. The longest counts.
    """
    colon = text.rfind(":")
    end = colon if colon > 0 else len(text)
    bare = len(_PREFIX) if text.startswith(_PREFIX) and end > len(_PREFIX) else 0
    ends = [name for name in declared if text[:end] == name or text.endswith(f".{name}", 0, end)]
    return (end - max(map(len, ends)) if ends else bare), end
