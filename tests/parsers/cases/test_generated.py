"""Outputs that are drawn from a seed: the same for the same seed, read as they were meant, of every kind."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from parsers.cases.io import dumps, loads
from parsers.cases.run import run_case
from parsers.cases.written import generated as module
from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.generated import SCENARIOS, generated, generated_format
from parsers.cases.written.notation import Call, Dialect, Spoken
from parsers.replays.replay import replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.types import Context, Delta, Piece, Tool, UsageError

FORMATS = tuple(dict.fromkeys(dialect.parser for dialect in DIALECTS.values()))
ARGUMENTS = {"a": "x y", "n": 7, "t": True, "o": None, "l": [1, "z"], "m": {"k": 2.5}}
KINDS = {"a": "string", "n": "integer", "t": "boolean", "o": "null", "l": "array", "m": "object"}
SCHEMA = {"type": "object", "properties": {key: {"type": kind} for key, kind in KINDS.items()}}
TOOLS = (Tool("f", SCHEMA), Tool("g", SCHEMA))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_with_calls_can_be_generated(name: str) -> None:
    made = [*generated(name, 1, 0, 2)]
    assert len(made) == 2
    assert {case.parser.name for case in made} == {name}


def test_a_seed_and_a_number_give_the_same_case_however_many_are_drawn() -> None:
    several = [dumps(case) for case in generated("qwen", 7, 0, 6)]
    assert [dumps(case) for case in generated("hermes", 7, 2, 2)] == several[2:4]
    assert [dumps(case) for case in generated("qwen", 8, 0, 6)] != several
    assert all(loads(one) for one in several)


@pytest.mark.replays
def test_scenarios_differ_and_all_of_them_are_drawn() -> None:
    titles = [(case.title or "").partition(": ")[2] for case in generated("mistral", 3, 0, 150)]
    assert set(titles) == {scenario.words for scenario in SCENARIOS}
    assert any(one != other for one, other in pairwise(titles))


@pytest.mark.parametrize("name", ["qwen", "glm45_moe", "pythonic"])
@pytest.mark.replays
def test_what_is_drawn_is_as_expected_under_its_chunkings(name: str) -> None:
    for case in generated(name, 5, 0, 6):
        run = run_case(case.model_copy(update={"replay": case.replay[1:]}))
        assert [other.same for other in run.compared] == [True] * len(run.compared)


def test_what_is_not_read_as_it_was_meant_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_READINGS", ())
    first = next(generated("qwen", 2, 0, 1))
    monkeypatch.setattr(module, "differences", lambda *_: ["wrong"])
    monkeypatch.undo()
    assert next(generated("qwen", 2, 0, 1)) == first
    monkeypatch.setattr(module, "differences", lambda *_: ["wrong"])
    assert [*generated("qwen", 2, 0, 3)] == []


def test_outputs_for_a_parser_of_calls_have_no_reasoning() -> None:
    made = [*generated("qwen", 1, 0, 40, reasoning=False)]
    assert {case.expect.reasoning for case in made if case.expect is not None} == {""}


def test_a_format_without_calls_is_refused() -> None:
    with pytest.raises(UsageError, match="no outputs of passthrough can be generated: it has no calls"):
        generated_format("passthrough")


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.replays(
    but=(
        "olmo3",
        "ernie45",
    )
)
def test_every_style_of_a_dialect_is_read(dialect: Dialect) -> None:
    parser = build(get_format(dialect.parser), dialect.policy)
    calls = [Call("f", dict(ARGUMENTS)), Call("g", {"a": "b"})]
    for style in range(12):
        said = Spoken(["Before.", "", " After."], calls, "So." if dialect.think else None, style)
        found = replay(parser, [Delta(1, (Piece(dialect.write(said)),))], Context(tools=TOOLS)).message
        assert [(call.name, json.loads(call.arguments)) for call in found.tool_calls] == [
            ("f", ARGUMENTS),
            ("g", {"a": "b"}),
        ]
        assert (found.content, found.reasoning) == (dialect.content(said), said.reasoning)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_text_alone_and_a_call_alone_are_read(dialect: Dialect) -> None:
    parser = build(get_format(dialect.parser), dialect.policy)
    for said in (
        Spoken(["Only text."], []),
        Spoken(["", ""], [Call("f", {})]),
        Spoken(["", "", ""], [Call("f", {})] * 2),
    ):
        found = replay(parser, [Delta(1, (Piece(dialect.write(said)),))], Context(tools=TOOLS)).message
        assert [call.name for call in found.tool_calls] == [call.name for call in said.calls]
        assert (found.content or "") == dialect.content(said)
