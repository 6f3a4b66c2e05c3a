"""The program as a function: arguments and standard input in; exit code, output and errors out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from webapp import cli
from webapp.commands import running
from webapp.engines.entered import use_engines
from webapp.settings import get_settings

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'


class Done(NamedTuple):
    """What the program did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What was printed, as JSON."""
        found: dict[str, Any] = json.loads(self.out)
        return found


Program = Callable[..., Done]


@pytest.fixture(autouse=True)
def _fresh_settings() -> Iterator[None]:
    yield
    running.service.cache_clear()


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Program:
    def run(*args: str | Path, stdin: str | bytes = b"") -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = cli.run([str(arg) for arg in args])
        out, err = capsysbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run


@pytest.fixture
def own_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder in which no engine is entered, for the commands of a test."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(folder))
    use_engines(get_settings())
    yield folder
    monkeypatch.delenv("TOOLCALL_INSPECTOR_DATA_DIR")
    use_engines(get_settings())


@pytest.fixture
def case_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a case file out of the keys of a case; the parser is qwen and the output one call."""

    def write(name: str = "one.case.json", **keys: Any) -> Path:
        data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}, **keys}
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), "utf-8")
        return path

    return write


@pytest.fixture
def output_file(tmp_path: Path) -> Path:
    """A file with raw model output: one call."""
    path = tmp_path / "output.txt"
    path.write_text(CALL, "utf-8")
    return path
