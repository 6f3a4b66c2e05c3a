"""What `check` writes: JUnit XML that readers of builds take, and a summary in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from webapp.commands.case_outcomes import Asked, CaseResult
from webapp.commands.check_junit import check_junit
from webapp.commands.check_summary import MOST_ROWS, summary
from webapp.commands.junit import plain

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
RIGHT = {"content": None, "tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich"}}]}
WRONG = {"content": "a ``` b\x1b[31m\ud800" + "|<b>", "tool_calls": []}
Program = Callable[..., Any]


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A corpus with a case of each outcome, and a file that is no case."""
    monkeypatch.chdir(tmp_path)
    plain_case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
    cases = {
        "right": {**plain_case, "expect": RIGHT},
        "wrong": {**plain_case, "expect": {**WRONG, "content": "a ``` b\x1b[31m|<b>"}},
        "known": {**plain_case, "expect": WRONG | {"content": "x"}, "verdict": "known_bug"},
        "fixed": {**plain_case, "expect": RIGHT, "verdict": "known_bug"},
        "unseen": {**plain_case, "verdict": "known_bug"},
        "elsewhere": {**plain_case, "parser": {"name": "hermes", "engine": "vllm"}},
        "none": {**plain_case, "parser": {"name": "nobody"}},
    }
    (tmp_path / "all.cases.json").write_text(json.dumps(cases), "utf-8")
    return "all.cases.json"


@pytest.mark.replays
def test_each_outcome_is_what_readers_of_junit_know(program: Program, suite: str) -> None:
    done = program("check", suite, "nowhere.case.json", "--junit", "new/junit.xml")
    assert (done.code, done.err) == (2, "")
    root = Xml.parse("new/junit.xml").getroot()
    numbers = {"tests": "8", "failures": "1", "errors": "2", "skipped": "2"}
    assert {key: root.attrib[key] for key in numbers} == numbers
    assert [child.get("name") for child in root] == [suite, "nowhere.case.json"]
    found = {test.get("name"): [child.tag for child in test] for test in root.iter("testcase")}
    assert found == {
        "right": [], "wrong": ["failure"], "known": ["skipped"], "fixed": ["system-out"], "unseen": ["system-out"],
        "elsewhere": ["skipped"],
        "none": ["error"], "nowhere.case.json": ["error"],
    }  # fmt: skip


THREAD, ELSEWHERE = "https://bugs.example/1|2>", "a thread <of> theirs"
SAID_AT = {
    "known": {"expect": {"content": "x"}, "engines": {"builtin": {"verdict": "known_bug", "link": THREAD}}},
    "fixed": {"expect": RIGHT, "engines": {"builtin:qwen": {"verdict": "known_bug", "link": ELSEWHERE}}},
    "wrong": {"expect": {"content": "x"}, "engines": {"builtin": {"link": THREAD, "notes": ["Of old."]}}},
    "other": {"expect": RIGHT, "engines": {"vllm": {"link": THREAD}}},
}


