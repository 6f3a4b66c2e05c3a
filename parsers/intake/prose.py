"""A recording inside other text, as in a bug report: in a code block, or as JSON between paragraphs.

A model writes code blocks as well. So one is taken by itself only where it is an API's answer, a log, printed objects
or a case, which no model writes around its calls; a block that holds markup is offered, never taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.intake.blocks import Block, code_blocks, is_fence, parts
from parsers.intake.markers import holds_markers
from parsers.intake.model import Fact, Reader, Recognised, Warn, number
from parsers.vocabulary.types import Recording

_SURE = frozenset(
    {"sse_log", "json_response", "ndjson_log", "replay_record", "client_objects", "server_log", "dynamo_yaml", "case"}
)


def read_in_prose(body: str, readers: Sequence[Reader]) -> Recognised | None:
    """The first part of the text that is surely a recording."""
    read = next((read for read in (_recordings(blocks, readers) for blocks in parts(body)) if read), None)
    if read is None:
        return None
    block, found = read[0]
    left = _filled(body[: block.start]) + _filled(body[block.end :])
    found.why = ("It stands inside other text.", *found.why)
    found.warnings += (Warn("other_text", f"{number(left, 'line')} of other text around it left out."),)
    if len(read) > 1:
        words = f"{number(len(read) - 1, 'other part')} of the text with a recording left out: paste each by itself."
        found.warnings += (Warn("other_recordings", words),)
    return found


def read_code_block(text: str) -> Recognised | None:
    """The first code block that holds the markup of calls or reasoning, as raw text."""
    inner = next((block.text for block in code_blocks(text) if holds_markers(block.text)), None)
    if inner is None:
        return None
    return Recognised(
        kind="code_block",
        title=f"the text in a code block, {number(len(inner), 'character')}",
        advice="Choose a parser and replay it.",
        usable=True,
        outputs=(Recording(text=inner, kind="code_block"),),
        why=("It stands between fences.",),
        facts=(Fact("text", "assumed", "What stands in the code block is taken for the whole output, as you chose."),),
    )


def _recordings(blocks: Sequence[Block], readers: Sequence[Reader]) -> list[tuple[Block, Recognised]]:
    return [(block, found) for block in blocks if (found := _recording(block.text, readers)) is not None]


def _recording(text: str, readers: Sequence[Reader]) -> Recognised | None:
    found = next((one for one in (reader(text) for reader in readers) if one is not None), None)
    return found if found is not None and found.usable and found.kind in _SURE else None


def _filled(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip() and not is_fence(line))
