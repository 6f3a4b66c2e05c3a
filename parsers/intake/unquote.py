"""What a quoted string of a program stands for: the escapes of Python and JSON, read in one pass.

A log quotes bytes as b'...\\n'. Escapes that are none stay as they are, as Python leaves them.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(\n|.))", re.DOTALL)
_PRINTED = re.compile(r"""[^{'"]{0,200}\bb(['"])""")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_KEPT = frozenset("\\'\"/`$")


def printed_bytes(line: str) -> str | None:
    """What a line holds that prints bytes, as `b'...'` or `got b'...')`; None for any other line."""
    found = _PRINTED.match(line)
    end = line.rstrip(" \t\r),")
    if found is None or len(end) <= found.end() or not end.endswith(found[1]):
        return None
    return unescaped_bytes(end[found.end() : -1])


def unescaped(inner: str) -> str:
    """The text that the inside of a quoted string stands for."""
    return _ESCAPE.sub(_one, inner) if "\\" in inner else inner


def unescaped_bytes(inner: str) -> str:
    """The text that the inside of a bytes literal stands for: its bytes as UTF-8, bad ones as U+FFFD."""
    text = unescaped(inner)
    if text.isascii():
        return text
    return b"".join([bytes([ord(c)]) if ord(c) < 256 else c.encode("utf-8", "replace") for c in text]).decode(
        "utf-8", "replace"
    )


def _one(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal:
        code = int(hexadecimal, 16)
        return chr(code) if code < 0x110000 else found[0]
    if found[4]:
        return chr(int(found[4], 8) & 0xFF)
    if found[5] in _SIMPLE:
        return _SIMPLE[found[5]]
    return found[5] if found[5] in _KEPT else found[0]
