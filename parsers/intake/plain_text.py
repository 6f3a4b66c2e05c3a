"""From bytes to text, exactly; and what escapes and halves of characters stand for.

    uploaded    strict UTF-8; a leading byte order mark is removed, line ends stay
    pasted      CRLF becomes LF: browsers submit every line end of a text area as CRLF (HTML Living Standard,
                form submission), so the original cannot be told apart; a byte order mark is text

Both changes are always told. Control characters are text. Half of a UTF-16 pair is no character and becomes U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from parsers.intake.captures import PICKLE
from parsers.intake.evidence import Intake, Warn, number

BOM = "\ufeff"
LONE_SURROGATE = Warn(
    "lone_surrogate", "Its chunks hold half of a UTF-16 pair, which is no character: U+FFFD stands in its place."
)
# How pickles of the protocols 2 to 5 begin.
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")
# The first bytes of files that are often given by mistake, and what to do about each.
_MAGIC = (
    (b"\xff\xfe", "It looks like UTF-16 (PowerShell's redirection writes that): save it as UTF-8"),
    (b"\xfe\xff", "It looks like UTF-16: save it as UTF-8"),
    (b"\x1f\x8b", "It looks like a gzip file that is damaged or too large: unpack it first"),
    (b"PK\x03\x04", "It looks like a zip file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "It looks like a zstd file that is damaged or too large: unpack it first"),
)
_ANY = "Save it as UTF-8; to study bytes that are no text, write a case file whose tokens carry hex"

_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # those between stand for the bytes that they escape
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": "",
    "\\": "\\", "'": "'", '"': '"',
}  # fmt: skip
_SHELL = _LETTERS | {letter: letter for letter in "/`$"}
_PRINTED = re.compile(r"""[^{'"]{0,200}\bb(['"])""")


def text_of(data: bytes, *, pasted: bool) -> tuple[str, tuple[str, ...]] | Intake:
    """Return the text and a sentence for each change; or the refusal of what is no text."""
    if data.startswith(_PICKLES):
        advice = "It is never opened here. Convert it yourself with the script shown, and give the JSON it writes."
        return Intake(kind="pickle", title="Python pickle", advice=advice, captures=(PICKLE,))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_text(data, error)
    notes: list[str] = []
    ends = text.count("\r\n")
    if text.startswith(BOM) and pasted:
        notes.append("The text begins with U+FEFF, a byte order mark; it was kept.")
    elif text.startswith(BOM):
        notes.append("A leading byte order mark was removed.")
        text = text.removeprefix(BOM)
    if ends and pasted:
        notes.append(f"{number(ends, 'line end')} changed from CRLF to LF, as browsers send pasted text with CRLF.")
        text = text.replace("\r\n", "\n")
    elif ends:
        notes.append(f"{number(ends, 'CRLF line end')} kept as uploaded.")
    return text, tuple(notes)


def _not_text(data: bytes, error: UnicodeDecodeError) -> Intake:
    line = data.count(b"\n", 0, error.start) + 1
    where = f"byte {error.start:,} (line {line:,}) is 0x{data[error.start]:02x}: {error.reason}"
    cure = next((cure for magic, cure in _MAGIC if data.startswith(magic)), _ANY)
    return Intake(kind="not_text", title="bytes that are not UTF-8 text", advice=f"At {where}. {cure}.")


def has_lone_surrogate(text: str) -> bool:
    """Return True where the text holds half of a UTF-16 pair, which no UTF-8 text can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def without_lone_surrogates(text: str) -> str:
    """Join halves of UTF-16 pairs that meet, and put U+FFFD for each other half."""
    return _with_pairs_joined(text, "replace")


def _with_pairs_joined(text: str, other_halves: str) -> str:
    """Join halves that JSON and Python spell as two escapes; `other_halves` is decode()'s way with others."""
    if not has_lone_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", other_halves)


def whole_characters(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the object, or where strings of it hold half of a UTF-16 pair, a copy with U+FFFD instead."""
    try:
        text = json.dumps(payload, ensure_ascii=False)
    except RecursionError:
        return {}
    if not has_lone_surrogate(text):
        return payload
    mended: dict[str, Any] = json.loads(without_lone_surrogates(text))
    return mended


def printed_bytes(line: str) -> str | None:
    """Return the text of a line that prints bytes, as `b'...'` or `got b'...')`; None for any other."""
    found = _PRINTED.match(line)
    end = line.rstrip(" \t\r),")
    if found is None or len(end) <= found.end() or not end.endswith(found[1]):
        return None
    text = without_shell_escapes(end[found.end() : -1])
    if text.isascii():
        return text
    return b"".join([bytes([ord(c)]) if ord(c) < 256 else c.encode("utf-8", "replace") for c in text]).decode(
        "utf-8", "replace"
    )


def without_shell_escapes(inner: str) -> str:
    """Return what the inside of `$'...'` or of logged bytes stands for; an octal escape is one byte."""
    return _ESCAPE.sub(_escapes(_SHELL, 0xFF), inner) if "\\" in inner else inner


def string_value(spelled: str, *, bare: bool = False) -> tuple[str, bool]:
    """Return what a string stands for that Python quotes, and whether it was bytes that are no UTF-8.

    `bare`: of three quotes, a printed object's. What stands between them is the value itself, but for three quotes in
    it (google-genai 1 to 3, `_common.py`: `_pretty_repr`).
    """
    marks = 3 if spelled.startswith(_TRIPLE) else 1
    if bare and marks == 3:
        return spelled[3:-3].replace(r"\"\"\"", _TRIPLE), False
    body = spelled.lstrip("bBuU")[marks:-marks]
    if spelled[0] not in "bB":
        return _with_pairs_joined(_ESCAPE.sub(_PYTHON, body) if "\\" in body else body, "surrogatepass"), False
    raw = _ESCAPE.sub(_byte, _LONE.sub("\udcff", body)).encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


_TRIPLE = '"""'


def _escapes(letters: Mapping[str, str], most: int) -> Callable[[re.Match[str]], str]:
    """Return a function from an escape to its character; an escape that stands for none is kept."""

    def character(found: re.Match[str]) -> str:
        digits = found[1] or found[2] or found[3]
        if digits:
            code = int(digits, 16)
            return chr(code) if code <= 0x10FFFF else found[0]
        return chr(int(found[4], 8) & most) if found[4] else letters.get(found[5], found[0])

    return character


_PYTHON = _escapes(_LETTERS, 0x1FF)


def _byte(found: re.Match[str]) -> str:
    """Spell bytes above ASCII as the escapes that encode back to them."""
    if found[1] or found[4]:
        code = int(found[1], 16) if found[1] else int(found[4], 8) & 0xFF
        return chr(code) if code < 0x80 else chr(0xDC00 + code)
    return found[0] if found[2] or found[3] else _PYTHON(found)
