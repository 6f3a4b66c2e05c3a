"""The language of the library's search field, and back: `verdict:text_lost parser:qwen text:"</tool"`.

`key:value` for each facet, `text:"..."` for a substring, and what is left over is one substring as well, so that a
marker can be pasted as it is. In quotes a backslash stands before a quote or a backslash, and `\\n` is a line break.
A query has one written form, which is its address.

What is too long is refused whole: cut, it would find more than was asked. The limits are on what is looked for, so the
written form of what was taken is taken as well; escaped and percent-encoded it fits into the first line of a request
as proxies take it, 8,190 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.vocabulary.types import UsageError
from webapp.store.listings import FACETS, Facet, Wanted

LONGEST = 1000  # characters that are looked for
MOST_BYTES = 1800  # of them in UTF-8
MOST_PARTS = 12  # substrings and filters
_LONGEST_TYPED = 3 * LONGEST  # with keys, quotes and escapes
_PART = re.compile(r'(?:^|(?<=\s))(verdict|parser|engine|tag|check|text):("(?:[^"\\]|\\.)*"|\S+)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_PLAIN = re.compile(r'[^\s"\\]+')


def wanted_of(query: str, collection: str | None = None) -> Wanted:
    """What a query asks for. Raises UsageError for one that is too long."""
    if len(query) > _LONGEST_TYPED:
        raise UsageError(_too_many(len(query), "characters", LONGEST))
    parts = [(match[1], _unquoted(match[2])) for match in _PART.finditer(query)]
    rest = _PART.sub("", query).strip()
    texts = [value for key, value in parts if key == "text"] + [rest]
    named = [(name, value) for key, value in parts for name in FACETS if name == key]
    wanted = Wanted(tuple([one for one in dict.fromkeys(texts) if one]), tuple(dict.fromkeys(named)), collection)
    _refuse_too_long([*wanted.texts, *[value for _, value in wanted.facets]])
    return wanted


def query_of(facets: Sequence[tuple[Facet, str]], texts: Sequence[str]) -> str:
    """The written form of a query."""
    named = [f"{name}:{_quoted(value)}" for name, value in facets]
    return " ".join([*named, *[f"text:{_quoted(one, always=True)}" for one in texts]])


def toggled(wanted: Wanted, name: Facet, value: str) -> str:
    """The query with this value of a facet chosen, or not any more. Of all but tags and checks one can be chosen."""
    kept = [one for one in wanted.facets if one != (name, value) and (one[0] != name or name in ("tag", "check"))]
    chosen = (name, value) in wanted.facets
    return query_of(kept if chosen else [*kept, (name, value)], wanted.texts)


def _refuse_too_long(values: Sequence[str]) -> None:
    """Raises UsageError for more than a query may look for."""
    words = "".join(values)
    measured = (
        (len(values), "parts", MOST_PARTS),
        (len(words), "characters", LONGEST),
        (len(words.encode("utf-8", "surrogatepass")), "bytes in UTF-8", MOST_BYTES),
    )
    for many, what, most in measured:
        if many > most:
            raise UsageError(_too_many(many, what, most))


def _too_many(many: int, what: str, most: int) -> str:
    return f"This search is for {many:,} {what}, and {most:,} is the most: nothing was looked for."


def _quoted(value: str, *, always: bool = False) -> str:
    if not always and _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    for letter, char in _ESCAPES.items():
        escaped = escaped.replace(char, f"\\{letter}")
    return f'"{escaped}"'


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return value
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), value[1:-1], flags=re.DOTALL)
