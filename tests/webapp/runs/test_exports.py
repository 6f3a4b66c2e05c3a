"""What is exported of a case that an entered engine parses, and which exports a run has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.io import load_case
from tests.parsers.cases.test_export_suites import failures
from tests.webapp.engines.entering import FAKE, fake, own
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.runs.exports import exported, offered
from webapp.runs.runner import Runner
from webapp.settings import Settings, get_settings


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    settings = Settings(data_dir=tmp_path)
    write_entry(settings, "fake", fake())
    write_entry(settings, "mine", own("Plain"))
    write_entry(settings, "vllm", own("Plain"))
    use_engines(settings)
    yield Runner(settings, keep=False)
    use_engines(get_settings())


def case(name: str, engine: str | None = None, **keys: Any) -> Case:
    parser = {"name": name, **({"engine": engine} if engine else {})}
    return load_case({"schema": 1, "parser": parser, "input": {"text": "Hi there."}, **keys})


def test_a_class_of_ones_own_is_in_the_pytest_file(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runner.run_checked(case("Plain", "mine", expect={"content": "Hi there."}))
    source = exported(run, "pytest").text
    assert "CLASS = [\n  'own_parsers',\n  'Plain'\n]" in source
    monkeypatch.syspath_prepend(str(FAKE.parent))
    assert failures(source) == []


def test_the_engine_of_a_command_is_tested_by_the_parser_of_the_format(runner: Runner) -> None:
    run = runner.run_checked(case("echo", "fake", expect={"content": "Hi there."}))
    assert "InspectorParser(" in exported(run, "pytest").text


def test_a_class_that_is_entered_under_the_name_of_a_server_is_none_of_its_parsers(runner: Runner) -> None:
    run = runner.run_checked(case("Plain", "vllm", expect={"content": "Hi there."}))
    assert "vllm" not in [one.name for one in offered(run)]


def test_a_run_has_the_exports_that_can_say_it(runner: Runner) -> None:
    qwen = [one.name for one in offered(runner.run_checked(case("qwen")))]
    assert {"vllm", "vllm_format", "sglang", "vllm_rust", "tool_parser", "llamacpp", "dynamo", "pytest"} <= {*qwen}
    assert "transformers" not in qwen
    apriel = [one.name for one in offered(runner.run_checked(case("apriel")))]
    assert {*qwen} - {*apriel} == {"vllm", "vllm_format", "sglang", "vllm_rust", "tool_parser"}
    stream = {"stream": [{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}]}
    played = [one.name for one in offered(runner.run_checked(case("recorded", input=stream)))]
    assert played == ["case", "markdown", "html", "jsonl", "sse", "responses", "messages"]


def test_what_a_suite_cannot_say_is_told_at_the_parser(runner: Runner) -> None:
    run = runner.run_checked(case("apriel", expect={"content": "x"}))
    with pytest.raises(CaseError) as told:
        exported(run, "vllm")
    assert told.value.pointer == "/parser"
