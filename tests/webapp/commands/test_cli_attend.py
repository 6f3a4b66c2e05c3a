"""`attend`: tasks over a pair of pipes, in the middle of which the parser of the other side is asked."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.guests.serving import Calm, Naive, case_text, served
from webapp.commands.attend import PROTOCOL, Attendant
from webapp.settings import Settings

HELLO = {"hello": {"protocol": PROTOCOL}}


class Pipes(io.RawIOBase):
    """Both ends: messages that are read one by one, and answers of a parser to what is asked in between."""

    def __init__(self, *messages: Any, kind: type = Naive, refusing: str = "") -> None:
        super().__init__()
        self.card, self._ask = served(kind)
        self.said: list[Any] = []
        self._left = deque(messages)
        self._next: deque[Any] = deque()
        self._refusing = refusing

    def readline(self, size: int | None = -1) -> bytes:
        waiting = self._next or self._left
        message = waiting.popleft() if waiting else b""
        return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"

    def write(self, line: Any) -> int:
        message = json.loads(line)
        if "run" in message and self._refusing:
            self._next.append({"failed": self._refusing})
        elif "run" in message:
            self._next.append({"answer": self._ask(message["run"])})
        else:
            self.said.append(message)
        return len(line)


def said(*messages: Any, **more: Any) -> list[Any]:
    pipes: Any = Pipes(*messages, **more)
    Attendant(pipes, pipes, Settings()).serve()
    return list(pipes.said)


def checking(kind: type = Naive) -> dict[str, Any]:
    return {"check": {"case": case_text(), "card": served(kind)[0]}}


@pytest.mark.replays
def test_a_parser_is_asked_in_the_middle_of_a_task() -> None:
    hello, checked, found = said(HELLO, checking(), {"find": {"case": case_text(), "card": served(Naive)[0]}})
    assert (hello["answer"]["protocol"], checked["answer"]["outcome"]) == (PROTOCOL, "FAIL")
    assert "<tool_call>" in found["answer"]["case"]


def test_outputs_are_generated() -> None:
    (made,) = said({"outputs": {"format": "qwen", "count": 2}})
    assert len(made["answer"]["cases"]) == 2


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"play": {}}, "there is no task 'play'; there are check, find, outputs"),
        ({}, "there is no task ''"),
        ({"check": {}}, "check: /case: is missing; docs/pytest-plugin.md says what is asked"),
        ({"check": {"case": 1}}, "check: /case: must be a string, not a number; docs/pytest-plugin.md says"),
        ({"outputs": []}, "outputs: /: must be a JSON object with format, case, seed,"),
        ({"outputs": {"format": "nope"}}, "there is no parser 'nope'"),
        ({"find": {"case": "{}"}}, "schema"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_next_task_is_done(message: Any, words: str) -> None:
    failed, hello = said(message, HELLO)
    assert (words in failed["failed"], "answer" in hello) == (True, True)


def test_a_parser_that_cannot_answer_is_told(tmp_path: Path) -> None:
    (found,) = said(checking(Calm), kind=Calm, refusing="it is gone")
    assert (found["answer"]["outcome"], "cannot answer: it is gone" in found["answer"]["why"]) == ("unusable", True)


@pytest.mark.parametrize("line", [b"", b"{", b"nonsense\n", b"[]\n"])
def test_it_ends_with_its_input_and_with_what_is_no_message(line: bytes) -> None:
    assert said(line, HELLO) == []


def test_it_ends_when_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(self: Pipes, line: Any) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(Pipes, "write", gone)
    assert said(HELLO) == []


@pytest.mark.slow
@pytest.mark.replays
def test_the_command_speaks_over_its_standard_streams() -> None:
    program = [sys.executable, "-c", "from webapp.cli import main; main(['attend'])"]
    lines = json.dumps(HELLO) + "\n" + json.dumps({"outputs": {"format": "qwen", "count": 1}}) + "\n"
    done = subprocess.run(program, input=lines, capture_output=True, text=True, timeout=120)
    hello, made = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, hello["answer"]["protocol"], len(made["answer"]["cases"])) == (0, PROTOCOL, 1)
