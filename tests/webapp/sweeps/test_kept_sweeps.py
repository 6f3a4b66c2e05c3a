"""The sweeps of a folder, as they are found: bounded in number and size, and none where nothing can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.sweeps import kept_sweeps as module
from webapp.sweeps.kept_sweeps import kept_sweep, kept_sweeps


def begun(folder: Path, parts: int = 2) -> None:
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(f'{{"shards": {parts}}}')


def test_a_sweep_that_has_only_begun_has_no_part_yet(tmp_path: Path) -> None:
    begun(tmp_path / "a")
    (found,) = kept_sweeps(tmp_path)
    assert (found.done, found.parts, found.ended, found.files) == (0, 2, False, [])
    assert (found.report(), found.changes(), found.sentence) == ({}, None, [""])


def test_parts_that_are_being_written_do_not_count_and_none_twice(tmp_path: Path) -> None:
    begun(tmp_path / "a")
    (tmp_path / "a" / "shards").mkdir()
    for name in ("00000-000000.json", ".00000-000001.json.77"):
        (tmp_path / "a" / "shards" / name).write_text("")
    found = kept_sweep(tmp_path, "a")
    assert found is not None
    assert found.done == 1
    for number in range(5):
        (tmp_path / "a" / "shards" / f"{number}.json").write_text("")
    assert [one.done for one in kept_sweeps(tmp_path)] == [2]


def test_so_many_are_shown_and_files_so_large_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        begun(tmp_path / name)
        (tmp_path / name / "report.json").write_text('{"sentence": "Beside `<x>` it is lost."}')
    monkeypatch.setattr(module, "MOST", 2)
    found = kept_sweeps(tmp_path)
    assert [one.name for one in found] == ["a", "b"]
    assert found[0].sentence == ["Beside ", "<x>", " it is lost."]
    (tmp_path / "a" / "report.json").write_text('{"sentence": "Otherwise.", "more": 1}')
    assert kept_sweeps(tmp_path)[0].sentence == ["Otherwise."]
    monkeypatch.setattr(module, "LARGEST", 20)
    (tmp_path / "a" / "report.json").write_text('{"sentence": "Otherwise. It is larger."}')
    assert kept_sweeps(tmp_path)[0].sentence == ["Its report cannot be shown."]


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert kept_sweeps(tmp_path / "none") == []
    assert kept_sweep(tmp_path / "none", "a") is None
