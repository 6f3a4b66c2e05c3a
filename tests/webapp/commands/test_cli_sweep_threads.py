"""A signature that was reported in public carries the link to that thread, wherever it is told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.engines.entries import Entry, write_entry
from webapp.page.library.gallery import gallery
from webapp.settings import get_settings

Program = Callable[..., Any]
ENGINE = Path(__file__).with_name("silent_engine.py")
OUTPUTS = ["It rains.", '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>']
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
TOLD = ("report.json", "report.junit.xml", "report.html")


@pytest.mark.replays
@pytest.mark.parametrize(("server", "known"), [("vllm", True), ("sglang", False), ("ours", False)])
def test_a_fault_that_was_reported_of_this_server_has_the_link(
    program: Program, own_engines: Path, tmp_path: Path, server: str, known: bool
) -> None:
    entry = Entry(command=(sys.executable, "-I", str(ENGINE), server), seconds=20, memory=300)
    write_entry(get_settings(), "mine", entry)
    path, out = tmp_path / "corpus.jsonl", tmp_path / "out"
    path.write_text("".join([json.dumps({"output": text, "tools": TOOLS}) + "\n" for text in OUTPUTS]))
    done = program("sweep", path, "--engine", "mine:hermes", "-o", out)
    tile = gallery()["vllm-31501-call-in-one-delta"]
    (found,) = json.loads((out / "report.json").read_text())["signatures"]
    assert (done.code, found["check"], found["marker"]) == (1, "all_output_lost", "<tool_call>")
    thread = {"example": tile.name, "words": tile.thread, "title": tile.title, "link": tile.link}
    assert found["threads"] == ([thread] if known else [])
    assert (f"{tile.thread}: {tile.title} <{tile.link}>" in done.out) == known
    assert [tile.link in (out / name).read_text("utf-8") for name in TOLD] == [known] * len(TOLD)
