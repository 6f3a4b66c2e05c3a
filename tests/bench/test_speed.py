"""Microseconds per token, beside transformers' ResponseParser on the same outputs in the same run. Nothing is asserted.

Run with `make bench`. Tokens are pieces of four characters. "streamed" is one token a delta with tracing off, "traced"
the same with every step recorded, "whole" one delta. The figures of one run compare with each other only.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable

import pytest

from parsers.registry import build, get_format, names
from parsers.replay import parse, replay
from parsers.types import Context, Delta, Piece

pytestmark = pytest.mark.bench

TOKEN = 4
CHARACTERS = 80_000
TEXT = ("The quick brown fox <b>jumps</b> over 13 lazy dogs. " * (CHARACTERS // 52 + 1))[:CHARACTERS]
CALLS = {
    "qwen": '<tool_call>\n{{"name": "f", "arguments": {{"q": {json}}}}}\n</tool_call>\n',
    "qwen_coder": "<tool_call>\n<function=f>\n<parameter=q>\n{text}\n</parameter>\n</function>\n</tool_call>\n",
    "kimik2": '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{{"q": {json}}}<|tool_call_end|>',
    "mistral": '[TOOL_CALLS]f{{"q": {json}}}',
    "llama": '{{"name": "f", "parameters": {{"q": {json}}}}}; ',
    "passthrough": "{text}",
}
RESPONSE_TEMPLATE = {
    "version": 1,
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "content": {"content": "text", "repeats": True, "join": "", "optional": True},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "content": "json",
            "repeats": True,
            "optional": True,
        },
    },
}


def outputs(name: str) -> dict[str, str]:
    """Prose, one call with one long string, and many small calls, in the format."""
    call = CALLS[name]
    long = call.format(text=TEXT, json=json.dumps(TEXT))
    small = call.format(text="small", json='"small"')
    return {"content": TEXT, "long string": long, "small calls": small * (CHARACTERS // len(small))}


def deltas(text: str, size: int) -> list[Delta]:
    return [Delta(n, (Piece(text[at : at + size]),)) for n, at in enumerate(range(0, len(text), size), 1)]


def per_token(run: Callable[[], object], text: str) -> float:
    """Microseconds per token, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        gc.collect()
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e6 / max(1, len(text) // TOKEN)


def row(*cells: object) -> None:
    print("".join(f"{cell:<16}" if isinstance(cell, str) else f"{cell:>12.2f}" for cell in cells))


@pytest.mark.parametrize("name", names())
def test_microseconds_per_token(name: str) -> None:
    parser, context = build(get_format(name)), Context()
    for kind, text in outputs(name).items():
        streamed, whole = deltas(text, TOKEN), deltas(text, len(text))
        figures = [
            per_token(lambda s=streamed: parse(parser, s, context), text),  # type: ignore[misc]
            per_token(lambda s=streamed: replay(parser, s, context), text),  # type: ignore[misc]
            per_token(lambda w=whole: parse(parser, w, context), text),  # type: ignore[misc]
        ]
        print()
        row(name, kind, *figures)


def test_response_parser_on_the_same_outputs() -> None:
    from transformers.utils.chat_parsing import ResponseParser

    for kind, text in outputs("qwen").items():
        chunks = [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)]

        def run(chunks: list[str] = chunks) -> None:
            parser = ResponseParser(RESPONSE_TEMPLATE, prefix="")
            for chunk in chunks:
                parser.feed(chunk)
            parser.finalize()

        print()
        row("ResponseParser", kind, per_token(run, text))
