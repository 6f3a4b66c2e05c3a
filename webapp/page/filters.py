"""Filters of the templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup, escape

from webapp.page.glyphs import SPECIAL, count, glyph, shorten, show, show_lines

_CODE = re.compile(r"`([^`]*)`")


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return shorten(text, limit)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun."""
    return count(number, noun, plural)


def glyphless(text: str) -> str:
    """Text for attributes and JSON: spaces stay, whatever else cannot be seen is spelled as a JSON escape."""
    return SPECIAL.sub(lambda match: match[0] if match[0] == " " else _escaped(match[0]), text)


def _escaped(char: str) -> str:
    number = ord(char)
    if number < 0x10000:
        return f"\\u{number:04x}"
    high, low = divmod(number - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def plain(text: str) -> Markup:
    """A sentence of ours that quotes model output: `code` as code with glyphs, everything else escaped."""
    parts: list[Markup] = []
    at = 0
    for match in _CODE.finditer(text):
        parts.append(_sentence(text[at : match.start()]))
        parts.append(Markup("<code>{}</code>").format(show(match[1])))
        at = match.end()
    return Markup("").join([*parts, _sentence(text[at:])])


def _sentence(text: str) -> Markup:
    """Words with ordinary spaces and line ends; other special characters as glyphs."""
    return escape(SPECIAL.sub(lambda match: match[0] if match[0] in " \n" else glyph(match[0])[0], text))


FILTERS: dict[str, Callable[..., Any]] = {
    "glyphs": show,
    "glyph_lines": show_lines,
    "clipped": clipped,
    "counted": counted,
    "glyphless": glyphless,
    "plain": plain,
}
