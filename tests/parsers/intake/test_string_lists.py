"""Texts as programs spell them: lists of strings, single strings and debug lines; and what is none of these."""

from __future__ import annotations

import pytest

from parsers.intake.evidence import Intake
from parsers.intake.string_lists import read_delta_lines, read_quoted, read_string_list


def deltas(found: Intake | None) -> list[list[str]] | None:
    return None if found is None else [[d.text for d in output.deltas or ()] for output in found.outputs]


def codes(found: Intake | None) -> list[str]:
    return [warn.code for warn in found.warnings] if found else []


LISTS: list[tuple[str, list[list[str]] | None, list[str]]] = [
    ("['a', \"b'\", 'c\\n']", [["a", "b'", "c\n"]], []),
    ('["a","\\u00e9"]', [["a", "é"]], []),
    ("chunks: list[str] = ['a', 'b'];\n>>> ", [["a", "b"]], []),
    (">>> deltas\n('a', 'b')\n>>> \n$ exit\n", [["a", "b"]], []),
    ("Out[3]: ['a']", [["a"]], []),
    ("['a','b']\n['c']", [["a", "b"], ["c"]], []),
    ('["\\ud83d", "\\ude00"]', [["\ufffd", "\ufffd"]], ["lone_surrogate"]),
    ('["a\\ufffd"]', [["a\ufffd"]], ["lossy_text"]),
    ("['a', 'b", [["a"]], ["broken_off"]),
    ("['a', f(x)]", None, []), ("['a'] and more", None, []), ("['a', 1]", None, []), ("[]", None, []),
    ("[get(city='x')]", None, []), ("['a", None, []), ("['a'\n['b']", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "parts", "warnings"), LISTS)
def test_lists_of_strings_are_deltas(body: str, parts: list[list[str]] | None, warnings: list[str]) -> None:
    found = read_string_list(body)
    assert deltas(found) == parts
    assert codes(found) == warnings


QUOTED: list[tuple[str, str | None, list[str]]] = [
    ("'a\\nb'", "a\nb", []), ('"\\ud83d\\ude00\\/"', "😀/", []), ("x = b'\\xe2\\x82\\xac'", "€", []),
    ("'\\ud83d'", "\ufffd", ["lone_surrogate"]), ("b'\\xe2'", "\ufffd", ["lossy_text"]),
    ("'\ufffd'", "\ufffd", ["lossy_text"]), ("'a\\nb", "a\nb", ["broken_off"]), ("b'ab", "ab", ["broken_off"]),
    ('"\\q"', "\\q", []),
    ('"Hello," she said.', None, []), ("'Twas the night", None, []), ("'a'\nfoo", None, []), ("text", None, []),
    ("'a'\n'b", None, []), ("'a\n'b'", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text", "warnings"), QUOTED)
def test_one_quoted_string_is_what_it_stands_for(body: str, text: str | None, warnings: list[str]) -> None:
    found = read_quoted(body)
    if text is None:
        assert found is None or found.kind == "chunk_list"
        return
    assert found is not None
    assert [output.text for output in found.outputs] == [text]
    assert codes(found) == warnings


LINES: list[tuple[str, list[list[str]] | None, list[str]]] = [
    ("'a'\n\n  'b',\n", [["a", "b"]], []),
    ("'a'\nb'\\xe2'\n", [["a", "\ufffd"]], ["lossy_text"]),
    ("'a'\n'b", [["a"]], ["broken_off"]),
    ("'a'\n'b\n'c'", None, []), ("'a'\nb", None, []), ("'a' x\n'b'", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "parts", "warnings"), LINES)
def test_a_quoted_string_on_each_line_is_a_delta(body: str, parts: list[list[str]] | None, warnings: list[str]) -> None:
    found = read_quoted(body)
    assert deltas(found) == parts
    assert codes(found) == warnings


DEBUG: list[tuple[str, list[list[str]] | None, list[str]]] = [
    ("DELTA TEXT: a\nDELTA TEXT:  b\nDELTA TEXT: \n\nDELTA TEXT: c\n", [["a", " b", "\n", "c"]], ["unquoted"]),
    ("DEBUG x DELTA TEXT: 'a\\n'\nINFO 11-22 hi\nDEBUG x DELTA TEXT: 'b'\n", [["a\n", "b"]], ["other_lines"]),
    ("\x1b[36mDEBUG\x1b[0m DELTA TEXT: a\x1b[0m\nDELTA TEXT: b", [["a", "b"]], []),
    ("DELTA TEXT: 'a'\nDELTA TEXT: 'b", [["a"]], ["broken_off"]),
    ("DELTA TEXT: 'b", [["'b"]], []), ("DELTA: x", None, []), ("delta_text=x", None, []),
    ("f(delta_text='a', ids=[1])\nf(delta_text=\"b\", ids=[2])", [["a", "b"]], []),
    ("web  | DELTA TEXT: a\nweb  | DELTA TEXT: b", [["a", "b"]], []),
    # Quotes that only some deltas have are the model's.
    ("DELTA TEXT: {\nDELTA TEXT: \"\"\nDELTA TEXT: 'k'\nDELTA TEXT: }", [["{", '""', "'k'", "}"]], []),
    ("x] delta_text: [\nx] delta_text: \"go\"", [["[", '"go"']], []),
    ("DELTA TEXT: \"a\" b\nDELTA TEXT: \"c", [['"a" b', '"c']], []),
    ("DELTA TEXT: 'a'\nDELTA TEXT: 'b\nDELTA TEXT: 'c'", [["'a'", "'b", "'c'"]], []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "parts", "warnings"), DEBUG)
def test_debug_lines_are_deltas(body: str, parts: list[list[str]] | None, warnings: list[str]) -> None:
    found = read_delta_lines(body)
    assert deltas(found) == parts
    assert codes(found) == warnings
