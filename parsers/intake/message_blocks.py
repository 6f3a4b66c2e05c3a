"""How Anthropic's Messages number and end their content blocks: 0, 1, 2, each ended before the next one begins.

A client keeps blocks in a list, adds one for each `content_block_start`, and looks up the place that a delta names; a
number that was left out makes it fail or write into another block. It hands a block on when `content_block_stop` comes.
(anthropic 2.14, `lib/streaming/_messages.py`.)
"""

from __future__ import annotations

from parsers.intake.evidence import Payload
from parsers.vocabulary.words import counted

_AFTER_BLOCKS = frozenset(("content_block_start", "message_delta", "message_stop"))


class MessageBlocks:
    """The content blocks of a stream, counted.

    `apart` says where the first block or delta stands that no client finds a place for, `unended` which block has no
    end; before a message starts nobody knows how many blocks there were, and they stay None.
    """

    def __init__(self) -> None:
        self.apart: str | None = None
        self.unended: str | None = None
        self._begun: int | None = None
        self._open: int | None = None

    def add(self, payload: Payload) -> None:
        """Count one event."""
        kind, index = payload.get("type"), payload.get("index")
        if kind == "message_start":
            self._begun = 0
        if self._begun is None or self.apart is not None:
            return
        self._end(kind)
        if kind == "content_block_start":
            if type(index) is int and index != self._begun:
                self.apart = (
                    f"Content block {index} begins after {counted(self._begun, 'block')}, where {self._begun} is next:"
                    " clients keep them in a list and look in the wrong place, or fail."
                )
            self._open = self._begun
            self._begun += 1
        elif kind == "content_block_delta" and type(index) is int and not 0 <= index < self._begun:
            self.apart = f"A delta is for content block {index}, which never began: clients fail, or leave it out."

    def _end(self, kind: object) -> None:
        """End the open block, or say that it has no end where what comes takes one before it."""
        if kind == "content_block_stop":
            self._open = None
        elif kind in _AFTER_BLOCKS and self._open is not None:
            self.unended = self.unended or (
                f"Content block {self._open} has no `content_block_stop`: clients that wait for it never hand it on."
            )
            self._open = None
