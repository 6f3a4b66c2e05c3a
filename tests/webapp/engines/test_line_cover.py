"""Which lines of a parser's files ran: of functions that were called and of those that never were."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from webapp.engines.workers import line_cover
from webapp.engines.workers.line_cover import LineCover

SOURCE = '''\
import json

LATER = [1, 2]


def unused(one):
    """Never called."""
    return one


class Base:
    mark = "<"

    def feed(self, text):
        if text == self.mark:
            return "a"
        found = [
            letter
            for letter in text
        ]
        return self.after(found)

    def after(self, found):
        try:
            return sorted(found, key=lambda one: one)[0]
        except IndexError:
            return None


class Parser(Base):
    def one_line(self): return 1
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    file = tmp_path / "covered_parser.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("covered_parser", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "covered_parser", made)
    spec.loader.exec_module(made)
    return made


def functions(told: list[dict[str, Any]]) -> dict[str, tuple[list[int], list[int]]]:
    return {one["name"]: (one["lines"], one["ran"]) for one in told}


def test_all_functions_are_told_with_the_lines_that_ran(module: ModuleType) -> None:
    parser = module.Parser()
    with (cover := LineCover([parser, json])):
        parser.feed("ba")
    found = functions(cover.told())
    assert [*found] == ["unused", "Base.feed", "Base.after", "Parser.one_line"]
    assert found["unused"] == ([8], [])
    assert {15, 16, 21} <= set(found["Base.feed"][0])
    assert set(found["Base.feed"][0]) - set(found["Base.feed"][1]) == {16}
    assert set(found["Base.after"][0]) - set(found["Base.after"][1]) == {26, 27}
    assert found["Parser.one_line"] == ([31], [])
    with cover:
        parser.feed("<")
        parser.feed("")
        parser.one_line()
    again = functions(cover.told())
    assert [name for name, (lines, ran) in again.items() if lines != ran] == ["unused"]


def test_what_came_with_the_interpreter_or_cannot_be_read_is_left_out(module: ModuleType, tmp_path: Path) -> None:
    assert LineCover([json.JSONDecoder(), 7]).told() == []
    line_cover._functions.cache_clear()
    (tmp_path / "covered_parser.py").write_text("def broken(:\n")
    assert LineCover([module.Parser()]).told() == []


def test_what_is_told_is_bounded(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_cover, "MOST_FUNCTIONS", 1)
    assert [*functions(LineCover([module.Parser()]).told())] == ["unused"]
    monkeypatch.setattr(line_cover, "MOST_LINES", 0)
    assert LineCover([module.Parser()]).told() == []
