"""json_arguments: one object is the arguments of the tool that the request names."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, owners, small, trace_of

NAMED = Context(tool_choice="named", named_tool="f")
FORMAT = small(
    {
        "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "CALL", "emit": ["CallStart"]}]},
        "CALL": {
            "codec": {"name": "json_arguments"},
            "rows": [
                {"on": "DONE", "to": "TOP", "emit": ["CallEnd"]},
                {"on": "REJECT", "to": "TOP"},
                {"on": "OTHER", "to": "TOP", "emit": ["CallEnd"]},
                {"on": "END", "to": "CALL", "emit": ["CallEnd"]},
            ],
        },
    },
    {"OPEN": "<a>"},
)


@pytest.mark.parametrize(
    ("text", "content", "arguments"),
    [
        ('<a>{"x": 1}', None, '{"x": 1}'),
        ('<a>\n {\n"x": 1}b', "b", '{\n"x": 1}'),
        ("<a>{}", None, "{}"),
        ('<a>{"x": "<a>', None, '{"x": "<a>'),
        ("<a>{ ", None, "{ "),
        ("<a>[1]", "<a>[1]", None),
        ("<a> x", "<a> x", None),
        ("<a>{x}", "<a>{x}", None),
        ("<a> ", "<a> ", None),
        ("<a>", "<a>", None),
    ],
)
def test_an_object_is_a_call_and_nothing_else_is(text: str, content: str | None, arguments: str | None) -> None:
    for trace in (trace_of(FORMAT, text, context=NAMED), trace_of(FORMAT, *text, context=NAMED)):
        assert trace.message.content == content
        assert calls(trace.message) == ([] if arguments is None else [("f", arguments)])
        assert "".join([raw for raw, _ in owners(trace)]) == text


def test_the_name_comes_with_the_object_and_stands_nowhere() -> None:
    trace = trace_of(FORMAT, "<a>{", '"x"', ": 1}", context=NAMED)
    names = [step.index for step in trace.steps if any(event.kind == "CallName" for event in step.events)]
    assert names == [2]
    assert "name" not in [owner for _, owner in owners(trace)]
    assert codes(trace) == []


@pytest.mark.parametrize("context", [Context(), Context(named_tool="f"), Context(tool_choice="named")])
def test_where_no_tool_is_named_nothing_is_its_arguments(context: Context) -> None:
    trace = trace_of(FORMAT, '<a>{"x": 1}', context=context)
    assert (trace.message.content, trace.message.tool_calls) == ('<a>{"x": 1}', [])
