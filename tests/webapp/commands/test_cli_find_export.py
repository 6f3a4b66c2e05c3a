"""`find --export TARGET`: the smallest case that a search found, as a file for another tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.departure import Departure
from parsers.cases.find import CaseFound
from parsers.cases.io import load_case, loads
from parsers.replays.chunking import WHOLE
from parsers.search.found import Detail, Found, Minimized, OutcomeClass, Progress, Verdict
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece
from tests.webapp.engines.entering import own
from webapp.commands import find as command
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.settings import get_settings

Program = Callable[..., Any]
SMALL = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "<tool_call>"}, "title": "Small"}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[[Case | None], None]:
    """Put a search that found this case in the place of the real one."""

    class Search:
        def __init__(self, case: Case, small: Case | None) -> None:
            verdict = Verdict("chunk_boundary", "error", "parser", "It depends on the cuts.", (Detail("A detail."),))
            self.found = CaseFound(case, Found("x", [], [], [], [], [], [], verdict), small)

        def run(self) -> list[Progress]:
            return []

        def result(self) -> CaseFound:
            return self.found

    def play(small: Case | None) -> None:
        monkeypatch.setattr(command, "case_search", lambda case, *_, **__: Search(case, small))

    return play


def test_an_untitled_case_of_a_corpus_is_searched_under_its_name(
    program: Program, found: Callable[[Case | None], None], tmp_path: Path
) -> None:
    found(None)
    case = {key: value for key, value in SMALL.items() if key != "title"}
    (tmp_path / "some.cases.json").write_text(json.dumps({"One call": case}), "utf-8")
    report = program("find", f"{tmp_path}/some.cases.json::One call", "--export", "markdown").out
    assert report.startswith("# One call\n")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output."""
    (tmp_path / "o.txt").write_text("<tool_call>", "utf-8")
    return tmp_path / "o.txt"


@pytest.mark.parametrize(("target", "words"), [("vllm", "SAMPLE = Sample("), ("pytest", "def make_parser")])
def test_the_smallest_case_is_written_as_a_test(
    program: Program, found: Any, output: Path, target: str, words: str
) -> None:
    found(load_case({**SMALL, "expect": {"content": "<tool_call>", "tool_calls": []}}))
    done = program("find", output, "--export", target)
    assert (done.code, done.err, words in done.out) == (0, "It depends on the cuts.\n", True)


def test_a_case_is_written_without_knowing_what_is_right(program: Program, found: Any, output: Path) -> None:
    found(load_case(SMALL))
    assert loads(program("find", output, "--export", "case").out).title == "Small"
    done = program("find", output, "--export", "vllm")
    assert (done.code, done.out) == (2, "")
    assert "the search cannot tell which of the messages is right; export the case" in done.err


def test_where_the_search_cannot_tell_what_is_right_the_test_expects_what_its_format_reads(
    program: Program, found: Any, output: Path, cutting: str
) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    case = {"schema": 1, "parser": {"name": "Cut", "engine": cutting}, "input": {"text": text}}
    found(load_case(case))
    done = program("find", output, "--export", "pytest")
    assert "it expects what the format qwen reads: see that it is right" in done.err
    assert "'f'" in done.out
    found(load_case({**case, "input": {"text": "no call"}}))
    assert "the search cannot tell" in program("find", output, "--export", "pytest").err


def test_where_a_suite_cannot_say_the_case_that_is_said(program: Program, found: Any, output: Path) -> None:
    found(load_case({**SMALL, "expect": {"content": "a"}}))
    assert "this case brings none along" in program("find", output, "--export", "transformers").err


