"""Formats of the formats folder on the command line: listed, shown, used; and what was refused is said."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.formats.model import builtin_sources
from tests.parsers.parsing import Hasty
from webapp.formats.format_text import skeleton

Program = Callable[..., Any]
OUTPUT = 'Hi.\n<call>{"name": "f", "arguments": {"a": "b"}}</call>'
REFUSED = "formats folder: broken.json is not used: line 1, /: Not JSON: "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "formats"
    path.mkdir()
    own = {**json.loads(skeleton()), "name": "folder_format", "title": "Mine", "aliases": ["mine"]}
    (path / "own.json").write_text(json.dumps(own), "utf-8")
    monkeypatch.setenv("TOOLCALL_INSPECTOR_FORMATS", str(path))
    return path


def test_they_are_listed_last_and_shown_by_name_and_alias(program: Program, folder: Path) -> None:
    last = program("parsers").out.splitlines()[-1]
    assert last.split() == ["folder_format", "Mine", "(formats", "folder)", "also", "called", "mine"]
    shown = program("parsers", "folder_format").out
    assert shown.startswith("folder_format: Mine\n")
    assert program("parsers", "mine").out == shown


def test_an_output_is_replayed_with_one_of_them(program: Program, folder: Path) -> None:
    done = program("replay", "-", "--parser", "mine", "--json", stdin=OUTPUT)
    assert (done.code, done.json["parser"]) == (0, "folder_format")
    assert done.json["message"]["tool_calls"][0]["name"] == "f"


def test_an_exported_case_brings_the_format_along(program: Program, folder: Path, tmp_path: Path) -> None:
    case = tmp_path / "one.case.json"
    case.write_text(json.dumps({"schema": 1, "parser": {"name": "mine"}, "input": {"text": OUTPUT}}), "utf-8")
    exported = json.loads(program("export", case, "--to", "case").out)
    assert exported["parser"]["format"]["name"] == "folder_format"
    assert program("check", case).code == 0


def test_a_file_that_is_refused_is_named_and_the_rest_works(program: Program, folder: Path) -> None:
    (folder / "broken.json").write_text("{", "utf-8")
    done = program("parsers")
    assert done.code == 0
    assert done.err.startswith(REFUSED)
    assert "folder_format" in done.out


SHORT = {
    "schema": 1,
    "name": "short",
    "title": "Short",
    "extends": "folder_format",
    "reasoning": {"start": "<think>", "end": "</think>"},
    "example": OUTPUT,
}
WRONG = {**SHORT, "states": {"CALL": None}}


@pytest.fixture
def short(folder: Path, tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Writes a format file of the given JSON outside the formats folder."""

    def write(data: dict[str, Any]) -> Path:
        path = tmp_path / "short.json"
        path.write_text(json.dumps(data), "utf-8")
        return path

    return write


@pytest.mark.replays
def test_a_file_that_extends_another_is_checked_with_its_parent(program: Program, short: Any) -> None:
    path = short(SHORT)
    assert program("parsers", "check", path).out == f"{path}: 0 errors, 0 other remarks\n"
    wrong = program("parsers", "check", short(WRONG))
    assert wrong.code == 1
    assert wrong.out.startswith("error  /extends: From folder_format: CONTENT goes to CALL on CALL_START")
    lost = program("parsers", "check", short({**SHORT, "extends": "nobody"}))
    assert lost.out.startswith("error  /extends: there is no format 'nobody' to extend [not_a_format]")


def test_the_example_of_a_file_is_read_in_many_chunkings(
    program: Program, short: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.runs.format_example.build", Hasty.build)
    done = program("parsers", "check", short(SHORT))
    assert done.code == 1
    assert done.out.startswith('error  /example: With the chunking "whole" the message is not the one of token by')
    assert program("parsers", "check", short({**SHORT, "example": ""})).code == 0


@pytest.mark.replays
@pytest.mark.parametrize(
    ("name", "state", "terminal"),
    [
        ("inkling", "HEADER", "TEXT_START"),
        ("solar_open", "ROLE", "SECTION_START"),
        ("kimi_k3", "TOOL_INDEX", "HEADER_END"),
    ],
)
def test_a_marker_that_goes_under_for_want_of_a_row_is_no_clean_format(
    program: Program, tmp_path: Path, name: str, state: str, terminal: str
) -> None:
    data = copy.deepcopy(builtin_sources()[name])
    rows = data["states"][state]["rows"]
    data["states"][state]["rows"] = [row for row in rows if row["on"] != terminal]
    path = tmp_path / "less.json"
    path.write_text(json.dumps(data), "utf-8")
    done = program("parsers", "check", path)
    marker = data["terminals"][terminal]
    assert done.code == 1
    assert done.out.startswith(
        f"error  /states/{state}: {state} has no row on {terminal} and takes {marker!r} of the example for structure: "
        "add a row that says what it begins, or list it as inert."
    )
    assert done.out.count("error  /") == 1


def test_a_file_that_extends_another_is_replayed_and_exported_written_out(program: Program, short: Any) -> None:
    path = short(SHORT)
    done = program("replay", "-", "--format", path, "--json", stdin=f"<think>a</think>{OUTPUT}")
    assert (done.json["parser"], done.json["message"]["reasoning"]) == ("short", "a")
    wrong = program("replay", "-", "--format", short(WRONG), stdin=OUTPUT)
    assert wrong.code == 2
    assert f"--format {path}: /extends: From folder_format: CONTENT goes to CALL" in wrong.err


def test_a_parser_is_shown_with_where_its_rows_come_from(program: Program, folder: Path) -> None:
    (folder / "short.json").write_text(json.dumps(SHORT), "utf-8")
    rows = [line for line in program("parsers", "short").out.splitlines() if line.startswith("  r")]
    assert sum(line.endswith("(from folder_format)") for line in rows) == 6
    assert sum(line.endswith("(reasoning block)") for line in rows) == 4
    assert len(rows) == 10
    assert not any(line.endswith(")") for line in program("parsers", "mine").out.splitlines() if line.startswith("  r"))


def test_a_case_file_whose_format_is_not_written_out_is_refused(program: Program, tmp_path: Path) -> None:
    case = tmp_path / "one.case.json"
    data = {"schema": 1, "parser": {"name": "short", "format": SHORT}, "input": {"text": OUTPUT}}
    case.write_text(json.dumps(data), "utf-8")
    done = program("check", case)
    assert done.code != 0
    assert "/parser/format: `extends` belongs in a format file only" in done.out + done.err
