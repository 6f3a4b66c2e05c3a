"""Incremental UTF-8 decoding: bytes in, text out, as soon as the bytes allow it, however they are cut.

The texts of all feeds and of `finish` are `bytes.decode("utf-8", errors="replace")` of the joined bytes. `pending` is
the beginning of some valid character: a byte that can no longer become part of one is U+FFFD in the feed that shows it.
CPython's own decoder delays only the encoded surrogates (ED A0..BF, Unicode 16 table 3-7), whose two bytes are settled
here. A feed costs its own length, and what was pending.
"""

from __future__ import annotations

from codecs import utf_8_decode


class Utf8Decoder:
    """Decodes UTF-8 bytes fed in any portions; malformed bytes become U+FFFD.

    `pending`: the bytes of a character that has begun and is not whole yet; b'' between characters.
    """

    __slots__ = ("pending",)

    def __init__(self) -> None:
        self.pending = b""

    def feed(self, data: bytes) -> str:
        """The text that `data` completes; '' when it only begins or continues a character."""
        data = self.pending + data
        text, size = utf_8_decode(data, "replace")
        self.pending = held = data[size:]
        if len(held) == 2 and held[0] == 0xED and held[1] >= 0xA0:
            text += self.finish()
        return text

    def finish(self) -> str:
        """The text of a character cut off by the end: U+FFFD, or '' when nothing is pending.

        The decoder is as new afterwards.
        """
        held, self.pending = self.pending, b""
        return held.decode("utf-8", "replace")
