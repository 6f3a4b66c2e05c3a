"""Corpora: many cases in one file, each under a name of its own.

A corpus file (`*.cases.json`) is one JSON object of cases by name, in the layout of case files, so that a change of
one line is a change of one line. JSON Lines, one case a line, are read too; there the number of its line is the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.cases.case import Case, CaseError
from parsers.cases.io import loads, to_data
from parsers.cases.jsontext import JsonError, atom, compact, place, pointer, read_at, skip

_OF_A_CASE = frozenset({"schema", "parser", "input"})
_Span = tuple[str, int, int]


def load_named(name: str, text: str) -> Case:
    """Read the JSON text of one case of a corpus. Raises CaseError with a pointer that begins with the name."""
    try:
        return loads(text)
    except CaseError as error:
        raise CaseError(error.message, pointer((name,)) + error.pointer) from error


def jsonl(case: Case) -> str:
    """The case on one line, ended by the line's only newline; no other character in it ends a line anywhere."""
    return compact(to_data(case)) + "\n"


def case_texts(text: str) -> dict[str, str]:
    """The JSON text of each case of a corpus file or of JSON Lines, by name, in their order. No case is read.

    Raises CaseError: not JSON (with line and column), or a name given twice (with both lines); the pointer begins with
    the name of the case.
    """
    found: dict[str, tuple[int, int]] = {}
    try:
        for name, start, end in _spans(text):
            if name in found:
                first, second = place(text, found[name][0]), place(text, start)
                raise CaseError(f"two cases are called {atom(name)}: at {first} and at {second}", pointer((name,)))
            found[name] = start, end
    except JsonError as error:
        raise CaseError(error.message, pointer(error.path)) from error
    return {name: text[start:end].rstrip() for name, (start, end) in found.items()}


def _spans(text: str) -> list[_Span]:
    """The name of each case, and where its text starts and ends."""
    members, end = _members(text)
    named = end == len(text) and not _OF_A_CASE.issubset([name for name, _, _ in members])
    return members if named else list(_values(text))


def _members(text: str) -> tuple[list[_Span], int]:
    """The members of the object that `text` begins with, and where the text goes on after it."""
    members: list[_Span] = []
    at = skip(text, skip(text, 0), "{")
    more = not text.startswith("}", at)
    while more:
        if not text.startswith('"', at):
            raise JsonError(f"not JSON: a name in quotes is expected at {place(text, at)}")
        name, at = read_at(text, at)
        start = skip(text, at, ":")
        try:
            _, at = read_at(text, start)
        except JsonError as error:
            raise JsonError(error.message, (name, *error.path)) from error
        members.append((name, start, at))
        more = text.startswith(",", at)
        at = skip(text, at, ",") if more else at
    return members, skip(text, at, "}")


def _values(text: str) -> Iterator[_Span]:
    """The values that stand one after the other, each called by the number of its line, which is counted on from that
    of the value before."""
    at, counted, number = skip(text, 0), 0, 1
    while at < len(text):
        number += text.count("\n", counted, at)
        start, counted, line = at, at, str(number)
        try:
            _, at = read_at(text, at)
        except JsonError as error:
            raise JsonError(error.message, (line, *error.path)) from error
        yield line, start, at
