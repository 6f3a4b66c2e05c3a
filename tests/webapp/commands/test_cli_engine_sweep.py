"""`sweep` with engines: a corpus through their parsers, and what is new beside another sweep."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines.entering import own
from webapp.engines.entries import write_entry
from webapp.settings import get_settings

Program = Callable[..., Any]
OUTPUTS = ["It is <b>bold</b>\nand more.", "Hello.", "Line\nafter\nline.", "Hello."]


@pytest.fixture(autouse=True)
def _entered(own_engines: Path) -> None:
    for name in ("Old", "Cut"):
        write_entry(get_settings(), name.lower(), own(name, **{"class": f"paired_parsers:{name}"}))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join([json.dumps({"output": text}) + "\n" for text in OUTPUTS]))
    return path


@pytest.mark.replays
def test_a_parser_of_an_engine_is_swept_alike_here_and_in_a_child(
    program: Program, corpus: Path, tmp_path: Path
) -> None:
    here = program("sweep", corpus, "--engine", "cut:Cut", "-o", tmp_path / "here", "--json")
    assert here.code == 1
    assert here.json["plan"]["engine"] == {"name": "cut", "version": "class 2", "options": {}}
    assert here.json["plan"]["chunkings"][:2] == ["whole", {"by": "token"}]
    assert {one["parser"] for one in here.json["signatures"] if one["about"] == "parser"} == {"cut:Cut"}
    there = program("sweep", corpus, "--engine", "cut:Cut", "-o", tmp_path / "there", "--jobs", "1", "--json")
    assert there.json["signatures"] == here.json["signatures"]


def test_a_class_of_ones_own_is_swept_in_a_child_as_well(program: Program, corpus: Path) -> None:
    how = ("--engine", "json:JSONDecoder", "--python", sys.executable)
    done = program("sweep", corpus, *how)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "JSONDecoder" in done.err


@pytest.mark.replays
def test_of_two_engines_only_what_is_new_fails(program: Program, corpus: Path, tmp_path: Path) -> None:
    words = ("--engine", "base=old", "--engine", "head=cut")
    done = program("sweep", corpus, *words, "-o", tmp_path / "out")
    assert done.code == 1
    assert "\n== head\n" in f"\n{done.out}"
    assert "beside base: " in done.out
    changes = json.loads((tmp_path / "out" / "head" / "changes.json").read_text())
    assert changes["new"] != []
    assert not (tmp_path / "out" / "base" / "changes.json").exists()
    again = program("sweep", corpus, "--engine", "base=cut", "--engine", "head=old", "--json")
    assert again.code == 0
    assert [one["label"] for one in again.json["sweeps"]] == ["base", "head"]
    assert again.json["sweeps"][1]["changes"]["gone"] != []


@pytest.mark.replays
def test_beside_a_baseline_only_what_is_new_fails(program: Program, corpus: Path, tmp_path: Path) -> None:
    program("sweep", corpus, "--engine", "cut", "-o", tmp_path / "out")
    baseline = tmp_path / "out" / "report.json"
    same = program("sweep", corpus, "--engine", "cut", "--baseline", baseline, "--json")
    assert (same.code, same.json["changes"]["new"]) == (0, [])
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**json.loads(baseline.read_text()), "signatures": [], "outputs": 1}))
    worse = program("sweep", corpus, "--engine", "cut", "--baseline", other)
    assert worse.code == 1
    assert "beside the baseline: " in worse.out
    assert "(other outputs were read there than here: counts do not compare)" in worse.out


def test_our_own_parser_may_be_one_of_several(program: Program, corpus: Path) -> None:
    done = program("sweep", corpus, "--engine", "builtin:qwen", "--engine", "old", "--json")
    assert [one["plan"]["engine"] and one["plan"]["engine"]["name"] for one in done.json["sweeps"]] == [None, "old"]


MISTAKES = [
    (("--engine", "none"), "engine 'none' is not entered here"),
    (("--engine", "old", "--policy", "a=b"), "the parsers of an engine are its own"),
    (("--engine", "old", "--parser", "qwen"), "both say who parses"),
    (("--engine", "old", "--engine", "cut", "--baseline", "x"), "both say beside what"),
    (("--baseline", "{}"), "is no report of a sweep"),
    (("--contract", "none"), "there is no contract"),
    (("--reasoning-parser", "x"), "say which engine with --engine"),
]


@pytest.mark.parametrize(("args", "said"), MISTAKES)
def test_a_mistake_is_one_line(
    program: Program, corpus: Path, tmp_path: Path, args: tuple[str, ...], said: str
) -> None:
    (tmp_path / "x.json").write_text("{}")
    done = program("sweep", corpus, *[str(tmp_path / "x.json") if arg == "{}" else arg for arg in args])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err
