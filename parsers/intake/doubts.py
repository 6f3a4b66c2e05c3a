"""How sure the raw text is, as the warnings about it say. What is missing for good outweighs what is assumed."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.intake.model import Fact, Warn
from parsers.vocabulary.types import Recording

_LOSSY = frozenset(
    {
        "broken_off", "lone_surrogate", "lossy_text", "only_the_call", "specials_missing", "text_cut",
        "text_start_missing",
    }
)  # fmt: skip
_ASSUMED = frozenset({"special_tokens", "text_maybe_cut", "unquoted"})

REPLACED = Warn(
    "lossy_text", "The text holds U+FFFD: bytes of a character were lost before it was written. Only ids bring it back."
)


def replaced(recordings: Iterable[Recording]) -> tuple[Warn, ...]:
    """The warning that characters were lost, where the text of one shows it."""
    return (REPLACED,) if any("\ufffd" in (recording.text or "") for recording in recordings) else ()


def text_facts(warnings: Iterable[Warn]) -> tuple[Fact, ...]:
    """The fact about the text, where a warning casts doubt on it."""
    found = list(warnings)
    lossy = [Fact("text", "lossy", warn.words) for warn in found if warn.code in _LOSSY]
    assumed = [Fact("text", "assumed", warn.words) for warn in found if warn.code in _ASSUMED]
    return tuple((lossy + assumed)[:1])
