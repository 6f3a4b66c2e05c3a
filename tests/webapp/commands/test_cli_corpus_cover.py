"""`corpus cover`: the rows of a format that a corpus never reached, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines.entering import fake, own
from webapp.commands.cover import _runs
from webapp.engines.entries import write_entry
from webapp.settings import get_settings

Program = Callable[..., Any]


def test_the_rows_that_were_never_reached_are_listed(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"said": "It rains."}\n{\n')
    done = program("corpus", "cover", path, "--column", "text=said", "--parser", "qwen")
    lines = done.out.splitlines()
    assert (done.code, lines[0]) == (0, "qwen: 1 of 22 rows reached (4.5 %) by 1 output")
    assert [line.split()[:3] for line in lines[1:3]] == [["never", "in", "state"], ["r0", "CONTENT", "<tool_call>"]]
    assert not any(line.startswith("r3 ") for line in lines)  # the end, in content
    assert lines[-1] == "not read: 1 row: the line is no JSON"
    told = program("corpus", "cover", path, "--column", "text=said", "--parser", "qwen", "--json").json
    (qwen,) = told["parsers"]
    assert (qwen["outputs"], qwen["never"]) == (1, 21)
    assert [row["id"] for row in qwen["rows"] if row["outputs"]] == ["r3"]


def test_standard_input_and_several_parsers(program: Program) -> None:
    row = '{{"output": "It rains.", "parser": "{}"}}\n'
    done = program("corpus", "cover", "-", stdin=row.format("qwen") + row.format("mistral"))
    assert [line.partition(":")[0] for line in done.out.splitlines() if " reached (" in line] == ["mistral", "qwen"]
    assert program("corpus", "cover", "-", stdin="{\n").out.splitlines()[0] == "No output was found."


def test_a_folder_without_rows_is_said(program: Program, tmp_path: Path) -> None:
    done = program("corpus", "cover", tmp_path)
    assert (done.code, "there is no file of rows" in done.err) == (2, True)


def test_of_a_parser_of_an_engine_the_lines_are_told(program: Program, own_engines: Path) -> None:
    write_entry(get_settings(), "open", own("Open", **{"class": "paired_parsers:Open"}))
    rows = '{"output": "plain"}\n'
    done = program("corpus", "cover", "-", "--engine", "open:Open", stdin=rows)
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0].startswith("open:Open: ")
    assert lines[0].endswith("by 1 output")
    never = {line.split()[1]: line.split(maxsplit=2)[2] for line in lines[2:]}
    assert {"Old.finish", "Cut.feed", "Late.begin"} <= {*never}
    assert "Old.sent" not in never
    assert never["Cut.feed"] == "all of it"
    told = program("corpus", "cover", "-", "--engine", "open:Open", "--json", stdin=rows).json["engines"]
    (functions,) = [one["functions"] for one in told]
    finish = next(one for one in functions if one["name"] == "Open.finish")
    assert finish["ran"] == finish["lines"]


def test_an_engine_that_tells_no_lines_says_so(program: Program, own_engines: Path) -> None:
    write_entry(get_settings(), "fake", fake())
    done = program("corpus", "cover", "-", "--engine", "fake:echo", stdin='{"output": "plain"}\n')
    assert (done.code, done.out.count("its engine does not tell which lines ran")) == (0, 1)


@pytest.mark.parametrize(
    ("left", "said"), [([3], "3"), ([3, 5, 9], "3-5, 9"), ([3, 5, 7, 9], "3-9"), ([7, 9], "7-9"), ([], "")]
)
def test_lines_are_told_as_runs_over_those_that_are_none(left: list[int], said: str) -> None:
    assert _runs(left, [3, 5, 7, 9]) == said
