"""What a black box is held against: the built-in parser of its format, a server's deltas, a serving layer's lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from parsers.checks import Subject, run_checks
from parsers.checks.examples import Entry
from parsers.checks.subject import Grammar
from parsers.vocabulary.drops import Cause, DropReason, stated
from parsers.vocabulary.trace import Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Context, Message, MessageDelta, Tool, ToolCall, ToolCallDelta
from parsers.wire.read import ServerChunk
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
CALL: list[Entry] = [("marker", "<c>"), ("name", "f"), ("arguments", '{"a": 1}'), ("marker", "</c>"), ("end",)]
TOOLS = Context((Tool("f", {"properties": {"a": {"type": "integer"}}}),))


def found(name: str, seen: Subject) -> list[Finding]:
    return run_checks(seen, [name]).findings


def box(build: Build, *entries: Entry, reference: Trace, context: Context = TOOLS) -> Subject:
    marks: dict[str, Any] = {"openers": ("<think>",), "closers": ("</think>",)}
    return subject(build(entries, blind=True), context, black_box=True, reference=reference, **marks)


def text_of(entries: list[Entry]) -> str:
    return "".join([entry[1] for entry in entries if len(entry) > 1])


@pytest.mark.parametrize(
    ("before", "arguments", "missed"),
    [
        ("", '{"a": 1}', True),
        ("a ```x``` b ", '{"a": 1}', True),
        ("```\n", '{"a": 1}', False),
        ("", '{"a": "one"}', False),
        ("", "[1]", False),
    ],
)
def test_a_sound_call_that_the_built_in_parser_finds_is_missed(
    build: Build, before: str, arguments: str, missed: bool
) -> None:
    entries = [("content", before), ("name", "f"), ("arguments", arguments), ("end",)]
    seen = box(build, ("content", before + "f" + arguments), reference=build(entries))
    assert [f.severity for f in found("tool_call_dropped", seen)] == ["error"] * missed


def test_a_call_that_another_chunking_finds_is_missed_with_this_one(build: Build) -> None:
    reference = build(CALL)
    seen = box(build, ("content", reference.text), reference=reference)
    none, whole = build([("content", reference.text)], blind=True), build(CALL, blind=True)
    found_by = [finding for other in (none, whole) for finding in found("tool_call_dropped", replaced(seen, other))]
    assert [(one.topic, one.severity) for one in found_by] == [(Topic.LOSS, "error"), (Topic.CHUNKS, "error")]


def replaced(seen: Subject, other: Trace) -> Subject:
    return replace(seen, replays=replace(seen.replays, compared=[("other", other)]))


def test_a_call_planned_in_reasoning_is_not_missed(build: Build) -> None:
    reference = build([("marker", "<think>"), *CALL, ("marker", "</think>"), ("content", "No.")])
    assert found("tool_call_dropped", box(build, ("reasoning", reference.text), reference=reference)) == []
    after = build([*CALL, ("marker", "<think>"), ("marker", "</think>"), ("content", "No.")])
    assert len(found("tool_call_dropped", box(build, ("reasoning", after.text), reference=after))) == 1


def test_calls_found_by_both_or_not_wanted_are_not_missed(build: Build) -> None:
    reference = build(CALL)
    assert found("tool_call_dropped", box(build, *CALL, reference=reference)) == []
    undeclared = Context((Tool("g"),))
    assert found("tool_call_dropped", box(build, ("content", "x"), reference=reference, context=undeclared)) == []
    none = Context(TOOLS.tools, "none")
    assert found("tool_call_dropped", box(build, ("content", "x"), reference=reference, context=none)) == []


def test_a_call_without_a_known_place_is_missed_all_the_same(build: Build) -> None:
    reference = build(CALL, blind=True)
    (finding,) = found("tool_call_dropped", box(build, ("content", "x"), reference=reference))
    assert finding.span is None


def test_the_only_call_of_an_output_that_is_cut_off_is_a_note_with_its_policy(build: Build) -> None:
    trace = build([("content", "a <call>f{")])
    trace.rejected_calls = [RejectedCall(2, len(trace.text), None, stated("the call was never named"))]
    by_policy = subject(trace, TOOLS, terminals={"C": "<call>"}, policy={"truncated_call": "text"})
    (finding,) = found("tool_call_dropped", by_policy)
    assert (finding.severity, finding.about, finding.policy) == ("info", "output", "truncated_call=text")
    without = subject(trace, TOOLS, terminals={"C": "<call>"})
    assert [f.severity for f in found("tool_call_dropped", without)] == ["warning"]


def test_arguments_that_a_black_box_leaves_open_are_its_fault_if_the_call_ends(build: Build) -> None:
    tagged = [("name", "f"), ("arguments", "a=1", '{"a": 1}'), ("end",)]
    opened = [("name", "f"), ("arguments", "a=1", '{"a": 1'), ("cut",)]
    (finding,) = found("arguments_closed", box(build, *opened, reference=build(tagged)))
    assert (finding.severity, finding.about) == ("error", "parser")
    for reference in (build(opened), build([("content", "f")])):
        seen = box(build, *opened, reference=reference)
        assert found("arguments_closed", seen) == []
        assert [f.policy for f in found("arguments_json", seen)] == ["truncated_call=as_streamed"]


def test_a_cut_off_call_that_others_follow_is_worth_a_warning(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", '{"a": 1'), ("cut",)], CALL)
    assert [(f.severity, f.policy) for f in found("arguments_json", subject(trace))] == [("warning", None)]


def test_an_empty_message_is_a_fault_if_the_built_in_parser_has_one(build: Build) -> None:
    assert [f.severity for f in found("all_output_lost", box(build, ("dropped", "x", "x"), reference=build(CALL)))] == [
        "error"
    ]
    refused = build([("content", "<c>oops")])
    refused.rejected_calls = [RejectedCall(0, 7, None, stated("no call"))]
    assert found("all_output_lost", box(build, ("dropped", "x", "x"), reference=refused)) == []


@pytest.mark.parametrize(
    ("policy", "severity"), [({"unknown_tool": "drop"}, "info"), ({}, "warning")], ids=["by policy", "by no policy"]
)
def test_an_empty_message_with_a_reason_is_no_error(build: Build, policy: dict[str, str], severity: str) -> None:
    trace = build([("dropped", "f{}", DropReason(Cause.CALL_TO_UNDECLARED, "f"))])
    (finding,) = found("all_output_lost", subject(trace, policy=policy))
    assert (finding.severity, finding.about) == (severity, "output")
    assert finding.message == "The message is empty: call to f, which is not a declared tool."
    assert found("spans_cover_input", subject(trace, policy=policy)) == []


REST = "Use the <c> marker when you want to."
REFUSED = '<c>{"name": "f" and no more of it</c> So much for that.'
ENDS = "The end of the answer is lost, {} characters from character {} of the output on; the built-in parser `x` keeps"


@pytest.mark.parametrize(
    ("text", "refused", "sent", "severity", "words"),
    [
        (REST, [(8, 11, None)], "Use the ", "error", ENDS.format(28, 8)),
        (REST, [], "Use the", "error", ENDS.format(28, 8)),
        (
            REST,
            [(8, 11, None)],
            "Use the <c> marker when you want",
            "warning",
            "The word `to` of the output is nowhere in",
        ),
        (REST, [], "Use <c>", "warning", "The word `the` of the output is nowhere in the message (6 words in all)."),
        (REFUSED, [(0, 16, None)], "", "error", "The whole output is lost: the message is empty."),
        (REFUSED, [(0, 16, None)], " So much for that.", None, ""),
        (REFUSED, [(0, 16, "f")], " So much for that.", None, ""),
        (REFUSED[:33], [(0, 16, None)], "", None, ""),
    ],
)
def test_the_end_of_an_answer_that_only_the_built_in_parser_keeps_is_lost(
    build: Build, text: str, refused: list[tuple[int, int, str | None]], sent: str, severity: str | None, words: str
) -> None:
    reference = build([("content", text)])
    reference.parser = "x"
    reference.rejected_calls = [RejectedCall(start, end, name, stated("no call")) for start, end, name in refused]
    entries = [("content", text, sent)] if sent else [("dropped", text, "x")]
    seen = box(build, *entries, reference=reference)
    seen = replace(seen, grammar=replace(seen.grammar, terminals={"C": "<c>", "E": "</c>"}))
    findings = [*found("spans_cover_input", seen), *found("all_output_lost", seen)]
    assert [one.severity for one in findings] == ([severity] if severity else [])
    assert all(one.message.startswith(words) for one in findings)


def test_the_end_of_an_answer_beside_calls_or_other_reasoning_is_told_by_its_words(build: Build) -> None:
    words = "one two three four five"
    reference, seen = build(CALL, [("content", words)]), [*CALL, ("dropped", words, "x")]
    (finding,) = found("spans_cover_input", box(build, *seen, reference=reference))
    assert finding.message == "The word `one` of the output is nowhere in the message (5 words in all)."


def test_words_lost_by_a_black_box_are_those_the_built_in_parser_delivers(build: Build) -> None:
    entries = [("content", "Hello "), ("dropped", "noise", "x")]
    seen = box(build, ("dropped", "Hello ", "x"), ("content", "noise"), reference=build(entries))
    assert [f.message for f in found("spans_cover_input", seen)] == [
        "The word `Hello` of the output is nowhere in the message."
    ]
    assert found("spans_cover_input", box(build, ("content", "Hello noise"), reference=build(entries))) == []


def test_a_marker_is_a_leak_if_the_built_in_parser_reads_it_and_finds_the_same_calls(build: Build) -> None:
    def seen(reference: Trace) -> Subject:
        given = box(build, *CALL[:3], ("content", "</c>"), ("end",), reference=reference)
        return replace(given, grammar=Grammar({"END": "</c>"}))

    (finding,) = found("no_terminal_leak", seen(build(CALL)))
    assert finding.message == "`</c>` leaks into the content, while the built-in parser `demo` reads it as a marker."
    other = seen(build([("content", "f")]))
    assert [f.severity for f in found("no_terminal_leak", other)] == ["warning"]


def test_text_that_was_given_back_is_no_leak(build: Build) -> None:
    trace = build([("content", "</c>"), ("note", "", "fallback_released", "It was released.")])
    assert [f.severity for f in found("no_terminal_leak", subject(trace, terminals={"END": "</c>"}))] == ["warning"]


def test_broken_arguments_before_a_marker_are_told_of_elsewhere(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", "{a </c>"), ("end",)])
    assert found("no_argument_leak", subject(trace, terminals={"END": "</c>"})) == []


def test_reasoning_that_the_built_in_parser_reads_alike_is_right(build: Build) -> None:
    entries: list[Entry] = [("reasoning", "a"), ("marker", "</think>"), ("reasoning", "b")]
    assert len(found("reasoning_boundary", box(build, *entries, reference=build(CALL)))) == 1
    assert found("reasoning_boundary", box(build, *entries, reference=build(entries))) == []
    again: list[Entry] = [*entries[:2], ("marker", "<think>"), ("reasoning", "b")]
    assert found("reasoning_boundary", box(build, *again, reference=build(CALL))) == []
    assert found("reasoning_boundary", box(build, ("reasoning", "a"), reference=build(CALL))) == []


def test_the_lists_of_a_serving_layer_hold_what_was_sent(build: Build) -> None:
    trace = build(CALL)
    assert found("bookkeeping", subject(trace, told=('{"a": 1}',), sent=('{"a": 1}',))) == []
    (finding,) = found("bookkeeping", subject(trace, told=('{"a": 1}',), sent=('{"a":',)))
    assert finding.message == "The serving layer has other arguments as sent for call 0 (`f`)."


def test_a_servers_deltas_are_compared_channel_by_channel(build: Build) -> None:
    trace = build([("reasoning", "Hm.")], CALL)
    second = MessageDelta(None, None, [ToolCallDelta(0, "x", "f", '{"a": 2}')])
    server = [ServerChunk(MessageDelta("Hm.")), ServerChunk(), ServerChunk(second), ServerChunk(None, "tool_calls")]
    findings = found("server_agrees", subject(trace, chunks=server))
    assert [finding.message for finding in findings] == [
        "The server's chunk 3 departs from the replay (step 2) at character 6 of the arguments of call 0 (`f`)."
    ]


def test_all_reasoning_is_told_by_why_it_is_all(build: Build) -> None:
    closed = build([("reasoning", "Hm."), ("marker", "</think>")])
    (finding,) = found("answer_only_in_reasoning", subject(closed, closers=("</think>",)))
    assert finding.message == "All of the output is reasoning, without an answer: it is closed, and nothing follows."
    assert (finding.severity, finding.about) == ("info", "output")
    cut = subject(build([("reasoning", "Hm.")]), Context(finish_reason="length"))
    (note,) = found("answer_only_in_reasoning", cut)
    assert (note.message.partition(": ")[2], note.severity) == ("its length limit cut it off.", "info")


def test_a_message_without_calls_or_text_is_not_all_reasoning() -> None:
    trace = Trace("demo", (), {}, "text", "", message=Message(None, None, [ToolCall(None, "f", "{}")]))
    assert found("answer_only_in_reasoning", subject(trace)) == []
