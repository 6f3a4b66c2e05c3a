"""An engine that somebody is writing: what changes in its files is run the next time, not what was kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.io import load_case
from webapp.engines import sources
from webapp.engines.entered import Engines, SharedEngines, answer, engine_stamp, entered, use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.engines.sources import sources_stamp
from webapp.runs.runner import Runner
from webapp.settings import Settings, get_settings

PARSER = """
class Mine:
    def begin(self, request): pass
    def feed(self, text, ids): return {"content": text + "%s"}
    def finish(self, reason): return None
"""


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FRESH_SECONDS", -1)
    monkeypatch.setattr(sources, "FRESH_TIMES", -1)
    sources._seen.clear()


def changed(file: Path, text: str = "") -> None:
    """Write a file so that its time is another one."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    os.utime(file, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Settings with an engine whose class stands in a file of the test."""
    made = Settings(data_dir=tmp_path / "data")
    changed(tmp_path / "mine" / "__init__.py", PARSER % "1")
    write_entry(
        made, "mine", Entry.model_validate({"class": "mine:Mine", "python": sys.executable, "path": str(tmp_path)})
    )
    use_engines(made)
    yield made
    use_engines(get_settings())


def case() -> Case:
    return load_case({"schema": 1, "parser": {"name": "Mine", "engine": "mine"}, "input": {"text": "a"}})


def test_what_was_written_is_run_the_next_time(settings: Settings, tmp_path: Path) -> None:
    runner = Runner(settings)
    asked = case()
    assert entered().card("mine").sources == [str(tmp_path / "mine")]
    first = runner.run(asked)
    assert runner.run(asked) is first
    changed(tmp_path / "mine" / "__init__.py", PARSER % "2")
    assert [runner.run(one).trace.message.content for one in (asked, case())] == ["a2", "a2"]


def test_a_class_that_gained_a_second_path_is_asked_for_it(settings: Settings, tmp_path: Path) -> None:
    runner, there = Runner(settings), SharedEngines(settings, partial(answer, entered()))
    assert runner.run(case()).choice.one_shot is None
    file = tmp_path / "mine" / "__init__.py"
    changed(file, PARSER % "2" + '    def parse(self, request, text): return {"content": "whole"}\n')
    assert runner.run(case()).choice.one_shot is not None
    changed(file, PARSER % "3")
    assert [one.card("mine").whole for one in (there, entered(), Engines(settings))] == [False] * 3


def test_it_is_started_once_for_a_change(settings: Settings, tmp_path: Path) -> None:
    found = entered()

    def pid() -> int | None:
        runner.run(case())
        return found._host("mine", found.entries()["mine"]).pid

    runner = Runner(settings)
    before = pid()
    changed(tmp_path / "mine" / "__init__.py", "from mine import more\n" + PARSER % "2")
    changed(tmp_path / "mine" / "more.py")
    found.card("mine")
    after = found._host("mine", found.entries()["mine"]).pid
    assert before != after == pid()


def test_what_cannot_be_started_any_more_says_so(settings: Settings, tmp_path: Path) -> None:
    runner = Runner(settings)
    runner.run(case())
    changed(tmp_path / "mine" / "__init__.py", "class Mine(:\n")
    with pytest.raises(CaseError, match=r"engine mine does not start: .*SyntaxError"):
        runner.run(case())
    changed(tmp_path / "mine" / "__init__.py", PARSER % "2")
    entered().renew("mine")
    assert runner.run(case()).trace.message.content == "a2"


@pytest.mark.parametrize(
    ("given", "changes"),
    [("a.py", True), ("inner/b.py", True), ("c.txt", False), (".hidden/d.py", False), ("__pycache__/e.py", False)],
)
def test_only_python_files_count(tmp_path: Path, given: str, changes: bool) -> None:
    changed(tmp_path / "inner" / "first.py")
    before = sources_stamp([str(tmp_path)])
    changed(tmp_path / given, "x")
    assert (sources_stamp([str(tmp_path)]) != before) is changes


def test_a_single_file_counts_and_what_is_gone_does_not(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    changed(file)
    before = sources_stamp([str(file)])
    file.unlink()
    assert before != sources_stamp([str(file)]) == sources_stamp([str(tmp_path / "gone")])


def test_a_file_that_is_put_back_with_its_old_time_counts(tmp_path: Path) -> None:
    changed(tmp_path / "a.py")
    changed(tmp_path / "b.py")
    os.utime(tmp_path / "b.py", ns=(3 * 10**9, 3 * 10**9))
    before = sources_stamp([str(tmp_path)])
    os.utime(tmp_path / "a.py", ns=(2 * 10**9, 2 * 10**9))
    assert sources_stamp([str(tmp_path)]) != before


def test_however_much_lies_in_a_folder_only_so_much_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        (tmp_path / f"folder{number}" / "inner").mkdir(parents=True)
    changed(tmp_path / "near.py")
    looked, scandir = list[str](), os.scandir

    def counted(folder: str) -> Any:
        looked.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counted)
    monkeypatch.setattr(sources, "MOST_LOOKED_AT", 350)
    assert sources_stamp([str(tmp_path)]).endswith(" 1")
    assert len(looked) < 60


def test_an_installed_engine_has_no_sources_and_one_of_ours_no_stamp() -> None:
    assert (sources_stamp([]), engine_stamp(None), engine_stamp("nobody")) == ("", "", "")


def test_files_are_looked_at_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FRESH_SECONDS", 60)
    before = sources_stamp([str(tmp_path)])
    changed(tmp_path / "a.py")
    assert sources_stamp([str(tmp_path)]) == before
    for number in range(200):
        sources_stamp([f"nothing{number}"])
    assert sources_stamp([str(tmp_path)]) != before


def test_no_stamp_where_the_entries_cannot_be_used(settings: Settings) -> None:
    entered().card("mine")
    assert engine_stamp("mine") != ""
    (settings.data_dir / "engines.toml").write_text("[", "utf-8")
    assert engine_stamp("mine") == ""


def test_a_folder_that_cannot_be_read_has_no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(_path: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "scandir", refused)
    assert sources_stamp([str(tmp_path)]).endswith(" 0")


def test_a_file_that_a_command_names_is_a_source(tmp_path: Path) -> None:
    changed(tmp_path / "worker.mjs", "one")
    entry = Entry(command=("node", "worker.mjs", "--quick"), folder=str(tmp_path))
    assert entry.files == (str(tmp_path / "worker.mjs"),)
    before = sources_stamp(entry.files)
    changed(tmp_path / "worker.mjs", "two")
    assert sources_stamp(entry.files) != before


def test_what_takes_long_to_look_at_is_looked_at_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(tmp_path / "a.py")
    monkeypatch.setattr(sources, "FRESH_TIMES", 1e9)
    before = sources_stamp([str(tmp_path)])
    changed(tmp_path / "a.py", "x")
    assert sources_stamp([str(tmp_path)]) == before
