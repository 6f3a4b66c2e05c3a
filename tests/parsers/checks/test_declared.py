"""arguments_schema and known_tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.checks import run_checks
from parsers.vocabulary.drops import stated
from parsers.vocabulary.trace import Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Context, Tool
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


def found(name: str, trace: Trace, schema: Any = SCHEMA) -> list[Finding]:
    context = Context(tools=(Tool("get_weather", schema), Tool("get_weather"), Tool("get_time")))
    return run_checks(subject(trace, context), [name]).findings


def test_arguments_that_fit_hold(good: Trace) -> None:
    assert found("arguments_schema", good) == []


def test_each_misfit_is_told_at_the_step_where_its_key_begins(build: Build) -> None:
    trace = build(
        [("name", "get_weather"), ("arguments", "{")],
        [("arguments", '"note": "a", ')],
        [("arguments", '"days": ')],
        [("arguments", '"3"')],
        [("arguments", "}"), ("end",)],
    )
    findings = found("arguments_schema", trace)
    assert [(finding.step, finding.message) for finding in findings] == [
        (2, "`note` is not a property of `get_weather`, which has `city` and `days`."),
        (3, "`days` is a string; `get_weather` wants an integer."),
        (5, "`city` is missing; `get_weather` requires it."),
    ]
    assert {(finding.severity, finding.about) for finding in findings} == {("warning", "output")}
    assert (findings[1].span, findings[1].expected, findings[1].actual) == ((25, 26), "integer", '"3"')


@pytest.mark.parametrize(
    ("name", "arguments", "schema"),
    [
        ("get_weather", '{"x": 1', SCHEMA),
        ("get_weather", '{"x": tru}', SCHEMA),
        ("get_weather", '{"x": 1}', None),
        ("get_time", '{"x": 1}', SCHEMA),
        ("unheard_of", '{"x": 1}', SCHEMA),
    ],
)
def test_what_cannot_be_judged_is_left_alone(build: Build, name: str, arguments: str, schema: Any) -> None:
    trace = build([("name", name), ("arguments", arguments), ("end",)])
    assert found("arguments_schema", trace, schema) == []


@pytest.mark.parametrize(
    ("schema", "severity", "words"),
    [
        ({"type": "nothing"}, "warning", "The schema of `get_weather` is broken: "),
        (
            {"properties": {"city": {"$ref": "https://elsewhere.example/city"}, "days": {}}},
            "info",
            "is not judged in full: ",
        ),
    ],
)
def test_what_is_wrong_with_a_schema_is_about_the_request(good: Trace, schema: Any, severity: str, words: str) -> None:
    findings = found("arguments_schema", good, schema)
    assert {(one.severity, one.about, one.topic) for one in findings} == {(severity, "request", Topic.BAD_SCHEMA)}
    assert words in findings[0].message


def test_arguments_too_deep_to_be_judged_are_a_note(build: Build) -> None:
    deep = '{"city": ' + "[" * 500 + "]" * 500 + "}"
    (finding,) = found("arguments_schema", build([("name", "get_weather"), ("arguments", deep), ("end",)]))
    assert (finding.severity, finding.about) == ("info", "request")
    assert "not judged by the schema: too large" in finding.message


def test_declared_tools_are_known(good: Trace) -> None:
    assert found("known_tool", good) == []


def test_an_undeclared_tool_is_told_where_its_name_stands(build: Build) -> None:
    trace = build([("content", "Hi")], [("name", "get_wether"), ("arguments", "{}"), ("end",)])
    (finding,) = found("known_tool", trace)
    assert finding.message == "`get_wether` is not one of the declared tools."
    assert (finding.severity, finding.about, finding.step, finding.span) == ("warning", "output", 2, (2, 12))
    assert finding.expected == "get_weather, get_time"


def test_a_rejected_call_to_an_undeclared_tool_is_told_too(build: Build) -> None:
    rejected = [
        RejectedCall(3, 9, "g", stated("not declared")),
        RejectedCall(0, 2, "get_time", stated("x")),
        RejectedCall(0, 2, None, stated("x")),
    ]
    (finding,) = found("known_tool", build([("content", "a")], [("content", "bc g {} ")], rejected_calls=rejected))
    assert finding.message == "`g`, in a call that was not kept, is not one of the declared tools."
    assert (finding.step, finding.span) == (2, (3, 9))


def test_an_empty_name_is_not_an_unknown_one(build: Build) -> None:
    assert found("known_tool", build([("name", ""), ("arguments", "{}"), ("end",)])) == []
