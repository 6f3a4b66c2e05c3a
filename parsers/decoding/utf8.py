"""Incremental UTF-8 decoding: bytes in, text out, as soon as the bytes allow it, however they are cut.

The texts of all feeds and of `finish` are `bytes.decode("utf-8", errors="replace")` of the joined bytes. `pending` is
the beginning of some valid character: a byte that can no longer become part of one is U+FFFD in the feed that shows it.
CPython's own decoder delays only the encoded surrogates (ED A0..BF, Unicode 16 table 3-7), whose two bytes are settled
here. A feed costs its own length.
"""

from __future__ import annotations

import codecs

_new_decoder = codecs.getincrementaldecoder("utf-8")


class Utf8Decoder:
    """Decodes UTF-8 bytes fed in any portions; malformed bytes become U+FFFD."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        self._decoder = _new_decoder("replace")

    @property
    def pending(self) -> bytes:
        """The bytes of a character that has begun and is not whole yet; b'' between characters."""
        return self._decoder.getstate()[0]

    def feed(self, data: bytes) -> str:
        """The text that `data` completes; '' when it only begins or continues a character."""
        text = self._decoder.decode(data)
        held = self._decoder.getstate()[0]
        if len(held) == 2 and held[0] == 0xED and held[1] >= 0xA0:
            text += self._decoder.decode(b"", True)
        return text

    def finish(self) -> str:
        """The text of a character cut off by the end: U+FFFD, or '' when nothing is pending.

        The decoder is as new afterwards.
        """
        return self._decoder.decode(b"", True)
