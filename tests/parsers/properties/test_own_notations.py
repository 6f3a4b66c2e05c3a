"""Arguments in a notation of their own (Python's, Gemma's): whatever follows the opening of a call, no cut matters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.selection.registry import get_format
from tests.amount import examples
from tests.parsers.properties.invariants import check
from tests.parsers.properties.strategies import KEYVALUE_BITS, PYTHON_BITS, marker_texts, runs

pytestmark = pytest.mark.replays

OPENINGS = {
    "pythonic": ("[f(a=", "[f(", "[f(s='", '[f(s="""', "[f(a=1), ", "[f(o={'x': ", "[f(a=(", "[f(a=[", "["),
    "llama4_pythonic": ("<|python_start|>[f(a=", "[f(s='", "<|python_start|>"),
    "lfm2": ("<|tool_call_start|>[f(a=", "<|tool_call_start|>f(s='", "<|tool_call_start|>[{"),
    "olmo3": ("<function_calls>f(a=", "<function_calls>f(s='", "<function_calls>"),
    "gemma4": (
        *('<|tool_call>call:f{s:<|"|>', "<|tool_call>call:f{", "<|tool_call>call:f(a:", "call:f{a:", "<|tool_call>"),
        *("<|tool_call>call:f{o:{", "<|tool_call>call:f{s:[", "thou", "<|channel>", '<|tool_call>call:f{<|"|>'),
    ),
    "functiongemma": ("<start_function_call>call:f{s:<escape>", "<start_function_call>call:f{", "call:f{"),
}


@st.composite
def opened(draw: st.DrawFn, parser: str) -> str:
    """A call that has begun, and anything after it."""
    own = KEYVALUE_BITS if "gemma" in parser else PYTHON_BITS
    bits = st.sampled_from(own) | st.sampled_from(own) | st.sampled_from(marker_texts(get_format(parser)))
    return draw(st.sampled_from(OPENINGS[parser])) + "".join(draw(st.lists(bits, max_size=14)))


@pytest.mark.parametrize("parser", OPENINGS)
@examples(20)
@given(data=st.data())
def test_whatever_follows_the_opening_of_a_call_is_parsed_alike(parser: str, data: st.DataObject) -> None:
    run = data.draw(runs(parser, opened(parser)))
    check(run, data.draw(st.integers(0, 99)), data.draw(st.lists(st.integers(1, 80), max_size=6)))
