"""Corpora on the command line: all cases of one are checked, and FILE::NAME is one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]
CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
RIGHT = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
WRONG = RIGHT | {"expect": {"content": "Hello"}}
PLAIN = RIGHT | {"input": {"text": "Hi"}}


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str = "some.cases.json", **cases: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(cases or {"right": RIGHT, "wrong": WRONG, "plain": PLAIN}), "utf-8")
        return path

    return write


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "some.jsonl"
    path.write_text(f"{json.dumps(PLAIN)}\n{json.dumps(RIGHT)}\n", "utf-8")
    return path


def results(out: str) -> list[tuple[str, str]]:
    """Outcome and name of each case."""
    first = [line.split("  (")[0] for line in out.splitlines()[:-1] if not line.startswith(" ")]
    return [(line[:9].strip(), Path(line[11:]).name) for line in first]


def test_every_case_is_checked_and_named(program: Program, corpus: Callable[..., Path]) -> None:
    done = program("check", corpus())
    assert (done.code, done.out.splitlines()[-1]) == (1, "3 cases: 2 ok, 1 FAIL")
    names = [("ok", "right"), ("FAIL", "wrong"), ("ok", "plain")]
    assert results(done.out) == [(outcome, f"some.cases.json::{name}") for outcome, name in names]


def test_one_case_is_checked_by_its_name_and_its_failure_can_be_replayed(
    program: Program, corpus: Callable[..., Path]
) -> None:
    path = corpus()
    done = program("check", f"{path}::wrong")
    assert (done.code, results(done.out)) == (1, [("FAIL", "some.cases.json::wrong")])
    again = done.out.splitlines()[-2].split()[1:]
    assert again == ["replay", f"{path}::wrong", "--chunk", "whole"]
    assert program(*again).code == 0


def test_a_folder_is_searched_for_corpora_and_for_json_lines_of_cases(
    program: Program, corpus: Callable[..., Path], lines: Path
) -> None:
    corpus("a.cases.json", one=RIGHT)
    corpus("b.case.json", **PLAIN)
    (lines.parent / "log.jsonl").write_text('{"words": "of something else"}\n', "utf-8")
    (lines.parent / "cut.jsonl").write_text(f"{json.dumps(PLAIN)}\n{json.dumps(RIGHT)[:-9]}", "utf-8")
    names = [name for _, name in results(program("check", lines.parent).out)]
    assert names == ["a.cases.json::one", "b.case.json", "cut.jsonl", "some.jsonl::1", "some.jsonl::2"]


def test_a_case_that_is_wrong_does_not_keep_the_others_from_running(
    program: Program, corpus: Callable[..., Path]
) -> None:
    done = program("check", corpus(bad=RIGHT | {"sceham": 1}, good=RIGHT))
    assert done.code == 2
    assert [outcome for outcome, _ in results(done.out)] == ["unusable", "ok"]
    assert "some.cases.json::bad  (is no case file: /sceham: unknown key" in done.out


def test_names_given_twice_and_broken_json_are_said_with_their_place(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "x.cases.json"
    path.write_text(f'{{"a": {json.dumps(PLAIN)},\n"a": {json.dumps(PLAIN)}}}', "utf-8")
    out = program("check", path).out
    assert 'two cases are called "a": at line 1, column 7 and at line 2, column 6' in out
    path.write_text("[", "utf-8")
    assert "corpus that cannot be read" in program("replay", path).err


@pytest.mark.replays
@pytest.mark.parametrize("command", [("replay",), ("find",), ("export", "--to", "case")], ids=lambda words: words[0])
def test_of_several_cases_one_has_to_be_named(
    program: Program, corpus: Callable[..., Path], command: tuple[str, ...]
) -> None:
    path = corpus()
    done = program(*command, path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"{path} holds 3 cases; name one as {path}::NAME: right, wrong, plain" in done.err
    assert program(*command, f"{path}::plain").code == 0
    assert program(*command, corpus("one.cases.json", only=PLAIN)).code == 0
    assert f"{path} holds no case called none; it holds right, wrong, plain" in program(*command, f"{path}::none").err


def test_of_many_cases_the_first_are_named(program: Program, corpus: Callable[..., Path]) -> None:
    path = corpus(**{f"case-{number}": PLAIN for number in range(10)})
    assert "case-6, case-7 and 2 more" in program("replay", path).err


def test_the_case_that_is_named_is_run(program: Program, corpus: Callable[..., Path], lines: Path) -> None:
    path = corpus()
    assert program("replay", f"{path}::plain", "--json").json["message"]["content"] == "Hi"
    assert "some.cases.json::plain" in program("find", f"{path}::plain").out
    assert json.loads(program("export", f"{lines}::2", "--to", "case").out)["input"]["tokens"][0][1] == "<tool_call>"
    assert program("replay", "--json", "--", "-::wrong", stdin=path.read_bytes()).json["parser"] == "qwen"


def test_only_a_corpus_has_cases_to_name(program: Program, corpus: Callable[..., Path], tmp_path: Path) -> None:
    single = corpus("one.case.json", **PLAIN)
    assert "holds no case called x, as it is no corpus" in program("replay", f"{single}::x").err
    odd = tmp_path / "odd::name.case.json"
    odd.write_bytes(single.read_bytes())
    assert program("check", odd).code == 0


def test_a_wrong_case_is_told_by_its_name(program: Program, corpus: Callable[..., Path]) -> None:
    path = corpus(bad=RIGHT | {"parser": {}}, none=RIGHT | {"parser": {"name": "nobody"}})
    assert f"{path}::bad: /parser/name: this key is required" in program("replay", f"{path}::bad").err
    assert f"{path}::bad is no case file" in program("export", f"{path}::bad", "--to", "case").err
    assert f"{path}::none" in program("replay", f"{path}::none").err
