"""The registry and run_checks: order, choice, skipping, holding, and the limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import CHECKS, Subject, run_checks
from parsers.checks.base import LIMIT
from parsers.trace import Trace
from parsers.types import Context, Message, Tool, ToolCall, UsageError

Build = Callable[..., Trace]
TOOLS = (Tool("get_weather", {"type": "object"}), Tool("get_time"))


def test_a_good_trace_makes_every_check_hold(good: Trace) -> None:
    subject = Subject(good, Context(tools=TOOLS), good, [("5 tokens", good)], counters=(100, 200))
    report = run_checks(subject)
    assert report.findings == []
    assert report.holding == list(CHECKS)
    assert report.skipped == []


def test_checks_have_their_own_numbers_and_one_line_definitions() -> None:
    assert len({checker.id for checker in CHECKS.values()}) == len(CHECKS)
    assert all(name == checker.name for name, checker in CHECKS.items())
    assert all(c.definition.endswith(".") and "\n" not in c.definition for c in CHECKS.values())


def test_a_check_without_its_needs_is_skipped_with_the_reason(good: Trace) -> None:
    report = run_checks(Subject(good))
    assert report.skipped == [
        ("chunking", "no other chunking was replayed"),
        ("whole_equals_streamed", "the output was not replayed whole"),
        ("arguments_schema", "the request declares no tools"),
        ("known_tool", "the request declares no tools"),
        ("linear_time", "the characters examined were not counted"),
    ]


def test_a_black_box_is_spared_the_checks_it_cannot_answer(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", "{}"), ("end",)], blind=True, make_ids=False)
    skipped = dict(run_checks(Subject(trace, black_box=True)).skipped)
    assert skipped["ends_idle"] == skipped["held_bounded"] == "the parser shows its deltas only"
    assert skipped["id_once"] == "the parser gives no call ids, the server adds them"


def test_a_built_in_parser_must_give_ids(build: Build) -> None:
    report = run_checks(Subject(build([("name", "f"), ("arguments", "{}"), ("end",)], make_ids=False)), ["id_once"])
    assert [finding.check for finding in report.findings] == ["id_once"]


def test_only_the_named_checks_run(good: Trace) -> None:
    assert run_checks(Subject(good), ["index_dense", "id_once"]).holding == ["id_once", "index_dense"]


def test_an_unknown_check_is_the_callers_mistake(good: Trace) -> None:
    with pytest.raises(UsageError, match="no check named 'chunks'; the checks are chunking, "):
        run_checks(Subject(good), ["chunks"])


def test_findings_come_worst_first_then_by_step(build: Build) -> None:
    trace = build(
        [("content", "<tool_call> ")],
        [("name", "f"), ("arguments", "{}"), ("end",)],
        [("name", ""), ("arguments", '{"a": 1, "a": 2}'), ("end",)],
    )
    findings = run_checks(Subject(trace, terminals={"OPEN": "<tool_call>"})).findings
    assert [(f.severity, f.step) for f in findings] == [("error", 3), ("warning", 1), ("info", 3)]


def test_a_note_breaks_no_check(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", '{"a": 1, "a": 2}'), ("end",)])
    report = run_checks(Subject(trace), ["arguments_json"])
    assert [finding.severity for finding in report.findings] == ["info"]
    assert report.holding == ["arguments_json"]


def test_a_flood_of_findings_is_cut_and_counted(build: Build) -> None:
    trace = build(message=Message(tool_calls=[ToolCall(f"id-{n}", f"tool_{n}", "{}") for n in range(LIMIT + 7)]))
    findings = run_checks(Subject(trace, Context(tools=TOOLS)), ["known_tool"]).findings
    assert len(findings) == LIMIT + 1
    assert findings[-1].message == "7 more findings of this kind are not listed."
    assert (findings[-1].severity, findings[-1].about) == ("warning", "output")
