"""`redact`: a case without what it says, the verdict before and after, and what stays."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.find import CaseFound
from parsers.cases.io import loads
from parsers.cases.redaction.redact import Redacted, Stays, Why
from tests.webapp.engines.entering import FAKE
from webapp.commands import redact as command
from webapp.jobs.redacting import RedactedCase
from webapp.settings import Settings

Program = Callable[..., Any]


@pytest.mark.replays
def test_a_case_is_written_without_its_words(program: Program, case_file: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "out.case.json"
    done = program("redact", case_file(title="Secret", tools=[{"name": "get_weather"}]), "-o", out)
    case = loads(out.read_bytes())
    assert (done.code, done.out) == (0, "")
    assert "the verdict is the same" in done.err
    assert "<tool_call>" in case.text()
    assert not {"weather", "Zürich", "Secret"} & {*case.text().replace("_", " ").split(), case.title}


@pytest.mark.replays
def test_an_untitled_case_of_a_corpus_has_its_name_for_a_title_without_its_words(
    program: Program, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "some.cases.json").write_text(f'{{"Secret city": {case_file().read_text("utf-8")}}}', "utf-8")
    made = loads(program("redact", f"{tmp_path}/some.cases.json::Secret city").out)
    assert made.title
    assert len(made.title.split()) == 2
    assert not {"Secret", "city"} & {*made.title.split()}


@pytest.mark.replays
def test_it_goes_to_standard_output_without_a_file(program: Program, case_file: Callable[..., Path]) -> None:
    done = program("redact", case_file())
    assert loads(done.out).source is not None


@pytest.mark.replays
def test_a_file_that_cannot_be_written_and_one_that_is_no_case_are_told(
    program: Program, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    done = program("redact", case_file(), "-o", tmp_path)
    assert (done.code, "--output" in done.err, "cannot be written" in done.err) == (2, True, True)
    (tmp_path / "bad.case.json").write_text('{"schema": 1}')
    assert program("redact", tmp_path / "bad.case.json").code == 2


def test_of_a_recording_with_several_outputs_the_first_is_redacted(program: Program, tmp_path: Path) -> None:
    lines = [f'{{"id": "{name}", "choices": [{{"index": 0, "message": {{"content": "Hi {name}"}}}}]}}' for name in "ab"]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    done = program("redact", tmp_path / "log.jsonl")
    assert (done.code, "it holds 2 outputs; the first is redacted" in done.err) == (0, True)


def test_what_stays_is_named_and_another_verdict_is_exit_code_one(
    program: Program, case_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(case: Case, *_: object) -> RedactedCase:
        stays = [Stays(f"w{number}", Why.NEEDED) for number in range(25)]
        return RedactedCase(Redacted(case, 3, (*stays, Stays("u", Why.UNTRIED)), True, 9), case, verdict_same=False)

    monkeypatch.setattr(command, "redact_searched", made)
    done = program("redact", case_file())
    assert done.code == 1
    assert "the verdict is ANOTHER one" in done.err
    assert "w19 and 5 more" in done.err
    assert "not replaced, as nobody tried for want of time: u" in done.err


@pytest.mark.replays
@pytest.mark.usefixtures("own_engines")
def test_its_searches_make_nothing_small(
    program: Program, case_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They say what is wrong, and the smaller form of it would be thrown away."""
    found: list[CaseFound] = []

    def redacted(case: Case, settings: Settings, search: Callable[[Case], CaseFound]) -> RedactedCase:
        found.append(search(case))
        return RedactedCase(Redacted(case, 0, (), True, 0), case, verdict_same=True)

    monkeypatch.setattr(command, "redact_searched", redacted)
    program("engines", "add", "fake", "--command", shlex.join([sys.executable, "-I", str(FAKE)]), "--memory", "300")
    assert program("redact", case_file(parser={"name": "raises", "engine": "fake"}, input={"text": "a!"})).code == 0
    assert [one.found.verdict.severity for one in found] == ["error"]
    assert [one.minimized for one in found] == [None]
