"""What looks like the markup of calls or reasoning, whoever's it is: left over in text, almost right, or a call's body.

Everything here reads raw text once with patterns that cannot backtrack far, so it stays linear in the output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from parsers.checks.check import any_of
from parsers.checks.leaks import is_marker
from parsers.compare.divergence import shared_prefix
from parsers.formats.model import builtin_formats
from parsers.selection.claims import SHORT

_NEAR = 7  # from this many letters on, one wrong letter still leaves a marker recognisable

_WORDS = r"(?:tool|function|invoke|param|arg_|call|think|action|channel|dsml|steptml)"
_TAG = rf"</?[|｜]?/?(?:[a-z]{{1,12}}[:_▁ ]|[|｜]?dsml[|｜] ?){{0,2}}{_WORDS}[\w:▁ ]{{0,32}}[=|｜>]"
_KEY = r"(?:name|function|tool_name|arguments|parameters)"
_OBJECT = (
    r'\{\s{0,8}"(?:name|function|tool_name)"\s{0,8}:\s{0,8}"[^"\n]{0,80}"\s{0,8},\s{0,8}"(?:arguments|parameters)"\s{0,8}:'
    r'|\{\s{0,8}"(?:arguments|parameters)"\s{0,8}:\s{0,8}\{'
)
LEFT_OVER = re.compile(
    rf"{_TAG}|\]<\]\w{{1,16}}\[>\[|</?[|｜][\w/▁:-]{{2,40}}(?:[|｜]>)?|\[/?(?:TOOL_CALLS?|ARGS|CALL_ID|THINK)\]"
    r"|✿[A-Z]{3,9}✿|\bfunctions\.[\w.-]{1,64}:\d{1,4}|\bto=functions\.\w|\bfunctools ?\["
    rf"|{_OBJECT}",
    re.IGNORECASE,
)
# The inside of a call: where one of these stands somebody meant to call, and did not only write about markers.
BODY = re.compile(
    rf"{_OBJECT}|[>\]]\s{{0,8}}\[?\{{\s{{0,8}}[\"']{_KEY}[\"']"
    r'|<function=\s?"?\w|<[^\n<>]{0,40}invoke name=|<\w{0,16}:?parameter(?: name)?=|arg_key>'
    r"|<｜tool[▁_]sep｜>|<tool_sep>|\bfunctions\.[\w.-]{1,64}:\d|\bto=functions\.\w|tools_prefix\|>\s{0,4}\[\s{0,4}\{|call:\w{1,64}\{"
    r"|\] ?invoke name="
    r'|\[TOOL_CALLS\] ?\w{1,64}(?:\[|\{)|call tool="|✿FUNCTION✿: ?\w{1,64}\s{0,4}\n|<\|tool_call_start\|>\[\w'
    r"|^\[?[A-Za-z_][\w.]{0,64}\(\w{1,64}=|^\[\s{0,8}[A-Za-z_][\w.]{0,64}\((?:\)|\s{0,8}\w{1,64} ?=)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGLIKE = re.compile(r"<[^<>\s{}\"'=\[\]]{3,48}[>=]?|\[/?[A-Z_ ]{4,24}\]?")
_LETTERS = re.compile(r"[^a-z0-9]+")


def marker_in(text: str) -> int:
    """The place of the first marker of a call or of reasoning in a text, whoever's it is; -1 where there is none."""
    return min([match.start() for pattern in (LEFT_OVER, BODY) if (match := pattern.search(text))], default=-1)


def last_marker_in(text: str, start: int, end: int) -> int:
    """The end of the last such marker in a part of a text; -1 where there is none."""
    ends = [match.end() for pattern in (LEFT_OVER, BODY, any_marker()) for match in pattern.finditer(text, start, end)]
    return max(ends, default=-1)


@dataclass(slots=True, frozen=True)
class AlmostMarker:
    """Text [start, end) that is almost the marker `literal`."""

    start: int
    end: int
    literal: str


@cache
def any_marker() -> re.Pattern[str]:
    """A pattern for the markers around calls of all built-in formats."""
    named = [pair for fmt in builtin_formats().values() for pair in fmt.terminals.items()]
    return any_of([text for name, text in named if is_marker(text) and not name.startswith("THINK")])


def is_marked(text: str) -> bool:
    """Return whether a text holds markup of calls, whoever's it is: a marker, or a call's body."""
    return any(pattern.search(text) for pattern in (LEFT_OVER, BODY, any_marker()))


def almost_markers(text: str) -> list[AlmostMarker]:
    """Tags that are no marker of any format but almost one: other punctuation, or one wrong letter."""
    return [
        AlmostMarker(match.start(), match.end(), literal)
        for match in _TAGLIKE.finditer(text)
        if match.group() not in _exact()
        for literal in _alike(match.group())
        if not text.startswith(literal, match.start())
    ]


@lru_cache(maxsize=1024)
def _alike(tag: str) -> tuple[str, ...]:
    letters, closes = _letters(tag), "/" in tag[:3]
    near = [pair for size in (0, -1, 1) for pair in _known().get(len(letters) + size, ())]
    return tuple([text for text, known in near if closes == ("/" in text[:3]) and _close(letters, known)])


def _close(a: str, b: str) -> bool:
    """Return whether two words are equal, or differ in one letter while both are long."""
    if a == b:
        return True
    if min(len(a), len(b)) < _NEAR or abs(len(a) - len(b)) > 1:
        return False
    at = shared_prefix(a, b)
    return a[at + 1 :] == b[at + 1 :] or a[at:] == b[at + 1 :] or a[at + 1 :] == b[at:]


def _letters(text: str) -> str:
    return _LETTERS.sub("", text.casefold())


@cache
def _known() -> Mapping[int, list[tuple[str, str]]]:
    """Every tag-like marker of the built-in formats and its letters, by the number of these."""
    literals = {text for fmt in builtin_formats().values() for text in fmt.terminals.values() if text[0] in "<["}
    found: dict[int, list[tuple[str, str]]] = {}
    for text in sorted(literals):
        if len(_letters(text)) >= SHORT:
            found.setdefault(len(_letters(text)), []).append((text, _letters(text)))
    return found


@cache
def _exact() -> frozenset[str]:
    tokens = {text for fmt in builtin_formats().values() for text in (*fmt.terminals.values(), *fmt.end_tokens)}
    return frozenset(tokens)
