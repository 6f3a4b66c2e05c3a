"""`check` with an engine that keeps something between replays: what is told, and the command that shows it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines.entering import own
from tests.webapp.guests.serving import CALL, EXPECT
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.settings import get_settings

Program = Callable[..., Any]
UNSTEADY = "The parser does not read the same output alike every time: "


@pytest.fixture(autouse=True)
def _entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write_entry(get_settings(), "keeping", own("Keeping"))
    use_engines(get_settings())
    yield
    monkeypatch.delenv("TOOLCALL_INSPECTOR_DATA_DIR")
    use_engines(get_settings())


def corpus(**cases: tuple[str, dict[str, Any]]) -> str:
    """Cases of these outputs, with what they expect; its name."""
    made = {
        name: {"schema": 1, "parser": {"name": "hermes"}, "input": {"text": text}, "expect": expect}
        for name, (text, expect) in cases.items()
    }
    Path("a.cases.json").write_text(json.dumps(made), "utf-8")
    return "a.cases.json"


@pytest.mark.replays
def test_what_a_replay_leaves_to_the_others_is_told_and_all_of_them_are_what_shows_it(program: Program) -> None:
    done = program("check", corpus(one=(f"Sure.{CALL}", EXPECT)), "--engine", "keeping")
    told, command = [line.strip() for line in done.out.splitlines()[-3:-1]]
    assert done.code == 1
    assert told.startswith(f"{UNSTEADY}read once more (token by token), the output gives another message: the content")
    assert command.startswith("toolcall-inspector check a.cases.json::one --engine keeping")
    use_engines(get_settings())  # in a process of its own
    assert program(*shlex.split(command)[1:]).code == 1


def test_what_a_case_leaves_to_the_others_is_told(program: Program) -> None:
    cases = corpus(
        plain=("Hi.", {"content": "Hi."}), one=(CALL, {**EXPECT, "content": ""}), two=("Ho.", {"content": "Ho."})
    )
    done = program("check", cases, "--engine", "keeping")
    _, _, last = done.out.partition("a.cases.json::two")
    assert f"{UNSTEADY}a.cases.json::plain, read once more (token by token), the output gives another message" in last
    assert "what the cases before this one left behind may be why it fails, and alone it may not" in last
    assert done.out.count(UNSTEADY) == 2


def test_an_engine_that_reads_alike_every_time_is_not_told_of(program: Program) -> None:
    write_entry(get_settings(), "steady", own("Hermes"))
    use_engines(get_settings())
    done = program("check", corpus(one=(CALL, {"content": "?"}), two=(CALL, {"content": "?"})), "--engine", "steady")
    assert (done.code, done.out.count("FAIL   "), UNSTEADY in done.out) == (1, 2, False)
    assert done.out.count("toolcall-inspector replay a.cases.json::") == 2
