"""tests/seeds.json names every requirement of the first designs, and what it points to is there; the names of servers
are aliases."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs.generate import data
from parsers.selection.registry import names, resolve
from parsers.vocabulary.types import UsageError
from tests.corpus import case_names, corpus_file, corpus_of

ROOT = Path(__file__).resolve().parents[2]
FOUND = json.loads((ROOT / "tests" / "seeds.json").read_text("utf-8"))
SEEDS: list[dict[str, Any]] = FOUND["seeds"]
COUNTS = {
    **{"L-": 15, "L-A": 14, "L-E": 10, "M-": 17, "M-6.": 14, "M-E": 9},
    **{"V-": 26, "C-": 27, "E-": 38, "G-": 13, "F-": 22, "W-": 9},
}
NUMBERS = {"M-2b", "M-2c", "M-5b"} | {f"{head}{n}" for head, last in COUNTS.items() for n in range(1, last + 1)}
ENGINES = data("aliases.json")["engines"]
OTHERS = data("aliases.json")["not_built_in"]
NAMED = [
    (f"{one['name']}-{kind}-{name}", name, fmt)
    for one in ENGINES
    for kind in ("tool", "reasoning")
    for name, fmt in one[kind].items()
]


@cache
def functions(path: Path) -> frozenset[str]:
    """The tests of a file, found without running it."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


@cache
def headings(path: Path) -> tuple[str, ...]:
    return tuple(re.findall(r"^## (.+)$", path.read_text("utf-8"), flags=re.MULTILINE))


def places(key: str) -> Iterator[tuple[str, str]]:
    for seed in SEEDS:
        for place in seed.get(key, ()):
            yield seed["id"], place


def of_corpus(place: str) -> bool:
    return ".cases.json::" in place


def test_every_number_is_there_once_under_its_group() -> None:
    listed = [seed["id"] for seed in SEEDS]
    assert set(listed) == NUMBERS
    assert len(listed) == len(NUMBERS) == 217
    assert {number[0] for number in listed} == set(FOUND["groups"])


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed["id"])
def test_a_number_says_what_is_asked_for_and_what_came_of_it(seed: dict[str, Any]) -> None:
    assert set(seed) <= {"id", "requirement", "shown", "decision"}
    assert seed["requirement"].endswith(".")
    assert len(seed["requirement"]) < 120
    assert seed.get("shown") or seed.get("decision")


def test_every_test_that_is_named_exists() -> None:
    named = [(number, *place.split("::")) for number, place in places("shown") if not of_corpus(place)]
    assert [one for one in named if one[2] not in functions(ROOT / one[1])] == []
    assert all(Path(file).name.startswith("test_") and test.startswith("test_") for _, file, test in named)


def test_every_case_that_is_named_exists() -> None:
    known = {f"{corpus_file(corpus_of(name)).relative_to(ROOT)}::{name.partition('/')[2]}" for name in case_names()}
    assert [(number, place) for number, place in places("shown") if of_corpus(place) and place not in known] == []


def test_every_decision_that_is_named_exists_down_to_its_section() -> None:
    for number, place in places("decision"):
        path, _, section = place.partition("#")
        assert (ROOT / path).parent == ROOT / "docs" / "decisions", number
        known = headings(ROOT / path)
        assert section in known if section else not known, (number, place)


def test_every_section_about_seeds_is_about_a_number() -> None:
    path = "docs/decisions/070-seeds.md"
    cited = {place.partition("#")[2] for _, place in places("decision") if place.startswith(path)}
    assert cited == set(headings(ROOT / path))


@pytest.mark.parametrize(("name", "fmt"), [one[1:] for one in NAMED], ids=[one[0] for one in NAMED])
def test_a_name_of_a_server_is_an_alias_or_is_explained(name: str, fmt: str | None) -> None:
    if fmt is not None:
        assert resolve(name) == fmt
        assert name not in OTHERS
    else:
        assert OTHERS[name].endswith(".")
        with pytest.raises(UsageError):
            resolve(name)


def test_the_tables_of_names_are_whole_and_say_whose_they_are() -> None:
    sizes = {(one["name"], one["version"]): (len(one["tool"]), len(one["reasoning"])) for one in ENGINES}
    assert sizes == {("vLLM", "0.33.0"): (58, 42), ("SGLang", "0.5.23"): (44, 36)}
    assert set(OTHERS) == {name for _, name, fmt in NAMED if fmt is None}
    assert {fmt for _, _, fmt in NAMED if fmt is not None} <= set(names())
