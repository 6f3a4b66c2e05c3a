"""Long marker texts cut short so that each can still be told from the others.

What long ones of one first word begin with is folded, at the edge of a word, and what they end with where that is not
enough; what is still too long loses its middle, and less of it where two would look alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_FOLDED = "…"
_BETWEEN_WORDS = "_▁·.:-"
_FIRST_WORD = re.compile(r"^([^a-zA-Z0-9]*[a-zA-Z0-9]+).*", re.DOTALL)


def told_apart(texts: Iterable[str], longest: int) -> dict[str, str]:
    """Every text with what is shown of it: itself where it has at most `longest` characters."""
    shown = {text: text for text in texts}
    families: dict[str, list[str]] = {}
    for text in shown:
        if len(text) > longest:
            families.setdefault(_FIRST_WORD.sub(r"\1", text), []).append(text)
    for family in families.values():
        shown |= _folded(family, longest)
    alike = Counter(shown.values())
    shown = {text: short if alike[short] == 1 else text for text, short in shown.items()}
    return shown | _cut([text for text, short in shown.items() if len(short) > longest], shown, longest)


def _folded(family: list[str], longest: int) -> dict[str, str]:
    """Texts of one beginning without it, and without the end that they share where they are too long with it."""
    if len(family) == 1:
        return {}
    head, tail = _shared(family), _shared([text[::-1] for text in family])
    if head and max(map(len, family)) - head < longest:
        tail = 0
    whole = {text: text[head : len(text) - tail] for text in family}
    bare = {text: rest.lstrip(_BETWEEN_WORDS) for text, rest in whole.items()} if head else whole
    rests = bare if len(set(bare.values())) == len(family) else whole
    return {text: _FOLDED * bool(head) + rest for text, rest in rests.items()}


def _shared(family: list[str]) -> int:
    """How many characters all of them begin with, without half of a word."""
    differing = (at for at, letters in enumerate(zip(*family, strict=False)) if len(set(letters)) > 1)
    shared = next(differing, min(map(len, family)))
    while shared and any(text[shared - 1 : shared + 1].isalnum() or len(text) == shared for text in family):
        shared -= 1
    return shared


def _cut(texts: list[str], shown: dict[str, str], longest: int) -> dict[str, str]:
    """These without their middles, each as short as it may be while no two look alike."""
    found: dict[str, str] = {}
    while texts:
        cut = {text: _without_middle(shown[text], longest) for text in texts}
        times = Counter(cut.values())
        found |= {text: short for text, short in cut.items() if times[short] == 1}
        texts, longest = [text for text in texts if text not in found], longest + 1
    return found


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return text[: longest - 1 - tail] + _FOLDED + text[len(text) - tail :]
