"""Lines of JSON, and memory that is watched."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.children.processes import until
from webapp.children import family, wires
from webapp.children.resident import resident_bytes
from webapp.children.wires import Lines
from webapp.children.worker import LargeError


def no_message(begins: str) -> dict[str, str]:
    return {"failed": "panic", "message": f"what it says is no message: {begins}"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"answer": {"a": 1}}\n', {"answer": {"a": 1}, "rss": 0}),
        (b'{"progress": {}}\n', {"progress": {}}),
        (b'{"failed": "no"}\n', {"failed": "refused", "message": "no"}),
        (b'{"failed": 3}\n', no_message('`{"failed": 3}`')),
        (b'{"answer": 1}\n', no_message('`{"answer": 1}`')),
        (b'{"progress": 1}\n', no_message('`{"progress": 1}`')),
        (
            b'{"answer": {}, "failed": "no"}\n',
            {"failed": "panic", "message": 'it says answer and failed in one line: `{"answer": {}, "failed": "no"}`'},
        ),
        (b'{"answer": {}, "more": 1}\n', {"answer": {}, "rss": 0}),
        (b"[]\n", no_message("`[]`")),
        (b"{}\n", no_message("`{}`")),
        (b"\n", no_message("an empty line")),
        (b"Loading ...\n", no_message("`Loading ...`")),
        (b"Loaded \xff\n", no_message("`Loaded \ufffd`")),
        (b"x" * 90 + b"\n", no_message(f"`{'x' * 39}…`")),
        (b'{"answer": 1', None),
        (b"", None),
    ],
)
def test_a_line_is_a_message(line: bytes, message: Any) -> None:
    assert Lines().heard(io.BytesIO(line), 100) == message


def test_a_line_is_bounded_before_it_is_read() -> None:
    with pytest.raises(LargeError):
        Lines().heard(io.BytesIO(b"x" * 200), 100)


BACKSLASHES = r"\\\"" * 30  # each a backslash and a quote, and no end of a string


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("[],[],[],[],[],[],[]", True),
        ("[],[],[],[],[],[],[],[]", False),
        (",".join(["1"] * 61), True),
        (",".join(["1"] * 62), False),
        (",".join(['{"a":1}'] * 9), False),
        (f'"{"[{,]" * 90}"', True),
        (f'"{BACKSLASHES}[{{,"', True),
        ('"[{,",' * 10 + "1", False),  # so many strings are not looked through
    ],
)
def test_a_line_with_more_values_than_anybody_may_say_is_not_read(
    monkeypatch: pytest.MonkeyPatch, answer: str, read: bool
) -> None:
    monkeypatch.setattr(wires, "FREE_CONTAINERS", 10)
    line = f'{{"answer":{{"a":[{answer}]}}}}\n'.encode()
    message = Lines().heard(io.BytesIO(line), 10_000)
    assert message.get("answer") == (json.loads(line)["answer"] if read else None)
    assert read or message["message"].startswith("it says more than 10 objects and lists, or 6 times as many values")


def test_what_may_be_said_follows_from_the_steps_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "FREE_CONTAINERS", 0)
    line = b'{"answer":{"a":[[],[],[]]}}\n'
    assert "failed" in Lines().heard(io.BytesIO(line), 100)
    assert "answer" in Lines().heard(io.BytesIO(line), 100, steps=1)


def test_only_tasks_are_written() -> None:
    assert Lines().written({"program": "x"}) == b""
    assert Lines().written({"task": "run", "request": {"a": "\ud83d"}}) == b'{"run": {"a": "\\ud83d"}}\n'


def test_a_process_counts_with_what_it_started() -> None:
    program = (
        "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
    )
    with subprocess.Popen([sys.executable, "-c", f"{program} print(p.pid, flush=True); p.wait()"], stdout=-1) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until(lambda: resident_bytes(child) > 1_000_000)
        assert resident_bytes(parent.pid) >= resident_bytes(child)
        os.kill(child, 9)
        parent.kill()


def test_a_process_that_is_gone_takes_nothing() -> None:
    assert resident_bytes(2**22 + 1) == 0
    assert [*family.family(2**22 + 1)] == [2**22 + 1]


@pytest.mark.parametrize(
    ("program", "least"), [("#!/bin/sh\necho ' 2000'\n", 2_048_000), ("#!/bin/sh\n", 0), (None, 0)]
)
def test_where_there_is_no_proc_ps_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, least: int
) -> None:
    monkeypatch.setattr(family, "PROC", tmp_path / "no")
    monkeypatch.setenv("PATH", str(tmp_path))
    if program:
        (tmp_path / "ps").write_text(program.replace("echo", "/bin/echo"))
        (tmp_path / "ps").chmod(0o755)
    assert resident_bytes(os.getpid()) == least