def test_where_a_case_says_more_of_its_engine_stands_in_the_log_the_junit_file_and_the_summary(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain_case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
    Path("all.cases.json").write_text(json.dumps({name: {**plain_case, **one} for name, one in SAID_AT.items()}))
    done = program("check", "all.cases.json", "--junit", "junit.xml", "--summary", "summary.md")
    where = {name: f"; see {said})" in done.out for name, said in (("known", THREAD), ("fixed", ELSEWHERE))}
    assert (where, done.out.count("; see ")) == ({"known": True, "fixed": True}, 3)
    tests = {one.get("name"): one for one in Xml.parse("junit.xml").getroot().iter("testcase")}
    assert [name for name, one in tests.items() if f"see {THREAD}" in "".join(one.itertext())] == ["known", "wrong"]
    assert [one.get("message") for one in tests["known"]] == [f"known bug: content (see {THREAD})"]
    assert f"see {ELSEWHERE}" in "".join(tests["fixed"].itertext())
    text = Path("summary.md").read_text("utf-8")
    assert "### Known bugs\n" in text
    assert "known bug: `content` ([link](<https://bugs.example/1|2%3E>))" in text
    assert f"fixed (see `{ELSEWHERE}`)" in text


@pytest.mark.replays
def test_a_failure_in_junit_has_its_time_its_place_and_what_was_printed(program: Program, suite: str) -> None:
    done = program("check", suite, "--junit", "junit.xml")
    test = next(one for one in Xml.parse("junit.xml").getroot().iter("testcase") if one.get("name") == "wrong")
    assert (test.get("classname"), test.get("file")) == (suite, suite)
    assert re.fullmatch(r"\d+\.\d{3}", test.get("time", ""))
    failure = test.find("failure")
    assert failure is not None
    assert failure.get("message") == "content, tool_calls"
    for line in (failure.text or "").splitlines():
        assert f"           {line}\n" in done.out


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\x00b\x1b[0m\x08", "a\\u0000b\\u001b[0m\\u0008"),
        ("\ud83d \udc00", "\\ud83d \\udc00"),
        ("\ufffe\uffff\ufffd", "\\ufffe\\uffff\ufffd"),
        ("tab\tline\nÜ 😀 ]]> & < \"'", "tab\tline\nÜ 😀 ]]> & < \"'"),
    ],
)
def test_what_xml_cannot_hold_is_spelled_out(text: str, written: str) -> None:
    assert plain(text) == written
    result = CaseResult(text, "FAIL", file=text, wrong={text: ("all",)}, details=[text])
    failure = Xml.fromstring(check_junit([result]).encode()).find(".//failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == (written, written)


@pytest.mark.replays
def test_a_summary_says_what_failed_and_nothing_in_it_is_markup(program: Program, suite: str) -> None:
    program("check", suite, "--summary", "summary.md")
    text = Path("summary.md").read_text("utf-8")
    assert text.startswith("## Toolcall Inspector: 2 cases failed\n\n| engine | cases | FAIL | unusable |")
    assert "| of each case | 7 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "- `all.cases.json::wrong`: `content, tool_calls`\n\n  ````\n" in text
    assert "\x1b" not in text
    assert text.count("````") == 2


def test_a_summary_is_added_only_where_that_is_asked_for(program: Program, suite: str) -> None:
    file = Path("summary.md")
    file.write_text("# Before\n", "utf-8")
    program("check", f"{suite}::right", "--summary", file, "--append")
    text = file.read_text("utf-8")
    assert text.startswith("# Before\n## Toolcall Inspector: nothing failed\n")
    program("check", f"{suite}::right", "--summary", file)
    assert file.read_text("utf-8") == text.removeprefix("# Before\n")


def test_a_summary_of_thousands_is_short() -> None:
    wrong = {"content": ("all",)}
    lines = [f"{at} {'x' * 400}" for at in range(30)]
    results = [CaseResult(f"f::{at}", "FAIL", "f", wrong=wrong, worse=wrong, details=lines) for at in range(5_000)]
    text = summary(results, Asked(), ["one `line`"])
    assert len(text) < 400_000
    assert f"- and {5_000 - MOST_ROWS:,} more" in text
    assert "| of each case | 5,000 | 5,000 |" in text
    assert "- one &#96;line&#96;\n" in text


def test_a_parser_that_is_named_is_told_everywhere(program: Program, suite: str) -> None:
    done = program("check", f"{suite}::right", "--parser", "hermes", "--junit", "j.xml", "--summary", "s.md")
    assert done.out.startswith("tested: hermes, in the place of the cases' own parsers\nok  ")
    assert "\n- tested: hermes, in the place of the cases' own parsers\n" in Path("s.md").read_text("utf-8")
    told = [one.attrib for one in Xml.parse("j.xml").getroot().iter("property")]
    assert told == [{"name": "tested", "value": "hermes"}]


def test_the_parsers_of_the_cases_are_no_news(program: Program, suite: str) -> None:
    done = program("check", f"{suite}::right", "--junit", "j.xml", "--summary", "s.md")
    assert "tested" not in done.out + Path("s.md").read_text("utf-8") + Path("j.xml").read_text("utf-8")
