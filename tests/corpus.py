"""The cases of the repository, for all tests that walk them: `qwen/single` is `single` in cases/qwen.cases.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from parsers.cases.case import Case
from parsers.cases.corpus import case_texts, load_named
from parsers.cases.io import decoded, one_line, to_data
from parsers.cases.jsontext import pretty

ROOT = Path(__file__).parent / "cases"
CORPORA = tuple(path.name.removesuffix(".cases.json") for path in sorted(ROOT.glob("*.cases.json")))


def corpus_file(corpus: str) -> Path:
    return ROOT / f"{corpus}.cases.json"


@cache
def _texts(corpus: str) -> dict[str, str]:
    return case_texts(corpus_file(corpus).read_text(encoding="utf-8"))


def case_names(*corpora: str, without: tuple[str, ...] = ()) -> list[str]:
    """The names of all cases in these corpora, by default in all, but not in those `without`."""
    return [f"{corpus}/{name}" for corpus in corpora or CORPORA if corpus not in without for name in _texts(corpus)]


def corpus_of(name: str) -> str:
    return name.partition("/")[0]


@cache
def case_named(name: str) -> Case:
    return load_named(name, _text(name))


def load_corpus(source: str | bytes) -> dict[str, Case]:
    """The cases of a corpus file by name."""
    return {name: load_named(name, text) for name, text in case_texts(decoded(source)).items()}


def dump_corpus(cases: Mapping[str, Case]) -> str:
    """The cases as the text of a corpus file, in its one layout."""
    data = {name: to_data(case) for name, case in cases.items()}
    return pretty(data, lambda path: one_line(path[1:])) + "\n"


def case_data(name: str) -> dict[str, Any]:
    """The case as decoded JSON, the caller's own."""
    found: dict[str, Any] = json.loads(_text(name))
    return found


def _text(name: str) -> str:
    corpus, _, inner = name.partition("/")
    return _texts(corpus)[inner]
