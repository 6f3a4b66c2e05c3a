"""What a recorded stream means for the form: one more parser to choose, and no chunking to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parsers.cases.engines import RECORDED
from webapp.page.glyphs import count
from webapp.page.intake_form import given_data

if TYPE_CHECKING:
    from webapp.page.form import Setup

RAW = ("text", "tokens", "deltas")
UNTOUCHED = [{"by": "token"}]  # what the form sends where nobody chose a chunking


def stream_words(chunks: int) -> str:
    """A recorded stream as a choice of parser."""
    return f"recorded stream ({count(chunks, 'chunk')})"


def chunks_of(setup: Setup) -> int:
    """How many chunks of a server there are to play back: of what was pasted, else of the case on the page."""
    given = given_data(setup.found) if setup.found else {}
    return len(given.get("input", {}).get("stream") or ()) or setup.chunks


def as_recorded(data: dict[str, Any]) -> None:
    """Leave the form's usual chunking out of a case whose stream is played back: it has one of its own."""
    given, name = data["input"], data["parser"]["name"]
    raw = any(given.get(form) is not None for form in RAW)
    if (name == RECORDED or (name == "auto" and not raw)) and data["replay"] == UNTOUCHED:
        del data["replay"]
