"""Shows model output so that nothing in it is invisible, ambiguous or live.

Every character that would not be seen (white space, controls, zero-width, fillers), that would change or move its
neighbours (variation selectors, joiners, bidi controls) or that no font can draw (lone surrogates, tag characters) is
replaced by a glyph in its own element; all other text is escaped. The result is `Markup` built from escaped parts
only, so templates never need `|safe`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from parsers.vocabulary.words import in_parts

# The mnemonics of ASCII (ISO 646) for its controls, and those of Unicode: few fonts draw the pictures of them.
_CONTROLS = re.findall(
    r"\w+",
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US",
)
_MARKS = dict(enumerate(_CONTROLS)) | {
    0x20: "·", 0x09: "→", 0x0A: "⏎", 0x7F: "DEL", 0x85: "NEL", 0xA0: "NBSP", 0xAD: "SHY", 0x061C: "ALM", 0x200B: "ZWSP",
    0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS", 0x2029: "PS", 0x202A: "LRE",
    0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x202F: "NNBSP", 0x2060: "WJ", 0x2066: "LRI",
    0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0x3000: "IDSP", 0xFE0E: "VS15", 0xFE0F: "VS16", 0xFEFF: "BOM",
}  # fmt: skip
# Where the name that Unicode has for a character, if any, is not what people call it.
_NAMES = {
    "\t": "tab", "\n": "newline", "\r": "carriage return", "\x7f": "delete", "\x85": "next line",
    "\ufe0e": "variation selector for text", "\ufe0f": "variation selector for emoji", "\ufeff": "byte order mark",
}  # fmt: skip
SPECIAL = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)

_IN_WORDS = re.compile(f"(?![ \n]){SPECIAL.pattern}")
# What is hidden in a line of words, where it has nothing to join: white space is none.
_UNSEEN = (
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)
_PICTURE = (
    "[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]{0,2}"
)
# The flag of a region, by its code; more letters would be a hidden message.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
# Scripts in which a joiner chooses the shape of a letter: Arabic and Syriac, Indic ones, Myanmar, Khmer and Mongolian.
_SHAPED = range(0x600, 0x780), range(0x8A0, 0xE00), range(0x1000, 0x10A0), range(0x1780, 0x18B0)
_VIRAMA = 9  # a class of combining characters


def _joined() -> str:
    """A pattern of what joiners and tags are for. Behind a virama a word may end with a joiner, as in Malayalam."""
    chars = [char for char in [chr(at) for block in _SHAPED for at in block] if not re.match(_UNSEEN, char)]
    letters = "".join([char for char in chars if unicodedata.category(char)[0] in "LM"])
    viramas = "".join([char for char in chars if unicodedata.combining(char) == _VIRAMA])
    shaped = f"(?<=[{letters}])[\u200c\u200d](?=[{letters}])|(?<=[{viramas}])\u200d"
    return f"{_PICTURE}(?:\u200d{_PICTURE})+|{_FLAG}|{shaped}"


_HIDDEN = re.compile(f"{_joined()}|({_UNSEEN})")  # only the group is hidden


def _glyph(char: str) -> tuple[str, str]:
    """The glyph drawn for a special character, and the words a screen reader says for it."""
    number = ord(char)
    unnamed = f"control {number:02X}" if char < " " else f"code point {number:04x}"
    return _MARKS.get(number, f"U+{number:04X}"), _NAMES.get(char) or unicodedata.name(char, "").lower() or unnamed


def show(text: str) -> Markup:
    """`text` as HTML: escaped, special characters as glyphs."""
    return _drawn(text, SPECIAL.finditer(text))


def show_lines(text: str) -> Markup:
    """As `show`, with a line break after every newline glyph."""
    return _drawn(text, SPECIAL.finditer(text), breaks=True)


def label(text: str) -> Markup:
    """A name, a title or a tag as HTML: white space stays, what is hidden in it is a glyph."""
    return _drawn(text, [match for match in _HIDDEN.finditer(text) if match[1]])


def _drawn(text: str, special: Iterable[re.Match[str]], *, breaks: bool = False) -> Markup:
    """Parts that are HTML already are joined as they are: to escape them as Markup takes longer than all the rest."""
    parts: list[str] = []
    at = 0
    for match in special:
        parts += escape(text[at : match.start()]), _element(match[0])
        if breaks and match[0] == "\n":
            parts.append("<br>")
        at = match.end()
    return Markup("".join([*parts, escape(text[at:])]))  # noqa: S704 - made of escaped parts only


@lru_cache(256)
def _element(char: str) -> Markup:
    mark, name = _glyph(char)
    if len(mark) == 1:
        return Markup('<span class="glyph">{}</span>').format(mark)
    return Markup('<span class="glyph boxed" title="{}" data-c="{:x}">{}</span>').format(name, ord(char), mark)


def spell(text: str) -> str:
    """`text` in words for an accessible name: white space and invisible characters are named."""
    spelled = SPECIAL.sub(lambda match: f" {_glyph(match[0])[1]} ", text)
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


def glyphless(text: str) -> str:
    """Text for attributes and JSON: spaces stay, whatever else cannot be seen is spelled as a JSON escape."""
    return SPECIAL.sub(lambda match: match[0] if match[0] == " " else _escaped(match[0]), text)


def seen(value: Any) -> Any:
    """What a template writes: in text that is no HTML yet, what is hidden is spelled as a JSON escape."""
    if type(value) is not str or (value.isascii() and value.isprintable()):
        return value
    return _HIDDEN.sub(lambda match: _escaped(match[1]) if match[1] else match[0], value)


def _escaped(char: str) -> str:
    number = ord(char)
    if number < 0x10000:
        return f"\\u{number:04x}"
    high, low = divmod(number - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def plain(text: str) -> Markup:
    """A sentence of ours that quotes model output: `code` as code with glyphs, everything else escaped."""
    parts = [Markup("<code>{}</code>").format(show(part)) if code else _sentence(part) for part, code in in_parts(text)]
    return Markup("").join(parts)


def _sentence(text: str) -> Markup:
    """Words with ordinary spaces and line ends; other special characters as glyphs."""
    return _drawn(text, _IN_WORDS.finditer(text))


def brief(number: int) -> str:
    """A number in at most four characters: from a thousand on in thousands or millions."""
    if number < 1_000:
        return str(number)
    size, unit = (1_000, "k") if number < 999_500 else (1_000_000, "M")
    return f"{number / size:.1f}{unit}" if number < 9_950 * size // 1_000 else f"{number / size:.0f}{unit}"


FILTERS: dict[str, Callable[..., Any]] = {
    "glyphs": show,
    "glyph_lines": show_lines,
    "label": label,
    "typed": escape,
    "clipped": shorten,
    "counted": count,
    "brief": brief,
    "glyphless": glyphless,
    "spelled": spell,
    "plain": plain,
}
