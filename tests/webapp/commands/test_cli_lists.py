"""`parsers`, `tokenizers`, `settings`, `export` and `db`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.cases.io import loads
from parsers.formats.diagram import rows_table
from parsers.formats.model import builtin_formats
from webapp.api.answers import TokenizerRow
from webapp.settings import get_settings, setting_rows

RIGHT = {"content": None, "tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich"}}]}
Program = Callable[..., Any]
CaseFile = Callable[..., Path]


def test_every_parser_is_one_line_with_its_aliases(program: Program) -> None:
    lines = program("parsers").out.splitlines()
    assert [line.split()[0] for line in lines] == [*builtin_formats(), "response_template"]
    assert "also called hermes" in next(line for line in lines if line.startswith("qwen "))


@pytest.mark.replays
@pytest.mark.parametrize("fmt", builtin_formats().values(), ids=list(builtin_formats()))
def test_a_parser_is_shown_with_policies_markers_states_and_rows(program: Program, fmt: Any) -> None:
    out = program("parsers", fmt.name).out
    policy = fmt.policy.model_dump()
    assert [key for key in fmt.policies if f"  {key}={policy[key]}\n" not in out] == []
    assert [name for name in (*fmt.terminals, *fmt.states) if f"  {name} " not in out] == []
    assert [row.id for row in rows_table(fmt) if f"  {row.id} " not in out] == []
    assert fmt.example.splitlines()[0] in out


def test_an_alias_shows_its_parser(program: Program) -> None:
    assert program("parsers", "hermes").out == program("parsers", "qwen").out


@pytest.mark.replays
def test_a_sound_format_passes_the_check(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(builtin_formats()["qwen"].model_dump_json(by_alias=True), "utf-8")
    done = program("parsers", "check", path)
    assert (done.code, done.out) == (0, f"{path}: 0 errors, 0 other remarks\n")


def test_a_format_with_an_error_fails_the_check_with_the_place(program: Program, tmp_path: Path) -> None:
    data = json.loads(builtin_formats()["qwen"].model_dump_json(by_alias=True))
    data["states"]["CONTENT"]["rows"][0]["to"] = "NOWHERE"
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), "utf-8")
    done = program("parsers", "check", path)
    assert done.code == 1
    assert done.out.startswith("error  /states/CONTENT/rows/0/to: ")


@pytest.mark.parametrize(("text", "code", "words"), [("{}", 1, "error  /schema: "), ("{", 2, "not JSON")])
def test_a_file_that_is_no_format_fails_and_one_that_is_no_json_is_a_mistake(
    program: Program, tmp_path: Path, text: str, code: int, words: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, "utf-8")
    done = program("parsers", "check", path)
    assert (done.code, words in done.out + done.err) == (code, True)


def test_tokenizers_are_listed_with_what_is_known_of_them(program: Program) -> None:
    rows = [line.split() for line in program("tokenizers").out.splitlines()]
    assert rows[0] == ["name", "kind", "tokens", "realism", "decoder", "fingerprint"]
    assert rows[1][:5] == ["embedded", "embedded", "2,048", "demo", "byte_level"]
    assert rows[2][:4] == ["characters", "none", "-", "none"]


def test_tokenizers_are_listed_for_programs_as_the_api_does(program: Program) -> None:
    found = TypeAdapter(list[TokenizerRow]).validate_json(program("tokenizers", "--json").out)
    assert (found[0]["name"], len(found[0]["fingerprint"])) == ("embedded", 64)


def test_settings_are_listed_with_value_default_and_purpose(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_PORT", "9000")
    out = program("settings").out
    assert "TOOLCALL_INSPECTOR_PORT=9000\n" in out
    rows = setting_rows(get_settings())
    assert [row.env for row in rows if f"{row.description} Default: {row.default}.\n" not in out] == []


def test_the_database_is_upgraded_once(program: Program) -> None:
    first, second = program("db", "upgrade"), program("db", "upgrade")
    assert (first.code, second.code) == (0, 0)
    assert "sqlite:///" in first.out
    assert second.out.endswith("(had it already)\n")


def test_a_database_that_cannot_be_used_is_a_mistake(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATABASE_URL", f"sqlite:///{tmp_path}/none/cases.sqlite3")
    done = program("db", "upgrade")
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("case", '"tokens": ['),
        ("pytest", "def make_parser"),
        ("markdown", "# "),
        ("jsonl", '"tokens":['),
        ("sse", "data: [DONE]"),
        ("vllm", "SAMPLE = Sample("),
        ("vllm_format", "FIXTURE = FormatFixture("),
        ("sglang", "(CustomTestCase):"),
        ("dynamo", "display_id: UNIFIED.N-N"),
        ("vllm_rust", "#[test]"),
        ("tool_parser", "#[tokio::test]"),
        ("llamacpp", ".expect(expected)"),
    ],
)
def test_a_case_is_exported_to_standard_output(program: Program, case_file: CaseFile, target: str, words: str) -> None:
    done = program("export", case_file(expect=RIGHT), "--to", target)
    assert (done.code, done.err, words in done.out) == (0, "", True)


def test_an_export_to_a_file_is_the_same(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    path, out = case_file(expect=RIGHT), tmp_path / "out.case.json"
    assert program("export", path, "--to", "case", "-o", out).out == ""
    assert out.read_text("utf-8") == program("export", path, "--to", "case").out
    assert loads(out.read_bytes()).expect == loads(path.read_bytes()).expect


@pytest.mark.parametrize("target", ["rust", "har", ""])
def test_an_export_that_does_not_exist_is_refused_with_those_that_do(
    program: Program, case_file: CaseFile, target: str
) -> None:
    done = program("export", case_file(), "--to", target)
    assert (done.code, done.out) == (2, "")
    assert "choose one of: case, pytest, markdown, html, jsonl" in done.err


def test_a_pytest_file_that_would_test_nothing_is_refused(program: Program, case_file: CaseFile) -> None:
    path = case_file()
    done = program("export", path, "--to", "pytest")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{path}: /expect: this case expects nothing yet" in done.err


def test_a_file_that_cannot_be_written_is_a_mistake(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    done = program("export", case_file(), "--to", "jsonl", "-o", tmp_path / "none" / "x")
    assert (done.code, "cannot be written: No such file" in done.err) == (2, True)


def test_a_broken_settings_variable_is_named_before_anything_is_read(
    program: Program, monkeypatch: pytest.MonkeyPatch, case_file: CaseFile
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_MAX_TOKENS", "many")
    done = program("export", case_file(), "--to", "jsonl")
    assert (done.code, "TOOLCALL_INSPECTOR_MAX_TOKENS is 'many'" in done.err) == (2, True)
