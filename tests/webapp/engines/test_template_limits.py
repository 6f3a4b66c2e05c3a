"""What a template may not do: read for ever, hold without end, or search for seconds. What is left is content."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.replays.chunking import WHOLE
from parsers.replays.replay import replay
from parsers.replays.replayer import Replayer
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.types import Context, Message, Piece
from tests.parsers.parsing import calls
from tests.webapp.engines.templates import (
    ANCHOR,
    CALL,
    DIALECT,
    JOINED,
    JSON_CALLS,
    PLAIN,
    STREAMED,
    XML,
    deltas,
    owned,
    read,
    template,
    told,
)
from webapp.engines import ENGINES
from webapp.engines.response_template import TemplateParser, loaded, patterns
from webapp.engines.response_template.lint import lint
from webapp.engines.response_template.patterns import Budget, OverBudgetError


def test_an_endless_template_stops_and_the_rest_is_content() -> None:
    data = template(thinking={"open_pattern": "x?", "close_pattern": "y?"}, content={})
    trace = read(data, "abc")
    assert trace.message.content == "abc"
    assert [one.code for one in told(trace)] == ["template_stopped"]


def test_an_endless_template_stops_in_the_prompt_too() -> None:
    data = template(thinking={"open_pattern": "x?", "close_pattern": "y?"}, content={})
    trace = read(data, "abc", f"{ANCHOR}abc")
    assert trace.message == Message(None, "abc")
    assert [one.code for one in told(trace)] == ["template_stopped"]


def test_an_endless_template_of_calls_rejects_no_call_of_the_prompt() -> None:
    data = template(tool_calls={"open_pattern": "x?", "close_pattern": "y?", "content": "json"}, content={})
    trace = read(data, "abc", f"{ANCHOR}abc")
    assert (trace.message, trace.rejected_calls) == (Message(None, "abc"), [])


def test_reading_may_stop_at_the_end() -> None:
    before = {"open_pattern": "(?=<)", "close_pattern": "(?=<)"}
    trace = read(template(thinking=before, tool_calls=JSON_CALLS, content={}), "a <tool_c")
    assert trace.message.content == "a<tool_c"
    assert [one.code for one in trace.steps[-1].diagnostics] == ["template_stopped"]


@pytest.mark.replays
def test_a_delimiter_without_end_is_not_held_for_ever() -> None:
    data = template(thinking={"open_pattern": "<a.*b>", "close": "</a>"}, content={})
    text = "go <a" + "x" * 40_000
    for cut in (deltas(text, [7]), deltas(text, [len(text)])):
        trace = replay(TemplateParser(loaded(data)), cut, Context())
        assert trace.message.content == text
        assert ["16,384 characters are held" in one.message for one in told(trace)] == [True]


def test_a_held_call_becomes_content_when_reading_stops() -> None:
    data = template(tool_calls={**JSON_CALLS, "close": None, "close_pattern": "</a.*b>"}, content={})
    del data["fields"]["tool_calls"]["close"]
    text = "go <tool_call>{} </a" + "x" * 40_000
    trace = replay(TemplateParser(loaded(data)), deltas(text, [1000]), Context())
    assert "".join(owned(trace, "content")) == "go" + text[3:]
    assert [call.reason.words for call in trace.rejected_calls] == ["the parser gave up inside it"]


def test_a_streamed_call_is_cut_off_when_reading_stops() -> None:
    data = template(
        tool_calls={**STREAMED["fields"]["tool_calls"], "close": None, "close_pattern": "</a.*b>"}, content={}
    )
    del data["fields"]["tool_calls"]["close"]
    text = "<call:f>{} </a" + "x" * 40_000
    trace = replay(TemplateParser(loaded(data)), deltas(text, [1000]), Context())
    assert [(call.arguments, call.complete) for call in trace.message.tool_calls] == [("{} ", False)]
    assert [run for run in trace.partition if run.reason == LOST] == []


ENDLESS = template(thinking={"open_pattern": "(?:a|aa)+$", "close": "</a>"}, content={})
INSIDE = {**XML["fields"]["tool_calls"], "content_args": {"tag_pattern": "(?P<key>a)(?P<value>(?:a|aa)+)$"}}
MANY_A = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("data", "text"),
    [(ENDLESS, MANY_A), (template(tool_calls=INSIDE, content={}), f"<function=f>{MANY_A}</function> rest")],
)
def test_a_pattern_without_end_refuses_the_whole_run(
    monkeypatch: pytest.MonkeyPatch, data: dict[str, Any], text: str
) -> None:
    monkeypatch.setattr(patterns, "SEARCH_YARDS", 1_000)
    with pytest.raises(OverBudgetError, match=r"goes back and forth .* without an end: write a repeat"):
        read(data, text)
    made = loaded(data)
    replayer = Replayer(lambda: TemplateParser(made), (Piece(text),))
    with pytest.raises(OverBudgetError):
        replayer.outcome(WHOLE)


def test_a_pattern_without_end_is_found_in_the_prompt_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SEARCH_YARDS", 1_000)
    with pytest.raises(OverBudgetError):
        read(ENDLESS, "x", ANCHOR + MANY_A)
    (found,) = [one for one in lint(ENDLESS, ANCHOR + MANY_A, loaded).findings if one.code == "over_budget"]
    assert (found.severity, found.pointer) == ("error", "/start_anchor")


def test_many_slow_searches_are_too_many() -> None:
    budget = Budget(yard=0.001, yards=1_000)
    budget.spend(0.0009)
    assert budget.yards == 1_000
    budget.spend(0.4)
    assert (budget.yards, budget.timeout()) == (600, 0.6)
    budget.spend(0.6)
    with pytest.raises(OverBudgetError, match="without an end"):
        budget.timeout()


def test_what_the_searches_of_a_replay_look_at_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MOST_EXAMINED", 100)
    assert read(PLAIN, "short").message.content == "short"
    with pytest.raises(OverBudgetError, match="look at more than 100 characters for this output: shorten"):
        read(PLAIN, "long " * 40)


class SlowClock:
    """The clock of a machine on which everything takes a second longer."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.replays
