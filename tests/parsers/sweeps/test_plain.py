"""What is called plain: of such an output no check may find an error or a warning, of whatever kind it is."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from parsers.cases.io import load_case, to_data
from parsers.cases.written.faults import FAULTS, Broken, truncated
from parsers.cases.written.generated import KIT, Drawn, Kit, drawn_output
from parsers.sweeps.first_stage import Request

LONG = Kit(KIT.tools, 15)
FORMATS = ("qwen", "glm45_moe", "harmony", "mistral", "pythonic")
CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
ARGUMENTS = {"type": "object", "properties": {"n": {}, "unit": {"enum": ["C", "F"]}}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": ARGUMENTS}}


class Judged(Request):
    """Looks at an output both ways."""

    def both(self, text: str) -> tuple[bool, tuple[Any, ...]]:
        """Whether it is plain, and what the checks find."""
        choice, replayer, plain = self._ready(text)
        assert plain is not None
        return self._is_plain(text, replayer, plain), self._judged(choice, replayer).signatures


def request(drawn: Drawn, broken: Broken | None = None) -> Judged:
    data = to_data(drawn.case)
    usual = "tool_calls" if drawn.said.calls else "stop"
    context: dict[str, Any] = {"finish_reason": (broken.finish_reason if broken else None) or usual}
    if broken is not None and broken.tool_choice is not None:
        asked = broken.tool_choice
        context["tool_choice"] = asked if asked == "required" else {"name": asked}
    kept = {key: data[key] for key in ("schema", "parser", "tools") if key in data}
    return Judged(load_case({**kept, "context": context, "input": {"text": "."}}))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.replays
def test_in_a_plain_output_no_check_finds_anything(name: str) -> None:
    plain = 0
    for number in range(12):
        drawn = drawn_output(name, 5, number, kit=LONG)
        if drawn is None:
            continue
        is_plain, found = request(drawn).both(drawn.case.text())
        assert not found
        plain += is_plain
        for fault, plant in [*[(key, one.plant) for key, one in FAULTS.items()], ("truncated", truncated)]:
            broken = plant(Random(f"{fault} {number}"), drawn)
            if broken is not None:
                is_plain, found = request(drawn, broken).both(broken.text)
                assert not (is_plain and found), (fault, broken.text)
    assert plain >= 8


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        (CALL, True),
        ("It rains.", True),
        ("", False),
        ("  ", False),
        ("It rains <tool_", False),
        ("It is <b>bold</b>.", False),
        ("It rains \ufffd.", False),
        (CALL.replace('"n": 1', '"m": 1'), False),
        (CALL.replace('"f"', '"g"'), False),
        (CALL.replace("1", "NaN"), False),
        (CALL.replace("1", '1, "unit": "\\ud800"'), False),
        (CALL.replace("1", '"</tool_call>"'), False),
        (CALL[:-14], False),
        ("<think>So.", False),
    ],
)
def test_a_doubt_makes_an_output_one_for_the_checks(text: str, is_plain: bool) -> None:
    judged = Judged(load_case({"schema": 1, "parser": {"name": "qwen"}, "tools": [TOOL], "input": {"text": "."}}))
    assert judged.both(text)[0] is is_plain


@pytest.mark.parametrize(
    ("context", "is_plain"),
    [
        ({"tool_choice": "required"}, True),
        ({"tool_choice": "none"}, False),
        ({"finish_reason": "length"}, False),
        ({"finish_reason": "tool_calls"}, True),
    ],
)
def test_what_the_request_demands_counts(context: dict[str, Any], is_plain: bool) -> None:
    data = {"schema": 1, "parser": {"name": "qwen"}, "tools": [TOOL], "context": context, "input": {"text": "."}}
    assert Judged(load_case(data)).both(CALL)[0] is is_plain


def test_a_schema_that_is_broken_is_for_the_checks() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "nonsense"}}}
    judged = Judged(load_case({"schema": 1, "parser": {"name": "qwen"}, "tools": [tool], "input": {"text": "."}}))
    is_plain, found = judged.both(CALL)
    assert (is_plain, [one.about for one in found]) == (False, ["request"])
