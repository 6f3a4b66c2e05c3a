"""Policies over byte-fallback vocabularies, whose decoder revises: single bytes in a row form a run.

A run that is whole characters is their text; else every byte of it is U+FFFD, the whole characters before the bad byte
included. So one byte can turn text around that was sent. What servers do then differs:

=============  =====================================================================================================
exact          what was sent stays; of the bytes that were not sent each is U+FFFD
vllm_fast      DecodeStream fails ("Invalid prefix") with the first text that could be sent; vLLM starts a new one with
               that token, and what waited is lost
all others     as many characters as were sent are cut from the revised text, whatever they are now
=============  =====================================================================================================

vLLM and SGLang look at a window: the tokens of the last emission and those since. TextStreamer looks at all since the
last newline. Where a decoder begins it takes a blank from the text (SentencePiece). A step costs its own token, and the
end of a run the tokens that wait; each token waits once.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from parsers.decoding.bytelevel import REPLACEMENT, is_cjk
from parsers.decoding.policy import FLUSHES, DecodePolicy, Spelled
from parsers.decoding.tokens import Token

_strict = codecs.getincrementaldecoder("utf-8")


def spell(tokens: Sequence[Token], policy: DecodePolicy, *, fresh: bool, strips: bool) -> Spelled:
    """The tokens under a policy. `fresh`: the decoder begins with the output; `strips`: it takes a blank there."""
    machine = _MACHINES[policy](len(tokens), fresh=fresh, strips=strips)
    for at, token in enumerate(tokens):
        machine.step(at, token)
        machine.found.out.append(machine.sent)
        machine.found.pending.append(machine.run.pending)
    machine.end(flush=policy in FLUSHES)
    return machine.found


class _Run:
    """Single bytes in a row. `size`: those the decoder sees; `sent`: characters of them that are out; `waiting`: the
    tokens whose text is not, and `gained`: how long it is. `broken`: it is no UTF-8."""

    __slots__ = ("_decoder", "broken", "gained", "sent", "size", "waiting")

    def __init__(self) -> None:
        self._decoder = _strict()
        self.broken = False
        self.size = self.sent = self.gained = 0
        self.waiting: list[int] = []

    @property
    def pending(self) -> bytes:
        return b"" if self.broken else self._decoder.getstate()[0]

    @property
    def whole(self) -> bool:
        return not self.broken and not self._decoder.getstate()[0]

    def add(self, at: int, raw: bytes) -> str:
        """Take a byte; the character it completes."""
        self.size += 1
        self.waiting.append(at)
        try:
            return "" if self.broken else self._decoder.decode(raw)
        except UnicodeDecodeError:
            self.broken = True
            return ""


class _Machine:
    """The base of all policies, and `exact`: characters are out as soon as they are whole.

    `held` are tokens before the run whose text waits; `sent` counts the text that is out.
    """

    def __init__(self, size: int, *, fresh: bool, strips: bool) -> None:
        self.found = Spelled([""] * size)
        self.run = _Run()
        self.held: list[int] = []
        self.sent = 0
        self.fresh = fresh
        self.strips = strips

    def step(self, at: int, token: Token) -> None:
        if token.single:
            self.found.texts[at] = text = self._stripped(self.run.add(at, token.raw))
            self.run.gained += len(text)
        elif token.text:
            self.close()
            self.found.texts[at] = self._stripped(token.text)
            self.held.append(at)
        else:
            return
        self.release(at, token)

    def end(self, *, flush: bool) -> None:
        """The output is over: what waits is sent, or lost."""
        if flush:
            self.close()
        else:
            self.lose([*self.held, *self.run.waiting])

    def close(self) -> None:
        """The run is over. If it is no characters its bytes are U+FFFD, but for the characters that are out."""
        run, texts = self.run, self.found.texts
        if not run.whole:
            left = self.unsent()
            for at in run.waiting:
                texts[at] = REPLACEMENT
            texts[run.waiting[0]] = REPLACEMENT * (left - len(run.waiting) + 1)
            self.fresh = False
            if run.size > len(run.waiting):
                self.found.revised.add(run.waiting[0])
        self.held += run.waiting
        self.run = _Run()

    def unsent(self) -> int:
        """Return how many U+FFFD of a broken run are still to be sent."""
        return len(self.run.waiting)

    def release(self, at: int, token: Token) -> None:
        """Send what can be sent after a token."""
        if self.run.whole:
            self.send()

    def send(self) -> None:
        run = self.run
        self.sent += sum([len(self.found.texts[at]) for at in self.held]) + run.gained
        run.sent += run.gained
        run.gained = 0
        run.waiting = []
        self.held = []

    def lose(self, tokens: Sequence[int]) -> None:
        for at in tokens:
            self.found.texts[at] = ""
        self.found.lost.update(tokens)

    def _stripped(self, text: str) -> str:
        """The text without the blank that a decoder takes where it begins."""
        if not self.fresh or not text:
            return text
        self.fresh = False
        return text.removeprefix(" ")


class _Offsets(_Machine):
    """A window, and nothing is sent while its text ends in U+FFFD (vLLM's slow path)."""

    def unsent(self) -> int:
        return self.run.size - self.run.sent

    def release(self, at: int, token: Token) -> None:
        if not self.waits(at):
            self.send()

    def waits(self, at: int) -> bool:
        """Return whether the text ends in U+FFFD after a token, or is nothing but a blank that the decoder takes."""
        return not self.run.whole or self.found.texts[at][-1:] in ("", REPLACEMENT)

    def send(self) -> None:
        run = self.run
        blank = self.strips and not self.held and [self.found.texts[at] for at in run.waiting] == [" "]
        run.size = len(run.waiting)
        run.sent = 0
        super().send()
        if blank:
            run.sent = 0


class _Stream(_Offsets):
    """As _Offsets, but a decoder that revises what was sent makes it fail and begin anew (DecodeStream in vLLM)."""

    failing = False

    def close(self) -> None:
        self.failing = self.failing or (bool(self.run.sent) and not self.run.whole)
        super().close()

    def release(self, at: int, token: Token) -> None:
        if self.waits(at):
            return
        if not self.failing:
            self.send()
            return
        self.lose([one for one in (*self.held, *self.run.waiting) if one != at])
        self.held, self.run = [], _Run()
        self.failing, self.fresh = False, self.strips
        self.step(at, token)


class _Printable(_Offsets):
    """As _Offsets, but what can be printed of the text that waits is out, and all is at the end (SGLang).

    `base`: the text before what waits. Of what waits before the run: its `length`, how much of it ends in a space
    (`blank`), and its last two characters (`tail`).
    """

    base = length = blank = 0
    tail = ""

    def close(self) -> None:
        waiting = self.run.waiting
        super().close()
        self._note(waiting)

    def release(self, at: int, token: Token) -> None:
        if token.text:
            self._note([at])
        super().release(at, token)
        if self.held or self.run.waiting:
            self.sent = max(self.sent, self.base + self._printed())

    def send(self) -> None:
        self.sent = self.base
        super().send()
        self.base, self.length, self.blank, self.tail = self.sent, 0, 0, ""

    def _printed(self) -> int:
        """Return how much of the waiting text is printable."""
        behind = self.run.gained if self.run.whole else self.unsent()
        before = self.tail[:-1] if not behind else self.tail if behind == 1 else ""
        if before and is_cjk(before[-1]):
            return self.length - (not behind)
        return self.blank

    def _note(self, tokens: Sequence[int]) -> None:
        for at in tokens:
            text = self.found.texts[at]
            if " " in text:
                self.blank = self.length + text.rindex(" ") + 1
            self.length += len(text)
            self.tail = (self.tail + text)[-2:]


class _Words(_Machine):
    """Whole words of what is cached since the last newline that ended a token (TextStreamer).

    `closed`: the text before the run. Characters of a run are out all at once, since each is a token.
    """

    closed = 0

    def unsent(self) -> int:
        return self.run.size - self.run.sent

    def close(self) -> None:
        run = self.run
        super().close()
        self.closed += run.sent + sum([len(self.found.texts[at]) for at in run.waiting])

    def release(self, at: int, token: Token) -> None:
        text = self.found.texts[at]
        if token.text:
            if " " in text:
                self.sent = self.closed + text.rindex(" ") + 1
            self.closed += len(text)
        if self.run.whole and text and (text[-1] in " \n" or is_cjk(text[-1])):
            self.send()
            if text[-1] == "\n":  # it empties the cache, and the decoder begins again
                self.closed, self.run, self.fresh = self.sent, _Run(), self.strips

    def send(self) -> None:
        run = self.run
        self.held = []
        super().send()
        self.sent = self.closed + run.sent


_MACHINES: dict[DecodePolicy, type[_Machine]] = {
    "exact": _Machine,
    "vllm_fast": _Stream,
    "vllm_slow": _Offsets,
    "vllm_mistral": _Offsets,
    "sglang": _Printable,
    "text_streamer": _Words,
}
