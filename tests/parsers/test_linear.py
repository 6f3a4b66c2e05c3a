"""Twice the output takes about twice the time: every parser, streamed and whole, traced too, and on hostile text.

These tests run by themselves, without coverage and without other tests beside them. Only ratios are asserted.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Spoken
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format, names
from parsers.vocabulary.types import Context, Delta, Piece, Tool
from tests.amount import every
from tests.growth import assert_linear, seconds
from tests.parsers.parsing import tokens

pytestmark = pytest.mark.linear

SIZES = (4_000, 8_000, 16_000)
LARGE = (128_000, 256_000, 512_000)
TOKEN = 4
INTEGER = Context(tools=(Tool("f", {"properties": {"q": {"type": "integer"}}}),))
STRING = Context(tools=(Tool("f", {"properties": {"q": {"type": "string"}}}),))
REQUIRED = Context(tool_choice="required")
NAMED = Context(tool_choice="named", named_tool="f")
M3 = "]<]minimax[>["


def body(size: int) -> str:
    return ("words <b>and</b> \\ more, { [ ] } " * (size // 33 + 1))[:size]


def one_string(name: str, size: int) -> str:
    """A call with one long string, as the dialect writes it."""
    return DIALECTS[name].write(Spoken(["", ""], [Call("f", {"q": body(size)})], style=1))


HOSTILE: dict[str, tuple[str, Context, Callable[[int], str]]] = {
    "half markers": ("qwen", Context(), lambda n: "<" * n),
    "half markers in a string": ("qwen", Context(), lambda n: one_string("qwen", 0)[:-20] + "</tool_cal" * (n // 10)),
    "rejected candidates": ("llama", Context(), lambda n: "{x " * (n // 3)),
    "nested candidates": ("llama", Context(), lambda n: "{" * n),
    "markers": ("mistral", Context(), lambda n: "[TOOL_CALLS]" * (n // 12)),
    "markers with names": ("mistral", Context(), lambda n: "[TOOL_CALLS]f " * (n // 14)),
    "empty calls": ("qwen", Context(), lambda n: '<tool_call>{"name":"f"}</tool_call>' * (n // 35)),
    "a value that waits": ("qwen_coder", INTEGER, lambda n: one_string("qwen_coder", n)),
    "a JSON value that waits": ("qwen", INTEGER, lambda n: one_string("qwen", n)),
    "arguments before the name": (
        "qwen",
        STRING,
        lambda n: f'<tool_call>{{"arguments": {{"q": {json.dumps(body(n))}}}, "name": "f"}}</tool_call>',
    ),
    "drafts in reasoning": (
        "qwen_coder",
        STRING,
        lambda n: "<think>a" + f"{one_string('qwen_coder', 0)[:-40]}</think><think>" * (n // 60),
    ),
    "words between markers": (
        "qwen_coder",
        Context(),
        lambda n: "<tool_call>a\n<function=f>b\n</function>c\n" * (n // 40),
    ),
    "white space": ("qwen", Context(), lambda n: " " * n + "<tool_call>" + "\n" * n),
    "line breaks in a value": ("qwen_coder", STRING, lambda n: one_string("qwen_coder", 0)[:-40] + "\n" * n),
    "backslashes": ("qwen", Context(), lambda n: '<tool_call>{"name":"f","arguments":{"q":"' + "\\" * n),
    "deep arguments": ("qwen", Context(), lambda n: '<tool_call>{"name":"f","arguments":' + "[" * n),
    "arguments that begin with white space": (
        "llama",
        Context(),
        lambda n: '{"name":"f","parameters":{' + " " * n + "}}",
    ),
    "an array of calls": (
        "mistral",
        Context(),
        lambda n: "[TOOL_CALLS] [" + '{"name":"f","arguments":{"q":"x"}},' * (n // 35),
    ),
    "objects in an array": (
        "granite",
        Context(),
        lambda n: "<tool_call>[" + '{"name":"f","arguments":{"q":"x"}},' * (n // 35),
    ),
    "arrays that are none": ("json", Context(), lambda n: "[[{" * (n // 3)),
    "objects that name nothing": ("json", Context(), lambda n: '[{"a":{"b":[1]}}, ' * (n // 18)),
    "a long candidate": ("json", Context(), lambda n: '[{"a":"' + "x" * n),
    "fences": ("json", Context(), lambda n: "```json\n" * (n // 8)),
    "call ids": ("mistral", Context(), lambda n: "[TOOL_CALLS]f" + "[CALL_ID]x" * (n // 10)),
    "sections": ("kimik2", Context(), lambda n: "<|tool_calls_section_begin|>" * (n // 28)),
    "surplus brackets": ("qwen", Context(), lambda n: '<tool_call>{"name":"f","arguments":{}}' + "}" * n),
    "calls that are passed over": ("qwen", Context(), lambda n: "<tool_call>x" * (n // 12)),
    "a long parameter name": ("qwen_coder", Context(), lambda n: "<function=f><parameter=" + "k" * n),
    "keys without values": ("glm47_moe", Context(), lambda n: "<tool_call>f" + "<arg_key>a</arg_key>" * (n // 20)),
    "values without opening tags": (
        "glm47_moe",
        Context(),
        lambda n: "<tool_call>f" + "<arg_key>a</arg_key>x</arg_value>" * (n // 33),
    ),
    "names that never end": ("glm47_moe", Context(), lambda n: "<tool_call>f " * (n // 13)),
    "nested elements": ("minimax_m3", Context(), lambda n: f"{M3}<invoke name=f>" + f"{M3}<a>" * (n // 16)),
    "closing tags that close nothing": (
        "minimax_m3",
        Context(),
        lambda n: f"{M3}<invoke name=f>" + f"{M3}<a>" * (n // 32) + f"{M3}</b>" * (n // 32),
    ),
    "white space in an element": ("minimax_m3", STRING, lambda n: f"{M3}<invoke name=f>{M3}<a>" + " " * n),
    "half closing tags in an element": (
        "minimax_m3",
        STRING,
        lambda n: f"{M3}<invoke name=f>{M3}<q>" + "</q" * (n // 3),
    ),
    "lists that hold no call": ("pythonic", Context(), lambda n: "[x " * (n // 3)),
    "pythonic calls": ("pythonic", Context(), lambda n: "[" + "f(a=1), " * (n // 8)),
    "a list that waits": ("pythonic", INTEGER, lambda n: f"[f(q={body(n)!r})]"),
    "nested parentheses": ("pythonic", Context(), lambda n: "[f(a=" + "(" * n),
    "tuples in tuples": ("pythonic", Context(), lambda n: "[f(a=" + "(1, " * (n // 4)),
    "brackets closed by others": ("pythonic", Context(), lambda n: "[f(a=" + "[{" * (n // 4) + "]" * (n // 2)),
    "quotes that are not escaped": ("pythonic", Context(), lambda n: "[f(a='" + "'x " * (n // 3)),
    "literals one after another": ("pythonic", STRING, lambda n: "[f(q=" + "'' " * (n // 3)),
    "white space after a quote": ("pythonic", Context(), lambda n: "[f(a='x'" + " " * n),
    "escape sequences": ("pythonic", Context(), lambda n: "[f(a='" + "\\ud83d" * (n // 6)),
    "a word that never ends": ("pythonic", Context(), lambda n: "[f(a=" + "1" * n),
    "closing brackets in a string": ("gemma4", Context(), lambda n: '<|tool_call>call:f{s:<|"|>' + "}" * n),
    "ends of the call in a string": (
        "gemma4",
        Context(),
        lambda n: one_string("gemma4", 0)[:-20] + "}<tool_call|>" * (n // 13),
    ),
    "nested objects of words": ("gemma4", Context(), lambda n: "<|tool_call>call:f{" + "a:{" * (n // 3)),
    "brackets that close nothing": (
        "gemma4",
        Context(),
        lambda n: "<|tool_call>call:f{" + "a:{" * (n // 6) + "]" * (n // 2),
    ),
    "the word call": ("gemma4", Context(), lambda n: "call:f " * (n // 7)),
    "call types that never end": ("deepseek", Context(), lambda n: "<｜tool▁call▁begin｜>x" * (n // 19)),
    "half fences": ("deepseek", Context(), lambda n: "<｜tool▁call▁begin｜><｜tool▁sep｜>f```{}" + "`\n" * (n // 2)),
    "headers": ("harmony", Context(), lambda n: "<|channel|>final to=f " * (n // 22)),
    "messages": ("harmony", Context(), lambda n: "<|channel|>final<|message|>x<|end|>" * (n // 35)),
    "words of headers": ("harmony", Context(), lambda n: "analysis" + "assistantanalysis " * (n // 18)),
    "keys without an end": (
        "kimi_k3",
        Context(),
        lambda n: '<|open|>call tool="f"<|sep|>' + '<|open|>argument key="' * (n // 22),
    ),
    "markers that reasoning mentions": ("glm47_moe", Context(), lambda n: "<think>" + "<tool_call> now. " * (n // 17)),
    "sections that reasoning mentions": (
        "kimik2",
        Context(),
        lambda n: "<think>" + "<|tool_calls_section_begin|>" * (n // 28),
    ),
    "a name inside reasoning that never ends": ("glm47_moe", Context(), lambda n: "<think><tool_call>" + "f" * n),
    "a JSON name inside reasoning that never ends": (
        "qwen",
        STRING,
        lambda n: '<think><tool_call>{"name": "' + "f" * n,
    ),
    "arguments before the name inside reasoning": (
        "qwen",
        STRING,
        lambda n: f'<think><tool_call>{{"arguments": {{"q": {json.dumps(body(n))}}}}}</think>',
    ),
    "half ends of reasoning behind a marker": (
        "glm47_moe",
        Context(),
        lambda n: "<think><tool_call>" + "</thin" * (n // 6),
    ),
    "guided calls": ("qwen", REQUIRED, lambda n: "[" + '{"name":"f","parameters":{"q":"x"}},' * (n // 36)),
    "guided text that is claimed and rejected": (
        "json",
        REQUIRED,
        lambda n: '[{"a": "' + body(n).replace('"', "") + '"}]',
    ),
    "guided arguments": ("llama", NAMED, lambda n: f'{{"q": {json.dumps(body(n))}}}'),
    "guided output that waits": ("qwen", REQUIRED, lambda n: "\n" * n + "[{"),
    "separators": ("llama", Context(), lambda n: '{"name":"f","parameters":{}}' + "; " * (n // 2) + "x"),
}


# Recorded tokens: a text that has an id is a special one, any other an ordinary one.
IDS = {"<|open|>": 1, "<|close|>": 2, "<|sep|>": 3, "<tool_call>": 4, "<think>": 5, "<|im_end|>": 6, "<|a|>": 7}
STRING_OPEN = ["<tool_call>", '{"name":"f","arguments":{"q":"']
VALUE_OPEN = ["<|open|>", 'call tool="f"', "<|sep|>", "<|open|>", 'argument key="q"', "<|sep|>"]
BY_ID: dict[str, tuple[str, list[str], list[str]]] = {
    "special tokens in a string": ("qwen", STRING_OPEN, ["x", "<|a|>"]),
    "ends of the turn in a string": ("qwen", STRING_OPEN, ["<|im_end|>"]),
    "half closing tags in a value": ("kimi_k3", VALUE_OPEN, ["<|close|>", "argu"]),
    "closing tags that are typed out": ("kimi_k3", VALUE_OPEN, ["<|clo", "se|>", "argument", "<|s", "ep|>"]),
    "closing tags of which one token is typed out": ("kimi_k3", VALUE_OPEN, ["<|close|>", "argument<|se", "p|>"]),
    "markers that reasoning mentions": ("glm47_moe", ["<think>"], ["<tool_call>", " now."]),
    "markers beside markers in reasoning": ("glm47_moe", ["<think>"], ["<tool_call>"]),
}


@pytest.mark.parametrize("name", BY_ID)
def test_hostile_output_by_ids(name: str) -> None:
    fmt, head, unit = BY_ID[name]
    parser = build(get_format(fmt))

    def timed(length: int) -> float:
        texts = [*head, *unit * (length // len("".join(unit)))]
        fed = tokens(*[(text, IDS[text], "special") if text in IDS else text for text in texts])
        return seconds(lambda: parse(parser, fed, Context(), mode="ids", markers=IDS))

    assert_linear(timed, SIZES)


def deltas(text: str, size: int) -> list[Delta]:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [Delta(index, (Piece(piece),)) for index, piece in enumerate(pieces, 1)]


@pytest.mark.parametrize("name", every(3, DIALECTS, start=0))
def test_one_string_argument_in_one_token_deltas(name: str) -> None:
    parser = build(get_format(DIALECTS[name].parser), DIALECTS[name].policy)

    def timed(size: int) -> float:
        fed = deltas(one_string(name, size), TOKEN)
        return seconds(lambda: parse(parser, fed, STRING))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("name", every(3, DIALECTS, start=1))
def test_one_string_argument_in_one_delta(name: str) -> None:
    parser = build(get_format(DIALECTS[name].parser), DIALECTS[name].policy)

    def timed(size: int) -> float:
        fed = deltas(one_string(name, size), size * 3)
        return seconds(lambda: parse(parser, fed, STRING))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("name", every(3, DIALECTS, start=2))
def test_one_string_argument_traced(name: str) -> None:
    parser = build(get_format(DIALECTS[name].parser), DIALECTS[name].policy)

    def timed(size: int) -> float:
        fed = deltas(one_string(name, size), TOKEN)
        return seconds(lambda: replay(parser, fed, STRING))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("name", ["qwen", "qwen_coder", "mistral_array", "llama"])
def test_a_very_long_string_argument(name: str) -> None:
    parser = build(get_format(DIALECTS[name].parser))

    def timed(size: int) -> float:
        fed = deltas(one_string(name, size), TOKEN)
        return seconds(lambda: parse(parser, fed, STRING))

    assert_linear(timed, LARGE)


@pytest.mark.parametrize("name", names())
def test_content(name: str) -> None:
    """Plain text through every parser, in deltas of one token."""
    parser = build(get_format(name))

    def timed(length: int) -> float:
        fed = deltas(body(length), TOKEN)
        return seconds(lambda: parse(parser, fed, Context()))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("size", [TOKEN, 10_000_000], ids=["token", "whole"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_output(name: str, size: int) -> None:
    fmt, context, text = HOSTILE[name]
    parser = build(get_format(fmt))

    def timed(length: int) -> float:
        fed = deltas(text(length), size)
        return seconds(lambda: parse(parser, fed, context))

    assert_linear(timed, SIZES)
