"""How Anthropic's Messages number their content blocks: 0, 1, 2, in the order in which they begin.

A client keeps blocks in a list, adds one for each `content_block_start`, and looks up the place that a delta names; a
number that was left out makes it fail or write into another block. (anthropic 2.14, `lib/streaming/_messages.py`.)
"""

from __future__ import annotations

from parsers.intake.evidence import Payload
from parsers.vocabulary.words import counted


class MessageBlocks:
    """The content blocks of a stream, counted. `apart` says where the first block or delta stands that no client finds
    a place for; before a message starts nobody knows how many blocks there were, and it stays None."""

    def __init__(self) -> None:
        self.apart: str | None = None
        self._begun: int | None = None

    def add(self, payload: Payload) -> None:
        """Count one event."""
        kind, index = payload.get("type"), payload.get("index")
        if kind == "message_start":
            self._begun = 0
        if self._begun is None or self.apart is not None:
            return
        if kind == "content_block_start":
            if type(index) is int and index != self._begun:
                self.apart = (
                    f"Content block {index} begins after {counted(self._begun, 'block')}, where {self._begun} is next:"
                    " clients keep them in a list and look in the wrong place, or fail."
                )
            self._begun += 1
        elif kind == "content_block_delta" and type(index) is int and not 0 <= index < self._begun:
            self.apart = f"A delta is for content block {index}, which never began: clients fail, or leave it out."
