"""The front door of `parsers`: what its functions take, and what they refuse."""

from __future__ import annotations

import pytest

from parsers import dump_case, find, format_names, get_format, load_case, make_parser, parse, replay
from parsers.cases.case import CaseError
from parsers.vocabulary.types import UsageError

OUTPUT = '<think>Hm.</think>Hi <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_deltas_give_the_message_of_the_whole(size: int) -> None:
    deltas = [OUTPUT[at : at + size] for at in range(0, len(OUTPUT), size)]
    assert parse(deltas, "qwen3") == parse(OUTPUT, "qwen3")


def test_deltas_are_fed_as_they_are() -> None:
    run = replay(["Hi ", "you"], "qwen")
    assert [run.trace.text[slice(*step.span)] for step in run.trace.steps] == ["Hi ", "you", ""]


def test_a_request_stands_beside_the_output() -> None:
    asked = {"tools": [{"name": "g"}], "tool_choice": "none", "policy": {"unknown_tool": "drop"}}
    assert parse(OUTPUT, "qwen", **asked).tool_calls == []
    assert replay(OUTPUT, "qwen", **asked).context.tools[0].name == "g"


def test_a_case_says_everything_itself() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": OUTPUT}})
    assert replay(case).trace.message == find(case, max_replays=60).found.outcomes[0].message
    with pytest.raises(CaseError, match="says everything itself"):
        replay(case, "qwen")


def test_a_case_is_read_from_the_text_that_it_is_written_as() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": OUTPUT}})
    assert load_case(dump_case(case)) == case


@pytest.mark.parametrize("key", ["tool", "chunk"])
def test_a_key_that_no_request_has_is_refused(key: str) -> None:
    with pytest.raises(CaseError, match="unknown key"):
        parse(OUTPUT, "qwen", **{key: 1})


def test_names_are_those_of_formats_and_aliases() -> None:
    assert get_format("hermes").name == make_parser("hermes").name == "qwen"
    assert "hermes" not in format_names()
    with pytest.raises(UsageError, match="qwen"):
        make_parser("qwan")
