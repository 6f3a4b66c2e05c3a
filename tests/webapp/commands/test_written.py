"""What goes out to programs and files is UTF-8, wherever it goes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from parsers.vocabulary.types import UsageError
from webapp.commands.written import must_be_files, print_json, put, write

HALF = "é\ud800"


def ascii_terminal(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    return out


def test_a_terminal_of_another_encoding_gets_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = ascii_terminal(monkeypatch)
    print_json([HALF])
    assert json.loads(terminal.getvalue().decode()) == [HALF]


def test_halves_of_pairs_are_spelled_in_a_file_and_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    terminal = ascii_terminal(monkeypatch)
    write(HALF, None)
    write(HALF, str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == terminal.getvalue() == "é\\ud800".encode()


def test_a_hyphen_is_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = ascii_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write(HALF, "-")
    assert (terminal.getvalue(), [*tmp_path.iterdir()]) == ("é\\ud800".encode(), [])


def test_what_is_written_beside_lines_has_a_name() -> None:
    must_be_files({"--junit": None, "--summary": "out"})
    with pytest.raises(UsageError, match="--summary -: standard output has the lines of the command"):
        must_be_files({"--junit": None, "--summary": "-"})


def test_a_file_may_be_added_to_and_its_folder_is_made(tmp_path: Path) -> None:
    for word in ("a\n", HALF):
        put("--summary", str(tmp_path / "new" / "out"), word, append=True)
    assert (tmp_path / "new" / "out").read_bytes() == "a\né\\ud800".encode()
