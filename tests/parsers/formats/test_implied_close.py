"""A value whose closing marker is missing ends where its call does, whether the section or the next call follows."""

from __future__ import annotations

import re

import pytest

from tests.parsers.parsing import calls, trace_of

HUNYUAN = "<tool_calls><tool_call>f<arg_key>a</arg_key><arg_value>{}</tool_call>{}<tool_call>g</tool_call></tool_calls>"
HORIZON = (
    "<ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>{}</ifm|tool_call>{}<ifm|tool_call>g</ifm|tool_call>"
)
MINIMAX = '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">{}</invoke>{}<invoke name="g">\n</invoke>\n'


@pytest.mark.parametrize("between", ["", "\n"])
@pytest.mark.parametrize(
    ("fmt", "text"),
    [
        ("hunyuan", HUNYUAN),
        ("hunyuan", re.sub(r"(</?\w+)>", r"\1:opensource>", HUNYUAN)),
        ("k2_horizon", f"<ifm|tool_calls>{HORIZON}</ifm|tool_calls>"),
        ("minimax_m2", f"{MINIMAX}</minimax:tool_call>"),
    ],
)
def test_a_last_value_without_its_closing_marker_swallows_no_call(fmt: str, text: str, between: str) -> None:
    read = calls(trace_of(fmt, text.format("x", between)).message)
    assert read == [("f", '{"a": "x"}'), ("g", "{}")]
