"""The library by format, a case as an engine's parser reads it, and what is said of that in a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.formats.model import builtin_formats
from tests.webapp.engines.entering import fake, own
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.engines.patience import Patience
from webapp.page.engines.library_cases import RestingError, by_engine, library_cases, tried
from webapp.runs.format_example import example_calls
from webapp.settings import Settings, get_settings

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


@pytest.mark.replays
def test_every_format_has_its_example_and_a_case_stands_once() -> None:
    found = {name: [one.name for one in library_cases(name)] for name in builtin_formats()}
    assert all(f"format-{name}" in cases for name, cases in found.items() if builtin_formats()[name].example)
    assert all(len(cases) == len({*cases}) for cases in found.values())
    assert "marker-split-across-tokens" in found["qwen"]
    assert sum(map(len, found.values())) > 100


def test_the_example_of_a_format_declares_the_tools_that_it_calls() -> None:
    calls = {name: {call.name for call in example_calls(fmt)} for name, fmt in builtin_formats().items()}
    assert sum(map(bool, calls.values())) > 30
    for name, called in calls.items():
        for one in library_cases(name):
            if one.name == f"format-{name}":
                assert {tool["function"]["name"] for tool in one.case.tools} == called


@pytest.mark.parametrize(
    ("text", "parser", "reasoning", "chosen"),
    [
        ("a</think>b", "qwen", ("deepseek_r1", "qwen3"), "qwen3"),
        ("a</think>b", "deepseek_r1", ("deepseek_r1", "qwen3"), "deepseek_r1"),
        ("a</think>b", "qwen", ("glm45",), None),
        ("a</think>b", "nobody", ("qwen3",), None),
        ("a", "qwen", ("qwen3",), None),
    ],
)
def test_reasoning_is_read_first_where_the_output_closes_some(
    text: str, parser: str, reasoning: tuple[str, ...], chosen: str | None
) -> None:
    body = {
        "schema": 1,
        "parser": {"name": "qwen"},
        "input": {"text": text},
        "contract": "strict",
        "replay": [{"by": "char"}],
    }
    made = by_engine(load_case(body), "e", parser, reasoning)
    assert (made.parser.engine, made.parser.name, made.contract, made.replay) == ("e", parser, None, ())
    assert made.parser.options.get("reasoning_parser") == chosen


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings with a class that sends all text as content, and one that fails."""
    made = Settings(data_dir=tmp_path_factory.mktemp("tried"))
    for name, kind in (("plain", "Plain"), ("bad", "Raising"), ("short", "Short")):
        write_entry(made, name, own(kind))
    write_entry(made, "silent", fake("dies"))
    use_engines(made)
    yield made
    use_engines(get_settings())


def case(engine: str | None, parser: str, text: str = "ab", **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": parser, "engine": engine}, "input": {"text": text}, **more})


@pytest.mark.parametrize(
    ("given", "words", "severity", "detail"),
    [
        (case(None, "qwen", CALL), "passes", "pass", "checks hold"),
        (case(None, "qwen", CALL, expect={"content": "x"}), "differs", "error", "content: nothing, expected x"),
        (case(None, "qwen", "Hi.", expect={"content": "Hi.\n"}), "differs", "error", "content: Hi., expected `Hi.\\n`"),
        (case(None, "qwen", CALL, tools=[{"name": "g"}]), "warns", "warning", "known_tool: "),
        (case("bad", "Raising", "a!"), "raises", "error", "ValueError: no !"),
        (case("nobody", "qwen"), "cannot run", "warning", "nobody"),
        (case("plain", "nobody"), "cannot run", "warning", "no parser 'nobody'"),
        (case("silent", "echo"), "no answer", "warning", "engine silent does not start"),
    ],
)
def test_what_comes_of_a_case_has_a_word(
    settings: Settings, given: Case, words: str, severity: str, detail: str
) -> None:
    found = tried(given, settings)
    assert (found.words, found.severity) == (words, severity), found
    assert detail in found.detail


def test_a_case_may_have_to_be_as_expected_under_every_chunking(settings: Settings) -> None:
    given = case("short", "Short", "Hello there", expect={"content": "Hello there"})
    assert tried(given, settings).words == "passes", "no check finds an error in what no server cuts"
    found = tried(given, settings, everywhere=True)
    assert (found.words, found.severity) == ("differs", "error")
    assert found.detail == "content: Heo there, expected Hello there, character by character"


def test_what_an_engine_that_rests_makes_of_a_case_is_not_known(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "rest", "it hung")
    with pytest.raises(RestingError, match="it hung"):
        tried(case("plain", "Plain"), settings)
