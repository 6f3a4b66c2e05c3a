"""arguments_json and arguments_prefix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.checks import run_checks
from parsers.checks.check import LIMIT
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Context, MessageDelta, Piece, ToolCallDelta
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
Entry = tuple[str, ...]


def call(*arguments: Entry, end: str = "end") -> list[Entry]:
    return [("marker", "<c>"), ("name", "f"), *arguments, ("marker", "</c>"), (end,)]


AS_STREAMED = ("info", "truncated_call=as_streamed")


def found(name: str, trace: Trace, **fields: Any) -> list[Finding]:
    return run_checks(subject(trace, **fields), [name]).findings


NONE = "The arguments of call 0 (`f`) are no JSON object: at character "


@pytest.mark.parametrize(
    ("arguments", "message", "span"),
    [
        ('{"a": {"b": [1]}}', None, None),
        (
            '{"a": 1, 2}',
            NONE + "13 of the output `2` stands instead of a key in double quotes.",
            (13, 14),
        ),
        (
            '{"a": NaN}',
            NONE + "10 of the output `N` stands instead of a value.",
            (10, 11),
        ),
        (
            '{"a": 1} {',
            NONE + "13 of the output `{` stands after its end.",
            (13, 14),
        ),
        (
            "[1]",
            NONE + "4 of the output `[` stands instead of the opening brace.",
            (4, 5),
        ),
        ('{"a": [', "The arguments of call 0 (`f`) end before their JSON does.", (11, 11)),
        ("", "The arguments of call 0 (`f`) are empty, not a JSON object.", None),
    ],
)
def test_arguments_are_one_object(build: Build, arguments: str, message: str | None, span: object) -> None:
    findings = found("arguments_json", build(call(("arguments", arguments))))
    assert [finding.message for finding in findings] == ([message] if message else [])
    assert [finding.span for finding in findings] == ([span] if message else [])


@pytest.mark.parametrize(
    ("entries", "about"),
    [
        # the model wrote it so
        ([("arguments", '{"a": tru}')], "output"),
        ([("arguments", '{"a": '), ("arguments", '"1"', "1"), ("arguments", ", x}")], "output"),
        ([("arguments", '{"a": 1}}')], "output"),
        # a whole object stands there, the parser broke it
        ([("arguments", '{"a": '), ("arguments", '"x"', "x"), ("arguments", "}")], "parser"),
        ([("arguments", '{"a": 1'), ("marker", "}")], "parser"),
        ([("marker", '{"arguments": '), ("arguments", '{"a": 1}}')], "parser"),
        # the parser writes the object itself
        ([("arguments", "", '{"a": '), ("arguments", "tru"), ("arguments", "", "}")], "parser"),
        ([("arguments", "a=1", '{"a": 1')], "parser"),
    ],
)
def test_broken_json_is_blamed_where_it_broke(build: Build, entries: list[Entry], about: str) -> None:
    trace = build(call(*entries))
    (finding,) = [*found("arguments_json", trace), *found("arguments_closed", trace)]
    assert (finding.about, finding.severity) == (about, "error" if about == "parser" else "warning")


@pytest.mark.parametrize(
    ("entries", "about"),
    [
        ([("arguments", '{"a": 1'), ("marker", "}")], "parser"),
        ([("arguments", '{"a": tru}')], "output"),
        ([("arguments", "a=1", '{"a": 1')], "parser"),
    ],
)
def test_a_black_box_is_blamed_by_what_the_output_has(build: Build, entries: list[Entry], about: str) -> None:
    trace = build(call(*entries), blind=True)
    (finding,) = [
        found_ for name in ("arguments_json", "arguments_closed") for found_ in found(name, trace, black_box=True)
    ]
    assert finding.about == about


@pytest.mark.parametrize(
    ("arguments", "reason", "count"),
    [
        ('{"a": 1', None, 1),
        ('{"a": 1', "stop", 1),
        ('{"a": 1', "length", 0),
        ('{"a": 1}', None, 0),
        ('{"a": tru}', None, 0),
    ],
)
def test_a_call_that_is_cut_off_is_told_unless_the_output_was(
    build: Build, arguments: str, reason: str | None, count: int
) -> None:
    trace = build(call(("arguments", arguments), end="cut"))
    findings = found("arguments_json", trace, context=Context(finish_reason=reason))
    assert [(finding.severity, finding.policy) for finding in findings] == [AS_STREAMED] * count


def test_a_key_given_twice_is_a_note_where_it_comes_again(build: Build) -> None:
    trace = build(call(("arguments", '{"a": {"b": 1, ')), [("arguments", '"b": 2}, "c": {"b": 3}}'), ("end",)])
    trace.message.tool_calls[0].complete = True
    (finding,) = found("arguments_json", trace)
    assert finding.message == "`b` is given twice in call 0 (`f`); most readers keep the last."
    assert (finding.severity, finding.about, finding.step) == ("info", "output", 2)


@pytest.mark.parametrize(
    ("own", "count"),
    [
        (call(("arguments", '{"a": 1, "a": 2}')), 1),
        (call(("arguments", '{"a": 2}')), 0),
        (call(("arguments", '{"a": 1, "a"')), 0),
        ([*call(("arguments", "{}")), *call(("arguments", "{}"))], 0),
    ],
)
def test_a_key_that_the_output_gives_twice_is_a_note_also_where_a_black_box_keeps_one(
    build: Build, own: list[Any], count: int
) -> None:
    given = build(call(("arguments", '{"a": 1, "a": 2}', '{"a": 2}')))
    for one in (given, reference := build(own)):
        for each in one.message.tool_calls:
            each.complete = True
    notes = found("arguments_json", given, black_box=True, reference=reference)
    assert [(note.severity, note.about, note.step) for note in notes] == [("info", "output", 1)] * count


def test_the_fault_of_a_flood_of_broken_calls_is_not_looked_for(build: Build) -> None:
    trace = build(*[call(("arguments", '{"a": 1'), ("marker", "}"))] * (LIMIT + 1))
    assert len(found("arguments_closed", trace)) == LIMIT
    assert [finding.about for finding in found("arguments_json", trace)] == ["output"]


def test_streamed_arguments_that_grow_into_the_final_ones_hold(good: Trace) -> None:
    assert found("arguments_prefix", good) == []


@pytest.mark.parametrize(
    ("sent", "message", "step"),
    [
        (['{"a": ', "2}"], "The streamed arguments of call 0 (`f`) leave the final text at their character 6.", 3),
    ],
)
def test_streamed_text_is_never_taken_back(
    build: Build, sent: list[str | None], message: str, step: int | None
) -> None:
    deltas = {n: MessageDelta(tool_calls=[ToolCallDelta(0, arguments=text)]) for n, text in enumerate(sent, 2)}
    trace = build([("name", "f")], [("arguments", '{"a": ')], [("arguments", "1}"), ("end",)], deltas=deltas)
    (finding,) = found("arguments_prefix", trace)
    assert (finding.message, finding.step, finding.severity) == (message, step, "error")
    assert finding.expected == '{"a": 1}'


@pytest.mark.parametrize(
    ("pieces", "about", "step"),
    [
        ([("arguments", '{"a": 1'), ("arguments", "}}")], "output", 2),
        ([("arguments", '{"a": "x'), ("arguments", '"'), ("arguments", "", '"}'), ("marker", "}")], "parser", 3),
    ],
)
def test_the_first_hopeless_character_is_found(build: Build, pieces: list[Entry], about: str, step: int) -> None:
    steps = [[piece] for piece in pieces]
    trace = build([("name", "f"), *steps[0]], *steps[1:], [("cut",)])
    (finding,) = found("arguments_prefix", trace)
    assert "what is streamed of call 0 (`f`) cannot become a JSON object: `" in finding.message
    assert (finding.about, finding.step) == (about, step)
    assert finding.severity == ("error" if about == "parser" else "warning")


def test_by_ids_a_marker_inside_a_string_ends_the_call_and_blames_nobody(build: Build) -> None:
    entries: list[Entry] = [("arguments", '{"a": "x'), ("marker", "<c>"), ("marker", '"}')]
    trace = build(call(*entries, end="cut"))
    marker = Piece("<c>", 7, None, "special", True)
    pieces = (marker, Piece("f"), Piece('{"a": "x'), marker, Piece('"}</c>'))
    assert [f.about for f in found("arguments_closed", trace, pieces=pieces)] == ["parser"]
    trace.mode = "ids"
    assert found("arguments_closed", trace, pieces=pieces) == []
    assert [f.about for f in found("arguments_closed", trace, pieces=pieces[:3])] == ["parser"]
