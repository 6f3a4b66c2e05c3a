"""What a report says besides its run: versions, the line of the parser, and other parsers on the same output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.find import CaseFound
from parsers.cases.io import load_case
from parsers.replays.chunking import Chunking, label
from parsers.search.found import Found, OutcomeClass, Verdict
from parsers.vocabulary.types import Message, UsageError
from tests.webapp.engines.entering import own
from webapp.engines import choose
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.runs import answers
from webapp.runs.answers import answers_of
from webapp.runs.exports import exported
from webapp.runs.runner import Runner
from webapp.settings import Settings, get_settings

CALL = 'Dear <tool_call>\n{"name": "lookup", "arguments": {"a": "b"}}\n</tool_call> x'


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("entered"))
    write_entry(settings, "mine", own("Hermes"))
    write_entry(settings, "other", own("Hermes"))
    lines = own("Hermes").model_copy(update={"own": "line_parsers:Sender"})
    write_entry(settings, "lines", Entry.model_validate(lines.model_dump(by_alias=True)))
    use_engines(settings)
    for name in ("mine", "other", "lines"):
        entered().card(name)
    yield Runner(settings, keep=False)
    use_engines(get_settings())


def case(name: str, engine: str | None = None, **keys: Any) -> Case:
    parser = {"name": name, **({"engine": engine} if engine else {})}
    return load_case({"schema": 1, "parser": parser, "input": {"text": CALL}, **keys})


def test_a_parser_of_an_engine_is_compared_with_the_built_in_one_and_with_others(runner: Runner) -> None:
    found = answers_of(runner.run_checked(case("hermes", "mine")))
    told = dict(found.elsewhere)
    assert found.engine.startswith("mine")
    assert "built-in qwen" in told
    assert any(name.startswith("other") for name in told)
    assert not any(name.startswith("mine") for name in told)
    assert found.sendable[0][0] == "token by token"


def test_the_line_that_sent_what_is_wrong_is_told(runner: Runner) -> None:
    found = answers_of(runner.run_checked(case("Sender", "lines")))
    assert found.line is not None
    where, source = found.line
    assert where.startswith("line_parsers.py:")
    assert source.strip().startswith("return")
    assert "Line of the parser" in exported(runner.run_checked(case("Sender", "lines")), "markdown").text


@pytest.mark.replays
def test_a_built_in_parser_is_compared_with_the_engines_that_read_its_format(runner: Runner) -> None:
    found = answers_of(runner.run_checked(case("qwen")))
    assert (found.engine, found.line) == ("", None)
    assert [name.partition(" ")[0] for name, _ in found.elsewhere] == ["mine", "other"]
    assert all(name.endswith(", told the tools that the calls name") for name, _ in found.elsewhere)
    declared = answers_of(runner.run_checked(case("qwen", tools=[{"name": "lookup"}])))
    assert not any("told" in name for name, _ in declared.elsewhere)
    assert answers_of(runner.run_checked(case("qwen", parser={"name": "qwen", "engine": "fallback"}))).engine == ""


def test_the_chunkings_that_a_search_found_are_graded_too(runner: Runner) -> None:
    run = runner.run_checked(case("qwen"))
    seen = OutcomeClass(1, Message(), "stop", 1, 0, Chunking(by="cuts", cuts=(2,)), "cut in two")
    verdict = Verdict("all_hold", "pass", None, "words")
    found = CaseFound(run.case, Found("", [], [], [], [seen, seen], [], [], verdict))
    names = [name for name, _ in answers_of(run, found).sendable]
    assert names == ["token by token", label(seen.smallest)]


def test_of_a_stream_that_is_played_back_nothing_else_is_asked(runner: Runner) -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}]
    played = case("recorded", input={"stream": stream})
    found = answers_of(runner.run_checked(played))
    assert (found.sendable, found.elsewhere) == ((), ())


def test_an_engine_that_cannot_run_is_told_as_such(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runner.run_checked(case("hermes", "mine"))
    real = choose

    def refuse(one: Case) -> Any:
        if one.parser.engine == "other":
            raise UsageError("it is gone")
        return real(one)

    monkeypatch.setattr(answers, "choose", refuse)
    assert "not run: it is gone" in dict(answers_of(run).elsewhere).values()
    monkeypatch.setattr(answers, "step_lines", lambda *_: refuse(case("hermes", "other")))
    assert answers_of(runner.run_checked(case("Sender", "lines"))).line is None
