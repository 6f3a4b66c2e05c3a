"""Templates that several tests read with, and a short way to read."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from parsers.replays.replay import replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, Piece
from webapp.engines.response_template import TemplateParser, loaded
from webapp.engines.response_template.parser import Template

ANCHOR = "<|im_start|>assistant\n"
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
JSON_CALLS = {"open": "<tool_call>", "close": "</tool_call>", "repeats": True, "content": "json",
              "transform": {"type": "function", "function": "{content}"}}  # fmt: skip
THINK = {"open": "<think>", "close": "</think>"}


def template(**fields: Any) -> dict[str, Any]:
    """A template of these fields."""
    return {"start_anchor": ANCHOR, "fields": fields}


PLAIN = template(thinking=THINK, tool_calls=JSON_CALLS, content={"close": "<|im_end|>"})
JOINED = template(
    reasoning_content=THINK,
    tool_calls={**JSON_CALLS, "open": None, "open_pattern": r"\s*<tool_call>"},
    content={"close_pattern": r"\s*<\|im_end\|>", "repeats": True, "join": "\n"},
)
del JOINED["fields"]["tool_calls"]["open"]
XML = template(
    reasoning_content=THINK,
    tool_calls={
        "open_pattern": r"\s*<function=(?P<name>[^>\n]+)>",
        "close": "</function>",
        "repeats": True,
        "content": "xml-inline",
        "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>(?P<value>.*?)</parameter>"},
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    },
    content={"close": "<|im_end|>"},
)
STREAMED = template(
    tool_calls={
        "open_pattern": r"<call:(?P<name>\w+)>",
        "close": "</call>",
        "repeats": True,
        "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
    },
    content={"repeats": True, "join": "\n"},
)
EACH = template(
    tool_calls={
        "open": "[TOOL_CALLS]",
        "close": "</s>",
        "content": "json",
        "transform_each": True,
        "transform": {"id": "{id}", "function": {"name": "{name}", "arguments": "{arguments}"}},
    },
    content={},
)
DIALECT = template(
    reasoning_content={"open": "<|channel>thought\n", "close": "<channel|>"},
    tool_calls={
        "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
        "close": "<tool_call|>",
        "repeats": True,
        "content": "json",
        "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    },
    content={"close": ["<turn|>", "<eos>"]},
)
TEMPLATES = {
    "plain": PLAIN, "joined": JOINED, "xml": XML, "streamed": STREAMED, "each": EACH, "dialect": DIALECT,
}  # fmt: skip


def deltas(text: str, sizes: Iterable[int]) -> list[Delta]:
    """The text cut into these sizes, the last one again and again."""
    cut: list[Delta] = []
    at, size = 0, 1
    given = iter(sizes)
    while at < len(text):
        size = next(given, size)
        cut.append(Delta(len(cut), (Piece(text[at : at + size]),)))
        at += size
    return cut


def chunkings(text: str, seed: int = 0) -> list[list[Delta]]:
    """One character, whole, and two random chunkings."""
    chance = random.Random(seed)
    random_sizes = [[chance.randint(1, 7) for _ in range(len(text))] for _ in range(2)]
    return [deltas(text, sizes) for sizes in ([1], [max(len(text), 1)], *random_sizes)]


def read(data: dict[str, Any] | Template, text: str, prefix: str | None = None, **context: Any) -> Trace:
    """The trace of a text, token by token of three characters; other chunkings must give the same message."""
    request = Context(prompt_tail=prefix, **context)
    made = data if isinstance(data, Template) else loaded(data, request)
    trace = replay(TemplateParser(made), deltas(text, [3]), request)
    for cut in chunkings(text):
        other = replay(TemplateParser(made), cut, request)
        assert other.message == trace.message
        assert [run for run in other.partition if run.reason == LOST] == []
    return trace


def told(trace: Trace) -> list[Diagnostic]:
    """The diagnostics of a trace."""
    return [event for _, event in trace.events() if isinstance(event, Diagnostic)]


def owned(trace: Trace, owner: str) -> list[str]:
    """The texts of an owner."""
    return [trace.text[run.start : run.end] for run in trace.partition if run.owner == owner]
