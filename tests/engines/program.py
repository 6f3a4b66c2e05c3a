"""The program as somebody runs it who enters an engine: `engines add`, `engines check`, `find`, with a data folder of
its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from parsers.formats.model import builtin_formats

DATA = "TOOLCALL_INSPECTOR_DATA_DIR"
LONGEST = 900  # seconds of a search


@dataclass(frozen=True, slots=True)
class Search:
    """One search: the parser, as what its bug is known, and the output."""

    parser: str
    text: str
    known: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """What `find` said. `failed`: why it said nothing."""

    search: Search
    headline: str = ""
    errors: int = 0
    replays: int = 0
    seconds: float = 0.0
    failed: str = ""


class Inspector:
    """The program, by a data folder."""

    def __init__(self, folder: Path, tools: list[Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._tools = folder / "tools.json"
        self._tools.write_text(json.dumps(tools), "utf-8")
        os.environ[DATA] = str(folder)

    def run(self, *words: object, given: str = "") -> subprocess.CompletedProcess[str]:
        """What it answers."""
        command = [str(Path(sys.executable).with_name("toolcall-inspector")), *map(str, words)]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=LONGEST)

    def find(self, search: Search) -> Searched:
        """Search for what breaks a parser on an output, with nothing said of it but the tools."""
        began = monotonic()
        done = self.run("find", "-", "--engine", search.parser, "--tools", self._tools, "--json", given=search.text)
        seconds = monotonic() - began
        if done.returncode not in (0, 1):
            return Searched(search, failed=done.stderr.strip()[-300:])
        found = json.loads(done.stdout)
        errors = sum(one["severity"] == "error" for one in found["findings"])
        return Searched(search, found["verdict"]["headline"], errors, found["replays"], seconds)


def searches(name: str) -> list[Search]:
    """The searches of searches.json under a name: texts, or examples of formats."""
    data, formats = json.loads(Path(__file__).with_name("searches.json").read_text("utf-8")), builtin_formats()
    return [
        Search(one["parser"], one.get("text") or formats[one["example"]].example or "", one.get("known", ""))
        for one in data[name]
    ]


def tools() -> list[Any]:
    """The tools that all of them declare."""
    found: list[Any] = json.loads(Path(__file__).with_name("searches.json").read_text("utf-8"))["tools"]
    return found
