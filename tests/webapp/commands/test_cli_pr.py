"""`export --pr CHECKOUT`: a test at its path in a checkout, the git commands, and what is never overwritten."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from parsers.cases.export.suite_target import SuiteFile
from parsers.cases.export.suites import SUITES
from parsers.vocabulary.types import UsageError
from webapp.commands.checkouts import write_into

Program = Callable[..., Any]
CaseFile = Callable[..., Path]
RIGHT = {"content": "", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich"}}]}
HERMES = "rust/src/parser/src/tool/json/hermes.rs"
FAMILY = "conformance/fixtures-unified-v2/families/qwen3/inputs_and_golden.yaml"
CHAT = "tests/test-chat.cpp"
ANCHOR = "static void test_template_output_peg_parsers(bool detailed_debug) {\n"


@pytest.fixture
def given(case_file: CaseFile) -> Path:
    """A case that has a title and says what is right."""
    return case_file(title="It's a call", expect=RIGHT)


def checkout(folder: Path, path: str, text: str | None = None) -> Path:
    """A folder with this file, or with that of it alone."""
    place = folder / "checkout" / path
    place.parent.mkdir(parents=True)
    if text is not None:
        place.write_text(text, "utf-8")
    return folder / "checkout"


def test_a_test_is_written_and_the_commands_that_commit_it_are_printed(
    program: Program, given: Path, tmp_path: Path
) -> None:
    folder, path = checkout(tmp_path, "tests/parser/engine/x"), "tests/parser/engine/test_it_s_a_call.py"
    done = program("export", given, "--to", "vllm", "--pr", folder)
    assert (done.code, done.err) == (0, "")
    assert (folder / path).read_text("utf-8") == program("export", given, "--to", "vllm").out
    commands = [shlex.split(line) for line in done.out.splitlines()]
    assert [words[:4] for words in commands] == [["git", "-C", str(folder), one] for one in ("switch", "add", "commit")]
    assert path in commands[1]


def test_the_printed_commands_make_the_commit(program: Program, given: Path, tmp_path: Path) -> None:
    folder = checkout(tmp_path, "tests/parser/engine/x")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    subprocess.run(["git", "-C", folder, "init", "-q"], check=True)
    for line in program("export", given, "--to", "vllm", "--pr", folder).out.splitlines():
        git, *words = shlex.split(line)
        subprocess.run([git, *who, *words], check=True, capture_output=True)
    said = subprocess.run(["git", "-C", folder, "show", "--stat", "--format=%s"], capture_output=True, text=True)
    assert said.stdout.startswith("Add a test: it s a call\n")


def test_untitled_cases_of_a_corpus_are_called_by_their_names(program: Program, given: Path, tmp_path: Path) -> None:
    folder, case = checkout(tmp_path, "tests/parser/engine/x"), json.loads(given.read_text("utf-8"))
    del case["title"]
    corpus = tmp_path / "some.cases.json"
    corpus.write_text(json.dumps({"One call": case, "a::b": case, "titled": {**case, "title": "Mine"}}), "utf-8")
    for name in ("One call", "a::b", "titled"):
        assert program("export", f"{corpus}::{name}", "--to", "vllm", "--pr", folder).code == 0
    made = {place.name for place in (folder / "tests/parser/engine").glob("*.py")}
    assert made == {"test_one_call.py", "test_a_b.py", "test_mine.py"}
    lines = [json.loads(line)["title"] for line in program("export", corpus, "--to", "jsonl").out.splitlines()]
    assert lines == ["One call", "a::b", "Mine"]
    assert json.loads(program("export", f"{corpus}::One call", "--to", "jsonl").out)["title"] == "One call"


def test_what_is_there_stays(program: Program, given: Path, tmp_path: Path) -> None:
    path = "tests/parser/engine/test_it_s_a_call.py"
    folder = checkout(tmp_path, path, "mine")
    done = program("export", given, "--to", "vllm", "--pr", folder)
    assert (done.code, done.out) == (2, "")
    assert f"{path} is there already; rename the case (its title) first" in done.err
    assert (folder / path).read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("target", "path", "before", "after"),
    [
        ("vllm_rust", HERMES, "struct A;\n", ""),
        ("dynamo", FAMILY, "input_document: {}\ncases:\n  a: {}\n", ""),
        ("llamacpp", CHAT, f"// a\n{ANCHOR}", "    b();\n}\n"),
    ],
)
def test_a_test_goes_into_the_file_that_has_them(
    program: Program, given: Path, tmp_path: Path, target: str, path: str, before: str, after: str
) -> None:
    folder = checkout(tmp_path, path, before + after)
    assert program("export", given, "--to", target, "--pr", folder).code == 0
    text = (folder / path).read_text("utf-8")
    assert (text.startswith(before), text.endswith(after)) == (True, True)
    assert len(text) > len(before + after) + 100
    if target == "dynamo":
        assert [*yaml.safe_load(text)["cases"]] == ["a", "it_s_a_call"]
    again = program("export", given, "--to", target, "--pr", folder)
    assert (again.code, "has this test already" in again.err) == (2, True)
    assert (folder / path).read_text("utf-8") == text
    if target != "llamacpp":
        other = given.with_name("other.case.json")
        other.write_text(given.read_text("utf-8").replace("get_weather", "get_time"), "utf-8")
        alike = program("export", other, "--to", target, "--pr", folder)
        assert (alike.code, "has a test of that name; rename the case (its title) first" in alike.err) == (2, True), (
            alike
        )


@pytest.mark.parametrize(
    ("target", "path", "text", "words"),
    [
        ("vllm", "README", "", "it has no tests/parser/engine: is it the right project?"),
        ("vllm_rust", "README", "", f"it has no {HERMES}: is it the right project?"),
        ("llamacpp", CHAT, "int main() {}", "put the test in by hand"),
        ("dynamo", FAMILY, "cases:\ncases:\n", "has not one line 'cases:'"),
        ("dynamo", FAMILY, "cases:\n  a: {}\n# b\nmore: {}\n", "something else follows 'cases:'"),
    ],
)
def test_another_project_is_told(
    program: Program, given: Path, tmp_path: Path, target: str, path: str, text: str, words: str
) -> None:
    done = program("export", given, "--to", target, "--pr", checkout(tmp_path, path, text))
    assert (done.code, done.out, words in done.err) == (2, "", True), done.err


def test_a_folder_that_is_not_there_and_targets_without_a_place_are_refused(
    program: Program, given: Path, tmp_path: Path
) -> None:
    assert "there is no such folder" in program("export", given, "--to", "vllm", "--pr", tmp_path / "none").err
    for words in (("--to", "case"), ("--to", "vllm", "-o", tmp_path / "x")):
        done = program("export", given, *words, "--pr", tmp_path)
        assert (done.code, "--pr writes a test for another project's suite" in done.err) == (2, True)


def test_a_place_that_cannot_be_written_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="cannot be written: File name too long"):
        write_into(str(tmp_path), SUITES["vllm"], SuiteFile("x", f"a/{'x' * 300}.py", "x"))
