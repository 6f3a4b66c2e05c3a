"""The requirement files pin everything with its digests and name no registry."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SETS = ("build", "run", "test", "team", "corpus", "cluster", "fuzz", "lock", "clients/oldest", "clients/newer")
PIN = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?==([\w.]+)(?: ; python_version < \"[\d.]+\")? \\")
DIGEST = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def lines(root: Path, name: str) -> list[str]:
    text = (root / "requirements" / f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]


def pins(root: Path, name: str) -> dict[str, str]:
    found = (PIN.fullmatch(line) for line in lines(root, name))
    return {canonicalize_name(match[1]): match[3] for match in found if match}


def extras(root: Path, name: str) -> dict[str, set[str]]:
    found = (PIN.fullmatch(line) for line in lines(root, name))
    return {canonicalize_name(match[1]): set((match[2] or "").split(",")) for match in found if match}


@pytest.mark.parametrize("name", SETS)
def test_every_line_is_a_pin_or_a_digest_of_one(root: Path, name: str) -> None:
    assert [line for line in lines(root, name) if not PIN.fullmatch(line) and not DIGEST.fullmatch(line)] == []


@pytest.mark.parametrize("name", SETS)
def test_every_pin_has_a_digest(root: Path, name: str) -> None:
    rows = lines(root, name)
    followers = {row: rows[at + 1 : at + 2] for at, row in enumerate(rows) if PIN.fullmatch(row)}
    assert [row for row, after in followers.items() if not after or not DIGEST.fullmatch(after[0])] == []


@pytest.mark.parametrize("name", SETS)
def test_everything_asked_for_is_pinned(root: Path, name: str) -> None:
    wanted = (root / "requirements" / f"{name}.in").read_text("utf-8").splitlines()
    names = {canonicalize_name(Requirement(line).name) for line in wanted if line[:1].isalpha()}
    assert names <= pins(root, name).keys()


def test_a_pin_names_the_extras_that_other_pins_ask_of_it(root: Path) -> None:
    """Of a package with extras that no pin names, pip takes the newest release, and refuses it for want of a digest."""
    pinned = extras(root, "run") | extras(root, "test")
    asked = [Requirement(text) for name in pinned for text in requires(name) or ()]
    applying = [one for one in asked if one.extras and (one.marker is None or one.marker.evaluate({"extra": ""}))]
    assert applying
    assert [one for one in applying if not one.extras <= pinned[canonicalize_name(one.name)]] == []


def test_a_package_in_two_installed_sets_has_one_version(root: Path) -> None:
    sets = [pins(root, name) for name in ("build", "run", "test", "team", "corpus", "cluster", "fuzz")]
    assert {name for one in sets for other in sets for name in one.keys() & other if one[name] != other[name]} == set()


def test_the_package_asks_for_what_is_pinned(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {canonicalize_name(entry.name): entry for entry in map(Requirement, project["dependencies"])}
    pinned = pins(root, "run")
    assert {name for name, entry in asked.items() if not entry.specifier.contains(pinned[name])} == set()
    wanted = (root / "requirements" / "run.in").read_text("utf-8").splitlines()
    named = [Requirement(line) for line in wanted if line[:1].isalpha()]
    assert {canonicalize_name(one.name): one.marker for one in named} == {key: one.marker for key, one in asked.items()}


@pytest.mark.parametrize("extra", ["team", "corpus", "cluster"])
def test_an_extra_asks_for_what_is_pinned(root: Path, extra: str) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = pins(root, extra)
    asked = [Requirement(line) for line in project["optional-dependencies"][extra]]
    assert {canonicalize_name(one.name) for one in asked if one.specifier.contains(pinned[one.name])} == {
        canonicalize_name(one.name) for one in asked
    }


def test_the_engines_that_tests_set_up_are_pinned_with_digests(root: Path) -> None:
    folder = root / "requirements" / "engines"
    pin, digest = re.compile(r"([\w.-]+)==([\w.+]+) \\\n    --hash=sha256:[0-9a-f]{64}\n"), re.compile(r"(#.*)?\n")
    for wanted in sorted(folder.glob("*.in")):
        text = wanted.with_suffix(".txt").read_text("utf-8")
        asked = [Requirement(line) for line in wanted.read_text("utf-8").splitlines() if line[:1].isalpha()]
        found = {canonicalize_name(match[1]): match[2].partition("+")[0] for match in pin.finditer(text)}
        assert {canonicalize_name(one.name): str(one.specifier)[2:] for one in asked} == found
        assert digest.sub("", pin.sub("", text)) == ""


def test_the_lock_of_the_engines_of_npm_has_digests_and_no_address(root: Path) -> None:
    text = (root / "requirements" / "engines" / "npm" / "package-lock.json").read_text("utf-8")
    locked = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    assert [name for name, entry in locked.items() if not entry["integrity"].startswith("sha512-")] == []
    assert "://" not in text


def test_the_lock_of_the_linters_has_versions_and_digests_and_no_address(root: Path) -> None:
    folder = root / "requirements" / "node"
    text = (folder / "package-lock.json").read_text("utf-8")
    locked = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    asked = json.loads((folder / "package.json").read_text("utf-8"))["devDependencies"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in asked} == asked
    assert [name for name, entry in locked.items() if not entry["integrity"].startswith("sha512-")] == []
    assert "://" not in text
