"""What a model wrote is its output wherever it breaks off: no print of a program, and no stream."""

from __future__ import annotations

import random

import pytest

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Spoken
from parsers.intake import recognise

CALLS = [Call("read", {"path": "a.py", "line": 7})] * 4


@pytest.mark.replays
@pytest.mark.parametrize("grammar", DIALECTS)
def test_an_output_that_breaks_off_in_its_calls_is_raw(grammar: str) -> None:
    text, chance = DIALECTS[grammar].write(Spoken([""] * 5, CALLS)), random.Random(grammar)
    begun = text.index("read") + 4
    for size in chance.sample(range(begun, len(text)), 4):
        found = recognise(text[:size].encode(), pasted=True)
        assert [output.kind for output in found.outputs] == ["raw_text"], text[:size]


@pytest.mark.parametrize("head", ["<tool_calls>\n", "So.\n<tool_calls>\n", "<think>Hm.</think>\n<tool_calls>\n"])
def test_a_marker_before_objects_is_a_models(head: str) -> None:
    text = head + '{"name": "read", "arguments": {"path": "a.py", "line": 7}}\n' * 3 + '{"name": "read'
    assert [output.kind for output in recognise(text.encode(), pasted=True).outputs] == ["raw_text"]
