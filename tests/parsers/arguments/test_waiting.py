"""Text that waits keeps its places: an end token inside it is not claimed by the arguments too."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.arguments.contract import Waiting
from parsers.replays.chunking import Chunking, apply
from parsers.replays.replay import replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.events import Segment
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Piece, Tool
from tests.parsers.properties.invariants import owned

END = "<|im_end|>"
OPEN = '<tool_call>\n{"name": "f", "arguments": {"a": '
NUMBER = Tool("f", {"properties": {"a": {"type": "integer"}}})
TEXT = Tool("f", {"properties": {"a": {"type": ["string", "null"]}}})


def test_what_stands_together_is_one_run() -> None:
    waiting = Waiting()
    assert (bool(waiting), waiting.text(), waiting.runs()) == (False, "", [])
    for at, text in ((3, "ab"), (5, "c"), (6, ""), (9, "d")):
        waiting.add(text, at)
    assert (bool(waiting), waiting.text()) == (True, "abcd")
    assert waiting.runs() == [Segment("abc", 3, 6), Segment("d", 9, 10)]
    assert waiting.spelled("abcd") == (Segment("abc", 3, 6), Segment("d", 9, 10))
    assert waiting.spelled("1") == (Segment("1", 3, 6, "converted"), Segment("", 9, 10, "converted"))


def traced(*texts: str, policy: dict[str, str] | None = None, tool: Tool | None = None, by: str = "token") -> Trace:
    """A replay of tokens, by their ids: END and markers are single tokens."""
    fmt, ids = get_format("qwen"), {"<tool_call>": 1, "</tool_call>": 2, END: 3}
    known = [
        Piece(
            text, ids.get(text, 100 + at), None, "special" if text == END else "added" if text in ids else "text", True
        )
        for at, text in enumerate(texts)
    ]
    context = Context(tools=(tool,) if tool else ())
    given: Any = Chunking(by=by)
    return replay(build(fmt, policy), apply(given, tuple(known), "ids"), context, mode="ids", markers=ids)


@pytest.mark.parametrize("by", ["token", "char", "whole"])
@pytest.mark.parametrize(
    ("texts", "policy", "tool", "arguments"),
    [
        (('"x', END, "y"), {"truncated_call": "close"}, None, '{"a": "x<|im_end|>y"}'),
        (("{}, ", '"b', END, "c"), {"truncated_call": "close"}, None, '{"a": {}}'),
        (('"4', END, '2"', "}}", "</tool_call>"), {}, NUMBER, '{"a": "4<|im_end|>2"}'),
        (('"4', END, 'x"', "}}", "</tool_call>"), {}, NUMBER, '{"a": "4<|im_end|>x"}'),
        (('"4', END, "x"), {}, NUMBER, None),
        (('"nu', END, "x"), {}, TEXT, None),
        (('"4', END, "2"), {"truncated_call": "close"}, NUMBER, None),
        (('"x', END), {"truncated_call": "close"}, None, '{"a": "x"}'),
    ],
    ids=[
        *("closed in a string", "closed in a key", "converted", "kept", "cut off", "cut off, text"),
        *("closed before it", "the end of the output"),
    ],
)
def test_every_character_around_an_end_token_has_one_owner(
    texts: tuple[str, ...], policy: dict[str, str], tool: Tool | None, arguments: str | None, by: str
) -> None:
    trace = traced("<tool_call>", OPEN.removeprefix("<tool_call>"), *texts, policy=policy, tool=tool, by=by)
    at = 0
    for start, end, _ in owned([event for _, event in trace.events()]):
        assert start == at, trace.text[at:start]
        at = end
    assert at == len(trace.text)
    if arguments is not None:
        assert trace.message.tool_calls[0].arguments == arguments
