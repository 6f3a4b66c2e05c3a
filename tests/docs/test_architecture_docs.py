"""docs/architecture.md tells what is there: the rooms in their order, and every file that a delta crosses."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from parsers import make_parser
from parsers.vocabulary.types import Context, Delta, Piece, Tool
from tests.house.test_imports import ROOMS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "architecture.md").read_text("utf-8")
TEXTS = ("Let me see.", "\n", "<tool_call>", "\n", '{"name": ', '"get_weather"', ', "arguments": ', '{"city": ', '"Par',
         'is"', ', "days": 3', "}", "}", "\n", "</tool_call>", "")  # fmt: skip
TOOL = Tool(
    "get_weather",
    {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
)
SWITCHES = 20  # from one module to another, a delta


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def crossed() -> list[str]:
    """The files whose functions are entered while a call is fed, one entry for each switch to another file."""
    parser = make_parser("qwen")
    found: list[str] = []

    def enter(frame: FrameType, event: str, _arg: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("parsers.") and found[-1:] != [name]:
            found.append(name)

    for watched in (False, True):  # what is compiled once is compiled the first time
        parser.begin(Context(tools=(TOOL,)))
        before = sys.getprofile()
        sys.setprofile(enter if watched else None)
        try:
            for index, text in enumerate(TEXTS, 1):
                parser.feed(Delta(index, (Piece(text),)))
            parser.finish(None)
        finally:
            sys.setprofile(before)
    return found


def test_the_rooms_are_listed_in_their_order() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", section("The rooms of `parsers`"), flags=re.MULTILINE)) == ROOMS


def test_the_picture_shows_every_room() -> None:
    shown = re.findall(r">(\w+)</text>", (DOCS / "architecture.svg").read_text("utf-8"))
    assert set(ROOMS) <= set(shown)


def test_every_file_that_a_delta_crosses_is_listed() -> None:
    listed = re.findall(r"^\| `(parsers/[\w/]+)\.py` \|", section("How one delta travels"), flags=re.MULTILINE)
    assert {name.replace("/", ".") for name in listed} == set(crossed())


def test_a_delta_crosses_few_files_and_seldom_changes_between_them() -> None:
    found = crossed()
    assert len(set(found)) <= 12
    assert len(found) / len(TEXTS) <= SWITCHES
