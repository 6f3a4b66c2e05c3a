from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.webapp.commands.conftest import Program
from webapp.commands import library as module
from webapp.commands.kept_cases import opened_store
from webapp.page.sharing.preview_picture import keep_picture, picture_file
from webapp.settings import get_settings
from webapp.store import Sharing

CaseFile = Callable[..., Path]


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path / "data"))


def test_a_folder_is_imported_found_and_exported(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    case_file("in/one.case.json", title="One")
    case_file("in/deep/two.case.json", input={"text": "Two."})
    case_file("in/.hidden/three.case.json", input={"text": "Three."})
    (tmp_path / "in" / "notes.txt").write_text("no case", "utf-8")
    done = program("library", "import", tmp_path / "in", "--tags", "a, b")
    assert (done.code, done.out) == (0, "2 stored, 0 known already, 0 failed\n")
    assert [json.loads(line)["title"] for line in program("library", "find", "--json").out.splitlines()] == ["", "One"]
    assert program("library", "find", "tag:a </tool").out.split()[1:] == ["qwen", "holds", "One"]
    assert len(program("library", "export").out.splitlines()) == 2
    assert program("library", "export", "Two.", "-o", tmp_path / "x.zip").code == 0
    assert len(zipfile.ZipFile(tmp_path / "x.zip").namelist()) == 1
    again = program("library", "import", tmp_path / "x.zip", tmp_path / "in")
    assert again.out == "0 stored, 3 known already, 0 failed\n"


def test_what_fails_is_named_and_the_others_are_stored(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    good = case_file("in/good.case.json")
    case_file("in/bad.case.json", parser={"name": "nothing"})
    (tmp_path / "in" / "worse.json").write_bytes(b"\xff")
    done = program("library", "import", tmp_path / "in")
    assert done.code == 1
    first, second, last = done.out.splitlines()
    assert "bad.case.json: " in first
    assert "worse.json: " in second
    assert last == "1 stored, 0 known already, 2 failed"
    told = [json.loads(line) for line in program("library", "import", "--json", good).out.splitlines()]
    assert [(one["outcome"], one["why"], one["delete_key"]) for one in told] == [("known", None, None)]


def test_what_is_wrong_in_json_lines_is_told_by_the_line_of_the_file(
    program: Program, case_file: CaseFile, tmp_path: Path
) -> None:
    line, rows = json.dumps(json.loads(case_file().read_text("utf-8"))), tmp_path / "rows.jsonl"
    rows.write_text("\n".join([line, "", line[:-1], line.replace('"text"', '"txt"'), f"{line} x"]), "utf-8")
    told = [why.removeprefix(f"failed  {rows}::") for why in program("library", "import", rows).out.splitlines()[:-1]]
    assert told == [
        f"3: not JSON: Expecting ',' delimiter at line 3, column {len(line)}",
        '4: /input/txt: unknown key "txt": correct its spelling or remove it',
        f"5: not JSON: Extra data at line 5, column {len(line) + 2}",
    ]


def test_a_new_case_is_told_with_the_key_that_withdraws_it(program: Program, case_file: CaseFile) -> None:
    (line,) = program("library", "import", "--json", case_file()).out.splitlines()
    told = json.loads(line)
    with opened_store() as store:
        assert store.withdraw(told["id"], told["delete_key"])


def test_unlisted_cases_are_stored_and_not_found(program: Program, case_file: CaseFile) -> None:
    assert program("library", "import", "--unlisted", case_file()).out.startswith("1 stored")
    done = program("library", "find")
    assert (done.out, done.err) == ("", "0 cases\n")


def test_a_path_that_is_not_there_is_said(program: Program, tmp_path: Path) -> None:
    done = program("library", "import", tmp_path / "none.json")
    assert (done.code, "cannot be read" in done.err) == (2, True)


def test_a_file_is_not_written_over(program: Program, case_file: CaseFile, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("mine", "utf-8")
    done = program("library", "export", "-o", tmp_path / "x.jsonl")
    assert (done.code, "File exists" in done.err) == (2, True)
    assert (tmp_path / "x.jsonl").read_text("utf-8") == "mine"


def test_a_file_of_a_folder_that_is_too_large_is_one_that_failed(
    program: Program, case_file: CaseFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case_file("in/one.case.json")
    monkeypatch.setattr(module, "LARGEST", 10)
    done = program("library", "import", tmp_path / "in")
    assert (done.code, "more than 10 bytes" in done.out) == (1, True)


def test_the_picture_of_what_expired_goes_with_the_import_that_sweeps_it_away(
    program: Program, case_file: CaseFile
) -> None:
    with opened_store() as store:
        store.save("e" * 16, "{}", "digest", "1.0", sharing=Sharing(expires="2026-01-31T09:00:00.000Z"))
    picture = picture_file(get_settings(), "e" * 16)
    keep_picture(get_settings(), "e" * 16, b"png")
    assert program("library", "import", case_file()).code == 0
    assert not picture.exists()


@pytest.mark.parametrize("command", ["find", "export"])
def test_a_check_that_there_is_not_is_refused_with_those_there_are(program: Program, command: str) -> None:
    done = program("library", command, "check:schemas")
    assert (done.code, "There is no check 'schemas'. There are: " in done.err) == (2, True)


@pytest.mark.parametrize("command", ["find", "export"])
def test_a_search_that_is_too_long_is_refused(program: Program, command: str) -> None:
    done = program("library", command, "x" * 1_001)
    assert (done.code, done.out) == (2, "")
    assert "This search is for 1,001 characters, and 1,000 is the most: nothing was looked for." in done.err
