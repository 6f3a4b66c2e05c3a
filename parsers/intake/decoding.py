"""Bytes to text, exactly: strict UTF-8, and two changes that are always told.

    uploaded    a leading byte order mark is removed, line ends stay
    pasted      CRLF becomes LF: browsers submit every line end of a text area as CRLF (HTML Living Standard,
                form submission), so the original cannot be told apart; a byte order mark is text

NUL and every other control character is text.
"""

from __future__ import annotations

from parsers.intake.model import Recognised, number

BOM = "\ufeff"

# The first bytes of files that are often given by mistake, and what to do about each.
_MAGIC = (
    (b"\xff\xfe", "It looks like UTF-16 (PowerShell's redirection writes that): save it as UTF-8"),
    (b"\xfe\xff", "It looks like UTF-16: save it as UTF-8"),
    (b"\x1f\x8b", "It looks like a gzip file: unpack it first"),
    (b"PK\x03\x04", "It looks like a zip file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "It looks like a zstd file: unpack it first"),
)
_ANY = "Save it as UTF-8; to study bytes that are no text, write a case file whose tokens carry hex"


_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")


def is_pickle(data: bytes) -> bool:
    """Whether the bytes begin as a Python pickle does (protocols 2 to 5)."""
    return data.startswith(_PICKLES)


def decoded(data: bytes, *, pasted: bool) -> tuple[str, tuple[str, ...]]:
    """The text and a sentence for each change. Raises UnicodeDecodeError at the first bad byte."""
    text = data.decode("utf-8")
    return _pasted(text) if pasted else _uploaded(text)


def _pasted(text: str) -> tuple[str, tuple[str, ...]]:
    notes: list[str] = []
    if text.startswith(BOM):
        notes.append("The text begins with U+FEFF, a byte order mark; it was kept.")
    if ends := text.count("\r\n"):
        notes.append(f"{number(ends, 'line end')} changed from CRLF to LF, as browsers send pasted text with CRLF.")
        text = text.replace("\r\n", "\n")
    return text, tuple(notes)


def _uploaded(text: str) -> tuple[str, tuple[str, ...]]:
    notes: list[str] = []
    if text.startswith(BOM):
        notes.append("A leading byte order mark was removed.")
        text = text.removeprefix(BOM)
    if ends := text.count("\r\n"):
        notes.append(f"{number(ends, 'CRLF line end')} kept as uploaded.")
    return text, tuple(notes)


def not_text(data: bytes, error: UnicodeDecodeError) -> Recognised:
    """The refusal of bytes that are not UTF-8: where, why and what to do."""
    line = data.count(b"\n", 0, error.start) + 1
    where = f"byte {error.start:,} (line {line:,}) is 0x{data[error.start]:02x}: {error.reason}"
    cure = next((cure for magic, cure in _MAGIC if data.startswith(magic)), _ANY)
    return Recognised(kind="not_text", title="bytes that are not UTF-8 text", advice=f"At {where}. {cure}.")
