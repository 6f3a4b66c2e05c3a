"""The files of small cases: one for each signature, whoever finds it first, and none in the place of one that was there
before the run."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from pytest_toolcall.small_cases import SmallCases, names_in

SIGN, OTHER = "0123456789", "abcdef0123"


def there(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("order", [*permutations([("glm", "large one"), ("qwen", "small"), ("qwen", "other")])])
def test_of_those_that_a_run_finds_the_smallest_one_stays(tmp_path: Path, order: list[tuple[str, str]]) -> None:
    for name, text in order:
        SmallCases(tmp_path, frozenset(), tmp_path).keep(name, SIGN, text, "Lost.")
    assert there(tmp_path) == {f"fuzz-qwen-{SIGN}.min.case.json": "other"}


def test_one_that_was_there_before_the_run_stays_as_it_is(tmp_path: Path) -> None:
    known = tmp_path / f"fuzz-glm-{SIGN}.min.case.json"
    known.write_text("somebody said here what is right")
    cases = SmallCases(tmp_path, names_in(tmp_path), tmp_path)
    assert cases.keep("qwen", SIGN, "small", "Lost.") == (False, f"known already, as {known.name}: Lost.")
    new = f"fuzz-qwen-{OTHER}.min.case.json"
    assert cases.keep("qwen", OTHER, "small", "Lost.") == (True, f"wrote {new}: Lost.")
    assert there(tmp_path) == {known.name: known.read_text("utf-8"), new: "small"}


def test_one_that_is_no_smaller_is_not_written(tmp_path: Path) -> None:
    cases = SmallCases(tmp_path, frozenset(), tmp_path)
    assert cases.keep("qwen", SIGN, "small", "Lost.")[0]
    assert not cases.keep("glm", SIGN, "large one", "Lost.")[0]
    assert not cases.keep("qwen", SIGN, "small", "Lost.")[0]


def test_a_folder_in_which_nothing_can_be_written_is_said_with_the_case(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    is_new, words = SmallCases(tmp_path / "file", frozenset(), tmp_path).keep("qwen", SIGN, "{}", "Lost.")
    assert is_new
    assert "so here it is: Lost." in words
