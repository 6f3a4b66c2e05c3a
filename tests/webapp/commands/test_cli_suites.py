"""Suites of others on the command line: every chunking, any parser, and a case of them by its name."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.corpus import case_texts
from parsers.cases.io import loads

Program = Callable[..., Any]
FILES = Path(__file__).parents[2] / "parsers" / "intake" / "suites"
COLUMNS = ("--column", "expect.content=gold.text", "--column", "expect.tool_calls=gold.calls")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with a suite of each shape, and what the one in Python imports."""
    for name, place in (
        ("samples.py.txt", "tests/parser/engine/test_samples.py"),
        ("suite_helpers.py.txt", "suite_helpers.py"),
        ("format_fixtures.py.txt", "tests/test_formats.py"),
        ("unified.yaml", "families/qwen3/inputs_and_golden.yaml"),
        ("rows.jsonl", "rows.jsonl"),
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FILES / name, tmp_path / place)
    return tmp_path


def told(out: str) -> list[tuple[str, str]]:
    """Outcome and name of each case."""
    rows = [line.partition("  (")[0] for line in out.splitlines()[:-1] if not line.startswith((" ", "tested: "))]
    return [(row[:9].strip(), row[11:].rpartition("::")[2]) for row in rows]


@pytest.mark.replays
def test_samples_of_vllm_run_with_what_they_import(program: Program, tree: Path) -> None:
    done = program("check", tree / "tests/parser/engine/test_samples.py", "--parser", "qwen3")
    assert told(done.out) == [("ok", name) for name in ("written-out", "plain", "plain (2)", "sample")]
    assert done.err.count(": not read: ") == 4
    assert "test_samples.py:38: not read: vllm.parser.make_tokens is of another file" in done.err


def test_a_folder_is_searched_for_suites(program: Program, tree: Path) -> None:
    (tree / "notes.yaml").write_text("a: 1", "utf-8")
    (tree / "other.py").write_text("x = 1", "utf-8")
    (tree / "gone.py").symlink_to(tree / "nowhere")
    names = [name for _, name in told(program("check", tree).out)]
    assert names == ["lights", "words", "hermes", "unknown", "written-out", "plain", "plain (2)", "sample"]


@pytest.mark.replays
def test_rows_run_by_their_columns_and_the_command_names_them_again(program: Program, tree: Path) -> None:
    path = tree / "rows.jsonl"
    wrong = path.read_text("utf-8").replace('"Hello"', '"Bye"')
    path.write_text(wrong, "utf-8")
    done = program("check", path, "--parser", "qwen", *COLUMNS)
    assert (done.code, told(done.out)[:2]) == (2, [("ok", "1"), ("FAIL", "1 (2)")])
    assert (
        "columns: text=completion (guessed), title=id (guessed), tools=tools (guessed), expect.content=gold.text"
        in (done.err)
    )
    (again,) = [line.strip() for line in done.out.splitlines() if "toolcall-inspector replay" in line]
    shown = program(*shlex.split(again)[1:])
    assert (shown.code, 'content        "Hello"' in shown.out) == (0, True)
    assert program("find", f"{path}::1", "--parser", "qwen", *COLUMNS).code == 0


def test_columns_are_guessed_where_nobody_names_them(program: Program, tree: Path) -> None:
    done = program("check", tree / "rows.jsonl")
    assert (done.code, [outcome for outcome, _ in told(done.out)]) == (2, ["ok", "ok", *["unusable"] * 4])
    assert "the row is not read: it is no JSON object" in done.out
    assert "rows.jsonl:5: not read: it is no JSON object" in done.err


def test_a_case_of_a_suite_has_a_name(program: Program, tree: Path) -> None:
    path = tree / "families/qwen3/inputs_and_golden.yaml"
    replayed = program("replay", f"{path}::words", "--json")
    assert replayed.json["message"]["content"] == "Hello"
    assert "it holds lights, words" in program("replay", f"{path}::nothing").err
    emitted = program("export", f"{path}::lights", "--to", "vllm_format").out
    assert "FIXTURE = FormatFixture(" in emitted


def test_a_suite_is_converted_to_case_files(program: Program, tree: Path) -> None:
    out = tree / "suite.jsonl"
    done = program("export", tree / "tests/test_formats.py", "--to", "jsonl", "-o", out)
    assert (done.code, done.out, done.err.count("not read")) == (0, "", 2)
    cases = [loads(one) for one in case_texts(out.read_text("utf-8")).values()]
    assert [case.title for case in cases] == ["hermes", "unknown"]
    assert program("check", out).code == 0


def test_a_corpus_is_written_as_lines_unless_one_is_wrong(program: Program, tmp_path: Path) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"}}
    path = tmp_path / "some.cases.json"
    path.write_text(json.dumps({"a": case, "b": {**case, "title": "own"}}), "utf-8")
    lines = program("export", path, "--to", "jsonl").out.splitlines()
    assert [json.loads(line)["title"] for line in lines] == ["a", "own"]
    path.write_text(json.dumps({"a": case, "b": {}}), "utf-8")
    assert program("export", path, "--to", "jsonl").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--column", "text"), "--column 'text': give a column as KEY=PATH"),
        (("--parser", "qwen", "--engine", "x"), "--parser and --engine both say who parses"),
        (("--parser", ""), "--parser: give the name of a parser"),
        (("--column", "text=nothing"), "None of its rows can be read"),
    ],
)
def test_options_that_say_nothing_are_refused_in_one_line(
    program: Program, tree: Path, words: tuple[str, ...], said: str
) -> None:
    done = program("check", tree / "rows.jsonl", *words)
    assert (done.code, said in done.err + done.out) == (2, True)


