"""--contract and --honest-only: contracts by name and from a file, what they change, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webapp.commands.conftest import CALL, Program

CUT = CALL.partition("}}")[0]


def test_a_contract_by_name_or_file_decides_what_becomes_of_a_cut_call(program: Program, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"name": "own", "truncated_call": ["drop"]}), "utf-8")
    replay = ("replay", "-", "--parser", "qwen", "--json")
    assert program(*replay, stdin=CUT).json["message"]["tool_calls"]
    assert program(*replay, "--contract", "as_streamed", stdin=CUT).json["message"]["tool_calls"]
    assert not program(*replay, "--contract", own, stdin=CUT).json["message"]["tool_calls"]
    closed = program(*replay, "--contract", own, "--policy", "truncated_call=close", stdin=CUT)
    assert closed.json["message"]["tool_calls"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("mine", "--contract mine: there is no contract 'mine'; the contracts are openai, as_streamed"),
        ("none.json", "none.json cannot be read"),
    ],
)
def test_what_is_no_contract_is_one_line(program: Program, given: str, words: str) -> None:
    done = program("replay", "-", "--parser", "qwen", "--contract", given, stdin=CALL)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_key_of_no_contract_is_refused_with_the_file(program: Program, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"name": "own", "truncated_call": ["lose"]}), "utf-8")
    done = program("replay", "-", "--contract", own, stdin=CALL)
    assert done.code == 2
    assert "--contract" in done.err


def test_markers_of_an_unknown_grammar_are_declared_in_one_line(program: Program, tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    stream = [{"choices": [{"index": 0, "delta": {"content": "Hi <<call>> now"}, "finish_reason": "stop"}]}]
    case.write_text(json.dumps({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}}), "utf-8")
    assert program("find", case, "--json").json["verdict"]["kind"] == "all_hold"
    found = program("find", case, "--markers", "<<call>>, <</call>>", "--json").json
    assert [one["check"] for one in found["findings"]] == ["no_terminal_leak"]


@pytest.mark.parametrize(
    ("markers", "words"),
    [
        ("<a>", "are known: declare none"),
        ("[1]", "--markers"),
        ("a", "--markers"),
        ("<", "are known"),
        ("\\nEND", '--markers: \\nEND has a backslash: give a JSON list, ["\\nEND"] for a line break or tab'),
    ],
)
def test_markers_that_cannot_be_declared_are_one_line(program: Program, markers: str, words: str) -> None:
    done = program("replay", "-", "--parser", "qwen", "--markers", markers, stdin=CALL)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert words in done.err


@pytest.mark.replays
def test_only_honest_chunkings_are_searched_where_that_is_asked_for(program: Program) -> None:
    found = program("find", "-", "--parser", "qwen", "--honest-only", "--json", stdin=f"It is done. {CALL}").json
    assert {group["grade"] for group in found["groups"]} == {"honest"}
    assert all(one["assumed"] == one["hostile"] == 0 for one in found["outcomes"])
    every = program("find", "-", "--parser", "qwen", "--json", stdin=f"It is done. {CALL}").json
    assert {group["grade"] for group in every["groups"]} == {"honest", "assumed", "hostile"}
