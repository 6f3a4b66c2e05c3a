"""Whether every character is accounted for: spans_cover_input, all_output_lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from parsers.checks import run_checks
from parsers.checks.known import Known, Origin
from parsers.formats.model import load_format
from parsers.replays.replay import replay
from parsers.selection.registry import build as parser_of
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import CallName, ContentText, ReasoningText
from parsers.vocabulary.trace import Finding, Topic, Trace
from parsers.vocabulary.types import Context, Delta, Piece, Tool
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]


def findings(trace: Trace, **fields: Any) -> list[Finding]:
    names = ["spans_cover_input", "all_output_lost", "no_double_ownership"]
    return run_checks(subject(trace, **fields), names).findings


def test_lost_text_is_an_error_even_if_it_is_blank(build: Build) -> None:
    (finding,) = findings(build([("content", "ab")], [("dropped", " \n", LOST)]))
    assert finding.message == "Characters 2 to 4 of the output were lost."
    assert (finding.severity, finding.step, finding.span, finding.actual) == ("error", 2, (2, 4), " \n")


def test_text_sent_to_two_channels_is_found(build: Build) -> None:
    trace = build([("reasoning", "plan"), ("content", "answer")])
    trace.steps[0].events += (ContentText(2, 4, "an"),)
    (finding,) = findings(trace)
    assert finding.message == "Characters 2 to 4 of the output were sent to both `reasoning` and `content`."


def test_text_sent_twice_is_found(build: Build) -> None:
    trace = build([("reasoning", "plan")])
    trace.steps[0].events += (ReasoningText(0, 4, "plan"),)
    (finding,) = findings(trace)
    assert finding.message == "Characters 0 to 4 of the output were sent twice to `reasoning`."


def test_an_id_may_hold_the_name(build: Build) -> None:
    trace = build([("id", "functions.f:0"), ("name", "", "f"), ("arguments", "{}"), ("end",)])
    named = CallName(10, 11, "f", call=0)
    trace.steps[0].events = tuple([named if isinstance(e, CallName) else e for e in trace.steps[0].events])
    assert findings(trace) == []


def test_a_copy_must_read_like_its_place(build: Build) -> None:
    trace = build([("content", "abc")])
    trace.steps[0].events = (ContentText(0, 3, "abX"),)
    (finding,) = findings(trace)
    assert finding.message == "`content` claims to copy characters 0 to 3 of the output, which read differently."
    assert (finding.expected, finding.actual) == ("abc", "abX")


@pytest.mark.parametrize(
    ("dropped", "messages"),
    [
        ([("\n\n", "blank before calls")], []),
        ([("<|im_end|>\n", "special token")], []),
        (
            [("rest", "after malformed structure")],
            ["Characters 2 to 6 of the output reach nobody: after malformed structure."],
        ),
        (
            [("a", "rule"), (" ", "blank"), ("b", "rule")],
            ["Characters 2 to 3 of the output and 1 more places reach nobody: rule."],
        ),
        ([("a", "")], ["Characters 2 to 3 of the output reach nobody: no reason given."]),
    ],
)
def test_dropped_words_are_a_warning_with_the_reason(
    build: Build, dropped: Sequence[tuple[str, str]], messages: list[str]
) -> None:
    trace = build([("content", "ab")], [("dropped", text, reason) for text, reason in dropped])
    found = findings(trace, special=frozenset(["<|im_end|>"]))
    assert [finding.message for finding in found] == messages
    assert all((finding.severity, finding.about) == ("warning", "output") for finding in found)


@pytest.mark.parametrize(
    ("value", "text", "contract", "name"),
    [
        ({"recovery": "skip_call"}, "<tool_call>junk</tool_call>", "recovery=skip_call", "qwen"),
        ({"recovery": "fail"}, "<tool_call>junk</tool_call>", "recovery=fail", "qwen"),
        ({"truncated_call": "drop"}, '<tool_call>{"name": "f", "arguments": {"a": 1', "truncated_call=drop", "qwen"),
        (
            {"invalid_call": "strict", "recovery": "fail"},
            '<tool_call>{"name": "f", "arguments": []}</tool_call>',
            "invalid_call=strict",
            "qwen",
        ),
        ({"truncated_call": "drop"}, '[TOOL_CALLS] [{"name": "f" x}]', "truncated_call=drop", "mistral"),
        (
            {"unknown_tool": "drop"},
            '<tool_call>{"name": "g", "arguments": {}}</tool_call>',
            "unknown_tool=drop",
            "qwen",
        ),
    ],
)
@pytest.mark.parametrize(
    "note",
    ["What follows the marker is no call.", "What follows the marker is a shortcut, no call.", "A declared tool."],
)
def test_the_policy_that_drops_text_is_blamed_whatever_the_row_says(
    value: dict[str, str], text: str, contract: str, name: str, note: str
) -> None:
    data = get_format(name).model_dump(by_alias=True)
    for row in (
        row for state in data["states"].values() for row in state["rows"] if row["on"] in ("REJECT", "MALFORMED")
    ):
        row["note"] = note
    fmt = load_format(data)
    context = Context(tools=(Tool("f"),))
    trace = replay(parser_of(fmt, value), [Delta(1, (Piece(f"Hi.{text}"),))], context)
    found = run_checks(subject(trace, context, policy=policies(fmt, value)), ["spans_cover_input"]).findings
    assert {(finding.policy, finding.severity) for finding in found} == {(contract, "info")}


BLACK_BOX = {"black_box": True, "terminals": {"OPEN": "<tool_call>", "CLOSE": "</tool_call>"}}


@pytest.mark.parametrize(
    "entries",
    [
        [("content", "Hi there")],
        [
            ("marker", '<tool_call>{"name": "'),
            ("name", "f"),
            ("arguments", '{"a": "d\\u00e9j\\u00e0"}', '{"a": "déjà"}'),
        ],
        [
            ("marker", "<tool_call>"),
            ("name", "f"),
            ("marker", ">"),
            ("arguments", "a=one\ntwo", '{"a": "one\\ntwo"}'),
            ("end",),
        ],
        [("marker", "<tool_call></tool_call>\n")],
    ],
)
def test_a_black_box_that_keeps_every_word_is_clean(build: Build, entries: list[tuple[str, ...]]) -> None:
    assert findings(build(entries, blind=True), **BLACK_BOX) == []


def test_a_black_box_that_loses_words_is_warned_about(build: Build) -> None:
    trace = build([("content", "Hi ")], [("marker", "<tool_call>"), ("dropped", "big secret", "x")], blind=True)
    (finding,) = findings(trace, **BLACK_BOX)
    assert finding.message == "The word `big` of the output is nowhere in the message (2 words in all)."
    assert (finding.severity, finding.about, finding.step, finding.span) == ("warning", "parser", 2, (14, 17))


@pytest.mark.parametrize(
    ("written", "sent"), [("0.10", "0.1"), ("1e3", "1000.0"), ("2.50", "2.5"), ("7", "7.0"), ("-0.50", "-0.5")]
)
def test_a_number_that_is_spelled_otherwise_is_not_lost(build: Build, written: str, sent: str) -> None:
    entries = [("marker", "<tool_call>"), ("name", "f"), ("arguments", f'{{"a": {written}}}', f'{{"a": {sent}}}')]
    (finding,) = findings(build(entries, blind=True), **BLACK_BOX)
    assert finding.message.startswith(f"The number `{written}` of the output is sent as `{sent}`")
    assert (finding.severity, finding.about, finding.expected, finding.actual) == ("info", "output", written, sent)


@pytest.mark.parametrize(
    ("written", "sent"),
    [("3.14159265358979323846", "3.141592653589793"), ("12345678901234567890", "12345678901234567168")],
)
def test_a_number_that_lost_digits_is_said_with_both_spellings(build: Build, written: str, sent: str) -> None:
    entries = [("marker", "<tool_call>"), ("name", "f"), ("arguments", f'{{"a": {written}}}', f'{{"a": {sent}}}')]
    (finding,) = findings(build(entries, blind=True), **BLACK_BOX)
    words = f"The number `{written}` of the output is sent as `{sent}`: digits beyond double precision are lost."
    assert (finding.message, finding.topic) == (words, Topic.VALUE)
    assert (finding.severity, finding.about) == ("warning", "parser")


@pytest.mark.parametrize(
    ("text", "sent", "words"),
    [
        ("It is so.", "Itisso.", "White space of the output is lost: `It is` is sent as `Itis`."),
        ("We say: it is\nso", "We say: it isso", "White space of the output is lost: `is\\nso` is sent as `isso`."),
        (
            "Paris seems sunny today",
            "Parisseemssunnytoday",
            "White space of the output is lost: `Paris seems` is sent as `Parisseems`.",
        ),
        ("It is so.", "It so.", "The word `is` of the output is nowhere in the message."),
        ("It is so, so it is.", "It is so", "The end of the answer is lost: `, so it is.` is nowhere in the message."),
    ],
)
def test_words_that_are_joined_are_told_from_lost_ones(build: Build, text: str, sent: str, words: str | None) -> None:
    found = findings(build([("content", text, sent)], blind=True), **BLACK_BOX)
    assert [one.message for one in found] == [words] * (words is not None)


def test_words_whose_blanks_alone_are_lost_are_not_lost(build: Build) -> None:
    own = [("content", "It is so. "), ("name", "f"), ("arguments", '{"a": "New York"}'), ("end",)]
    sent = [("content", "Itisso."), ("name", "f"), ("arguments", '{"a": "NewYork"}'), ("end",)]
    trace = build(sent, blind=True)
    reference = build(own)
    trace.text = reference.text
    assert findings(trace, **BLACK_BOX, reference=reference) == []  # spaces_kept and values_kept tell


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([("content", "3  4, 5 > 2")], "The `<` of the output is nowhere in the content."),
        ([("content", "3  4 5  2")], "The `<` of the output is nowhere in the content (3 characters in all)."),
        ([("reasoning", "3 < 4, 5 > 2")], None),  # channels_kept tells
        ([("content", "3 < 4, 5 > 2 &")], None),  # what is added, others tell
    ],
)
def test_signs_that_are_lost_are_told_from_those_that_went_elsewhere(
    build: Build, sent: list[tuple[str, ...]], words: str | None
) -> None:
    trace, reference = build(sent, blind=True), build([("content", "3 < 4, 5 > 2")])
    trace.text = reference.text
    found = findings(trace, **BLACK_BOX, reference=reference)
    assert [one.message for one in found if one.check == "spans_cover_input"] == [words] * (words is not None)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([("content", "One, two. Three")], "The end of the answer is lost: `!` is nowhere in the message."),
        ([("content", "One, two Three!")], "The `.` of the output is nowhere in the content."),
        ([("content", "One two. Three")], None),  # a comma may be markup
        ([("content", "One, two. Three!")], None),
        ([("content", "One, two. Three?")], None),
        ([("reasoning", "One, two. Three")], None),
        ([("content", "One, two. Three"), ("name", "f"), ("arguments", "{}"), ("end",)], None),
    ],
)
def test_the_end_of_a_sentence_is_missed_though_no_grammar_is_known(
    build: Build, sent: list[tuple[str, ...]], words: str | None
) -> None:
    trace = build(sent, blind=True)
    trace.text = "One, two. Three!"
    found = findings(trace, black_box=True)
    assert [one.message for one in found if one.check == "spans_cover_input"] == [words] * (words is not None)


@pytest.mark.parametrize(
    ("rest", "known", "lost"),
    [
        ("<", Known(), True),
        ("<tool", Known(), True),
        (" and so on", Known(), True),
        ("</to", Known(grammar=Origin.UNKNOWN), True),
        ("<|end_of", Known(grammar=Origin.UNKNOWN), True),
        ("[f(a", Known(grammar=Origin.UNKNOWN), False),  # it may be markup of any kind
        ("<eot>", Known(), False),
        ("<tool_call>", Known(), False),
        (" \n", Known(), False),
    ],
)
def test_the_end_of_a_plain_answer_that_no_marker_holds_back_is_lost(
    build: Build, rest: str, known: Known, lost: bool
) -> None:
    trace = build([("content", "Say it like this: "), ("dropped", rest, "x")], blind=True)
    found = [one for one in findings(trace, **BLACK_BOX, known=known) if one.severity == "error"]
    words = f"The end of the answer is lost: `{rest.strip()}` is nowhere in the message."
    assert [one.message for one in found] == [words] * lost


@pytest.mark.parametrize("sent", ["0.2", "10", "0.01"])
def test_another_number_is(build: Build, sent: str) -> None:
    entries = [("marker", "<tool_call>"), ("name", "f"), ("arguments", '{"a": 0.10}', f'{{"a": {sent}}}')]
    (finding,) = findings(build(entries, blind=True), **BLACK_BOX)
    assert (finding.severity, finding.about) == ("warning", "parser")
    assert "`0.10`" in finding.message


def test_the_place_of_a_lost_word_is_where_it_stands_by_itself(build: Build) -> None:
    trace = build([("content", "Cabbage, grab "), ("dropped", "b", "x"), ("content", " now")], blind=True)
    (finding,) = findings(trace, **BLACK_BOX)
    assert finding.message == "The word `b` of the output is nowhere in the message."
    assert finding.span == (14, 15)


def test_a_lost_word_that_is_spelled_with_escapes_has_no_place(build: Build) -> None:
    trace = build([("dropped", '"\\u00e9t\\u00e9" ', "x"), ("content", "Hi")], blind=True)
    (finding,) = findings(trace, **BLACK_BOX)
    assert finding.message == "The word `été` of the output is nowhere in the message."
    assert (finding.step, finding.span) == (None, None)


def test_a_black_box_that_loses_everything_is_an_error(build: Build) -> None:
    (finding,) = findings(build([("dropped", "get_weather", "x")], blind=True), **BLACK_BOX)
    assert (finding.severity, finding.message) == ("error", "The whole output is lost: the message is empty.")


@pytest.mark.parametrize(
    ("written", "given", "lost"),
    [
        ('{"a": "one", "a": "two"}', '{"a": "two"}', ""),
        ('{"o": {"a": ["one"], "a": {"b": "two", "b": "six"}}}', '{"o": {"a": {"b": "six"}}}', ""),
        ('{"a": {"b": "one", "b": "two"}, "a": "six"}', '{"a": "six"}', ""),
        ('{"a": "one", "a": "two"}', '{"a": "one"}', "two"),
        ('{"a": "one", "b": "two"}', '{"b": "two"}', "a"),
    ],
)
def test_of_a_key_that_is_given_twice_a_black_box_may_keep_the_last(
    build: Build, written: str, given: str, lost: str
) -> None:
    trace = build([("name", "f"), ("arguments", written, given), ("end",)])
    reference = build([("name", "f"), ("arguments", written), ("end",)])
    reference.message.tool_calls[0].complete = True
    beside = subject(trace, Context((Tool("f"),)), black_box=True, reference=reference)
    found = run_checks(beside, ["spans_cover_input"]).findings
    assert [f"The word `{lost}` of the output is nowhere" in one.message for one in found] == [True] * bool(lost)
