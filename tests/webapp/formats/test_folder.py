from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.formats.model import builtin_formats
from webapp.formats.folder import (
    all_formats,
    check_among,
    file_text,
    formats_folder,
    load_folder,
    refusals,
    with_folder_format,
)
from webapp.formats.format_text import MOST_CHARACTERS, skeleton
from webapp.settings import Settings, get_settings

OWN = json.loads(skeleton())


def write(folder: Path, file: str, **changes: Any) -> None:
    (folder / file).write_text(json.dumps({**OWN, **changes}), encoding="utf-8")


def case(name: str, **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": name, **more}, "input": {"text": "x"}})


def test_its_files_are_formats_beside_the_built_in_ones(tmp_path: Path) -> None:
    write(tmp_path, "b.json", aliases=["mine"])
    (tmp_path / "notes.txt").write_text("not a format")
    settings = Settings(formats=tmp_path)
    assert list(all_formats(settings)) == [*builtin_formats(), "my_format"]
    folder = formats_folder(settings)
    assert folder.find("mine") is folder.find(" my_format ") is folder.formats["my_format"]
    assert (folder.find("qwen"), folder.refused) == (None, [])
    assert json.loads(folder.texts["my_format"])["name"] == "my_format"


def test_without_the_setting_there_is_no_folder() -> None:
    assert formats_folder(Settings()).path is None
    assert all_formats(Settings()) == builtin_formats()


def test_the_setting_is_a_folder_and_may_start_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TOOLCALL_INSPECTOR_FORMATS", "~/formats")
    assert get_settings().formats == tmp_path / "formats"


def test_a_file_that_is_no_usable_format_is_refused_and_the_rest_stays(tmp_path: Path) -> None:
    write(tmp_path, "good.json")
    (tmp_path / "json.json").write_text('{"schema": 1,\n "name" "x"}')
    write(tmp_path, "model.json", name="other", title=3)
    write(tmp_path, "lint.json", name="other", initial="NOWHERE")
    (tmp_path / "bytes.json").write_bytes(b'{"a": "\xff"}')
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "large.json").write_bytes(b" " * (4 * MOST_CHARACTERS + 1))
    (tmp_path / "folder.json").mkdir()
    found = load_folder(tmp_path)
    assert list(found.formats) == ["my_format"]
    reasons = {one.file: one.reason for one in found.refused}
    assert reasons["json.json"] == "line 2, /: Not JSON: Expecting ':' delimiter at line 2, column 9"
    assert reasons["model.json"] == "line 1, /title: title: must be a valid string, not 3."
    assert "which is no state" in reasons["lint.json"]
    assert reasons["bytes.json"] == "it cannot be read: not UTF-8 text: byte 7 is not"
    assert reasons["empty.json"].startswith("it cannot be read: it is empty, or larger than 800,000 bytes")
    assert reasons["large.json"] == reasons["empty.json"]
    assert reasons["folder.json"].startswith("it cannot be read: ")


CLASHES = [
    ({"name": "qwen"}, "the name qwen belongs to the built-in parser qwen"),
    ({"aliases": ["hermes"]}, "the name hermes belongs to the built-in parser qwen"),
    ({"name": "auto"}, "the name auto belongs to the choice that finds a parser out"),
    ({"name": "check"}, "the name check belongs to the command `parsers check`"),
    ({"name": "response_template"}, "the name response_template belongs to the engine response_template"),
    ({"aliases": ["first"]}, "the name first belongs to the format of a.json"),
]


@pytest.mark.parametrize(("changes", "reason"), CLASHES)
def test_a_name_that_is_taken_is_refused_with_its_owner(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    write(tmp_path, "a.json", name="first")
    write(tmp_path, "b.json", **changes)
    found = load_folder(tmp_path)
    assert list(found.formats) == ["first"]
    assert refusals(found) == [f"formats folder: b.json is not used: {reason}; give the format another name or alias."]


def test_a_file_may_extend_a_built_in_format_or_another_file_of_the_folder(tmp_path: Path) -> None:
    head = {"schema": 1, "title": "Short"}
    files = {"a": {**head, "name": "first", "extends": "second"}, "b": {**head, "name": "second", "extends": "qwen"}}
    for file, data in files.items():
        (tmp_path / f"{file}.json").write_text(json.dumps(data))
    settings = Settings(formats=tmp_path)
    found = load_folder(tmp_path)
    assert (list(found.formats), found.refused) == (["first", "second"], [])
    assert found.formats["first"].states == builtin_formats()["qwen"].states
    assert found.source("first") == files["a"]
    assert file_text("first", settings) == json.dumps(files["a"])
    assert check_among(json.dumps({**head, "name": "third", "extends": "first"}), settings).runs is not None
    written = with_folder_format(case("first"), settings).parser.format
    assert written is not None
    assert not {"extends", "reasoning"} & written.model_dump(by_alias=True).keys()


def test_files_that_extend_each_other_or_nothing_are_refused_by_name(tmp_path: Path) -> None:
    head = {"schema": 1, "title": "Short"}
    for name, parent in {"one": "two", "two": "one", "lost": "nobody"}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({**head, "name": name, "extends": parent}))
    (tmp_path / "number.json").write_text('{"name": 3}')
    reasons = {one.file: one.reason for one in load_folder(tmp_path).refused}
    assert reasons["lost.json"] == "line 1, /extends: There is no format 'nobody' to extend."
    assert "two extends one extends two: a format cannot extend itself" in reasons["one.json"]
    assert set(reasons) == {"one.json", "two.json", "lost.json", "number.json"}


def test_a_folder_that_is_not_there_is_said_and_nothing_else_happens(tmp_path: Path) -> None:
    found = load_folder(tmp_path / "gone")
    assert found.formats == {}
    (line,) = refusals(found)
    assert line.endswith("No such file or directory); create it, or correct TOOLCALL_INSPECTOR_FORMATS.")


def test_a_case_that_names_a_format_of_the_folder_gets_it_written_into_it(tmp_path: Path) -> None:
    write(tmp_path, "a.json", aliases=["mine"])
    settings = Settings(formats=tmp_path)
    found = with_folder_format(case("mine", policy={"unknown_tool": "drop"}), settings)
    assert (found.parser.name, found.parser.policy) == ("my_format", {"unknown_tool": "drop"})
    assert found.parser.format == formats_folder(settings).formats["my_format"]
    assert load_case(json.loads(found.model_dump_json(by_alias=True, exclude_defaults=True))) == found


def test_a_case_that_says_otherwise_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "a.json")
    settings = Settings(formats=tmp_path)
    own = case("my_format", format={**OWN, "title": "Its own"})
    for one in (case("qwen"), case("auto"), own, case("my_format", engine="elsewhere")):
        assert with_folder_format(one, settings) is one
