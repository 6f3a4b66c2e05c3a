"""Bytes become text exactly, and each change is told; escapes and halves of characters become what they stand for."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake import recognise
from parsers.intake.layers import from_bytes
from parsers.intake.plain_text import (
    printed_bytes,
    string_value,
    whole_characters,
    without_lone_surrogates,
    without_shell_escapes,
)

# bytes, pasted, the text, what the notes say
EXACT = [
    (b"a\r\nb\r\n", True, "a\nb\n", "2 line ends changed from CRLF to LF"),
    (b"a\r\nb", True, "a\nb", "1 line end changed"),
    (b"a\r\nb\r\n", False, "a\r\nb\r\n", "2 CRLF line ends kept as uploaded"),
    (b"a\rb\n", True, "a\rb\n", ""),
    (b"\xef\xbb\xbfa", False, "a", "byte order mark was removed"),
    (b"\xef\xbb\xbf\xef\xbb\xbfa", False, "\ufeffa", "byte order mark was removed"),
    (b"\xef\xbb\xbfa", True, "\ufeffa", "U+FEFF, a byte order mark; it was kept"),
    (b"a\xef\xbb\xbf", False, "a\ufeff", ""),
    (b"\x00\x07\x1b[1m\x7f", True, "\x00\x07\x1b[1m\x7f", ""),
    ("a\u2028b\x85c\x0bd".encode(), True, "a\u2028b\x85c\x0bd", ""),
    ("\U0001f600e\u0301".encode(), False, "\U0001f600e\u0301", ""),
]


@pytest.mark.parametrize(("data", "pasted", "text", "note"), EXACT)
def test_text_is_kept_but_for_the_changes_that_are_told(data: bytes, pasted: bool, text: str, note: str) -> None:
    found = recognise(data, pasted=pasted)
    assert found.recording is not None
    assert found.recording.text == text
    assert len(found.notes) == bool(note)
    assert note in found.message


REFUSED = [
    (b"ok\n\xff", "byte 3 (line 2) is 0xff: invalid start byte. Save it as UTF-8"),
    (b"caf\xc3", "byte 3 (line 1) is 0xc3: unexpected end of data"),
    (b"\xed\xa0\x80", "byte 0 (line 1) is 0xed"),
    (b"\xff\xfed", "looks like UTF-16 (PowerShell"),
    (b"\xfe\xff\x00", "looks like UTF-16:"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"PK\x03\x04\xff", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
]


@pytest.mark.parametrize(("data", "part"), REFUSED)
def test_bytes_that_are_not_utf8_are_refused_with_their_place(data: bytes, part: str) -> None:
    for found in (recognise(data, pasted=False), recognise(data, pasted=True, take_as="raw_text")):
        assert (found.kind, found.usable, found.recording) == ("not_text", False, None)
        assert part in found.message


def test_a_file_of_nothing_but_a_byte_order_mark_is_empty() -> None:
    found = recognise(b"\xef\xbb\xbf", pasted=False)
    assert (found.kind, found.notes) == ("empty", ("A leading byte order mark was removed.",))


@pytest.mark.parametrize("head", [b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"])
def test_a_pickle_is_never_opened_and_its_owner_gets_the_script(head: bytes) -> None:
    for found in (recognise(head + b"cos\nsystem\n", pasted=False), recognise(head, pasted=True, take_as="raw_text")):
        assert (found.kind, found.usable, found.outputs) == ("pickle", False, ())
        assert "never opened here" in found.message
        assert "pickle.load" in found.captures[0].command
        compile(found.captures[0].command.split("\n", 1)[1].rsplit("\n", 1)[0], "script", "exec")


@given(st.binary(), st.booleans())
def test_any_bytes_are_recognised(data: bytes, pasted: bool) -> None:
    found, (bare, _) = recognise(data, pasted=pasted), from_bytes(data)
    assert (found.kind in ("not_text", "pickle")) == (bare.decode("utf-8", "replace").encode() != bare)


# The inside of a quoted string, and what it stands for.
ESCAPES = [
    ("plain", "plain"),
    (r"a\nb\tc\\d\"e\'", "a\nb\tc\\d\"e'"),
    (r"\x41\u00e9\U0001f600\101", "Aé😀A"),
    (r"\U0011ffff", r"\U0011ffff"),
    (r"\q\/", r"\q/"),
    ("a\\\nb", "ab"),
]


@pytest.mark.parametrize(("inner", "text"), ESCAPES)
def test_escapes_are_read_as_programs_write_them(inner: str, text: str) -> None:
    assert without_shell_escapes(inner) == text


# A line, and the text whose bytes it prints.
PRINTED = [
    (r"b'\xf0\x9f\x98\x80'", "😀"),
    (r"x=b'\xff'", "\ufffd"),
    ('got b"it\'s"),', "it's"),
    ("b'é'", "\ufffd"),
    ("b'Ā'", "Ā"),
    ("b'open", None),
    ("b'", None),
    ("ab'c'", None),
    ("'text'", None),
]


@pytest.mark.parametrize(("line", "text"), PRINTED)
def test_printed_bytes_are_read_as_text(line: str, text: str | None) -> None:
    assert printed_bytes(line) == text


STRINGS = [
    (r"'\n\t\\\'\a\b\f\r\v'", "\n\t\\'\a\b\f\r\v", False),
    (r"'\x41\u00e9\U0001F600\101'", "Aé😀A", False),
    (r"'\ud83d\ude00'", "😀", False),
    (r"'\q\U00110000'", "\\q\\U00110000", False),
    (r"u'a'", "a", False),
    (r"b'\xe2\x82\xac\303\251\n'", "€é\n", False),
    (r"b'\xe2'", "\ufffd", True),
    (r"b'\u0041é'", "\\u0041é", False),
    ("b'\ud83d'", "\ufffd", True),
]


@pytest.mark.parametrize(("spelled", "text", "lossy"), STRINGS)
def test_escapes_stand_for_what_python_says(spelled: str, text: str, lossy: bool) -> None:
    assert string_value(spelled) == (text, lossy)


@given(st.binary())
def test_printed_bytes_are_read_as_python_reads_them(data: bytes) -> None:
    text, lossy = string_value(repr(data))
    assert text == ast.literal_eval(repr(data)).decode("utf-8", "replace")
    assert lossy != is_utf8(data)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_an_object_too_deep_to_be_written_is_empty() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert whole_characters({"a": deep}) == {}


def test_halves_of_a_character_that_meet_are_joined() -> None:
    assert without_lone_surrogates("\ud83d\ude00") == "😀"
    assert without_lone_surrogates("a\ud83d") == "a\ufffd"
