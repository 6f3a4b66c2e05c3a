"""engines.toml: what may be run, said by the operator alone, and what is wrong with it in one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.engines.fake_engine import hello
from webapp.engines.entries import (
    WORKER,
    Entry,
    checked_entry,
    entries,
    file_of,
    keep_card,
    known_card,
    write_entry,
)
from webapp.engines.protocol import read_card
from webapp.settings import Settings

CARD = read_card(hello([]))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


def test_no_file_is_no_engine(settings: Settings) -> None:
    assert (entries(settings), file_of(settings)) == ({}, settings.data_dir / "engines.toml")


def test_another_file_may_be_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[vllm]\npython = "/venv/bin/python"\n')
    found = entries(Settings(data_dir=tmp_path / "data", engines=file))
    assert found["vllm"].argv("vllm") == ("/venv/bin/python", "-u", str(WORKER), "vllm")


@pytest.mark.parametrize(
    ("name", "values", "argv"),
    [
        ("sglang", {"python": "p"}, ("p", "-u", str(WORKER), "sglang")),
        ("old", {"python": "p", "adapter": "vllm"}, ("p", "-u", str(WORKER), "vllm")),
        ("mine", {"python": "p", "class": "a.b:C"}, ("p", "-u", str(WORKER), "class", "a.b:C")),
        ("fork", {"python": "p", "adapter": "sglang", "class": "a:C"}, ("p", "-u", str(WORKER), "sglang", "a:C")),
        ("js", {"command": ["node", "worker.mjs"]}, ("node", "worker.mjs")),
    ],
)
def test_an_entry_says_what_is_started(name: str, values: dict[str, Any], argv: tuple[str, ...]) -> None:
    assert checked_entry(name, values).argv(name) == argv


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("mine", {}, "give the python that has it, or the command of a worker"),
        ("mine", {"python": "p"}, "there is no adapter 'mine'; there are vllm, sglang, lmdeploy"),
        ("mine", {"command": ["x"], "python": "p"}, "a command is a whole worker"),
        ("sglang", {"python": "p", "plugin": "x.py"}, "a plugin is a file for vLLM's --tool-parser-plugin"),
        ("mine", {"python": "p", "class": "a"}, "class: must be MODULE:CLASS, as in mypackage.module:Class"),
        ("mine", {"command": ["x"], "shell": True}, "shell: there is no such key"),
        ("mine", {"command": ["x"], "memory": 1}, "memory: must be at least 50"),
        ("a:b", {"command": ["x"]}, "a name has letters, digits"),
        ("recorded", {"command": ["x"]}, "that name is taken by this program"),
        ("auto", {"command": ["x"]}, "that name is taken by this program"),
    ],
)
def test_an_entry_that_cannot_be_used_is_one_sentence(name: str, values: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        checked_entry(name, values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[vllm", "cannot be read"),
        ("[vllm]\n", "give the python"),
        ("vllm = 3", r"\[vllm\]: it: must be a table with python, adapter, class, command"),
        ("[a]\ncommand = 'w'", r"\[a\]: command: must be an array, not a string"),
        ('[a]\ncommand = ["w", "a\\u0000b"]', r"\[a\]: command: has a NUL character, which no program can be given"),
        ('[a]\ncommand = ["w"]\nfolder = "\\u0000"', r"\[a\]: folder: has a NUL character"),
        ('[a]\ncommand = ["w"]\nenvironment = { A = "\\u0000" }', r"\[a\]: environment: has a NUL character"),
        ('[a]\ncommand = ["w"]\nenvironment = { "A=B" = "" }', r"\[a\]: environment: has a variable without a name"),
        ("[a]\ncommand = ['w']\nseconds = 'ten'", r"\[a\]: seconds: must be a number, not a string"),
        ("#" * 1_000_001, "bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(settings: Settings, text: str, words: str) -> None:
    file_of(settings).write_text(text)
    with pytest.raises(UsageError, match=words):
        entries(settings)


def test_modules_are_found_in_a_folder_and_in_src_there_where_that_is_no_package(tmp_path: Path) -> None:
    entry = Entry(python="p", path=str(tmp_path))
    plain, source = entry.variables, tmp_path / "src"
    source.mkdir()
    layout = entry.variables
    (source / "__init__.py").touch()
    assert plain == entry.variables == {"PYTHONPATH": str(tmp_path)}
    assert layout == {"PYTHONPATH": f"{tmp_path}{os.pathsep}{source}"}


def test_what_is_written_is_read_again(settings: Settings) -> None:
    first = Entry(python='/a "b"/python', adapter="vllm", environment={"K": "v\n\x7f😀"}, path="src", memory=2_000)
    second = Entry(command=("docker", "run", "-i", "a b"), seconds=2.5)
    write_entry(settings, "one", first)
    write_entry(settings, "two", second)
    assert entries(settings) == {"one": first, "two": second}
    assert first.variables == {"K": "v\n\x7f😀", "PYTHONPATH": "src"}


def test_what_is_entered_is_its_owners_alone_unless_somebody_opened_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    before = os.umask(0o022)
    try:
        file = write_entry(settings, "one", Entry(command=("x",)))
        keep_card(settings, "one", Entry(command=("x",)), CARD)
        made = [settings.data_dir, file, settings.data_dir / "engines", settings.data_dir / "engines" / "one.json"]
        assert [oct(one.stat().st_mode & 0o777) for one in made] == ["0o700", "0o600", "0o700", "0o600"]
        file.chmod(0o644)
        write_entry(settings, "two", Entry(command=("x",)))
        assert oct(file.stat().st_mode & 0o777) == "0o644"
    finally:
        os.umask(before)


def test_a_path_that_is_not_utf8_is_refused_and_the_file_stays_as_it_is(settings: Settings) -> None:
    write_entry(settings, "one", Entry(command=("x",)))
    with pytest.raises(UsageError, match="a path or variable of it is not UTF-8"):
        write_entry(settings, "two", Entry(command=("x\udc80",)))
    assert [*entries(settings)] == ["one"]


def test_a_file_that_was_changed_is_read_again(settings: Settings) -> None:
    write_entry(settings, "one", Entry(command=("x",)))
    assert [*entries(settings)] == ["one"]
    file = file_of(settings)
    file.write_text("")
    os.utime(file, ns=(1, 1))
    assert entries(settings) == {}


def test_a_file_that_cannot_be_written_is_one_sentence(settings: Settings) -> None:
    file_of(settings).mkdir()
    with pytest.raises(UsageError, match=r"cannot be (written|read)"):
        write_entry(settings, "one", Entry(command=("x",)))


def test_what_could_not_be_put_in_place_leaves_nothing_behind(settings: Settings) -> None:
    place = settings.data_dir / "engines" / "x.json"
    place.mkdir(parents=True)
    keep_card(settings, "x", Entry(command=("x",)), CARD)
    assert [one.name for one in place.parent.iterdir()] == ["x.json"]


def test_what_an_engine_said_of_itself_is_remembered(settings: Settings) -> None:
    entry = Entry(command=("x",))
    assert known_card(settings, "one", entry) is None
    keep_card(settings, "one", entry, CARD)
    assert known_card(settings, "one", entry) == (CARD, "")
    assert known_card(settings, "one", Entry(command=("y",))) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"argv": ["x"]}', '{"argv": ["x"], "card": {"protocol": 9}}'])
def test_a_memory_that_is_none_is_as_if_nothing_was_said(settings: Settings, text: str) -> None:
    file = settings.data_dir / "engines" / "one.json"
    file.parent.mkdir()
    file.write_text(text)
    assert known_card(settings, "one", Entry(command=("x",))) is None


def test_that_nothing_can_be_remembered_is_no_failure(settings: Settings) -> None:
    (settings.data_dir / "engines").write_text("no folder")
    keep_card(settings, "one", Entry(command=("x",)), CARD)
    assert json.dumps(CARD.model_dump())
