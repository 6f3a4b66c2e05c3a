"""The registry and run_checks: order, choice, skipping, holding, and the limit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.checks.check import LIMIT, Need
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Message, Tool, ToolCall, UsageError
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
TOOLS = (Tool("get_weather", {"type": "object"}), Tool("get_time"))


def test_a_good_trace_makes_every_check_hold(good: Trace) -> None:
    seen = subject(good, Context(tools=TOOLS), good, [("5 tokens", good)], examined=(100, 200))
    report = run_checks(seen)
    assert report.findings == []
    missing = {need for need in Need if need.is_metamorphic}
    missing |= {Need.TOKEN_IDS, Need.BYTES, Need.REASONING_MARKERS, Need.BOOKKEEPING}
    missing |= {Need.SERVER_DELTAS, Need.SERVER_CHUNKS, Need.REFERENCE}
    skipped = {name for name, check in CHECKS.items() if missing & {*check.needs}}
    assert {name for name, _ in report.skipped} == skipped
    assert report.holding == [name for name in CHECKS if name not in skipped]


def test_checks_have_numbers_and_one_line_definitions() -> None:
    assert all(re.fullmatch("[A-Z][0-9]", checker.id) for checker in CHECKS.values())
    assert all(name == checker.name for name, checker in CHECKS.items())
    assert all(c.definition.endswith(".") and "\n" not in c.definition for c in CHECKS.values())


def test_a_check_without_its_needs_is_skipped_with_the_reason(good: Trace) -> None:
    skipped = {name: need.words for name, need in run_checks(subject(good)).skipped}
    assert skipped["chunking"] == "no other chunking was replayed"
    assert skipped["whole_equals_streamed"] == "the output was not replayed whole"
    assert skipped["arguments_schema"] == skipped["known_tool"] == "the request declares no tools"
    assert (
        skipped["linear_time"] == "neither the characters examined nor the lines executed nor a clock's time were taken"
    )
    assert skipped["server_agrees"] == "no server's own log of the same output is at hand"
    unspelled = "the bytes of the tokens are not known, or the decoder makes another text of them"
    assert skipped["decodes_alike"] == unspelled


def test_a_parser_that_failed_is_spared_the_checks_of_its_end(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", "{")], [("raised", "}", "it broke")])
    report = run_checks(subject(trace))
    assert [finding.check for finding in report.findings] == ["parser_raised"]
    assert dict(report.skipped)["arguments_json"] is Need.FINISHED


def test_a_black_box_is_spared_the_checks_it_cannot_answer(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", "{}"), ("end",)], blind=True, make_ids=False)
    skipped = dict(run_checks(subject(trace, black_box=True)).skipped)
    assert skipped["ends_idle"] is skipped["held_bounded"] is Need.INSIGHT
    assert skipped["id_once"] is Need.IDS


def test_a_built_in_parser_must_give_ids(build: Build) -> None:
    report = run_checks(subject(build([("name", "f"), ("arguments", "{}"), ("end",)], make_ids=False)), ["id_once"])
    assert [finding.check for finding in report.findings] == ["id_once"]


def test_only_the_named_checks_run(good: Trace) -> None:
    assert run_checks(subject(good), ["id_once", "index_dense"]).holding == ["index_dense", "id_once"]


def test_an_unknown_check_is_the_callers_mistake(good: Trace) -> None:
    with pytest.raises(UsageError, match="no check named 'chunks'; the checks are chunking, "):
        run_checks(subject(good), ["chunks"])


def test_findings_come_worst_first_then_by_step(build: Build) -> None:
    trace = build(
        [("content", "<tool_call> ")],
        [("name", "f"), ("arguments", "{}"), ("end",)],
        [("name", ""), ("arguments", '{"a": 1, "a": 2}'), ("end",)],
    )
    findings = run_checks(subject(trace, terminals={"OPEN": "<tool_call>"})).findings
    assert [(f.severity, f.step) for f in findings] == [
        ("error", 3),
        ("error", 3),
        ("error", None),
        ("warning", 1),
        ("info", 3),
    ]


def test_a_note_breaks_no_check(build: Build) -> None:
    trace = build([("name", "f"), ("arguments", '{"a": 1, "a": 2}'), ("end",)])
    report = run_checks(subject(trace), ["arguments_json"])
    assert [finding.severity for finding in report.findings] == ["info"]
    assert report.holding == ["arguments_json"]


def test_a_flood_of_findings_is_cut_and_counted(build: Build) -> None:
    names = [f"tool_{n}" for n in range(LIMIT + 7)]
    said = [("content", " ".join(names))]
    trace = build(said, message=Message(tool_calls=[ToolCall(f"id-{name}", name, "{}") for name in names]))
    findings = run_checks(subject(trace, Context(tools=TOOLS)), ["known_tool"]).findings
    assert len(findings) == LIMIT + 1
    assert findings[-1].message == "7 more findings of this kind are not listed."
    assert (findings[-1].severity, findings[-1].about) == ("warning", "output")
