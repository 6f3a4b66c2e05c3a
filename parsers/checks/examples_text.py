"""Examples for the checks on where text goes: lost, doubled, made up, leaked, or on the wrong side of a boundary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parsers.checks.check import Subject
from parsers.checks.example import Example
from parsers.checks.script import scripted
from parsers.vocabulary.drops import LOST, stated
from parsers.vocabulary.trace import RejectedCall, Trace
from parsers.vocabulary.types import Context, Tool

_MARKERS = {"CALL_START": "<tool_call>", "CALL_END": "</tool_call>", "THINK_END": "</think>"}
_CALL = [("marker", "<tool_call>"), ("name", "f"), ("arguments", '{"a": 1}'), ("marker", "</tool_call>"), ("end",)]
_TOOLS = Context(tools=(Tool("f"),))
_THOUGHT: dict[str, Any] = {"openers": ("<think>",), "closers": ("</think>",)}


def _marked(trace: Trace) -> Subject:
    return Subject(trace, terminals=_MARKERS)


def _rejected(trace: Trace) -> Subject:
    trace.rejected_calls = [RejectedCall(0, 13, None, stated("what follows the marker is no call"))]
    return replace(_marked(trace), context=_TOOLS)


def _twice() -> Trace:
    trace = scripted([("content", "It rains.")], [("content", "Take care.")])
    trace.steps[1].events = (*trace.steps[1].events, *trace.steps[0].events)
    return trace


TEXTS: tuple[Example, ...] = (
    Example(
        "spans_cover_input",
        Subject(scripted([("content", "It rains.")], [("dropped", " Take care.", LOST)])),
        "Characters 9 to 20 of the output were lost.",
        Subject(scripted([("content", "It rains.")], [("content", " Take care.")])),
    ),
    Example(
        "all_output_lost",
        Subject(scripted([("dropped", "It rains.", LOST)])),
        "The whole output is lost: the message is empty.",
        Subject(scripted([("marker", "<think></think>")])),
    ),
    Example(
        "nothing_invented",
        Subject(scripted([("content", "It rains")], [("content", ".", ". Yes.")])),
        "`. Yes.` is sent to the content; the output does not have it.",
        Subject(scripted([("content", "It rains")], [("content", ". Yes.")])),
    ),
    Example(
        "no_double_ownership",
        Subject(_twice()),
        "Characters 0 to 9 were sent twice to `content`.",
        Subject(scripted([("content", "It rains.")], [("content", "It rains.")])),
    ),
    Example(
        "no_terminal_leak",
        Subject(
            scripted([("content", "Yes.<tool")], [("content", "_call>f")]),
            whole=scripted([("content", "Yes."), ("marker", "<tool_call>"), ("name", "f"), ("cut",)]),
            terminals=_MARKERS,
        ),
        '`<tool_call>` leaks into the content, while the chunking "whole" reads it as a marker.',
        _marked(scripted([("content", "Yes."), *_CALL])),
    ),
    Example(
        "no_reasoning_leak",
        _marked(scripted([("reasoning", "I call <tool_call>f</tool_call>.")])),
        "`<tool_call>` stands in the reasoning, written as text.",
        _marked(scripted([("reasoning", "I call."), ("marker", "</think>"), *_CALL])),
    ),
    Example(
        "no_argument_leak",
        _marked(scripted([("name", "f"), ("arguments", '{"a": 1}</tool_call>'), ("end",)])),
        "`</tool_call>` stands among the arguments of call 0 (`f`), outside any string.",
        _marked(scripted([("name", "f"), ("arguments", '{"a": "</tool_call>"}'), ("end",)])),
    ),
    Example(
        "no_early_leak",
        _marked(scripted([("content", "Yes.<tool")], [("marker", "_call>"), ("name", "f"), ("cut",)])),
        "`<tool` is sent in the content, then `<tool_call>` is read as a marker.",
        _marked(scripted([("content", "Yes.<tool")], [("content", "s>")])),
    ),
    Example(
        "no_control_tokens",
        Subject(scripted([("content", "Yes.<|im_end|>")]), end_tokens=("<|im_end|>",)),
        "`<|im_end|>` is sent in the content.",
        Subject(scripted([("content", "Yes."), ("marker", "<|im_end|>")]), end_tokens=("<|im_end|>",)),
    ),
    Example(
        "tool_call_dropped",
        _rejected(scripted([("content", "<tool_call>f{")], [("content", " or so")])),
        "A call begins at 0, but the output has no call that can be read: what follows the marker is no call.",
        Subject(scripted(_CALL), context=_TOOLS, terminals=_MARKERS),
    ),
    Example(
        "utf8_clean",
        Subject(scripted([("content", "caf")], [("content", "é", "\ufffd")])),
        "A character that could not be decoded (U+FFFD) is sent, which the output does not have.",
        Subject(scripted([("content", "caf")], [("content", "é")])),
    ),
    Example(
        "answer_only_in_reasoning",
        Subject(scripted([("reasoning", "It rains.")]), Context(finish_reason="stop")),
        "All of the output is reasoning: it is never closed.",
        Subject(scripted([("reasoning", "Hm."), ("marker", "</think>"), ("content", "It rains.")])),
    ),
    Example(
        "reasoning_boundary",
        Subject(
            scripted([("reasoning", "Hm."), ("marker", "</think>")], [("reasoning", "It rains.")], blind=True),
            black_box=True,
            **_THOUGHT,
        ),
        "Text after `</think>` is sent as reasoning.",
        Subject(scripted([("reasoning", "Hm."), ("marker", "</think>"), ("content", "It rains.")]), **_THOUGHT),
    ),
)