def test_on_a_slow_machine_a_case_has_the_findings_that_it_has_on_any(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = {"name": "response_template", "engine": "response_template", "options": {"template": JOINED}}
    text = f"<think>Why?</think>Look: {CALL} " + "word " * 60
    case = load_case({"schema": 1, "parser": parser, "input": {"text": text}, "context": {"prompt_tail": ANCHOR}})
    usual = run_case(case, engines=ENGINES)
    monkeypatch.setattr(patterns, "time", SlowClock())
    slow = run_case(case, engines=ENGINES)
    assert (slow.trace.message, slow.findings) == (usual.trace.message, usual.findings)
    assert "chunking" not in {finding.check for finding in slow.findings}


@pytest.mark.parametrize("limit", [0, 500_000_000])
def test_many_strings_between_delimiters_are_counted(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr("webapp.engines.response_template.patterns.REPLACEMENTS", limit)
    trace = read(DIALECT, '<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>')
    assert len(trace.message.tool_calls) == bool(limit)


def test_values_inside_a_region_are_tried_too() -> None:
    inner = {"name": "xml-inline", "args": {"tag_pattern": "(?P<key>[a-z])=(?P<value>[0-9])"}}
    lines = {"name": "kv-lines", "args": {"value_parser": inner}}
    fields = {**XML["fields"]["tool_calls"]}
    fields["content_args"] = {**fields["content_args"], "value_parser": lines}
    trace = read(template(tool_calls=fields, content={}), "<function=f><parameter=p>k: a=1 b=2</parameter></function>")
    assert calls(trace.message) == [("f", '{"p": {"k": {"a": "1", "b": "2"}}}')]
