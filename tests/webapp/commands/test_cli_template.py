"""A case that brings a response_template, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.corpus import corpus_file

Program = Callable[..., Any]
CASES = corpus_file("response_template")


def test_a_case_with_a_template_is_replayed(program: Program) -> None:
    report = program("replay", f"{CASES}::tagged", "--json").json
    assert report["parser"] == "response_template"
    assert report["message"]["tool_calls"][0]["arguments"] == '{"city": "Bern", "days": 3}'
    assert report["findings"] == []


def test_what_transformers_raises_is_a_finding(program: Program) -> None:
    report = program("replay", f"{CASES}::defect-close-in-string", "--json").json
    assert [(one["check"], one["severity"]) for one in report["findings"]][:1] == [("parser_raised", "error")]


@pytest.mark.replays
def test_cases_with_templates_are_checked(program: Program) -> None:
    done = program("check", CASES)
    assert (done.code, done.out.splitlines()[-1]) == (0, "21 cases: 4 known bug, 17 ok")


@pytest.mark.parametrize(
    ("options", "parser"),
    [
        ((), "response_template"),
        (("--parser", "response_template"), "response_template"),
        (("--parser", "qwen"), "qwen"),
    ],
)
def test_another_parser_leaves_the_template_out(program: Program, options: tuple[str, ...], parser: str) -> None:
    assert program("replay", f"{CASES}::single", "--json", *options).json["parser"] == parser


def test_a_text_has_no_template(program: Program) -> None:
    done = program("replay", "-", "--parser", "response_template", stdin="text")
    assert (done.code, done.out) == (2, "")
    assert "it needs a template, so a case file names it; see `parsers response_template`" in done.err


def test_a_policy_is_refused(program: Program) -> None:
    done = program("replay", f"{CASES}::single", "--policy", "unknown_tool=drop")
    assert (done.code, "has no policies" in done.err) == (2, True)


def test_the_engine_is_described(program: Program) -> None:
    out = program("parsers", "response_template").out
    assert '"engine": "response_template", "options": {"template": {...}}' in out
