"""Examples for the checks on how a parser runs, on the tokens it was fed, and on what others say of the same output."""

from __future__ import annotations

from parsers.checks.check import Books, Subject, Variant
from parsers.checks.example import Example
from parsers.checks.script import Entry, scripted
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Hold, Proof, Trace
from parsers.vocabulary.types import Message, MessageDelta, Piece, ToolCall
from parsers.wire.read import NOTES, ServerChunk, read_stream

_CALL: list[Entry] = [("name", "f"), ("arguments", '{"a": 1}'), ("end",)]
_TOKENS = (Piece("It ", 7, b"It "), Piece("rains", 8, b"rains"))
_TEXT = scripted([("content", "It ")], [("content", "rains")])


def _fed(*ids: tuple[int, ...]) -> Trace:
    """The two tokens above, with these ids in each delta."""
    trace = scripted([("content", "It ")], [("content", "rains")])
    for step, given in zip(trace.steps, ids, strict=False):
        step.ids = given
    return trace


def _shaped() -> Trace:
    """A call whose second chunk has no index."""
    (odd,) = read_stream([{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": '{"a": 1}'}}]}}]}])
    trace = scripted([("name", "f")], [("arguments", '{"a": 1}'), ("end",)])
    note = odd.notes[0]
    trace.steps[1].events += (Diagnostic(0, 0, note.code, NOTES[note.code], note.words),)
    return trace


def _late() -> Trace:
    """The same text, all of it sent at the end."""
    trace = scripted([("content", "It ")], [("content", "rains")])
    trace.steps[2].events = trace.steps[0].events + trace.steps[1].events
    trace.steps[0].events = trace.steps[1].events = ()
    return trace


def _shown(calls: Message) -> Subject:
    rendered = Variant("rerendered", "Written again by the template", Proof(), "", calls)
    return Subject(scripted(_CALL), variants=(rendered,))


REPLAYS: tuple[Example, ...] = (
    Example(
        "chunking",
        Subject(_TEXT, compared=[("1 character", scripted([("content", "It "), ("dropped", "rains", LOST)]))]),
        'With the chunking "1 character", the message differs in the content from character 3 on.',
        Subject(_TEXT, compared=[("1 character", _TEXT)]),
    ),
    Example(
        "whole_equals_streamed",
        Subject(_TEXT, whole=scripted([("content", "It "), ("dropped", "rains", LOST)])),
        "Read in one piece, the message differs in the content from character 3 on.",
        Subject(_TEXT, whole=_TEXT),
    ),
    Example(
        "monotone",
        Subject(scripted([("content", "It ")], [("content", "rains")], deltas={2: MessageDelta(content="snows")})),
        "The deltas depart from the message at character 3 of the content.",
        Subject(_TEXT),
    ),
    Example(
        "decodes_alike",
        Subject(_TEXT, pieces=(_TOKENS[0], Piece("rains", 8, b"reins"))),
        "From character 4 on, the text is not what its tokens decode to.",
        Subject(_TEXT, pieces=_TOKENS),
    ),
    Example(
        "ids_with_text",
        Subject(_fed((7,), (7,)), pieces=_TOKENS),
        "The ids of this delta are not the next ones of the output.",
        Subject(_fed((7,), (8,)), pieces=_TOKENS),
    ),
    Example(
        "held_bounded",
        Subject(scripted([("content", "It rains")], holds={1: [Hold(0, 8, "lexer", "a marker")]}), longest_terminal=4),
        "Up to 8 characters are held for a marker, though the longest has 4.",
        Subject(scripted([("content", "It <")], holds={1: [Hold(3, 4, "lexer", "a marker")]}), longest_terminal=4),
    ),
    Example(
        "ends_idle",
        Subject(scripted([("content", "It <")], holds={2: [Hold(3, 4, "lexer", "`<t>` may begin")]})),
        "Characters 3 to 4 are still held after the end: `<t>` may begin.",
        Subject(_TEXT),
    ),
    Example(
        "finish_reason",
        Subject(scripted(_CALL, finish_reason="stop")),
        "The finish reason is `stop` and should be `tool_calls`.",
        Subject(scripted(_CALL)),
    ),
    Example(
        "parser_raised",
        Subject(scripted([("content", "It ")], [("diagnostic", "rains", "parser_raised")])),
        "The parser failed at step 2: it broke",
        Subject(_TEXT),
    ),
    Example(
        "linear_time",
        Subject(_TEXT, counters=(100, 400)),
        "An output of twice the length makes the parser examine 4.0 times the characters.",
        Subject(_TEXT, timings=(0.2, 0.4)),
    ),
    Example(
        "emission_lag",
        Subject(_late(), longest_terminal=4),
        "8 characters have arrived and are neither sent nor held for a stated reason.",
        Subject(_TEXT),
    ),
    Example(
        "server_agrees",
        Subject(_TEXT, server=[ServerChunk(MessageDelta(content="It rai"), "stop")]),
        "The server's deltas end at character 6 of the content, with chunk 1; the replay (step 2) goes on.",
        Subject(_TEXT, server=[ServerChunk(MessageDelta(content="It rains")), ServerChunk(None, "stop")]),
    ),
    Example(
        "chunk_shape",
        Subject(_shaped(), served=True),
        "Chunk 2: A part of a call has no index; it is taken for call 0.",
        Subject(_TEXT, served=True),
    ),
    Example(
        "bookkeeping",
        Subject(scripted(_CALL), books=Books(('{"a": 1}',), ())),
        "The serving layer was told of 1 call, has 0 calls as sent, and the message has 1.",
        Subject(scripted(_CALL), books=Books(('{"a": 1}',), ('{"a": 1}',))),
    ),
    Example(
        "rerenders",
        _shown(Message(content="f")),
        "Written again by the template: the calls are not the same.",
        _shown(Message(tool_calls=[ToolCall(None, "f", '{"a": 1}')])),
    ),
)
