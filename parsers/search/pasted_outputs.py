"""The output that something else quotes: a log, an error, a report, a conversation.

Of a log it is what a record quotes without marks, else the longest text between marks; of a report what stands in a
block or between marks, where it is more than the name of a marker; of a conversation, or a prompt, the assistant's last
turn. A prompt in a log is none, nor is a value that the error itself shortened. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.search.markup import BODY, LEFT_OVER, is_marked, marker_in
from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_logs import as_meant, bare_quotes
from parsers.search.pasted_prompts import last_turn
from parsers.search.pasted_quotes import Quote, quotes_in

PRINTED = frozenset((Pasted.TRACEBACK, Pasted.RUBY, Pasted.STACK, Pasted.ERROR, Pasted.LOG, Pasted.SERVER_ERROR))
WRITTEN = frozenset((Pasted.REPORT,))
TEMPLATED = frozenset((Pasted.PROMPT, Pasted.CONVERSATION))
QUOTING = PRINTED | WRITTEN | TEMPLATED  # kinds that may quote an output
_PROMPT = re.compile(r"\b(?:prompt|chat_template|messages)\w{0,20}['\"]?\s?[:=]\s?\Z")
_SHORTENED = re.compile(r"\binput_value=\Z")  # pydantic leaves out the middle of long values
_WORD = re.compile(r"[^\W\d_]{2}")  # the id of a token stands beside its text in errors
_BESIDE = 40  # characters before a quote that say what it is


def quoted_in(text: str, kind: Pasted) -> str | None:
    """Return the output that a text of some kind quotes; None without any."""
    if kind in TEMPLATED:
        turn = last_turn(text)
        return None if turn is None else turn.words
    if kind not in QUOTING:
        return None
    marked = [*filter(_is_output, _quotes(text))]
    bare = bare_quotes(text) if kind in PRINTED else []
    bare = [one for one in bare if not any(_is_end_of(one, quote) for quote in marked)]
    return max([*filter(_is_output, bare)] or marked, key=_worth, default=None)


def _is_end_of(bare: str, quote: str) -> bool:
    """Return whether what seems to be quoted without marks is the end of what stands between marks."""
    end = quote[max(marker_in(quote), 0) :]
    return as_meant(bare).startswith(end)


def _quotes(text: str) -> Iterator[str]:
    """The quoted texts with markers in them; of a block that is a log or an error, what that quotes."""
    for quote in quotes_in(text):
        before = text[max(0, quote.start - _BESIDE) : quote.start]
        if not is_marked(quote.text) or _PROMPT.search(before) or _is_shortened(quote, before):
            continue
        inner = look(quote.text) if quote.marked.is_block else None
        if inner is None:
            yield quote.text if quote.text[:1] != " " else quote.text.strip()
        elif inner.kind in PRINTED and (told := quoted_in(quote.text, inner.kind)) is not None:
            yield told


def _is_shortened(quote: Quote, before: str) -> bool:
    return "..." in quote.text and _SHORTENED.search(before) is not None


def _is_output(text: str) -> bool:
    """Return whether a quoted text is more than the name of a marker: a call's body, or words beside it."""
    return BODY.search(text) is not None or len(_WORD.findall(LEFT_OVER.sub(" ", text))) > 1


def _worth(text: str) -> tuple[bool, int]:
    """A text with the body of a call before one without, then the longer one."""
    return BODY.search(text) is not None, len(text)
