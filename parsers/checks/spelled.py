"""An output with what it spells otherwise: escapes of JSON and Python, character references, percent codes, accents.

Formats and servers differ in what they decode, so each spelling stands there with what it means behind it, and what is
sent may be either. Letters with accents are taken apart (Unicode's form NFD) here and in what is sent. Linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from unicodedata import normalize
from urllib.parse import unquote

_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))""", re.DOTALL)
_UNIT = re.compile(rf"(?:{_ESCAPE.pattern})+|&#?\w{{1,32}};|(?:%[0-9a-fA-F]{{2}})+|[^\x00-\x7f]", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "a": "\a", "v": "\v", "\n": ""}


@dataclass(slots=True, frozen=True)
class Spelled:
    """The `text` with spellings and their meanings. For each of them, where it begins in the output, where it ends
    there, and where it ends in the text."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    after: Sequence[int]

    def limit(self, raw: int) -> int:
        """Where in the text the first `raw` characters of the output end; a spelling of which a part came is whole."""
        number = bisect_left(self.starts, raw) - 1
        return raw if number < 0 else self.after[number] + max(0, raw - self.ends[number])


def spelled(text: str) -> Spelled:
    """An output with what it spells otherwise."""
    parts, starts, ends, after = list[str](), list[int](), list[int](), list[int]()
    at = size = 0
    for match in _UNIT.finditer(text):
        written = match.group()
        meant = apart(_meant(written))
        if meant != written:
            parts += [text[at : match.start()], apart(written) if len(written) > 1 else "", meant]
            size += sum(map(len, parts[-3:]))
            at = match.end()
            starts.append(match.start())
            ends.append(at)
            after.append(size)
    return Spelled("".join([*parts, text[at:]]), starts, ends, after)


def apart(text: str) -> str:
    """A text whose letters are apart from their accents."""
    return text if text.isascii() else normalize("NFD", text)


def _meant(written: str) -> str:
    if written[0] == "\\":
        return unescaped(written)
    return unescape(written) if written[0] == "&" else unquote(written)


def unescaped(text: str) -> str:
    """`text` with the escapes of JSON and Python strings undone; what is no escape stays."""
    if "\\" not in text:
        return text
    undone = _ESCAPE.sub(_character, text)
    return undone.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    four, two, eight, char = match.groups()
    code = four or two or eight
    if code is None:
        return _CONTROL.get(char, char)
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else match.group()
