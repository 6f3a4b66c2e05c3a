"""The smaller words of the format language: `keep: again`, marker text, unquote, end tokens, line breaks."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.model import Format, load_format
from parsers.machine.program import literals
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import ContentText
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, deltas, dropped, events_of, owners, rows, tokens, trace_of
from tests.parsers.properties.invariants import Run, as_text, check

TAGS = {"key_open": "<k>", "key_close": "</k>", "value_open": "<v>", "value_close": "</v>"}
END = {"on": "END", "to": "CONTENT"}
CALLS: dict[str, Any] = {
    "schema": 1,
    "name": "words",
    "title": "Words",
    "initial": "CONTENT",
    "terminals": {"CALL": "<c>", "NAME": ":", "KEY": "<k>", "CLOSE": "</c>"},
    "end_tokens": ["<eos>"],
    "states": {
        "CONTENT": {"text": "content", "rows": [{"on": "CALL", "to": "HEAD"}, END]},
        "HEAD": {"text": "marker", "rows": [{"on": "NAME", "to": "NAME", "emit": ["CallStart"]}, END]},
        "NAME": {
            "text": "name",
            "unquote": True,
            "rows": [
                {"on": "KEY", "to": "ARGS", "keep": "again"},
                {"on": "CLOSE", "to": "ARGS", "keep": "again"},
                {"on": "END", "to": "CONTENT", "emit": ["CallEnd"]},
            ],
        },
        "ARGS": {
            "codec": {"name": "tagged", "options": TAGS},
            "rows": [
                {"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"]},
                {"on": "END", "to": "CONTENT", "emit": ["CallEnd"]},
            ],
        },
    },
}
ONE = "<c>function:f<k>a</k><v>1</v></c>"


def words(**changes: Any) -> Format:
    return load_format(CALLS | changes)


def test_a_marker_that_is_read_again_ends_a_name_and_begins_a_key() -> None:
    trace = trace_of(words(), ONE)
    assert calls(trace.message) == [("f", '{"a": "1"}')]
    assert ("NAME", "KEY", "ARGS") in rows(trace)


def test_a_marker_that_is_read_again_gives_a_call_without_arguments_an_empty_object() -> None:
    assert calls(trace_of(words(), "<c>function:f</c>").message) == [("f", "{}")]


def test_marker_text_is_structure_whatever_it_says() -> None:
    assert owners(trace_of(words(), ONE))[:2] == [("<c>function:", "marker"), ("f", "name")]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("'f'", "f"),
        ('"f"', "f"),
        (' "f" ', "f"),
        ('"f', '"f'),
        ("'f\"", "'f\""),
    ],
)
def test_a_pair_of_quotes_around_a_name_is_structure(written: str, name: str) -> None:
    trace = trace_of(words(), f"<c>x:{written}</c>")
    assert calls(trace.message) == [(name, "{}")]
    assert "".join(text for text, owner in owners(trace) if owner == "name") == name


def test_a_name_with_white_space_inside_is_no_call() -> None:
    text = "<c>x:the name is</c>"
    trace = trace_of(words(), text)
    assert (trace.message.tool_calls, trace.message.content) == ([], ":the name is</c>")
    assert trace.rejected_calls[0].reason.words == "a name has no white space inside"


@pytest.mark.parametrize("written", ["...", "-", "*", "…"])
def test_a_name_without_a_letter_or_digit_is_a_placeholder_and_no_call(written: str) -> None:
    trace = trace_of(words(), f"<c>x:{written}</c>")
    assert (trace.message.tool_calls, trace.message.content) == ([], f":{written}</c>")
    assert trace.rejected_calls[0].reason.words == "what follows is no name of a tool"


def test_a_tool_that_is_declared_may_be_called_anything() -> None:
    assert calls(trace_of(words(), "<c>x:_</c>", context=Context((Tool("_"),))).message) == [("_", "{}")]


def test_an_end_token_is_a_marker_and_moves_nothing() -> None:
    trace = trace_of(words(), "a<eos>b<c>x:f<eos><k>a</k><eos><v>1<eos></v></c><eos>")
    assert trace.message.content == "ab"
    assert calls(trace.message) == [("f", '{"a": "1<eos>"}')]  # a value that cannot escape keeps what stands in it
    assert all("eos" not in trigger for _, trigger, _ in rows(trace))


def test_an_end_token_is_held_while_it_may_become_one() -> None:
    trace = trace_of(words(), "a<eo", "s>b")
    assert trace.steps[0].view.candidates == ("end token <eos>",)
    assert trace.message.content == "ab"


def test_an_end_token_in_a_rejected_call_is_no_content() -> None:
    trace = trace_of(words(), "<c>x:a b<eos></c>")
    assert trace.message.content == ":a b</c>"
    assert ("<eos>", "marker") in owners(trace)


def test_an_end_token_by_its_id_is_a_marker_between_values_and_at_the_end() -> None:
    end = ("<eos>", 7, "special")
    fed = tokens("<c>x:f<k>a</k><v>1", end, "</v>", end, "</c>", "<eos>", end)
    trace = trace_of(words(), fed=fed, mode="ids", markers={"<eos>": 7})
    assert calls(trace.message) == [("f", '{"a": "1<eos>"}')]
    assert trace.message.content == "<eos>"


def test_a_special_token_the_format_does_not_use_is_left_out_with_its_reason() -> None:
    fed = tokens("a", ("<|x|>", 9, "special"), "b", ("<|y|>", 10, "added"), "<c>x:a b", ("<|x|>", 9, "special"), "</c>")
    trace = trace_of(words(), fed=fed, mode="ids", markers={"<|x|>": 9})
    assert trace.message.content == "ab<|y|>:a b</c>"
    assert dropped(trace) == [("<|x|>", "special token that the format does not use")] * 2


def test_a_format_without_terminals_keeps_every_token() -> None:
    fed = tokens("a", ("<|x|>", 9, "special"))
    assert trace_of("passthrough", fed=fed, mode="ids", markers={"<|x|>": 9}).message.content == "a<|x|>"


def test_codec_literals_that_are_tokens_are_found_by_their_ids_alone() -> None:
    markers = {"<k>": 1, "</k>": 2, "<v>": 3, "</v>": 4}
    fed = tokens("<c>x:f", ("<k>", 1), "a", ("</k>", 2), ("<v>", 3), "1</v>", ("</v>", 4), "</c>")
    trace = trace_of(words(), fed=fed, mode="ids", markers=markers)
    assert calls(trace.message) == [("f", '{"a": "1</v>"}')]


def test_an_implied_closer_by_its_id_is_read_again() -> None:
    options = {**TAGS, "implied_close": ["<k>"]}
    states = CALLS["states"] | {"ARGS": CALLS["states"]["ARGS"] | {"codec": {"name": "tagged", "options": options}}}
    markers = {"<k>": 1}
    fed = tokens("<c>x:f", ("<k>", 1), "a</k><v>1", ("<k>", 1), "b</k><v>2</v></c>")
    trace = trace_of(words(states=states), fed=fed, mode="ids", markers=markers)
    assert calls(trace.message) == [("f", '{"a": "1", "b": "2"}')]
    assert codes(trace) == ["missing_value_close"]


def test_a_marker_nothing_can_be_done_with_is_text() -> None:
    fed = tokens("a", ("</c>", 1), "b")
    assert trace_of(words(), fed=fed, mode="ids", markers={"</c>": 1}).message.content == "a</c>b"


def test_rows_that_read_a_marker_again_in_a_circle_are_stopped() -> None:
    circle = {
        "CONTENT": {"text": "content", "rows": [{"on": "CALL", "to": "B", "keep": "again"}, END]},
        "B": {"text": "content", "rows": [{"on": "CALL", "to": "CONTENT", "keep": "again"}, END]},
    }
    for mode, fed in (("text", deltas("a<c>b")), ("ids", tokens("a", ("<c>", 1), "b"))):
        trace = trace_of(words(states=circle), fed=fed, mode=mode, markers={"<c>": 1})  # type: ignore[arg-type]
        assert trace.message.content == "a<c>b"


def test_where_no_call_waits_there_is_none_to_be_markup() -> None:
    rows = [{"on": "CALL", "to": "CONTENT", "emit": ["NoCall"]}, {"on": "END", "to": "CONTENT"}]
    trace = trace_of(words(states={"CONTENT": {"text": "content", "rows": rows}}), "a<c>b")
    assert trace.message.content == "ab"


BREAKS = words(
    terminals={"A": "<a>", "T": "<t>"},
    states={
        "CONTENT": {
            "text": "content",
            "rows": [
                {"on": "A", "to": "CONTENT", "emit": ["Break"]},
                {"on": "T", "to": "THINK", "emit": ["Break"]},
                END,
            ],
        },
        "THINK": {
            "text": "reasoning",
            "rows": [{"on": "A", "to": "CONTENT", "emit": ["ReasoningEnd", "Break"]}, {"on": "END", "to": "THINK"}],
        },
    },
)


@pytest.mark.parametrize(
    ("text", "content", "reasoning"),
    [
        ("<a>one", "one", None),
        ("one<a>two<a>three", "one\ntwo\nthree", None),
        ("one<a><a>", "one", None),
        ("<t>x<a>one<t>y<a>two", "one\ntwo", "x\ny"),
        ("<t><a>one<t>y", "one", "y"),
    ],
)
def test_a_break_puts_the_next_message_on_its_own_line(text: str, content: str, reasoning: str | None) -> None:
    for fed in (deltas(text), deltas(*text)):
        message = trace_of(BREAKS, fed=fed).message
        assert (message.content, message.reasoning) == (content, reasoning)


def test_a_break_is_part_of_the_text_that_follows() -> None:
    events = events_of(trace_of(BREAKS, "one<a>two"), ContentText)
    assert [(event.start, event.end) for event in events] == [(0, 3), (6, 9)]


def test_reasoning_is_read_without_tools_where_a_header_leads_to_it() -> None:
    states = {
        "CONTENT": {"text": "content", "rows": [{"on": "T", "to": "HEAD"}, {"on": "A", "to": "CALL"}, END]},
        "HEAD": {"text": "marker", "rows": [{"on": "A", "to": "THINK"}, END]},
        "THINK": {"text": "reasoning", "rows": [{"on": "END", "to": "THINK"}]},
        "CALL": {"text": "structure", "rows": [{"on": "T", "to": "CONTENT"}, END]},
    }
    fmt = words(terminals={"A": "<a>", "T": "<t>"}, states=states)
    message = trace_of(fmt, "x<a>y<t>analysis<a>why", context=Context(tool_choice="none")).message
    assert (message.content, message.reasoning) == ("x<a>y", "why")


def test_every_literal_of_a_format_is_known() -> None:
    assert set(literals(words())) == {"<c>", ":", "<k>", "</c>", "<eos>", "</k>", "<v>", "</v>"}


def test_an_end_token_inside_a_name_refuses_the_call() -> None:
    trace = trace_of(words(), "<c>x:f<eos>g</c>y")
    assert (calls(trace.message), trace.message.content) == ([], ":fg</c>y")
    assert trace.rejected_calls[0].reason.words == "a token that ends the turn stands in its name"
    assert ("<eos>", "marker") in owners(trace)


def test_a_special_token_that_is_part_of_a_literal_is_kept_for_it() -> None:
    fed = tokens("a", ("<", 5, "special"), "c>x:f</c>")
    trace = trace_of(words(), fed=fed, mode="ids", markers={"<": 5})
    assert (calls(trace.message), trace.message.content) == ([("f", "{}")], "a")


def test_what_a_codec_finds_and_the_format_has_no_row_for_is_text() -> None:
    states = {
        "CONTENT": {"text": "content", "rows": [{"on": "CALL", "to": "LIST"}, END]},
        "LIST": {"codec": {"name": "pythonic", "options": {"brackets": False}}, "rows": [END]},
    }
    for fed in (deltas("<c>f(a=1)\nso"), deltas(*"<c>f(a=1)\nso")):
        trace = trace_of(words(terminals={"CALL": "<c>"}, states=states), fed=fed)
        assert trace.message.content == "f(a=1)\nso"
        assert codes(trace) == ["stray_text"]
        assert not [run for run in trace.partition if run.reason == LOST]


@pytest.mark.parametrize(
    ("codec", "text", "found"),
    [
        ({"name": "keyvalue"}, "f b{a:1}", []),  # the name waits when it turns out to be none
        ({"name": "keyvalue"}, 'f<|"|>{a:1}', []),
        ({"name": "json_call"}, '{"name": ""x":"}', []),
        ({"name": "pythonic"}, "[f(a=1)] and", ["f"]),
        ({"name": "pythonic"}, "[f(a=1), g(b='x')]", ["f"]),
        ({"name": "pythonic"}, "[f(a=1, b c), 'x']", ["f"]),
        ({"name": "label"}, "thought\nx", []),
        ({"name": "mistral"}, "no call", []),
        ({"name": "mistral"}, '[{"name": "f"}]', []),
    ],
)
def test_without_a_row_what_was_found_is_stray_and_no_character_is_lost(
    codec: dict[str, Any], text: str, found: list[str]
) -> None:
    call = {"codec": codec, "rows": [{"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"]}, END]}
    states = {
        "CONTENT": {"text": "content", "rows": [{"on": "CALL", "to": "CALL", "emit": ["CallStart"]}, END]},
        "CALL": call,
    }
    fmt = words(terminals={"CALL": "<c>", "CLOSE": "</c>"}, states=states)
    check(Run(fmt, as_text(f"<c>{text}</c> y")))
    trace = trace_of(fmt, f"<c>{text}</c> y")
    assert [name for name, _ in calls(trace.message)] == found
    assert {"stray_text", "rejected_call"} & {*codes(trace)}


def test_text_that_a_codec_leaves_is_held_for_a_reason_of_its_own() -> None:
    states = {
        "CONTENT": {"text": "content", "rows": [{"on": "CALL", "to": "LABEL"}, END]},
        "LABEL": {
            "codec": {"name": "label"},
            "rows": [{"on": "LABEL", "to": "CONTENT"}, {"on": "OTHER", "to": "CONTENT"}, END],
        },
    }
    trace = trace_of(words(terminals={"CALL": "<c>"}, states=states), "<c>tho", "ught\nx")
    assert [hold.reason for hold in trace.steps[0].holds] == ["It may be a label, which ends with a line break."]
    assert trace.message.content == "x"
