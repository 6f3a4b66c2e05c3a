"""Where the texts that a parser elsewhere sent lie in the output, although it does not say where they come from.

The right reading knows the places of its own texts. As far as a text that was sent begins as the right one does, it
lies where that does; what goes on otherwise is looked for in the output behind it, as where calls leak into the
content. Of the rest nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.channels import Channel, ChannelText
from parsers.vocabulary.trace import Trace


@dataclass(slots=True, frozen=True)
class LaidText:
    """One text that was sent: `shared` characters of it are those of the right text `ours`, and so many more, `leaked`,
    stand in the output from `at` on."""

    ours: ChannelText
    shared: int
    at: int
    leaked: int

    def raw(self, offset: int) -> int | None:
        """The character of the output that a character of the text is; None where nobody knows."""
        if offset < self.shared:
            return self.ours.place(offset).raw
        return self.at + offset - self.shared if offset < self.shared + self.leaked else None

    def spans(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """The characters [start, end) of the output that characters [low, high) are, in order; what touches is one."""
        start = end = -1
        for raw in map(self.raw, range(low, high)):
            if raw is None or start <= raw < end:
                continue
            if raw != end:
                if end > start:
                    yield start, end
                start = raw
            end = raw + 1
        if end > start:
            yield start, end


def laid_texts(text: str, right: Trace, answer: Trace, same: Mapping[int, int]) -> dict[Channel, LaidText]:
    """Each text of an answer; `same` says which call of it is which of the right ones."""
    turned = {theirs: ours for ours, theirs in same.items()}
    found: dict[Channel, LaidText] = {}
    for channel, sent in answer.channels.items():
        call = None if channel.call is None else turned.get(channel.call, -1)
        found[channel] = _laid(text, right.channels[Channel(call, channel.part)], sent.text, in_text=call is None)
    return found


def _laid(text: str, ours: ChannelText, sent: str, *, in_text: bool) -> LaidText:
    shared = shared_prefix(ours.text, sent)
    last = ours.place(shared - 1).raw if shared else None
    at, more = 0 if last is None else last + 1, sent[shared:]
    if in_text and (elsewhere := text.find(more, at)) >= 0:
        return LaidText(ours, shared, elsewhere, len(more))
    leaked = shared_prefix(text[at : at + len(more)], more) if in_text or shared else 0
    return LaidText(ours, shared, at, leaked)
