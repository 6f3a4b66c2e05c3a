"""Content blocks of Anthropic's Messages whose numbers no client finds a place for, or that never end, are told."""

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


@pytest.mark.parametrize(
    ("payloads", "block"),
    [
        ([START, begins(0), ends(0), begins(1), ends(1), STOP], None),
        ([START, begins(0), says(0)], None),  # the recording ends early
        ([begins(0), says(0), STOP], None),
        ([START, begins(0), says(0), STOP], 0),
        ([START, begins(0), begins(1), ends(1), STOP], 0),
        ([START, begins(0), ends(0), begins(1), {"type": "message_stop"}, begins(2), STOP], 1),
    ],
)
def test_a_block_ends_before_the_next_one_or_the_message_does(payloads: list[Payload], block: int | None) -> None:
    blocks = MessageBlocks()
    for payload in payloads:
        blocks.add(payload)
    words = f"Content block {block} has no `content_block_stop`: clients that wait for it never hand it on."
    assert blocks.unended == (None if block is None else words)


def recorded(*events: Payload) -> tuple[list[str], list[Payload]]:
    log = "".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events])
    found = recognise(log.encode(), pasted=False)
    return [warn.code for warn in found.warnings], list(found.outputs[0].stream or ())


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        ([begins(0), says(0), ends(0), begins(2), says(2)], "blocks_apart", "where 1 is next"),
        ([begins(0), says(0), begins(1), says(1), ends(1)], "block_unended", "Content block 0 has no"),
    ],
)
def test_the_recording_says_so_once_where_it_shows(events: list[Payload], code: str, words: str) -> None:
    codes, stream = recorded(START, *events, STOP, {"type": "message_stop"})
    assert code in codes
    noted = [words in chunk.get(code, "") for chunk in stream]
    assert noted == [False, False, True, False], "role, text, the delta of the other block, the finish reason"


def calls(index: int, name: str, **block: object) -> Payload:
    call = {"type": "tool_use", "id": name, "name": name, **block}
    return {"type": "content_block_start", "index": index, "content_block": call}


def adds(index: int, text: str) -> Payload:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def test_arguments_that_no_delta_adds_to_are_those_that_the_block_began_with() -> None:
    blocks = [
        calls(0, "f", input={}), adds(0, ""), ends(0), calls(1, "g", input={"a": 1}), ends(1),
        calls(2, "h", input={}), adds(2, '{"b": 2}'), ends(2), calls(3, "i"), ends(3),
    ]  # fmt: skip
    _, stream = recorded(START, *blocks, STOP, {"type": "message_stop"})
    sent = [part for chunk in stream for part in chunk["choices"][0]["delta"].get("tool_calls", [])]
    arguments: dict[int, str] = {}
    for part in sent:
        arguments[part["index"]] = arguments.get(part["index"], "") + part["function"]["arguments"]
    assert arguments == {0: "{}", 1: '{"a": 1}', 2: '{"b": 2}', 3: "{}"}
