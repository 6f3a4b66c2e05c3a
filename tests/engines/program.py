"""The program as somebody runs it who enters an engine: `engines add` and `engines check` with a data folder of its
own, and the search of `find`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from parsers.cases.case import Case
from parsers.cases.find import find_json
from parsers.cases.io import load_case
from parsers.formats.model import Format, builtin_formats
from parsers.machine.reasoning import reasoning_markers
from parsers.vocabulary.types import UsageError
from webapp.jobs.search_program import case_search
from webapp.runs.prepare import with_defaults
from webapp.settings import Settings

DATA = "TOOLCALL_INSPECTOR_DATA_DIR"
LONGEST = 300  # seconds


@dataclass(frozen=True, slots=True)
class Search:
    """One search: the parser, as what its bug is known, and the output."""

    parser: str
    text: str
    known: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """What `find` said, and the smallest case. `failed`: why it said nothing."""

    search: Search
    headline: str = ""
    errors: int = 0
    replays: int = 0
    seconds: float = 0.0
    failed: str = ""
    smallest: Case | None = None


class Inspector:
    """The program, by a data folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ[DATA] = str(folder)

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """What it answers."""
        command = [str(Path(sys.executable).with_name("toolcall-inspector")), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)


def found(search: Search, settings: Settings, declared: list[Any]) -> Searched:
    """Search for what breaks a parser on an output as `find` does, with nothing said of it but the tools.

    It runs in this process, which keeps the engines: some take longer to start than to search.
    """
    engine, _, parser = search.parser.partition(":")
    given = {"schema": 1, "parser": {"name": parser, "engine": engine}, "input": {"text": search.text}}
    began = monotonic()
    try:
        made = case_search(with_defaults(load_case({**given, "tools": declared}), settings), settings)
        for _ in made.run():
            pass
    except UsageError as error:
        return Searched(search, failed=str(error))
    result = made.result()
    data = find_json(result)
    errors = sum(one["severity"] == "error" for one in data["findings"])
    return Searched(
        search, data["verdict"]["headline"], errors, data["replays"], monotonic() - began, "", result.minimized
    )


def searches(name: str) -> list[Search]:
    """The searches of searches.json under a name: texts, or examples of formats without their reasoning."""
    data, formats = json.loads(Path(__file__).with_name("searches.json").read_text("utf-8")), builtin_formats()
    return [
        Search(one["parser"], one.get("text") or _unreasoned(formats[one["example"]]), one.get("known", ""))
        for one in data[name]
    ]


def _unreasoned(fmt: Format) -> str:
    """The example of a format without its reasoning, which another parser reads."""
    markers = reasoning_markers(fmt)
    ends = [f"(?:{'|'.join(map(re.escape, found)) or '(?!)'})" for found in (markers.openers, markers.closers)]
    return re.sub(rf"{ends[0]}.*?{ends[1]}\s*", "", fmt.example or "", flags=re.DOTALL)


def tools() -> list[Any]:
    """The tools that all of them declare."""
    found: list[Any] = json.loads(Path(__file__).with_name("searches.json").read_text("utf-8"))["tools"]
    return found
