"""How Anthropic's Messages number their content blocks: 0, 1, 2, in the order in which they begin.

A client keeps blocks in a list, adds one for each `content_block_start`, and looks up the place that a delta names; a
number that was left out makes it fail or write into another block. (anthropic 2.14, `lib/streaming/_messages.py`.)
"""

from __future__ import annotations

from collections.abc import Iterable

from parsers.intake.evidence import Payload
from parsers.vocabulary.words import counted


def blocks_apart(payloads: Iterable[Payload]) -> str | None:
    """Say where the first block or delta stands that no client finds a place for; None where all have one, and for
    what comes before a message starts: then nobody knows how many blocks there were."""
    begun: int | None = None
    for payload in payloads:
        kind, index = payload.get("type"), payload.get("index")
        if kind == "message_start":
            begun = 0
        if begun is None:
            continue
        if kind == "content_block_start":
            if type(index) is int and index != begun:
                return (
                    f"Content block {index} begins after {counted(begun, 'block')}, where {begun} is next: clients "
                    "keep them in a list and look in the wrong place, or fail."
                )
            begun += 1
        elif kind == "content_block_delta" and type(index) is int and not 0 <= index < begun:
            return f"A delta is for content block {index}, which never began: clients fail, or leave it out."
    return None
