"""How numbers, lists and pieces of text stand in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

NOTHING = "(empty)"
_QUOTED = 40
_CODE = re.compile("`([^`]+)`|“([^“”]*`[^“”]*)”|(?<!`)``(?!`)")
_LISTED = 4


def counted(number: int, noun: str, plural: str = "") -> str:
    """'1 step', '2,048 steps'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[str], joint: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'; of more than four the rest is counted."""
    if len(words) > _LISTED:
        words = [*words[: _LISTED - 1], f"{len(words) - _LISTED + 1} more"]
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def quoted(text: str) -> str:
    """Text as code, on one line and not too long: between backticks, or, where it has one, between “ and ”."""
    shown = shortened(text.replace("\n", "\\n").replace("\r", "\\r"), _QUOTED)
    return f"“{shown}”" if "`" in shown else f"`{shown}`"


def in_parts(sentence: str) -> Iterator[tuple[str, bool]]:
    """A sentence in its words and what it quotes (see `quoted`), which is True: whoever shows it shows that as code.
    Code of no character would not be seen: words say that nothing is quoted."""
    at = 0
    for match in _CODE.finditer(sentence):
        yield sentence[at : match.start()], False
        inside = match[1] or match[2]
        yield (NOTHING, False) if inside is None else (inside, True)
        at = match.end()
    yield sentence[at:], False


def shortened(text: str, most: int) -> str:
    """At most `most` characters of a text, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
