"""`db count`, `db list`, `db purge` and `db takedown` look after the cases of a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.webapp.commands.conftest import Program
from webapp.commands.kept_cases import opened_store
from webapp.page.sharing.preview_picture import picture_file
from webapp.settings import get_settings
from webapp.store import Sharing

CaseFile = Callable[..., Path]


@pytest.fixture(autouse=True)
def _two_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program, case_file: CaseFile) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path / "data"))
    case_file("in/one.case.json", input={"text": "One."})
    case_file("in/two.case.json", input={"text": "Two. " * 200})
    assert program("library", "import", tmp_path / "in").code == 0


def rows(program: Program, *given: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(program("db", "list", "--json", *given).out)
    return found


def test_cases_are_counted(program: Program) -> None:
    told = program("db", "count").out
    assert told.startswith("2 cases of ")
    assert told.endswith(" characters, 2 in the library\n0 deleted, 0 taken down\n")
    assert program("db", "count", "--json").json["live"] == 2


def test_cases_are_listed_without_what_they_say(program: Program) -> None:
    first, second = program("db", "list").out.splitlines()
    assert first.endswith("  listed")
    assert "One." not in first + second
    assert len(rows(program, "--larger-than", 1_000)) == 1
    assert rows(program, "--older-than", 1) == []
    assert len(rows(program, "--older-than", 0)) == 2


def test_the_pictures_of_what_is_deleted_go_with_it(program: Program, tmp_path: Path) -> None:
    ids = [str(one["id"]) for one in rows(program)]
    pictures = [picture_file(get_settings(), one) for one in ids]
    pictures[0].parent.mkdir()
    for one in pictures:
        one.write_bytes(b"png")
    assert program("db", "purge", "--larger-than", 1_000).code == 0
    assert [one.exists() for one in pictures] == [True, True]
    assert program("db", "purge", "--larger-than", 1_000, "--yes").code == 0
    assert sum([one.exists() for one in pictures]) == 1
    assert program("db", "takedown", *ids).code == 0
    assert not any(one.exists() for one in pictures)


def test_nothing_is_purged_without_being_sure(program: Program) -> None:
    assert program("db", "purge", "--larger-than", 1_000).out == "1 case would be deleted; say --yes to do it\n"
    assert len(rows(program)) == 2
    assert program("db", "purge", "--larger-than", 1_000, "--yes").out == "1 case deleted\n"
    assert len(rows(program)) == 1


def test_what_expired_is_swept_away(program: Program) -> None:
    with opened_store() as store:
        store.save("e" * 16, "{}", "digest", "1.0", sharing=Sharing(expires="2026-01-01T00:00:00.000Z"))
    assert program("db", "purge", "--expired").out == "1 share expired; say --yes to sweep them away\n"
    assert program("db", "purge", "--expired", "--yes").out == "1 case swept\n"
    assert len(rows(program)) == 2
    assert "by itself" in program("db", "purge", "--expired", "--older-than", 1).err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("purge",), "say which cases: give --older-than, --larger-than, or both"),
        (("list", "--older-than", 10**9), "is before there were days to count"),
        (("takedown", "short"), "short is no id of a case: it has 16 letters and digits"),
    ],
)
def test_what_cannot_be_meant_is_said(program: Program, given: tuple[object, ...], words: str) -> None:
    done = program("db", *given)
    assert (done.code, words in done.err) == (2, True)


def test_a_case_that_was_taken_down_cannot_be_imported_until_it_is_allowed(program: Program, tmp_path: Path) -> None:
    case_id = str(rows(program, "--larger-than", 1_000)[0]["id"])
    address = f"https://inspector.example/c/{case_id}?q=held"
    assert program("db", "takedown", address).out == f"{case_id}: taken down\n"
    assert program("db", "takedown", case_id).out == f"{case_id}: taken down, though it could not be read\n"
    refused = program("library", "import", tmp_path / "in")
    assert "Whoever runs this server took this case down on 20" in refused.out
    assert refused.out.endswith("0 stored, 1 known already, 1 failed\n")
    assert program("db", "takedown", "--allow", case_id).out == f"{case_id}: may be shared again\n"
    assert program("db", "takedown", "--allow", case_id).out == f"{case_id}: was not taken down\n"
    assert program("library", "import", tmp_path / "in").out == "1 stored, 1 known already, 0 failed\n"
