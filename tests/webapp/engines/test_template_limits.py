"""What a template may not do: read for ever, hold without end, or search for seconds. What is left is content."""

from __future__ import annotations

import pytest

from parsers.replays.replay import replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.types import Context, Message
from tests.parsers.parsing import calls
from tests.webapp.engines.templates import (
    ANCHOR,
    DIALECT,
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
from webapp.engines.response_template import TemplateParser, loaded
from webapp.engines.response_template.patterns import Budget


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
    made = loaded(PLAIN)
    parser = TemplateParser(made)
    parser.begin(Context())
    parser.feed(deltas("a <tool_c", [9])[0])
    made.fuse.blown = True
    codes = [(event.kind, getattr(event, "text", "")) for event in parser.finish()]
    assert codes == [("ContentText", " "), ("ContentText", "<tool_c"), ("Diagnostic", "")]


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


def test_a_slow_pattern_runs_into_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.engines.response_template.patterns.SEARCH_SECONDS", 0.05)
    data = template(thinking={"open_pattern": "(?:a|aa)+$", "close": "</a>"}, content={})
    text = "a" * 60 + "b"
    made = loaded(data)
    for _ in range(2):
        trace = replay(TemplateParser(made), deltas(text, [len(text)]), Context())
        assert trace.message.content == text
        assert [one.code for one in told(trace)] == ["template_stopped"]


def test_slow_searches_use_up_a_budget() -> None:
    budget = Budget()
    budget.spend(0.0005)
    assert budget.left == 2.0
    budget.spend(1.5)
    assert budget.timeout() == 0.5
    budget.spend(1.0)
    with pytest.raises(ValueError, match="need more than 2 seconds"):
        budget.timeout()
    assert budget.fuse.blown


def test_a_slow_pattern_inside_a_region_is_found_out_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.engines.response_template.patterns.SEARCH_SECONDS", 0.05)
    fields = {**XML["fields"]["tool_calls"], "content_args": {"tag_pattern": "(?P<key>a)(?P<value>(?:a|aa)+)$"}}
    text = "<function=f>" + "a" * 60 + "b</function> rest"
    trace = replay(
        TemplateParser(loaded(template(tool_calls=fields, content={}))), deltas(text, [len(text)]), Context()
    )
    assert trace.message.content == text
    assert [one.code for one in told(trace)][:1] == ["slow_region"]


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