def test_rows_without_an_output_are_told_their_columns(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}', "utf-8")
    done = program("check", path, "--column", "title=a")
    assert "Say which column is the model's output, as text=NAME: the first row has a." in done.out


def test_a_case_that_fails_is_told_with_its_notes(program: Program, tmp_path: Path) -> None:
    case = {
        "schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"},
        "notes": ["Why this\nis right."], "expect": {"content": "b"},
    }  # fmt: skip
    path = tmp_path / "some.case.json"
    path.write_text(json.dumps(case), "utf-8")
    done = program("check", path)
    assert (done.code, "           note: Why this is right.\n" in done.out) == (1, True)
    path.write_text(json.dumps({**case, "expect": {"content": "a"}}), "utf-8")
    assert "note: " not in program("check", path).out


FIXTURES = """from conftest import FormatFixture
ROWS = (FormatFixture("h", "hermes", '<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>', (("g", {}),)),)
"""
YAML = """cases:
  good:
    request: {input: Hello, chunks: [{delta_text: Hell}]}
  wrong:
    request: {input: Hello}
    golden: {error: boom}
"""


def test_a_suite_loses_no_expectation_in_silence(program: Program, tmp_path: Path) -> None:
    (tmp_path / "test_formats.py").write_text(FIXTURES, "utf-8")
    assert told(program("check", tmp_path).out) == [("FAIL", "h")]
    (tmp_path / "test_formats.py").write_text(FIXTURES.replace("FormatFixture", "Fixture"), "utf-8")
    other = program("check", tmp_path / "test_formats.py")
    assert (other.code, "Python without samples" in other.out) == (2, True), "what code quotes is no case"
    path = tmp_path / "rows.jsonl"
    path.write_text('{"completion": "a", "gold": {"calls": []}}\n{"completion": "a"}', "utf-8")
    columns = ("--parser", "qwen", "--column", "expect.tool_calls=gold.{}")
    done = program("check", path, *[word.format("calls") for word in columns])
    assert [outcome for outcome, _ in told(done.out)] == ["ok", "unusable"]
    assert "rows.jsonl: Warning: 1 row without gold.calls (expect.tool_calls): 2." in done.err
    done = program("check", path, *[word.format("callz") for word in columns])
    assert (done.code, "No row has gold.callz, which expect.tool_calls was to be taken from" in done.out) == (2, True)


MESSAGE = '{"role": "assistant", "content": "<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {}}\\n</tool_call>"}'
ANSWER = f'{{"choices": [{{"message": {MESSAGE}}}]}}'
OF_PYTHON: list[tuple[str, str, bool]] = [
    ("an answer", ANSWER, True),
    ("a stream", f'data: {{"choices": [{{"delta": {MESSAGE}}}]}}\n\ndata: [DONE]\n', True),
    ("printed objects", "ChatCompletion(choices=[Choice(message=ChatCompletionMessage(content='Hello'))])", True),
    ("code around an answer", f"answer = {ANSWER}\nassert parse(answer) == 1\n", False),
    ("a text", f"RAW = {MESSAGE.partition(', ')[2].partition(': ')[2].rstrip('}')}\n", False),
    ("deltas", '["<tool_call>", "x"]\n', False),
]


@pytest.mark.parametrize(("body", "read"), [row[1:] for row in OF_PYTHON], ids=[row[0] for row in OF_PYTHON])
def test_a_recorded_answer_is_read_whatever_its_file_is_called_and_what_code_quotes_is_not(
    program: Program, tmp_path: Path, body: str, read: bool
) -> None:
    path = tmp_path / "s.py"
    path.write_text(body, "utf-8")
    done = program("check", path, "--parser", "qwen")
    assert ("Python without samples" not in done.out) is read


@pytest.mark.parametrize("command", [("check",), ("export", "--to", "jsonl")])
def test_a_case_of_yaml_that_is_not_read_is_named(program: Program, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "some.yaml"
    path.write_text(YAML, "utf-8")
    done = program(command[0], path, *command[1:])
    assert done.code == 0
    assert [line.partition("some.yaml:")[2] for line in done.err.splitlines()] == [
        " Warning: The chunks do not add up to the text, and are used: good (line 2).",
        " Warning: Nothing is said of what should come out, or only that engines differ: good (line 2).",
        "4: not read: wrong: its golden has no list of mappings called assembled",
    ]


def test_yaml_of_two_cases_of_one_name_is_unusable_in_a_folder_too(program: Program, tmp_path: Path) -> None:
    (tmp_path / "some.yaml").write_text(YAML.replace("wrong", "good"), "utf-8")
    done = program("check", tmp_path)
    assert (done.code, "Two cases are called 'good', at line 2 and at line 4" in done.out) == (2, True)


def test_a_hyphen_behind_the_output_is_standard_output(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.case.json"
    path.write_text(json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"}}), "utf-8")
    for command in (("export", path, "--to", "case"), ("redact", path)):
        assert program(*command, "-o", "-").out == program(*command).out != ""
    for name, option in (("check", "--junit"), ("sweep", "-o")):
        assert "-: standard output has the lines of the command" in program(name, path, option, "-").err
    assert [one.name for one in tmp_path.iterdir()] == ["some.case.json"]
