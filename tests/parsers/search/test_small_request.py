"""The tools of a smaller request: those that its output names, with schemas that its calls fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from parsers.cases.find import Smaller, smaller_case
from parsers.cases.io import load_case
from parsers.cases.run import characters
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.small_request import small_request
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.types import Context, Tool

NEEDS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FREE = {key: value for key, value in NEEDS.items() if key != "required"}


@dataclass
class Asked:
    """A finding that every output shows, or none."""

    shown: bool
    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        return self.shown


def output(arguments: str, *, known: bool = True) -> Replayer:
    """A call of f, as a parser reads it of which the format is known or not."""
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'
    tools = (Tool("f", NEEDS), Tool("f"), Tool("other", NEEDS))
    fmt = get_format("qwen")
    return Replayer(maker(fmt), characters(text), Context(tools=tools), format=fmt if known else None)


Schemas = list[Mapping[str, Any] | None]
ROWS: dict[str, tuple[str, str, bool, Schemas]] = {
    "an argument went": ('{"city": "Bern"}', "{}", True, [FREE, None]),
    "it was never there": ("{}", "{}", True, [NEEDS, None]),
    "it stays": ('{"city": "Bern"}', '{"city": ""}', True, [NEEDS, None]),
    "the arguments are no object": ('{"city": "Bern"}', "[]", True, [NEEDS, None]),
    "the finding would go": ('{"city": "Bern"}', "{}", False, [NEEDS, None, NEEDS]),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", ROWS)
def test_a_small_call_fits_its_tool_where_that_of_the_whole_output_did(name: str, known: bool) -> None:
    whole, small, shown, schemas = ROWS[name]
    found = small_request(output(small, known=known), WHOLE, Asked(shown), output(whole, known=known))
    assert [tool.parameters for tool in found.context.tools] == schemas


@pytest.mark.parametrize("wrapped", [True, False])
def test_the_small_case_has_the_schemas_of_the_small_request(wrapped: bool) -> None:
    tools = [{"name": "f", "description": "F.", "parameters": NEEDS}, {"name": "g", "parameters": NEEDS}]
    given = [{"type": "function", "function": tool} for tool in tools] if wrapped else tools
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "abc"}, "tools": given})
    context = Context(tools=(Tool("f", FREE), Tool("g", NEEDS)))
    small = smaller_case(case, Smaller(characters("a"), WHOLE, context), "small", ())
    assert json.dumps(small.tools) == json.dumps(given).replace(json.dumps(NEEDS), json.dumps(FREE), 1)
