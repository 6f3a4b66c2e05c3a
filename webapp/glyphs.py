"""Shows model output so that nothing in it is invisible, ambiguous or live.

Every character that would not be seen (white space, controls, zero-width, fillers), that would change or move its
neighbours (variation selectors, joiners, bidi controls) or that no font can draw (lone surrogates, tag characters) is
replaced by a glyph in its own element; all other text is escaped. The result is `Markup` built from escaped parts
only, so templates never need `|safe`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from markupsafe import Markup, escape

NAMED: dict[str, tuple[str, str]] = {
    " ": ("·", "space"),
    "\t": ("→", "tab"),
    "\n": ("⏎", "newline"),
    "\r": ("CR", "carriage return"),
    "\x7f": ("DEL", "delete"),
    "\x85": ("NEL", "next line"),
    "\xa0": ("NBSP", "no-break space"),
    "\xad": ("SHY", "soft hyphen"),
    "\u061c": ("ALM", "arabic letter mark"),
    "\u200b": ("ZWSP", "zero width space"),
    "\u200c": ("ZWNJ", "zero width non-joiner"),
    "\u200d": ("ZWJ", "zero width joiner"),
    "\u200e": ("LRM", "left-to-right mark"),
    "\u200f": ("RLM", "right-to-left mark"),
    "\u2028": ("LS", "line separator"),
    "\u2029": ("PS", "paragraph separator"),
    "\u202a": ("LRE", "left-to-right embedding"),
    "\u202b": ("RLE", "right-to-left embedding"),
    "\u202c": ("PDF", "pop directional formatting"),
    "\u202d": ("LRO", "left-to-right override"),
    "\u202e": ("RLO", "right-to-left override"),
    "\u202f": ("NNBSP", "narrow no-break space"),
    "\u2060": ("WJ", "word joiner"),
    "\u2066": ("LRI", "left-to-right isolate"),
    "\u2067": ("RLI", "right-to-left isolate"),
    "\u2068": ("FSI", "first strong isolate"),
    "\u2069": ("PDI", "pop directional isolate"),
    "\u3000": ("IDSP", "ideographic space"),
    "\ufe0e": ("VS15", "variation selector for text"),
    "\ufe0f": ("VS16", "variation selector for emoji"),
    "\ufeff": ("BOM", "byte order mark"),
}
# The mnemonics of ASCII (ISO 646) for its controls: few fonts draw the pictures Unicode has for them.
CONTROLS = re.findall(
    r"\w+",
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US",
)
SPECIAL = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)


def glyph(char: str) -> tuple[str, str]:
    """The glyph drawn for a special character, and the words a screen reader says for it."""
    if char in NAMED:
        return NAMED[char]
    if char < " ":
        return CONTROLS[ord(char)], f"control {ord(char):02X}"
    return f"U+{ord(char):04X}", unicodedata.name(char, f"code point {ord(char):04X}").lower()


def show(text: str) -> Markup:
    """`text` as HTML: escaped, special characters as glyphs."""
    return Markup("").join(_parts(text, breaks=False))


def show_lines(text: str) -> Markup:
    """As `show`, with a line break after every newline glyph."""
    return Markup("").join(_parts(text, breaks=True))


def _parts(text: str, *, breaks: bool) -> list[Markup]:
    parts: list[Markup] = []
    at = 0
    for match in SPECIAL.finditer(text):
        if match.start() > at:
            parts.append(escape(text[at : match.start()]))
        parts.append(_element(match[0]))
        if breaks and match[0] == "\n":
            parts.append(Markup("<br>"))
        at = match.end()
    parts.append(escape(text[at:]))
    return parts


def _element(char: str) -> Markup:
    mark, name = glyph(char)
    if len(mark) == 1:
        return Markup('<span class="glyph">{}</span>').format(mark)
    return Markup('<span class="glyph boxed" title="{}">{}</span>').format(name, mark)


def spell(text: str) -> str:
    """`text` in words for an accessible name: white space and invisible characters are named."""
    spelled = SPECIAL.sub(lambda match: f" {glyph(match[0])[1]} ", text)
    return " ".join(spelled.split()) or "nothing"


def shorten(text: str, limit: int = 60) -> str:
    """`text`, or its beginning and an ellipsis when it is longer than `limit`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 step`, `2 steps`, `12,345 steps`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def hexed(raw: bytes, limit: int = 16) -> str:
    """Bytes as people write them; of many only the first."""
    return raw.hex(" ").upper() if len(raw) <= limit else f"{raw[:limit].hex(' ').upper()} … {len(raw):,} in all"


# Filters of the templates.

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
