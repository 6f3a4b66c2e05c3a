"""no_terminal_leak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from parsers.checks import Subject, run_checks
from parsers.checks.examples import Entry
from parsers.checks.leaks import is_marker
from parsers.vocabulary.drops import stated
from parsers.vocabulary.trace import Finding, RejectedCall, Trace
from parsers.vocabulary.types import Context, MessageDelta
from parsers.wire.read import ServerChunk
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
TERMINALS = {"OPEN": "<tool_call>", "CLOSE": "</tool_call>", "NAMED": '<invoke name="', "END": ">", "FENCE": "```json"}
CALL = [("marker", "<tool_call>"), ("name", "f"), ("arguments", "{}"), ("marker", "</tool_call>"), ("end",)]


def leaks(seen: Subject) -> list[Finding]:
    known = replace(seen, grammar=replace(seen.grammar, terminals=TERMINALS))
    return run_checks(known, ["no_terminal_leak", "no_reasoning_leak", "no_argument_leak"]).findings


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("<tool_call>", True),
        ("[TOOL_CALLS]", True),
        ("<｜tool▁sep｜>", True),
        ("functools[", True),
        (">", False),
        ("```json", False),
        ("[", False),
        ('"name"', False),
        ("; ", False),
    ],
)
def test_only_unmistakable_literals_are_markers(literal: str, expected: bool) -> None:
    assert is_marker(literal) is expected


def test_a_marker_that_was_read_is_no_leak(build: Build) -> None:
    assert leaks(subject(build([("content", "a > b ```json "), *CALL]))) == []


@pytest.mark.parametrize(
    ("entries", "message", "span"),
    [
        ([("content", "a </tool_call>")], "`</tool_call>` stands in the content, written as text.", (2, 14)),
        (
            [("reasoning", '<tool_call>{"a' * 3)],
            "`<tool_call>` stands in the reasoning 3 times, written as text.",
            (0, 11),
        ),
        (
            [("reasoning", "get_time</tool_call>]) </tool_call>")],
            "`</tool_call>` stands in the reasoning 2 times, written as text.",
            (8, 20),
        ),
        ([("reasoning", "<tool_call>f\n<a>")], "`<tool_call>` stands in the reasoning, written as text.", (0, 11)),
        (
            [("name", "f<tool_call>")],
            "`<tool_call>` stands in the name of call 0 (`f<tool_call>`), written as text.",
            (1, 12),
        ),
    ],
)
def test_a_marker_in_text_is_a_warning(
    build: Build, entries: list[tuple[str, ...]], message: str, span: tuple[int, int]
) -> None:
    (finding,) = leaks(subject(build([], entries)))
    assert (finding.message, finding.span, finding.step) == (message, span, 2)
    assert (finding.severity, finding.about) == ("warning", "output")


@pytest.mark.parametrize(
    "text",
    [
        "I could call <tool_call> now.",
        "With <tool_call>, then.",
        "Tags: `</tool_call>`.",
        "<tool_call>",
        "A </tool_call>",
    ],
)
def test_a_marker_that_is_only_spoken_of_in_reasoning_is_no_fault(build: Build, text: str) -> None:
    (finding,) = leaks(subject(build([("reasoning", text)])))
    assert (finding.severity, finding.about) == ("info", "output")
    assert finding.message.endswith("is mentioned in the reasoning.")


@pytest.mark.parametrize(
    ("text", "reason", "found"),
    [
        ("a </tool_call", "stop", ("warning", (2, 13))),
        ("a </tool_call", "length", ("info", (2, 13))),
        ("a <tool_", None, ("warning", (2, 8))),
        ("a <tool", None, None),
        ("</tool_call b", None, None),
        ("a <", None, None),
    ],
)
def test_an_output_that_ends_inside_a_marker_is_told(
    build: Build, text: str, reason: str | None, found: tuple[str, tuple[int, int]] | None
) -> None:
    told = leaks(subject(build([], [("content", text)]), Context(finish_reason=reason)))
    assert [(one.severity, one.span, one.about) for one in told] == ([] if found is None else [(*found, "output")])


def test_a_replay_that_failed_reads_no_marker_that_it_did_not_reach(build: Build) -> None:
    said, failed = build([("content", "Hi </tool_call>")]), build([("content", "Hi "), ("raised", "</t", "it broke")])
    (finding,) = leaks(subject(said, whole=failed, compared=[("char", failed)]))
    assert finding.message == "`</tool_call>` stands in the content, written as text."


def test_a_marker_that_another_chunking_reads_is_the_parsers_fault(build: Build) -> None:
    split = build([("content", "Hi <tool")], [("content", "_call>f{}</tool_call>")])
    whole = build([("content", "Hi "), *CALL])
    found = leaks(subject(split, whole=whole))
    assert [(f.severity, f.about, f.step, f.span) for f in found] == [
        ("error", "parser", 1, (3, 14)),
        ("error", "parser", 2, (17, 29)),
    ]
    assert found[0].message == (
        '`<tool_call>` leaks into the content, while the chunking "whole" reads it as a marker.'
    )


def test_a_difference_elsewhere_does_not_blame_the_parser(build: Build) -> None:
    trace, other = build([("content", "<tool_call> a")]), build([("content", "<tool_call> "), ("dropped", "a", "x")])
    assert [f.severity for f in leaks(subject(trace, compared=[("char", other)]))] == ["warning"]


def test_a_call_missing_elsewhere_does_not_blame_the_parser_for_its_name(build: Build) -> None:
    trace, other = build([("name", "<tool_call>f")]), build([("dropped", "<tool_call>f", "x")])
    assert [f.severity for f in leaks(subject(trace, whole=other))] == ["warning"]


def test_the_text_of_a_rejected_call_is_a_note(build: Build) -> None:
    trace = build([("content", "a ")], [("content", "<tool_call>{oops</tool_call>"), ("content", " </tool_call>")])
    trace.rejected_calls = [RejectedCall(2, 30, None, stated("no name"))]
    warning, note = leaks(subject(trace))
    assert (warning.severity, warning.span) == ("warning", (31, 43))
    assert (note.severity, note.about, note.step, note.span) == ("info", "output", 2, (2, 30))
    assert (
        note.message == "The call at characters 2 to 30 of the output could not be read and stays in the text: no name."
    )


def test_a_marker_before_any_rejected_call_is_a_warning(build: Build) -> None:
    trace = build([("content", "<tool_call> <tool_call>{")])
    trace.rejected_calls = [RejectedCall(12, 24, None, stated("cut off"))]
    assert [finding.severity for finding in leaks(subject(trace))] == ["warning", "info"]


def test_a_marker_quoted_in_arguments_is_a_note_once_per_call(build: Build) -> None:
    arguments = '{"a": "</tool_call> </tool_call>", "b": "<invoke name=\\""}'
    found = leaks(subject(build([("name", "f"), ("arguments", arguments), ("end",)])))
    assert [(f.severity, f.message) for f in found] == [
        ("info", "`</tool_call>` is quoted inside call 0 (`f`) and is kept as text there."),
        ("info", '`<invoke name=\\"` is quoted inside call 0 (`f`) and is kept as text there.'),
    ]
    assert found[0].span == (8, 20)


def test_when_calls_are_not_wanted_markers_are_text(build: Build) -> None:
    assert leaks(subject(build([("content", "<tool_call>")]), Context(tool_choice="none"))) == []


def test_a_black_box_is_judged_by_its_deltas(build: Build) -> None:
    trace = build([("content", "a ")], [("content", "</tool_call>")], blind=True)
    (finding,) = leaks(subject(trace, black_box=True))
    assert (finding.severity, finding.step, finding.span) == ("warning", 2, None)


# content, and at which character a token that ends a turn is sent as text; None: it is only mentioned
TOKENS = [
    ("Turns end with `<|im_end|>` there.", None),
    ("So:\n```\n<|im_end|>\n```\nDone.", None),
    ("Done.<|im_end|>", 5),
    ("Done.<|im_end|> Yes.<|im_end|>", 5),
    ("Turns end with `<|im_end|>` there.<|im_end|>", 34),
    ("Half of `code<|im_end|>", 13),
]


@pytest.mark.parametrize("channel", ["content", "reasoning"])
@pytest.mark.parametrize(("text", "at"), TOKENS)
def test_a_token_that_is_shown_in_code_is_not_sent(build: Build, channel: str, text: str, at: int | None) -> None:
    found = run_checks(subject(build([(channel, text)])), ["no_control_tokens"]).findings
    assert [finding.span and finding.span.start for finding in found] == ([] if at is None else [at])


@pytest.mark.parametrize(
    ("content", "severity"),
    [("Hi.</s>", "info"), ("It is `</s>`.</s>", "info"), ("Hi.</s> Ho.</s>", "warning"), ("Hi.</s> Ho.", "warning")],
)
def test_only_a_token_at_the_very_end_may_be_one_that_a_server_leaves_out(
    build: Build, content: str, severity: str
) -> None:
    found = run_checks(subject(build([("content", content)])), ["no_control_tokens"]).findings
    assert [one.severity for one in found] == [severity]


@pytest.mark.parametrize(
    ("sent", "severity", "about"),
    [
        (None, "info", "output"),
        ("Hi.", "info", "output"),
        ("Hi.</s>", "warning", "parser"),
    ],
)
def test_a_token_that_ends_a_turn_is_the_servers_where_its_stream_has_it(
    build: Build, sent: str | None, severity: str, about: str
) -> None:
    chunks = None if sent is None else [ServerChunk(), ServerChunk(MessageDelta(None, sent)), ServerChunk(None, "stop")]
    found = run_checks(subject(build([("content", "Hi.</s>")]), chunks=chunks), ["no_control_tokens"]).findings
    assert [(one.severity, one.about) for one in found] == [(severity, about)]


@pytest.mark.parametrize(("thinks", "severity"), [(False, "warning"), (True, "error")])
def test_a_marker_of_reasoning_weighs_less_where_the_parser_reads_no_reasoning(
    build: Build, thinks: bool, severity: str
) -> None:
    call: list[Entry] = [("name", "f"), ("arguments", "{}"), ("end",)]
    right = build([("reasoning", "Hm."), ("marker", "</think>"), ("content", "Hi."), *call])
    sent: list[Entry] = [("reasoning", "Hm.")] * thinks + [("content", "</think>Hi."), *call]
    wrong = build(sent, blind=True)
    wrong.text = right.text
    seen = subject(wrong, black_box=True, reference=right, terminals={"THINK_END": "</think>"})
    (finding,) = run_checks(seen, ["no_terminal_leak"]).findings
    assert (finding.severity, "leaks into the content" in finding.message) == (severity, True)
