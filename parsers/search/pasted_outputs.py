"""The output that something else quotes: a log, an error, a report, a conversation.

Of a log it is what a record quotes without marks, else the longest text between marks; of a report what stands in its
blocks, each an output of its own, else the longest text between marks; of a conversation, or a prompt, the assistant's
last turn. A prompt in a log is none, nor is a value that the error itself shortened. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from parsers.search.markup import BODY, is_marked, marker_in
from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_logs import as_meant, bare_quotes
from parsers.search.pasted_prompts import last_turn
from parsers.search.pasted_quotes import Marked, Quote, blocks_in, quotes_in
from parsers.search.pasted_traces import messages_in, unspelled_in, without_frames
from parsers.search.quoted_parts import failed_generations, is_code, is_output, printed_strings

PRINTED = frozenset((Pasted.TRACEBACK, Pasted.RUBY, Pasted.STACK, Pasted.ERROR, Pasted.LOG, Pasted.SERVER_ERROR))
TRACED = frozenset((Pasted.TRACEBACK, Pasted.ERROR))  # kinds that end with the message of an exception
WRITTEN = frozenset((Pasted.REPORT,))
TEMPLATED = frozenset((Pasted.PROMPT, Pasted.CONVERSATION))
QUOTING = PRINTED | WRITTEN | TEMPLATED  # kinds that may quote an output
_PROMPT = re.compile(r"\b(?:prompt|chat_template|messages)\w{0,20}['\"]?\s?[:=]\s?\Z")
_SHORTENED = re.compile(r"\binput_value=\Z")  # pydantic leaves out the middle of long values
_OPENED = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]{1,20}[ \t]*\n", re.MULTILINE)
_BESIDE = 40  # characters before a quote that say what it is


class _Quoted(NamedTuple):
    """A quoted output, and whether it stands on lines of its own."""

    text: str
    in_block: bool


def quoted_in(text: str, kind: Pasted) -> str | None:
    """Return the output that a text of some kind quotes, the first of those in blocks; None without any. An error that
    a terminal or a mail has wrapped is read with its lines joined."""
    wrapped = failed_generations(text.replace("\n", "")) if kind in QUOTING else []
    return next(iter([*outputs_in(text, kind), *wrapped]), None)


def outputs_in(text: str, kind: Pasted) -> list[str]:
    """Return the outputs that a text of some kind quotes: several only where a report has several blocks of them."""
    if kind in TEMPLATED:
        turn = last_turn(text)
        return [] if turn is None else [turn.words]
    if kind in QUOTING and (generated := failed_generations(text)):
        return list(dict.fromkeys(generated))
    if kind in TRACED and (said := _said_by(text)):
        return said
    text = without_frames(text) if kind in PRINTED else text
    marked = [one for one in _quotes(text) if not _is_prompt(one.text)] if kind in QUOTING else []
    if kind in WRITTEN and (blocks := [one.text for one in marked if one.in_block]):
        return list(dict.fromkeys(blocks))
    quotes = [one.text for one in marked]
    bare = [one for one in filter(is_output, bare_quotes(text)) if kind in PRINTED and not _is_prompt(one)]
    bare = [one for one in bare if not any(_is_end_of(one, quote) for quote in quotes)]
    best = max(bare or quotes or (_own_lines(text) if kind in WRITTEN else []), key=_worth, default=None)
    return [] if best is None else [best]


def _said_by(text: str) -> list[str]:
    """Return the output that the last message of an exception has as it is: each of a chain may quote the same."""
    found = [one for one in map(unspelled_in, messages_in(text)) if one is not None and is_output(one)]
    return found[-1:]


def _own_lines(text: str) -> list[str]:
    """Return the lines of a report that are calls and no more, which its writer did not mark as quoted."""
    ends = [0, *[at for block in blocks_in(text) for at in (block.start, block.end)], len(text)]
    own = [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
    lines = [line.strip() for part in own for line in part.splitlines()]
    return [line for line in lines if marker_in(line) == 0 and BODY.search(line) and is_output(line)]


def _is_prompt(text: str) -> bool:
    seen = look(text)
    return seen is not None and seen.kind in TEMPLATED


def _is_end_of(bare: str, quote: str) -> bool:
    """Return whether what seems to be quoted without marks is the end of what stands between marks."""
    end = quote[max(marker_in(quote), 0) :]
    return as_meant(bare).startswith(end)


def _quotes(text: str) -> Iterator[_Quoted]:
    """The quoted outputs; of a block that is a log or an error, what that quotes."""
    for quote in quotes_in(text):
        before = text[max(0, quote.start - _BESIDE) : quote.start]
        if is_marked(quote.text) and not (_PROMPT.search(before) or _is_shortened(quote, before)):
            yield from [_Quoted(one, quote.marked.is_block) for one in _outputs_of(quote) if is_output(one)]


def _nested(text: str) -> str | None:
    """Return the block that a model's answer opened inside of a quoted one, whose fence then ends the outer one; None
    where markers stand before it."""
    opened = _OPENED.search(text)
    return text[opened.end() :] if opened is not None and marker_in(text[: opened.start()]) < 0 else None


def _outputs_of(quote: Quote) -> list[str]:
    if not quote.marked.is_block:
        return [quote.text if quote.text[:1] != " " else quote.text.strip()]
    inner = look(quote.text)
    if inner is not None:
        return outputs_in(quote.text, inner.kind) if inner.kind in PRINTED else []
    nested = _nested(quote.text) if quote.marked is Marked.FENCE else None
    return [one for one in printed_strings(quote.text) or [nested or quote.text] if not is_code(one)]


def _is_shortened(quote: Quote, before: str) -> bool:
    return "..." in quote.text and _SHORTENED.search(before) is not None


def _worth(text: str) -> tuple[bool, int]:
    """A text with the body of a call before one without, then the longer one."""
    return BODY.search(text) is not None, len(text)
