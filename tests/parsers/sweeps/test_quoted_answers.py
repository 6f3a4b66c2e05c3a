"""What is wrong with an answer that somebody quotes is what a sweep finds of a parser that gives it."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.sweeps.quoted_answers import signatures_of_answer

CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def call(name: str | None, arguments: str) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    begun = {} if name is None else {"id": "c1", "type": "function"}
    return chunk(tool_calls=[{"index": 0, **begun, "function": function}])


ANSWERS = {
    "right": ([call("f", ""), call(None, '{"n": 1}')], []),
    "nothing": ([], [("all_output_lost", "<tool_call>")]),
    "role alone": ([chunk(role="assistant")], [("all_output_lost", "<tool_call>")]),
    "as content": ([chunk(content=CALL)], [("tool_call_dropped", "<tool_call>")]),
    "twice": ([call("f", '{"n": 1}'), call(None, '{"n": 1}')], [("arguments_prefix", "")]),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.replays
def test_an_answer_has_the_signatures_of_a_parser_that_gives_it(name: str, known: bool) -> None:
    stream, found = ANSWERS[name]
    size = -(-len(CALL) // max(len(stream), 1))
    deltas = [{"text": CALL[at : at + size]} for at in range(0, len(CALL), size)]
    given = {"deltas": deltas} if known else {"text": CALL}
    case = load_case(
        {"schema": 1, "parser": {"name": "recorded"}, "input": {**given, "stream": stream}, "tools": TOOLS}
    )
    signatures = signatures_of_answer(case, "qwen")
    assert [(one.check, one.marker) for one in signatures if one.about == "parser"] == found


def test_without_the_output_nothing_of_it_is_lost() -> None:
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [chunk(content="It rains.")]}})
    assert [one for one in signatures_of_answer(case, "qwen") if one.check == "all_output_lost"] == []
