"""What stands in a quoted part of a report: the output of a model, or something that only holds its markers.

Source with the patterns of a parser, chat templates, answers and streams of an API that cannot be read, headers that a
library complains of: all have markers in them that no model wrote there. A string that a program printed behind a label
is read as that program spelled it. Linear in the text.
"""

from __future__ import annotations

import re

from parsers.search.markup import BODY, LEFT_OVER, marker_in
from parsers.search.pasted_json import is_broken_answer
from parsers.search.pasted_quotes import Marked, Quote, quotes_in

# A pattern for markers, as parsers have them: groups, classes of characters and repetitions that no marker has.
_PATTERN = re.compile(r"\(\.[*+]\??\)|\(\?[P:=!<]|\\[sdwS][*+?]|\[\^[^\]\n]{1,20}\][*+]|\.\*\?")
_TEMPLATE = re.compile(r"\{%-?\s|\{\{-?\s?\w|\{#-?\s")
_SOURCE = re.compile(
    r"\s*(?:[\w.]{1,60}(?: ?: ?[\w\[\], .]{1,60})? = |(?:async )?(?:def|class|func|fn|function)\s\w"
    r"|import \w|from \S+ import|(?:const|let|var|pub|static|return|if|elif|for|while|assert|self\.|raise)\b[^<]|//"
    r"|/\*)"
)
# Parts of an answer of an API: a stream's lines, and the deltas that people write out by hand.
_STREAM = re.compile(r"^\s*(?:data|event): ?\S", re.MULTILINE)
_ANSWER = re.compile(
    r"['\"](?:choices|delta|finish_reason|reasoning_content|content|tool_call_id|candidates|output_index)['\"]\s*:"
    r"|['\"]tool_calls['\"]\s*:[^:]{0,80}['\"]function['\"]\s*:|['\"]tool_calls['\"]\s*:.{0,200}['\"]type['\"]\s*:",
    re.DOTALL,
)
_DELTA = re.compile(r"['\"](?:index|id)['\"]\s*:\s*(?:\d|['\"])[^\n]{0,200}['\"]function['\"]\s*:\s*\{")
_FAILED = re.compile(r"['\"]failed_generation['\"]\s*:\s*(?=['\"])")
LONGEST = 20_000  # characters of a string in an error that are read
# What people write who show how a call is spelled, and leave out what it says.
_HOLLOW = re.compile(
    r"<[\w.:-]{1,40}[= ]\"?(?:\.{3}|\u2026)\"?>|\A\s*<(\|?[\w.:-]{1,40})[^<>\n]{0,80}>\s*(?:\.{3}|\u2026)\s*</\1>\s*\Z"
)
_BRACKET = re.compile(r"[<\[({｜]")
_WORD = re.compile(r"[^\W\d_]{2}")  # the id of a token stands beside its text in errors
_LABEL = re.compile(r"\s*(?:[#>$-]+ )?(?:[\w .()-]{1,60}[:=] ?)?\Z")


def failed_generations(text: str) -> list[str]:
    """Return what Groq's errors in a text give as the raw output that its parser could not read."""
    found = [next(quotes_in(text[mark.end() : mark.end() + LONGEST]), None) for mark in _FAILED.finditer(text)]
    texts = [quote.text for quote in found if quote is not None and quote.start == 0]
    return [one for one in texts if _BRACKET.search(one)]


def is_output(text: str) -> bool:
    """Return whether a quoted text with markers may be what a model wrote: a call's body, or words beside a marker."""
    if _BRACKET.search(text) is None or _HOLLOW.search(text) or is_of_answer(text):
        return False
    return BODY.search(text) is not None or len(_WORD.findall(LEFT_OVER.sub(" ", text))) > 1


def is_of_answer(text: str) -> bool:
    """Return whether a text is a part of what a server sent, or is spelled like one, and no model's raw output."""
    if is_broken_answer(text) or _STREAM.match(text) or _DELTA.search(text):
        return True
    head = text[: max(marker_in(text), 0)]
    return head.lstrip()[:1] in ("{", "[") and _ANSWER.search(head) is not None


def is_code(text: str) -> bool:
    """Return whether it is a template, or source: it has a parser's patterns, or is none before its first marker."""
    if _PATTERN.search(text) or _TEMPLATE.search(text):
        return True
    lines = [line for line in text[: max(marker_in(text), 0)].splitlines() if line.strip()]
    return bool(lines) and sum(1 for line in lines if _SOURCE.match(line)) * 2 >= len(lines)


def printed_strings(text: str) -> list[str]:
    """Return the strings with markers that a program printed, each behind a label or alone on its lines; none where a
    marker stands before them."""
    found = [one for one in quotes_in(text) if one.marked is Marked.MARKS and marker_in(one.text) >= 0]
    if not found or marker_in(text) < found[0].start:
        return []
    return [one.text for one in found if _is_printed(text, one)]


def _is_printed(text: str, quote: Quote) -> bool:
    begin = text.rfind("\n", 0, quote.start) + 1
    end = text.find("\n", quote.end)
    after = text[quote.end : len(text) if end < 0 else end]
    return _LABEL.match(text[begin : quote.start]) is not None and not after.strip(" \t\r,;")
