"""Rows of a generated corpus: the same for the same seed, with faults planted where they belong."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.cases.written import generated
from parsers.cases.written.corpus_rows import TRUNCATED, Wanted, corpus_rows
from parsers.cases.written.faults import FAULTS
from parsers.cases.written.generated import KIT, Kit, drawn_output, kit_of
from parsers.cases.written.schema_values import value_of
from parsers.checks.schema import misfits
from parsers.vocabulary.types import UsageError

FORMATS = ("qwen", "glm45_moe", "harmony", "mistral", "deepseek_v32")
WEATHER = {
    "type": "function",
    "function": {
        "name": "forecast",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 5}},
            "required": ["city", "days"],
        },
    },
}


def test_format_seed_and_number_give_the_same_row() -> None:
    wanted = Wanted(FORMATS, seed=3, malformed=0.5)
    several = [*corpus_rows(wanted, 0, 10)]
    assert [*corpus_rows(wanted, 4, 3)] == several[4:7]
    assert [row["parser"] for row in several[:5]] == [*FORMATS]
    assert [*corpus_rows(Wanted(FORMATS, seed=4, malformed=0.5), 0, 10)] != several


def test_a_number_for_which_nothing_can_be_drawn_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "ATTEMPTS", 0)
    assert not [*corpus_rows(Wanted(FORMATS), 0, 5)]


def test_shares_say_how_many_are_broken_and_cut_off() -> None:
    rows = [*corpus_rows(Wanted(("qwen",), malformed=0.4, truncated=0.3), 0, 40)]
    planted = Counter([row.get("planted") for row in rows])
    assert set(planted) <= {None, TRUNCATED, *FAULTS}
    assert planted[TRUNCATED]
    assert planted[None]
    assert len(planted) > 4
    assert {row["finish_reason"] for row in rows if row.get("planted") == TRUNCATED} == {"length"}


def test_a_fault_for_which_no_output_has_a_place_is_planted_nowhere() -> None:
    rows = [*corpus_rows(Wanted(("glm45_moe",), malformed=1.0, faults=("trailing_comma",)), 0, 3)]
    assert rows
    assert not [row for row in rows if "planted" in row]


def test_only_the_faults_that_are_asked_for_are_planted() -> None:
    rows = [*corpus_rows(Wanted(("qwen",), malformed=1.0, faults=("unknown_tool",)), 0, 12)]
    assert {row.get("planted") for row in rows} <= {None, "unknown_tool"}
    wrong = [row for row in rows if "planted" in row]
    assert wrong
    assert all("_v2" in row["output"] for row in wrong)


@pytest.mark.replays
def test_calls_are_drawn_from_the_schemas_that_are_given() -> None:
    kit = kit_of([WEATHER], words=30)
    rows = [*corpus_rows(Wanted(("qwen",), malformed=0.0, kit=kit), 0, 12)]
    calls = [call for row in rows for call in _calls(row)]
    assert {call["name"] for call in calls} == {"forecast"}
    assert {1, 5} >= {call["arguments"]["days"] for call in calls}
    assert max(len(row["output"]) for row in rows) > 200


def _calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    case = load_case({"schema": 1, "parser": {"name": row["parser"]}, "input": {"text": row["output"]}})
    message = run_case(case, compare=False).whole.message
    return [{"name": call.name, "arguments": json.loads(call.arguments)} for call in message.tool_calls]


def test_tools_of_no_shape_that_is_known_are_refused() -> None:
    with pytest.raises(UsageError, match="tools are declared as"):
        kit_of([{"name": "f"}])


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.replays
def test_every_fault_finds_a_place_in_some_outputs(fault: str) -> None:
    drawn = [drawn_output("qwen", 1, number, kit=Kit(KIT.tools, 12)) for number in range(20)]
    made = [FAULTS[fault].plant(Random(1), one) for one in drawn if one is not None]
    assert any(made)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["integer", "null"]},
        {"const": 4},
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        {"type": "array", "minItems": 2, "items": {"type": "number", "maximum": 2}},
        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "strange"},
        True,
    ],
)
def test_a_value_fits_its_schema(schema: Any) -> None:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    for seed in range(6):
        value = value_of(Random(seed), schema, ["word"])
        if schema != {"type": "strange"}:
            assert not misfits(whole, json.dumps({"x": value}))


def test_a_schema_without_end_is_left() -> None:
    deep: Any = {"type": "string"}
    for _ in range(12):
        deep = {"type": "array", "minItems": 1, "items": {"oneOf": [deep]}}
    assert isinstance(value_of(Random(1), deep, ["word"]), list)
