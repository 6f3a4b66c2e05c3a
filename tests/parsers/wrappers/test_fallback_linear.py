"""Behind the wrapper, too, twice the output takes about twice the time: also for text made to have it decide a lot."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.replays.replay import parse, replay
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context
from parsers.wrappers.fallback import Fallback, FallbackOptions
from tests.growth import assert_linear, seconds
from tests.parsers.test_linear import SIZES, TOKEN, body, deltas, one_string

pytestmark = pytest.mark.linear

CALL = '<tool_call>{"name":"f","arguments":{"q":"x"}}</tool_call>\n'
HOSTILE: dict[str, tuple[str, Callable[[int], str]]] = {
    "calls": ("qwen", lambda n: CALL * (n // len(CALL))),
    "one string": ("qwen", lambda n: one_string("qwen", n)),
    "one value": ("qwen_coder", lambda n: one_string("qwen_coder", n)),
    "a whole output": ("llama", lambda n: one_string("llama", n)),
    "plain text": ("qwen", body),
    "lines of fences": ("qwen", lambda n: "```\n<tool_call>" * (n // 15)),
    "start markers": ("qwen", lambda n: "<tool_call>" * (n // 11)),
    "start markers in prose": ("qwen", lambda n: "so <tool_call>" * (n // 14)),
    "start markers in reasoning": ("qwen", lambda n: "<think>" + "<tool_call>" * (n // 11)),
    "end markers": ("qwen", lambda n: "</tool_call>" * (n // 12)),
    "end markers after a call": ("qwen", lambda n: CALL + "</tool_call>" * (n // 12)),
    "end markers in a string": (
        "qwen",
        lambda n: '<tool_call>{"name":"f","arguments":{"q":"' + "</tool_call>" * (n // 12),
    ),
    "buffers that are text": ("qwen", lambda n: "<tool_call>x</tool_call>\n" * (n // 25)),
    "buffers that wait": ("qwen", lambda n: '<tool_call>{"x":[</tool_call>\n' * (n // 31)),
    "strings that are never closed": (
        "qwen",
        lambda n: '<tool_call>{"name":"f","arguments":{"q":"x}}</tool_call>\n' * (n // 57),
    ),
    "other grammars": ("qwen", lambda n: "<tool_call><function=f></function></tool_call>\n" * (n // 47)),
    "one call in another grammar": (
        "qwen",
        lambda n: "<tool_call><function=f>" + "<parameter=k>v</parameter>" * (n // 26) + "</function></tool_call>",
    ),
    "parameters in another spelling": (
        "qwen_coder",
        lambda n: (
            "<tool_call><function=f>"
            + "".join([f'<parameter name="{at}">v</parameter>' for at in range(n // 36)])
            + "</function></tool_call>"
        ),
    ),
    "opening tags alone": ("qwen_coder", lambda n: "<tool_call><function=f>" + "<parameter name=" * (n // 16)),
    "space in a key": ("qwen", lambda n: '<tool_call>{"name":"f"}<arg_key>' + " " * n + "</tool_call>"),
    "calls to repair": (
        "kimik2",
        lambda n: (
            "<|tool_calls_section_begin|>"
            + '<|tool_call_begin|>f:0<|tool_call_argument_begin|>{"q":1<|tool_call_end|>' * (n // 74)
            + "<|tool_calls_section_end|>"
        ),
    ),
    "brackets to close": ("qwen", lambda n: '<tool_call>{"name":"f","arguments":{"q":' + "[" * n + "</tool_call>"),
    "budgets": ("qwen", lambda n: "<tool_call>xxxxxxxxxxxxxxxxxxxx\n" * (n // 32)),
}


@pytest.mark.parametrize("size", [TOKEN, 10_000_000], ids=["token", "whole"])
@pytest.mark.parametrize("name", HOSTILE)
def test_the_wrapper_is_linear(name: str, size: int) -> None:
    fmt, text = HOSTILE[name]
    parser = Fallback(get_format(fmt), None, FallbackOptions(budget=25 if name == "budgets" else 0))

    def timed(length: int) -> float:
        fed = deltas(text(length), size)
        return seconds(lambda: parse(parser, fed, Context()))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("name", ["calls", "one string", "end markers in a string"])
def test_the_wrapper_is_linear_when_traced(name: str) -> None:
    fmt, text = HOSTILE[name]
    parser = Fallback(get_format(fmt), None, FallbackOptions(budget=0))

    def timed(length: int) -> float:
        fed = deltas(text(length), TOKEN)
        return seconds(lambda: replay(parser, fed, Context()))

    assert_linear(timed, SIZES)
