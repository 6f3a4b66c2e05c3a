"""What a case and its file are called acts on no terminal, and on no reader of a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.cli import one_line
from webapp.commands.words import visible

TURNED = "\u202e"
NAME = f"a{TURNED}b.case.json"
CASE = {
    "schema": 1,
    "title": f"abc{TURNED}gnp.exe",
    "notes": [f"n{TURNED}"],
    "flags": [f"t{TURNED}"],
    "parser": {"name": "qwen"},
    "input": {"text": f"hello {TURNED} x"},
    "expect": {"content": f"y{TURNED}"},
    "engines": {"builtin": {"link": f"https://l.example/{TURNED}", "notes": [f"k{TURNED}"]}},
}
COMMANDS = {
    "check": ("check", NAME, "corpus.cases.json", "--junit", "j.xml", "--summary", "s.md"),
    "replay": ("replay", NAME),
    "find": ("find", NAME),
    "redact": ("redact", NAME, "-o", "out.case.json"),
    "html": ("export", "--to", "html", NAME, "-o", "r.html"),
}


@pytest.mark.replays
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_no_character_that_turns_words(
    program: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NAME).write_text(json.dumps(CASE), "utf-8")
    Path("corpus.cases.json").write_text(json.dumps({f"n{TURNED}x": CASE}), "utf-8")
    done = program(*COMMANDS[command])
    written = [file.read_text("utf-8") for file in Path().iterdir() if file.suffix in (".xml", ".md", ".html")]
    assert (done.code in (0, 1), [TURNED in text for text in (done.out, done.err, *written)].count(True)) == (True, 0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("`hi ` comes as `hi  `", "`hi ` comes as `hi  `"),
        ("  two\n    lines\there\xa0 ", "two lines here"),
        ("a\x1bb", "a\\x1bb"),
    ],
)
def test_a_line_keeps_its_blanks_and_nothing_else_that_is_white(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_report_keeps_its_lines() -> None:
    assert (visible("a"), visible("a\n\tb\x1b·")) == ("a", "a\n\tb\\x1b·")
