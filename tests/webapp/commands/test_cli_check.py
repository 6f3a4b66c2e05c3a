"""`check`: which files are run, which outcomes there are, what is said of a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import loads
from parsers.cases.run import CaseRun, run_case
from parsers.vocabulary.trace import Finding
from webapp.commands.running import service

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
RIGHT = {"content": None, "tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich"}}]}
WRONG = {"content": "Hello", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Bern"}}]}
FALLBACK = {"name": "qwen", "engine": "fallback"}
Program = Callable[..., Any]
CaseFile = Callable[..., Path]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in which a check finds an error, and one chunking of two deltas gives another message."""

    def checked(run: Any) -> CaseRun:
        found = run_case(run.case)
        found.compared[3].same = False
        found.findings = [
            Finding("chunking", "error", "parser", "It differs.", 2),
            Finding("known_tool", "warning", "output", "Odd."),
            Finding("ends_idle", "error", "parser", "Still open."),
        ]
        return found

    monkeypatch.setattr(service(), "checked", checked)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("keys", "outcome", "code"),
    [
        ({}, "ok", 0),
        ({"expect": RIGHT}, "ok", 0),
        ({"expect": WRONG}, "FAIL", 1),
        ({"expect": {"finish_reason": "stop"}}, "FAIL", 1),
        ({"expect": WRONG, "verdict": "known_bug"}, "known bug", 0),
        ({"expect": RIGHT, "verdict": "known_bug"}, "fixed", 0),
        ({"verdict": "known_bug"}, "not seen", 0),
        ({"expect": WRONG, "verdict": "implementation_defined"}, "differs", 0),
        ({"expect": RIGHT, "verdict": "implementation_defined"}, "ok", 0),
        ({"parser": {"name": "hermes", "engine": "vllm"}, "expect": WRONG}, "skip", 0),
        ({"parser": FALLBACK, "expect": WRONG, "engines": {"fallback": {"expect": RIGHT}}}, "ok", 0),
        ({"parser": FALLBACK, "expect": RIGHT, "engines": {"fallback": {"expect": WRONG}}}, "FAIL", 1),
        ({"parser": FALLBACK, "expect": WRONG, "engines": {"fallback": {"verdict": "known_bug"}}}, "known bug", 0),
        ({"parser": {"name": "nobody"}}, "unusable", 2),
        ({"schema": 9}, "unusable", 2),
    ],
)
def test_each_outcome_has_its_word_and_exit_code(
    program: Program, case_file: CaseFile, keys: dict[str, Any], outcome: str, code: int
) -> None:
    done = program("check", case_file(**keys))
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(outcome)
    assert done.out.endswith(f"1 case: 1 {outcome}\n")


def test_a_failure_names_the_chunking_of_fewest_deltas_the_fields_and_a_command(
    program: Program, case_file: CaseFile
) -> None:
    path = case_file("one two.case.json", expect=WRONG)
    assert [line.strip() for line in program("check", path).out.splitlines()[1:-1]] == [
        "not as expected in 11 of 11 replays; the one of fewest deltas: whole",
        'content: expected "Hello"',
        'actual ""',
        'tool_calls[0].arguments: expected \'{"city": "Bern"}\'',
        'actual \'{"city": "Zürich"}\'',
        f"toolcall-inspector replay '{path}' --chunk whole",
    ]


def test_only_the_chunkings_of_the_case_are_run_where_it_has_several(program: Program, case_file: CaseFile) -> None:
    out = program("check", case_file(replay=[{"by": "char"}, {"by": "token", "size": 2}])).out
    assert "(3 replays, " in out


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("verdict", "outcome", "code"),
    [("required", "FAIL", 1), ("known_bug", "known bug", 0), ("implementation_defined", "FAIL", 1)],
)
def test_an_error_of_a_check_fails_a_case_that_is_as_expected(
    program: Program, case_file: CaseFile, verdict: str, outcome: str, code: int
) -> None:
    done = program("check", case_file(expect=RIGHT, verdict=verdict))
    lines = [line.strip() for line in done.out.splitlines()]
    assert (done.code, lines[0].startswith(outcome)) == (code, True)
    assert lines[1:3] == ["check chunking at step 2, token by token: It differs.", "check ends_idle: Still open."]
    assert lines[3].endswith(" --chunk token")  # where the one that says no chunking was seen


def test_a_warning_fails_nothing(program: Program, case_file: CaseFile) -> None:
    stray = case_file(input={"text": "Hi\n</tool_call>\n"})
    assert "warning" in [finding.severity for finding in run_case(loads(stray.read_bytes())).findings]
    assert program("check", stray).code == 0


def test_a_folder_is_searched_in_order_and_hidden_ones_are_left_out(program: Program, case_file: CaseFile) -> None:
    for name in ("b/2.case.json", "b/1.case.json", "a.case.json", ".hidden/x.case.json", "b/notes.json"):
        folder = case_file(name).parents[name.count("/")]
    out = program("check", folder).out
    names = [line.split()[1] for line in out.splitlines()[:-1]]
    assert [name.removeprefix(f"{folder}/") for name in names] == ["a.case.json", "b/1.case.json", "b/2.case.json"]


def test_a_folder_without_cases_is_a_mistake(program: Program, tmp_path: Path) -> None:
    done = program("check", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "holds no *.case.json file" in done.err


def test_a_case_that_cannot_be_read_does_not_keep_the_others_from_running(
    program: Program, case_file: CaseFile
) -> None:
    bad, good = case_file("bad.case.json", sceham=1), case_file("good.case.json", expect=WRONG)
    done = program("check", bad, good, "nowhere.case.json")
    assert done.code == 2
    assert [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")] == [
        "unusable", "FAIL", "unusable", "3",
    ]  # fmt: skip
    assert "(is no case file: /sceham: unknown key" in done.out


def test_a_case_may_come_through_standard_input(program: Program, case_file: CaseFile) -> None:
    assert program("check", "-", stdin=case_file(expect=RIGHT).read_bytes()).out.startswith("ok         -  (11 replays")


def test_raw_output_is_no_case(program: Program, output_file: Path) -> None:
    out = program("check", output_file).out
    assert out.startswith("unusable")
    assert "is no case file: not JSON" in out


def test_an_output_over_the_limit_is_unusable(
    program: Program, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_MAX_TEXT_BYTES", "10")
    assert "(The output text has 82 bytes; the limit is 10 bytes" in program("check", case_file()).out
