"""The language of the library's search field, and back: `verdict:text_lost parser:qwen text:"</tool"`.

`key:value` for each facet, `text:"..."` for a substring, and what is left over is one substring as well, so that a
marker can be pasted as it is. In quotes a backslash stands before a quote or a backslash, and `\\n` is a line break.
A query has one written form, which is its address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from webapp.store.listings import FACETS, Facet, Wanted

LONGEST = 1000  # characters of a query
MOST_PARTS = 12
_PART = re.compile(r'(?:^|(?<=\s))(verdict|parser|engine|tag|check|text):("(?:[^"\\]|\\.)*"|\S+)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_PLAIN = re.compile(r'[^\s"\\]+')


def wanted_of(query: str, collection: str | None = None) -> Wanted:
    """What a query asks for."""
    query = query[:LONGEST]
    parts = [(match[1], _unquoted(match[2])) for match in _PART.finditer(query)][:MOST_PARTS]
    rest = _PART.sub("", query).strip()
    texts = [value for key, value in parts if key == "text"] + [rest]
    named = [(name, value) for key, value in parts for name in FACETS if name == key]
    return Wanted(tuple([one for one in dict.fromkeys(texts) if one]), tuple(dict.fromkeys(named)), collection)


def query_of(facets: Sequence[tuple[Facet, str]], texts: Sequence[str]) -> str:
    """The written form of a query."""
    named = [f"{name}:{_quoted(value)}" for name, value in facets]
    return " ".join([*named, *[f"text:{_quoted(one, always=True)}" for one in texts]])


def toggled(wanted: Wanted, name: Facet, value: str) -> str:
    """The query with this value of a facet chosen, or not any more. Of all but tags and checks one can be chosen."""
    kept = [one for one in wanted.facets if one != (name, value) and (one[0] != name or name in ("tag", "check"))]
    chosen = (name, value) in wanted.facets
    return query_of(kept if chosen else [*kept, (name, value)], wanted.texts)


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
