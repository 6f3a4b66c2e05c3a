"""Outputs in strings that something else holds: a notebook's cells, a table's rows, a dump of a program or a database.

    notebook     what cells printed, and the strings that they show                  nbformat 4, JSON
    table        cells in quotation marks, which are doubled inside                  RFC 4180
    statement    strings of SQL, whose apostrophes are doubled inside
    var_dump     string(12) "...", so many bytes                                     PHP
    literals     "...\\"..." among names, numbers and brackets                        Java, C#, Ruby, Rust, Go

A model may write a dump as an answer. So a literal counts only where it is spelled with escapes, where it has markers
and nothing beside it has, and where no sentence stands around it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from parsers.intake.evidence import holds_markers
from parsers.intake.plain_text import without_shell_escapes
from parsers.intake.written_values import object_of, objects_of, quoted_at, whole_object
from parsers.search.pasted import LONGEST, look
from parsers.search.pasted_outputs import TEMPLATED
from parsers.search.pasted_quotes import quotes_in

_MOST = 200  # strings of one dump
_NOTEBOOK = re.compile(r'"nbformat"\s*:')
_STATEMENT = re.compile(r"\s*(?:INSERT\s+INTO|REPLACE\s+INTO|COPY|UPDATE|VALUES)\b", re.IGNORECASE)
_SQL_STRING = re.compile(r"(\bE)?'((?:[^']|'')*+)'")
_BARE = re.compile(r'\n|(?<!\\)"')  # what MySQL escapes in a string, and PostgreSQL only behind an E
_PHP_STRING = re.compile(r'\bstring\((\d{1,9})\) "')
_SENTENCE = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:,? [^\W\d_]+){3,}")
_ESCAPED = re.compile(r"\\[\"'nrtu]")


class Dumped(NamedTuple):
    """A string and where it stands, in a few words."""

    text: str
    place: str


class Dump(NamedTuple):
    """What holds strings, in a few words, all of them, and those that may be outputs as they stand."""

    words: str
    strings: tuple[Dumped, ...]
    outputs: tuple[Dumped, ...]


def dump_of(text: str) -> Dump | None:
    """Return the strings of a text that is a dump of some kind; None where it is none."""
    for words, strings in _KINDS:
        found = tuple({one.text: one for one in islice(strings(text), _MOST)}.values())
        if found:
            return Dump(words, found, found if strings is _of_table else tuple(filter(_is_output, found)))
    return None


def _is_output(one: Dumped) -> bool:
    seen = look(one.text)
    return holds_markers(one.text) and (seen is None or seen.kind not in TEMPLATED)


def _of_notebook(text: str) -> Iterator[Dumped]:
    notebook = whole_object(text) if _NOTEBOOK.search(text) else None
    for at, cell in enumerate(objects_of((notebook or {}).get("cells")) or (), 1):
        for output in objects_of(cell.get("outputs")) or ():
            shown = object_of(output.get("data")).get("text/plain")
            for part in (output.get("text"), shown):
                yield from [Dumped(_unquoted(one), f"cell {at}") for one in [_joined(part)] if one]


def _joined(part: object) -> str:
    """A text of a notebook, which may be a list of its lines."""
    lines = part if isinstance(part, list) else [part]
    return "".join([line for line in lines if isinstance(line, str)])


def _unquoted(text: str) -> str:
    """What a string stands for that Python shows as the value of a cell."""
    found = quoted_at(text, 0) if text[:1] in ("'", '"') else None
    return found.value if found is not None and found.whole and not text[found.end :].strip() else text


def _of_table(text: str) -> Iterator[Dumped]:
    first = text.split("\n", 1)[0]
    if '""' not in text or not any(sign in first for sign in ",;\t"):
        return
    sign = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
    except csv.Error:
        return
    rows = [row for row in rows if row]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or any(map(holds_markers, rows[0])):
        return
    columns = [at for at in range(len(rows[0])) if any(holds_markers(row[at]) for row in rows[1:])]
    for at, row in enumerate(rows[1:], 1):
        yield from [Dumped(row[column], f"row {at}, {rows[0][column]}") for column in columns if row[column].strip()]


def _of_statement(text: str) -> Iterator[Dumped]:
    if _STATEMENT.match(text) and not holds_markers(_SQL_STRING.sub("", text)):
        for found in _SQL_STRING.finditer(text):
            value = found[2].replace("''", "'")
            spelled = found[1] or not _BARE.search(value)
            yield Dumped(without_shell_escapes(value) if spelled else value, "a string of the statement")


def _of_var_dump(text: str) -> Iterator[Dumped]:
    """Strings by their lengths in bytes: nothing in them is escaped."""
    at = 0
    while (found := _PHP_STRING.search(text, at)) is not None:
        size = int(found[1])
        value = text[found.end() : found.end() + size].encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")
        at = found.end()
        if text.startswith('"', at + len(value)):
            at += len(value) + 1
            yield Dumped(value, "a string of it")


def _of_literals(text: str) -> Iterator[Dumped]:
    quotes = quotes_in(text) if len(text) <= LONGEST else ()
    found = [one for one in quotes if _ESCAPED.search(text, *one.inside) and holds_markers(one.text)]
    if found and not _is_said(_beside(text, [(one.start, one.end) for one in found])):
        yield from [Dumped(one.text, "a string of it") for one in found]


def _beside(text: str, places: list[tuple[int, int]]) -> str:
    """Return what stands beside some parts of a text."""
    starts, ends = [0, *[end for _, end in places]], [*[start for start, _ in places], len(text)]
    return '""'.join([text[start:end] for start, end in zip(starts, ends, strict=True)])


def _is_said(text: str) -> bool:
    """Return whether somebody says something, or calls something."""
    return holds_markers(text) or _SENTENCE.search(text) is not None


_KINDS: tuple[tuple[str, Callable[[str], Iterator[Dumped]]], ...] = (
    ("notebook", _of_notebook),
    ("table", _of_table),
    ("statement of SQL", _of_statement),
    ("dump of PHP's var_dump", _of_var_dump),
    ("dump of values", _of_literals),
)