@pytest.fixture
def cutting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An engine that loses a delta that is one line end."""
    with monkeypatch.context() as patch:
        patch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
        write_entry(get_settings(), "mine", own("Cut", **{"class": "paired_parsers:Cut"}))
        use_engines(get_settings())
        yield "mine"
    use_engines(get_settings())


@pytest.mark.replays
def test_a_report_in_html_is_of_the_whole_search(program: Program, cutting: str) -> None:
    done = program(
        "find", "-", "--engine", cutting, "--export", "html", stdin="It is sunny,\nand <b>it</b> stays so.\n"
    )
    verdict, said = escape(done.err.splitlines()[-1]), re.sub("</?code>", "`", done.out)
    assert (done.code, done.out.count("<h2>Smallest case</h2>"), verdict in said) == (0, 1, True)
    assert ("sunny" in done.out, "Its case file" in done.out, "No search was made" in done.out) == (True, True, False)


@pytest.mark.replays
def test_a_report_in_markdown_is_of_the_whole_search(program: Program, cutting: str) -> None:
    given = "It is sunny,\nand <b>it</b> stays so.\n"
    done = program("find", "-", "--engine", cutting, "--export", "markdown", stdin=given)
    heads = [line.removeprefix("## ") for line in done.out.splitlines() if line.startswith("## ")]
    assert (done.code, heads[:5]) == (
        0, ["What is wrong", "Smallest case", "Could a server send this?", "Versions", "Parser"],
    )  # fmt: skip
    assert done.out.count("toolcall-inspector replay smallest.case.json") == 1
    assert ("sunny" in done.out, "Chunkings" in heads, '"parent"' in done.out) == (True, True, True)


def test_a_search_that_found_nothing_has_a_report_in_markdown(program: Program) -> None:
    done = program("find", "-", "--parser", "qwen", "--export", "markdown", stdin="Hello you")
    assert (done.code, done.err.splitlines()[-1].partition(":")[0] in done.out) == (0, True)
    assert "Smallest case" not in done.out


def test_a_search_that_found_nothing_has_a_report_in_html(program: Program) -> None:
    done = program("find", "-", "--parser", "qwen", "--export", "html", stdin="Hello you")
    assert (done.code, escape(done.err.splitlines()[-1]) in done.out) == (0, True)
    assert ("Smallest case" in done.out, "No search was made" in done.out) == (False, False)


def test_a_case_whose_smaller_form_says_nothing_of_what_is_right_is_written_itself(
    program: Program, monkeypatch: pytest.MonkeyPatch, output: Path
) -> None:
    whole = load_case({**SMALL, "title": "Whole", "expect": {"content": "right"}})
    departs = Departure("Content", "wrong", "right", 1, parsed=True)
    shown = Finding("chunking", "error", "parser", "It depends.")
    small = Minimized("chunking", shown, (Piece("x"),), WHOLE, Context(), 1)
    found = Found(
        "x", [shown], [], [], [], [], [], Verdict("chunk_boundary", "error", "parser", "It."), minimized=small
    )
    played = SimpleNamespace(run=list, result=lambda: CaseFound(whole, found, load_case(SMALL), departs))
    monkeypatch.setattr(command, "case_search", lambda case, *_, **__: played)
    done = program("find", output, "--export", "case")
    assert loads(done.out).known.expect == whole.known.expect
    said = load_case({**SMALL, "title": "Said", "expect": {"content": "right"}})
    played.result = lambda: CaseFound(whole, found, said, departs)
    assert loads(program("find", output, "--export", "case").out).title == "Said"


@pytest.mark.parametrize("severity", ["error", "info"])
@pytest.mark.parametrize("complete", [False, True])
def test_a_search_that_was_left_writes_the_case_that_was_given_as_it_fails(
    program: Program, monkeypatch: pytest.MonkeyPatch, output: Path, severity: Severity, *, complete: bool
) -> None:
    shown = Finding("chunking", severity, "parser", "It depends.")
    worse = OutcomeClass(1, Message(), "stop", 1, 1, WHOLE, "in one delta")
    found = Found(
        "x", [shown], [], [], [worse, worse], [], [], Verdict("chunk_boundary", "error", "parser", "It."),
        complete=complete,
    )  # fmt: skip
    searched = SimpleNamespace(run=list, result=lambda: CaseFound(load_case(SMALL), found))
    monkeypatch.setattr(command, "case_search", lambda case, *_, **__: searched)
    done = program("find", output, "--export", "case")
    assert ("--seconds gives it longer" in done.err) is not complete
    assert (done.out != "") is (severity == "error" and not complete)
    if done.out:
        assert loads(done.out).replay[0] == worse.smallest


def test_nothing_is_written_where_nothing_was_found(program: Program, found: Any, output: Path) -> None:
    found(None)
    done = program("find", output, "--export", "vllm")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(f"{output}: nothing was found to export\n")


def test_what_only_a_changed_output_shows_is_told_and_not_written(
    program: Program, monkeypatch: pytest.MonkeyPatch, output: Path
) -> None:
    shown = Finding("changed_output_raised", "error", "parser", "It fails.")
    small = Minimized("parser_raised", shown, (Piece("x"),), WHOLE, Context(), 1, of_changed=True)
    verdict = Verdict("all_hold", "pass", "parser", "All checks hold.")
    remark = replace(shown, severity="info")
    found = Found("x", [remark], [], [], [], [], [], verdict, minimized=small, robustness=[shown])
    played = SimpleNamespace(run=list, result=lambda: CaseFound(load_case(SMALL), found, load_case(SMALL)))
    monkeypatch.setattr(command, "case_search", lambda case, *_, **__: played)
    done = program("find", output, "--export", "case")
    assert (done.code, done.out) == (0, "")
    assert "only a changed output shows parser_raised; find --json has its case" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--export", "har"), "--export har: there is no such export; choose one of: case, pytest"),
        (("--export", "vllm", "--json"), "both say what is printed"),
        (("--export", "vllm", "--engine", "a", "--engine", "b"), "leave the other --engine out"),
    ],
)
def test_options_that_contradict_it_are_refused(
    program: Program, output: Path, words: tuple[str, ...], message: str
) -> None:
    done = program("find", output, *words)
    assert (done.code, done.out, message in done.err) == (2, "", True)


@pytest.mark.parametrize(("expect", "code"), [("Hello.", 1), ("Hi.", 0)])
def test_a_case_of_which_only_its_expectation_is_not_met_is_what_is_exported(
    program: Program, tmp_path: Path, expect: str, code: int
) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi."}, "checks": ["spans_cover_input"]}
    path = tmp_path / "my.case.json"
    path.write_text(json.dumps({**case, "expect": {"content": expect, "tool_calls": []}}), "utf-8")
    ran = program("find", path, "--export", "case")
    assert ran.code == code
    assert ("Hello." in ran.out, "nothing was found to export" in ran.err) == (code == 1, code == 0)
