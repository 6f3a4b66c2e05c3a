"""The table machine: rows, triggers and states, shown on formats made for the purpose."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.model import Format
from parsers.machine.program import Program
from parsers.selection.registry import build, get_format, policies
from parsers.vocabulary.events import ContentText, Marker
from parsers.vocabulary.types import Context, FormatError, UsageError
from tests.parsers.parsing import calls, codes, deltas, events_of, owners, rows, small, trace_of

TAG = {"OPEN": "<a>", "CLOSE": "</a>"}


def tagged(rows_of_open: list[dict[str, Any]], **more: Any) -> Format:
    """Content, and a state between <a> and </a> with these rows."""
    content = {"text": "content", "rows": [{"on": "OPEN", "to": "INSIDE"}, {"on": "END", "to": "TOP"}]}
    return small({"TOP": content, "INSIDE": {"rows": rows_of_open, **more}}, TAG)


def named(text: str, close: str = "CLOSE") -> Format:
    """A call whose name, header or id stands between <a> and </a>, with JSON arguments after it."""
    states = {
        "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "HEAD", "emit": ["CallStart"]}]},
        "HEAD": {
            "text": text,
            "rows": [{"on": close, "to": "ARGUMENTS"}, {"on": "END", "to": "HEAD", "emit": ["CallEnd"]}],
        },
        "ARGUMENTS": {
            "codec": {"name": "json_span"},
            "rows": [{"on": "OPEN", "to": "TOP", "emit": ["CallEnd"]}, {"on": "END", "to": "TOP", "emit": ["CallEnd"]}],
        },
    }
    return small(states, TAG)


def test_a_terminal_with_a_row_moves_the_machine_and_is_a_marker() -> None:
    trace = trace_of(tagged([{"on": "CLOSE", "to": "TOP"}], text="reasoning"), "x<a>y</a>z")
    assert rows(trace) == [("TOP", "OPEN", "INSIDE"), ("INSIDE", "CLOSE", "TOP"), ("TOP", "END", "TOP")]
    assert (trace.message.content, trace.message.reasoning) == ("xz", "y")
    assert [event.terminal for event in events_of(trace, Marker) if isinstance(event, Marker)] == ["OPEN", "CLOSE"]


def test_a_terminal_without_a_row_is_text_of_its_state() -> None:
    trace = trace_of(tagged([{"on": "CLOSE", "to": "TOP"}], text="reasoning"), "x</a><a>y<a></a>")
    assert (trace.message.content, trace.message.reasoning) == ("x</a>", "y<a>")


def test_an_inert_terminal_is_recognised_and_kept_as_text() -> None:
    fmt = tagged([{"on": "CLOSE", "to": "TOP"}], text="reasoning", inert=["OPEN"])
    trace = trace_of(fmt, "<a>y<", "a>z</a>")
    assert trace.message.reasoning == "y<a>z"
    assert trace.steps[0].view.candidates == ("CLOSE", "OPEN")


def test_a_row_that_keeps_its_text_hands_it_to_the_new_state() -> None:
    fmt = small(
        {
            "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "REST", "keep": "text"}]},
            "REST": {"text": "reasoning", "rows": [{"on": "OPEN", "to": "TOP"}]},
        },
        TAG,
    )
    trace = trace_of(fmt, "x<a>y<a>z")
    assert (trace.message.content, trace.message.reasoning) == ("xz", "<a>y")


def test_a_state_without_text_kind_and_codec_is_content() -> None:
    assert trace_of(small({"TOP": {"rows": []}}), "x").message.content == "x"


def test_white_space_is_structure_where_the_state_says_so_and_other_text_has_its_own_trigger() -> None:
    other = [{"on": "OTHER", "to": "TOP", "note": "prose"}, {"on": "CLOSE", "to": "TOP"}]
    trace = trace_of(tagged(other, text="structure"), "<a> \n", " x</a>")
    assert ("INSIDE", "OTHER", "TOP") in rows(trace)
    assert owners(trace) == [("<a> \n ", "marker"), ("x</a>", "content")]


def test_text_where_none_is_expected_is_content_with_a_diagnostic() -> None:
    trace = trace_of(tagged([{"on": "CLOSE", "to": "TOP"}], text="structure"), "<a> x", "y</a>z")
    assert trace.message.content == "xyz"
    assert codes(trace) == ["stray_text"]


def test_text_after_a_value_is_stray_where_the_state_has_no_row_for_it() -> None:
    fmt = tagged([{"on": "CLOSE", "to": "TOP"}], codec={"name": "json_span"})
    trace = trace_of(fmt, "<a>{} tail </a>")
    assert codes(trace) == ["stray_text"]
    assert trace.message.content == "tail "


def test_a_value_that_is_whole_is_a_trigger_that_nothing_is_required_to_listen_to() -> None:
    done = tagged([{"on": "DONE", "to": "TOP"}], codec={"name": "json_span"})
    assert ("INSIDE", "DONE", "TOP") in rows(trace_of(done, "<a>{}x"))
    deaf = tagged([{"on": "CLOSE", "to": "TOP"}], codec={"name": "json_span"})
    assert rows(trace_of(deaf, "<a>{}</a>"))[1] == ("INSIDE", "CLOSE", "TOP")


@pytest.mark.parametrize(
    ("kind", "text", "name", "call_id"),
    [("name", " get ", "get", None), ("header", " functions.get:3 ", "get", "functions.get:3")],
)
def test_a_name_or_header_is_sent_whole_without_the_space_around_it(
    kind: str, text: str, name: str, call_id: str | None
) -> None:
    trace = trace_of(named(kind), f"<a>{text[:3]}", f"{text[3:]}</a>", "{}<a>")
    call = trace.message.tool_calls[0]
    assert call.name == name
    assert call_id is None or call.id == call_id
    assert owners(trace)[0] == ("<a> ", "marker")


def test_an_id_alone_names_no_call() -> None:
    trace = trace_of(named("id"), "<a>call-1</a>{}<a>")
    assert calls(trace.message) == []
    assert trace.message.content == "<a>call-1</a>{}<a>"


@pytest.mark.parametrize("text", ["<a>  </a>{}<a>", "<a>get", "<a>"])
def test_a_call_that_never_gets_a_name_is_text(text: str) -> None:
    trace = trace_of(named("name"), text)
    assert (trace.message.content, trace.message.tool_calls) == (text, [])
    assert [call.reason.words for call in trace.rejected_calls] == ["the call was never named"]


def test_a_row_with_a_diagnostic_says_so() -> None:
    row = {"on": "CLOSE", "to": "TOP", "diagnostic": "closed", "note": "It closes."}
    trace = trace_of(tagged([row], text="reasoning"), "<a>x</a>")
    assert codes(trace) == ["closed"]


def test_the_end_fires_its_row_where_there_is_one() -> None:
    fmt = tagged([{"on": "END", "to": "TOP", "emit": ["ReasoningEnd"]}], text="reasoning")
    assert rows(trace_of(fmt, "<a>x"))[-1] == ("INSIDE", "END", "TOP")
    assert rows(trace_of(tagged([], text="reasoning"), "<a>x")) == [("TOP", "OPEN", "INSIDE")]


def test_a_format_that_loops_without_reading_is_stopped() -> None:
    loop = {"text": "structure", "rows": [{"on": "OTHER", "to": "B"}]}
    trace = trace_of(small({"A": loop, "B": {**loop, "rows": [{"on": "OTHER", "to": "A"}]}}), "x")
    assert trace.message.content == "x"
    assert len(rows(trace)) < 12


def test_rows_under_a_policy_are_in_force_only_for_its_values() -> None:
    row = {"on": "OPEN", "to": "INSIDE", "when": {"mistral_version": ["v11"]}}
    fmt = small({"TOP": {"text": "content", "rows": [row]}, "INSIDE": {"text": "reasoning"}}, TAG)
    assert trace_of(fmt, "<a>x", policy={"mistral_version": "v11"}).message.reasoning == "x"
    assert trace_of(fmt, "<a>x").message.content == "<a>x"


def test_of_two_rows_for_one_trigger_the_first_in_force_counts() -> None:
    fmt = small(
        {
            "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "A"}, {"on": "OPEN", "to": "TOP"}]},
            "A": {"text": "reasoning"},
        },
        TAG,
    )
    assert trace_of(fmt, "<a>x").message.reasoning == "x"


def test_a_row_to_a_state_that_does_not_exist_is_an_error_of_the_format() -> None:
    fmt = small({"TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "NOWHERE"}]}}, TAG)
    with pytest.raises(FormatError, match=r"/states: there is no state 'NOWHERE'"):
        trace_of(fmt, "<a>")


@pytest.mark.parametrize(("name", "longest"), [("passthrough", 0), ("qwen", 13), ("qwen_coder", 24), ("kimik2", 28)])
def test_a_program_knows_its_longest_literal(name: str, longest: int) -> None:
    fmt = get_format(name)
    assert Program(fmt, policies(fmt), frozenset(), skip_tools=False).longest == longest


def test_reasoning_that_the_prompt_opened_is_where_the_output_begins() -> None:
    open_context = Context(reasoning_open=True)
    assert trace_of("qwen", "a</think>b", context=open_context).message.reasoning == "a"
    assert trace_of("passthrough", "a", context=open_context).message.content == "a"


@pytest.mark.parametrize("name", ["qwen", "qwen_coder", "kimik2", "mistral", "llama"])
def test_without_tool_choice_calls_are_text_and_reasoning_is_still_read(name: str) -> None:
    fmt = get_format(name)
    trace = trace_of(fmt, fmt.example, context=Context(tool_choice="none"))
    assert trace.message.tool_calls == []
    assert trace.message.content == fmt.example


def test_the_protocol_is_begin_feed_finish() -> None:
    parser = build(get_format("qwen"))
    with pytest.raises(UsageError, match="needs begin"):
        parser.feed(deltas("x")[0])
    with pytest.raises(UsageError, match="needs begin"):
        parser.finish()
    parser.begin(Context())
    parser.feed(deltas("x")[0])
    parser.finish()
    with pytest.raises(UsageError, match="none after finish"):
        parser.feed(deltas("x")[0])
    with pytest.raises(UsageError, match="called once"):
        parser.finish()


def test_a_parser_can_begin_again() -> None:
    parser = build(get_format("qwen"))
    for _ in range(2):
        parser.begin(Context())
        events = parser.feed(deltas("a<tool_")[0]) + parser.finish()
        assert [event.text for event in events if isinstance(event, ContentText)] == ["a", "<tool_"]
        assert parser.transitions is None


def test_what_is_examined_grows_with_the_output_and_not_with_its_square() -> None:
    counts = []
    for size in (100, 200):
        parser = build(get_format("qwen"))
        parser.begin(Context())
        for delta in deltas(*["x<"] * size):
            parser.feed(delta)
        parser.finish()
        counts.append(parser.examined)
    assert counts[1] <= 2 * counts[0] + 2
