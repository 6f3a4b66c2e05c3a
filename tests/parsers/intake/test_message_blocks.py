"""Content blocks of Anthropic's Messages whose numbers no client finds a place for are told."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.intake.evidence import Payload
from parsers.intake.message_blocks import MessageBlocks

START = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
STOP = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}


def begins(index: object) -> Payload:
    return {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}


def says(index: object) -> Payload:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": "Hi"}}


def ends(index: int) -> Payload:
    return {"type": "content_block_stop", "index": index}


@pytest.mark.parametrize(
    ("payloads", "words"),
    [
        ([START, begins(0), says(0), ends(0), begins(1), says(1), STOP], None),
        ([START, begins(0), ends(0), START, begins(0), says(0)], None),
        ([begins(3), says(3), STOP], None),
        ([START, begins("0"), says("0"), {"type": "ping"}], None),
        ([START, begins(0), ends(0), begins(2), says(2)], "Content block 2 begins after 1 block, where 1 is next"),
        ([START, begins(1), says(1)], "Content block 1 begins after 0 blocks, where 0 is next"),
        ([START, begins(0), begins(0)], "Content block 0 begins after 1 block, where 1 is next"),
        ([START, says(0)], "A delta is for content block 0, which never began"),
        ([START, begins(0), says(-1)], "A delta is for content block -1, which never began"),
    ],
)
def test_a_block_has_the_number_of_its_place(payloads: list[Payload], words: str | None) -> None:
    blocks = MessageBlocks()
    for payload in payloads:
        blocks.add(payload)
    assert blocks.apart is None if words is None else (blocks.apart or "").startswith(words)


def test_the_recording_says_so() -> None:
    events = [START, begins(0), says(0), ends(0), begins(2), says(2), STOP, {"type": "message_stop"}]
    log = "".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events])
    found = recognise(log.encode(), pasted=False)
    assert "blocks_apart" in [warn.code for warn in found.warnings]
    noted = ["where 1 is next" in chunk.get("blocks_apart", "") for chunk in found.outputs[0].stream or ()]
    assert noted == [False, False, True, False], "role, text, the delta of block 2, the finish reason"
