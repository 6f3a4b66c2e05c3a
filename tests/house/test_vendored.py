"""A vendored file is the one its package ships, and says where it came from."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

FIELDS = {"name", "version", "licence", "source", "path", "sha256"}


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "static" / "vendor"


@pytest.fixture(scope="module")
def listed(folder: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads((folder / "VENDORED.toml").read_text("utf-8"))


def test_every_vendored_file_is_listed(files: list[Path], listed: dict[str, dict[str, str]]) -> None:
    there = {path.name for path in files if path.parent == Path("static/vendor")}
    assert there == {"VENDORED.toml", *listed}


def test_every_entry_names_version_licence_and_source(listed: dict[str, dict[str, str]]) -> None:
    assert {name: set(entry) for name, entry in listed.items()} == dict.fromkeys(listed, FIELDS)


def test_every_vendored_file_has_the_listed_digest(folder: Path, listed: dict[str, dict[str, str]]) -> None:
    actual = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in listed}
    assert actual == {name: entry["sha256"] for name, entry in listed.items()}


def test_every_vendored_file_carries_the_listed_version(folder: Path, listed: dict[str, dict[str, str]]) -> None:
    assert [name for name, entry in listed.items() if entry["version"] not in (folder / name).read_text("utf-8")] == []
