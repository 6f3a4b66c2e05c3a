"""The wrapper and selection on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.webapp.commands.conftest import CALL, Program

CaseFile = Callable[..., Path]
WRAPPED = {"name": "qwen", "engine": "fallback", "options": {"budget": 10}}


@pytest.mark.replays
def test_a_case_file_runs_behind_the_wrapper(program: Program, case_file: CaseFile) -> None:
    found = program("replay", case_file(parser=WRAPPED), "--json").json
    assert (found["parser"], found["message"]["content"]) == ("qwen", CALL)
    assert found["reasons"][-1] == "It runs behind the fallback wrapper (engine fallback)."


def test_a_parser_that_is_asked_for_takes_the_wrapper_away(program: Program, case_file: CaseFile) -> None:
    found = program("replay", case_file(parser=WRAPPED), "--json", "--enforce-parser", "qwen").json
    assert [call["name"] for call in found["message"]["tool_calls"]] == ["get_weather"]


def test_a_wrapped_case_is_checked_and_exported(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    path = case_file(parser=WRAPPED, expect={"content": CALL, "tool_calls": []})
    assert program("check", path).code == 0
    assert '"engine": "fallback"' in program("export", path, "--to", "case").out


def test_an_option_of_the_wrapper_that_is_wrong_is_told_with_its_place(program: Program, case_file: CaseFile) -> None:
    done = program("replay", case_file(parser={**WRAPPED, "options": {"limit": 1}}))
    assert done.code == 2
    assert "/parser/options/limit: " in done.err


@pytest.mark.parametrize(
    ("options", "parser"),
    [
        (("--model-type", "Glm4MoeForCausalLM"), "glm47_moe"),
        (("--model-type", "glm4_moe", "--model-id", "zai-org/GLM-4.5"), "glm45_moe"),
        (("--model-type", "qwen3", "--enforce-parser", "mistral"), "mistral"),
        (("--enforce-parser", " ", "--model-id", "Kimi-K2"), "kimik2"),
    ],
)
def test_the_model_decides_where_no_parser_is_enforced(program: Program, options: tuple[str, ...], parser: str) -> None:
    found = program("replay", "-", "--json", *options, stdin="x").json
    assert found["parser"] == parser


def test_an_invalid_parser_name_is_refused_with_the_valid_ones(program: Program) -> None:
    done = program("replay", "-", "--enforce-parser", "qwen-coder", stdin="x")
    assert done.code == 2
    assert "qwen_coder" in done.err
    assert len(done.err.strip().splitlines()) == 1
