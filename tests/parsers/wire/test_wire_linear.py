"""Twice the output takes about twice the time to put on the wire, whichever way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.replays.replay import replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context
from parsers.wire.chunks import Envelope, chunks, transcript
from parsers.wire.message import Usage, chat_completion
from tests.growth import assert_linear, seconds
from tests.parsers.test_linear import deltas

pytestmark = pytest.mark.linear

SIZES = (32_000, 64_000, 128_000, 256_000)
WAYS: dict[str, Callable[[Trace], object]] = {
    "stream": lambda trace: "".join(transcript(chunks(trace, Envelope.of(trace, Context())))),
    "one object": lambda trace: chat_completion(trace, Envelope.of(trace, Context()), Usage(0, 0)),
}
OUTPUTS = {
    "text": "some words ",
    "calls": '<tool_call>{"name": "f", "arguments": {"q": "x"}}</tool_call>',
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_putting_a_replay_on_the_wire(way: str, output: str) -> None:
    parser, unit = build(get_format("qwen")), OUTPUTS[output]

    def timed(size: int) -> float:
        trace = replay(parser, deltas(unit * (size // len(unit)), 4), Context())
        return seconds(lambda: WAYS[way](trace))

    assert_linear(timed, SIZES)
