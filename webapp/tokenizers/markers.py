"""The marker table of a family: which strings are single tokens of its models' vocabulary, and their special flags.

Only the chosen family's markers are ever in a vocabulary. With all of them, a Llama run would see `<tool_call>` as
one id, which no Llama can write.

The table is sorted by text, so that two spellings of one table are one tokenizer with one set of ids.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.formats.model import Format
from parsers.vocabulary.types import UsageError
from webapp.tokenizers.base import require_encodable

MarkerTable = tuple[tuple[str, bool], ...]

# The largest real family has a few dozen markers of at most some thirty characters; tables come from users too.
MAX_MARKERS = 256
MAX_MARKER_CHARS = 128


def markers_of(fmt: Format) -> dict[str, bool]:
    """The markers of a format that are single tokens, with their special flags.

    A format that says nothing of its tokens is one that somebody is just writing: its terminals are markers, but for
    single characters, which any vocabulary has, and texts too long for one token.
    """
    if "tokens" in fmt.model_fields_set:
        return {text: token.special for text, token in fmt.tokens.items()}
    texts = [text for text in fmt.terminals.values() if 1 < len(text) <= MAX_MARKER_CHARS]
    return dict.fromkeys(texts[:MAX_MARKERS], False)


def marker_table(markers: Mapping[str, bool]) -> MarkerTable:
    """`markers` checked and in their one order. Raises UsageError for a marker no vocabulary could hold."""
    if len(markers) > MAX_MARKERS:
        raise UsageError(f"{len(markers)} markers are too many for one vocabulary: at most {MAX_MARKERS}")
    for text in markers:
        _require_usable(text)
    return tuple(sorted(markers.items()))


def _require_usable(text: str) -> None:
    if not text:
        raise UsageError("a marker is empty: remove it from the format's tokens")
    if len(text) > MAX_MARKER_CHARS:
        raise UsageError(f"the marker {text[:20]!r}... has {len(text)} characters: at most {MAX_MARKER_CHARS}")
    require_encodable(text)
