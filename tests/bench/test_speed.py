"""Microseconds per token of every grammar, beside two other ways to parse the same output. Nothing is asserted.

Run with `make bench`. Tokens are pieces of four characters. "streamed" is one token a delta with tracing off, "traced"
the same with every step recorded, "whole" one delta. The figures of one run compare with each other only.

The targets are medians over the grammars: CONTENT_TARGET for plain content and STRING_TARGET inside a string argument,
streamed. `ResponseParser` is that of transformers; `partial_json_parser` parses the growing text again at every delta,
as vLLM's Mistral parser did before it became a state machine, so its cost per token grows with the output.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from statistics import median

import pytest

from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Delta, Piece
from tests.parsers.properties.dialects import DIALECTS
from tests.parsers.properties.render import Call, Spoken

pytestmark = pytest.mark.bench

TOKEN = 4
CHARACTERS = 40_000
CONTENT_TARGET, STRING_TARGET = 3.0, 6.0
SENTENCE = "The quick brown fox <b>jumps</b> over 13 lazy dogs. "
TEXT = (SENTENCE * (CHARACTERS // len(SENTENCE) + 1))[:CHARACTERS]
KINDS: dict[str, Callable[[], Spoken]] = {
    "content": lambda: Spoken([TEXT], []),
    "long string": lambda: Spoken(["", ""], [Call("f", {"q": TEXT})], style=1),
    "small calls": lambda: Spoken([""] * 801, [Call("f", {"q": "small"})] * 800, style=1),
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


def deltas(text: str, size: int) -> list[Delta]:
    return [Delta(n, (Piece(text[at : at + size]),)) for n, at in enumerate(range(0, len(text), size), 1)]


def per_token(run: Callable[[], object], text: str) -> float:
    """Microseconds of processor time per token, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best * 1e6 / max(1, len(text) // TOKEN)


def row(*cells: object) -> None:
    print("".join(f"{cell:<22}" if isinstance(cell, str) else f"{cell:>10.2f}" for cell in cells))


def figures(parser: StreamParser, text: str) -> tuple[float, float, float]:
    """Streamed, traced, whole."""
    context, streamed, whole = Context(), deltas(text, TOKEN), deltas(text, len(text))
    return (
        per_token(lambda: parse(parser, streamed, context), text),
        per_token(lambda: replay(parser, streamed, context), text),
        per_token(lambda: parse(parser, whole, context), text),
    )


def test_every_grammar() -> None:
    print()
    row("grammar", "output", "  streamed", "    traced", "     whole")
    streamed: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for name, dialect in DIALECTS.items():
        parser = build(get_format(dialect.parser), dialect.policy)
        for kind, said in KINDS.items():
            found = figures(parser, dialect.write(said()))
            streamed[kind].append(found[0])
            row(name, kind, *found)
    for kind, target in (("content", CONTENT_TARGET), ("long string", STRING_TARGET)):
        row("median", kind, median(streamed[kind]), f"  (target {target})")


def test_response_parser_on_the_same_outputs() -> None:
    from transformers.utils.chat_parsing import ResponseParser

    print()
    for kind, said in KINDS.items():
        text = DIALECTS["qwen"].write(said())
        chunks = [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)]

        def run(chunks: list[str] = chunks) -> None:
            parser = ResponseParser(RESPONSE_TEMPLATE, prefix="")
            for chunk in chunks:
                parser.feed(chunk)
            parser.finalize()

        row("ResponseParser", kind, per_token(run, text))


def test_parsing_the_growing_text_again() -> None:
    from partial_json_parser import ALL, loads

    print()
    for characters in (2_000, 4_000, 8_000):
        array = json.dumps([{"name": "f", "arguments": {"q": TEXT[:characters]}}])
        ends = range(TOKEN, len(array) + TOKEN, TOKEN)
        again = per_token(lambda a=array, e=ends: [loads(a[:end], ALL) for end in e], array)  # type: ignore[misc]
        ours = figures(build(get_format("mistral")), "[TOOL_CALLS] " + array)[0]
        row("partial_json_parser", f"{characters} characters", again)
        row("mistral", f"{characters} characters", ours)
