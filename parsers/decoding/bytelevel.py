"""Policies over byte-level vocabularies: the bytes of all tokens joined are the text, so nothing is ever revised.

Only the time differs, and what is left unsent at the end. A character cut off is U+FFFD in the piece that began it;
a marker's piece has the marker's text and nothing else. Each step costs the bytes of its token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from parsers.decoding.policy import FLUSHES, DecodePolicy, Spelled
from parsers.decoding.tokens import Token
from parsers.decoding.utf8 import Utf8Decoder


def spell(tokens: Sequence[Token], policy: DecodePolicy) -> Spelled:
    """The tokens under a policy."""
    text = _Text(tokens)
    release = _RELEASES[policy]()
    for at, token in enumerate(tokens):
        text.add(at, token)
        text.found.out.append(release(text))
        text.found.pending.append(text.pending)
    text.cut_off()
    found = text.found
    if policy in FLUSHES:
        return found
    sent = found.out[-1] if found.out else 0
    reached = next((at for at, out in enumerate(found.out) if out == sent), 0)
    found.lost = {at for at in range(reached + 1 if sent else 0, len(tokens)) if tokens[at].raw}
    for at in found.lost:
        found.texts[at] = ""
    return found


def pending_bytes(tokens: Iterable[Token]) -> Iterator[bytes]:
    """The bytes that wait after each token for the rest of their character."""
    decoder = Utf8Decoder()
    for token in tokens:
        if token.whole:
            decoder.finish()
        elif token.raw:
            decoder.feed(token.raw)
        yield decoder.pending


class _Text:
    """The text so far. `total`: its length; `last` and `before`: its last two characters; `blank`: behind its last
    space; `fresh`: whether the newest token added to it."""

    __slots__ = ("_begun", "_decoder", "before", "blank", "found", "fresh", "last", "total")

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._decoder = Utf8Decoder()
        self._begun = 0
        self.found = Spelled([""] * len(tokens))
        self.total = self.blank = 0
        self.last = self.before = ""
        self.fresh = False

    @property
    def pending(self) -> bytes:
        return self._decoder.pending

    @property
    def waits(self) -> bool:
        """Return whether the text ends in U+FFFD as long as nothing follows."""
        return bool(self.pending) or self.last == REPLACEMENT

    def add(self, at: int, token: Token) -> None:
        start = self.total
        if token.whole:
            self.cut_off()
            self._append(at, token.text)
        elif token.raw:
            self._append(at, self._decoder.feed(token.raw))
            self._begun = at
        self.fresh = self.total > start

    def cut_off(self) -> None:
        """No more bytes come for the character that has begun."""
        self._append(self._begun, self._decoder.finish())

    def _append(self, at: int, text: str) -> None:
        if not text:
            return
        self.found.texts[at] += text
        if " " in text:
            self.blank = self.total + text.rindex(" ") + 1
        self.total += len(text)
        self.before = text[-2] if len(text) > 1 else self.last
        self.last = text[-1]


class _Whole:
    """Nothing is out while the text ends in U+FFFD (DecodeStream, and prefix and read offsets)."""

    def __init__(self) -> None:
        self.out = 0

    def __call__(self, text: _Text) -> int:
        if not text.waits:
            self.out = text.total
        return self.out


class _Printable(_Whole):
    """As _Whole, but what can be printed of the text that waits is out (SGLang). `settled`: what waits for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.settled = 0

    def __call__(self, text: _Text) -> int:
        if not text.waits:
            self.settled = self.out = text.total
            return self.out
        penultimate, end = (text.last, text.total) if text.pending else (text.before, text.total - 1)
        if end > self.settled and is_cjk(penultimate):
            self.out = max(self.out, end)
        elif text.blank > self.settled:
            self.out = max(self.out, text.blank)
        return self.out


class _Words(_Whole):
    """Whole words (TextStreamer), of what is cached: all since the last newline that ended a token."""

    def __call__(self, text: _Text) -> int:
        if text.fresh and not text.pending and (text.last == "\n" or is_cjk(text.last)):
            self.out = text.total
        self.out = max(self.out, text.blank)
        return self.out


_RELEASES: dict[DecodePolicy, Callable[[], Callable[[_Text], int]]] = {
    "exact": lambda: attrgetter("total"),
    "vllm_fast": _Whole,
    "vllm_slow": _Whole,
    "vllm_mistral": _Whole,
    "sglang": _Printable,
    "text_streamer": _Words,
}


# Where SGLang and TextStreamer stop for the time being: behind the last space, newline or CJK character.
#
# The ranges are those of transformers' TextStreamer (5.23): ideographs only, no kana and no hangul.

REPLACEMENT = "\ufffd"
_IDEOGRAPHS = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)),
    *((0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F)),
)


def is_cjk(char: str) -> bool:
    """Return whether a character is one of those that are words by themselves."""
    code = ord(char)
    return code >= 0x3400 and any(low <= code <= high for low, high in _IDEOGRAPHS)
