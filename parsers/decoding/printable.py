"""Where SGLang and TextStreamer stop for the time being: behind the last space, newline or CJK character.

The ranges are those of transformers' TextStreamer (5.23): ideographs only, no kana and no hangul.
"""

from __future__ import annotations

REPLACEMENT = "\ufffd"
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


def is_cjk(char: str) -> bool:
    """Whether a character is one of those that are words by themselves."""
    code = ord(char)
    return code >= 0x3400 and any(low <= code <= high for low, high in _IDEOGRAPHS)
