"""The lints of a template: each trap is found at its place, and a sound template has none."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from tests.webapp.engines.templates import ANCHOR, EACH, JOINED, JSON_CALLS, PLAIN, STREAMED, THINK, XML, template
from webapp.engines.response_template import loaded
from webapp.engines.response_template.lint import lint

EXAMPLES = json.loads((resources.files("webapp.engines.response_template") / "examples.json").read_text("utf-8"))
OPENED = {"open": "<c>", "close": "</c>"}


def found(data: Any, prefix: str | None = ANCHOR) -> Any:
    return lint(data, prefix, loaded)


def codes(data: Any, prefix: str | None = ANCHOR) -> set[tuple[str, str, str]]:
    return {(one.severity, one.code, one.pointer) for one in found(data, prefix).findings}


@pytest.mark.parametrize("example", EXAMPLES, ids=[one["name"] for one in EXAMPLES])
def test_the_examples_have_no_traps(example: Any) -> None:
    report = found(example["template"], example["prefix"])
    assert {one.severity for one in report.findings} <= {"info"}
    assert not report.broken


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PLAIN, ("warning", "field_overwritten", "/fields/content")),
        (PLAIN, ("info", "close_in_string", "/fields/tool_calls")),
        (PLAIN, ("info", "malformed_raises", "/fields/tool_calls")),
        (template(tool_calls={**JSON_CALLS, "repeats": False}, content=OPENED),
         ("warning", "field_overwritten", "/fields/tool_calls")),
        (template(content={"repeats": True}), ("warning", "list_of_texts", "/fields/content")),
        (template(content=OPENED), ("warning", "no_implicit_field", "/fields")),
        (template(cite=OPENED, content={}), ("info", "unknown_field", "/fields/cite")),
        (template(thinking={**THINK, "optional": False}, content={}),
         ("info", "required_field", "/fields/thinking/optional")),
        (template(content={"content": "json"}), ("warning", "not_text", "/fields/content")),
        (template(content={"transform": "{content}"}), ("warning", "not_text", "/fields/content")),
        (template(tool_calls={"content": "xml-inline"}),
         ("warning", "no_tag_pattern", "/fields/tool_calls/content_args")),
        (template(content={"content_args": {"a/b": 1}}),
         ("warning", "unknown_argument", "/fields/content/content_args/a~1b")),
        (template(tool_calls={"open": "x", "transform": {"name": ["{nam}"]}}, content={}),
         ("warning", "unfilled_slot", "/fields/tool_calls/transform/name/0")),
        (template(tool_calls={"open": "x", "close_pattern": "(?P<n>y)", "transform": {"name": "{n}"}}, content={}),
         ("warning", "late_group", "/fields/tool_calls/transform/name")),
        (template(tool_calls={**EACH["fields"]["tool_calls"], "repeats": True}, content={}),
         ("warning", "nested_list", "/fields/tool_calls/repeats")),
        (template(tool_calls={**JSON_CALLS, "transform": {"function": {"title": "{content.t}"}}}, content={}),
         ("warning", "no_name", "/fields/tool_calls/transform")),
        (template(tool_calls={**JSON_CALLS, "transform": {"name": "{content.t}"}}, content={}),
         ("warning", "no_arguments", "/fields/tool_calls/transform")),
        (template(thinking={"open_pattern": "a*", "close": "b"}, content={}),
         ("warning", "empty_match", "/fields/thinking/open_pattern")),
        (template(thinking={"open_pattern": "x(?:a+b?)*", "close": "b"}, content={}),
         ("warning", "slow_pattern", "/fields/thinking/open_pattern")),
        (template(thinking={"open_pattern": "x(?=(?:(?>a|(?:b+)+)))y", "close": "b"}, content={}),
         ("warning", "slow_pattern", "/fields/thinking/open_pattern")),
        (template(thinking={"open_pattern": "x.*", "close": "b"}, content={}),
         ("warning", "greedy_pattern", "/fields/thinking/open_pattern")),
        (template(thinking={"open_pattern": "x(?!y)", "close": "b"}, content={}),
         ("info", "looks_ahead", "/fields/thinking/open_pattern")),
        (template(thinking={"open_pattern": r"\p{L}", "close": "b"}, content={}),
         ("info", "unchecked_pattern", "/fields/thinking/open_pattern")),
        ({"start_anchor_pattern": "a*", "fields": {"content": {}}},
         ("warning", "empty_match", "/start_anchor_pattern")),
        ({"fields": {}}, ("error", "not_a_template", "/fields")),
    ],
)  # fmt: skip
def test_a_trap_is_found_at_its_place(data: Any, expected: tuple[str, str, str]) -> None:
    assert expected in codes(data)


@pytest.mark.parametrize(
    "data",
    [
        STREAMED,
        template(tool_calls={**JSON_CALLS, "transform": {"name": "fixed", "arguments": "{content}"}}, content=OPENED),
        template(tool_calls={"open": "x", "content": "json"}, content={"repeats": True, "join": ""}),
        template(tool_calls={"open": "x", "content": "json", "transform": ["{content}"]}, content=OPENED),
        template(
            thinking={"open_pattern": "x(?<=x)", "close_pattern": "y.*?", "repeats": True, "join": ""}, content={}
        ),
        XML,
        JOINED,
    ],
)
def test_what_is_no_trap_is_not_warned_of(data: Any) -> None:
    traps = {code for severity, code, _ in codes(data) if severity == "warning"}
    assert traps <= {"field_overwritten", "no_implicit_field"}


def test_a_tag_pattern_may_end_in_anything() -> None:
    data = template(tool_calls={"content": "xml-inline", "content_args": {"tag_pattern": "(?P<key>a)=(?P<value>b).*"}})
    assert "greedy_pattern" not in {code for _, code, _ in codes(data)}


def test_findings_come_with_the_worst_first() -> None:
    severities = [one.severity for one in found(PLAIN).findings]
    assert severities == sorted(severities, key=("error", "warning", "info").index)


@pytest.mark.parametrize(
    ("prefix", "code", "opens"),
    [
        (None, "no_prefix", None),
        ("", "no_prefix", None),
        ("user: hi", "anchor_not_found", "content"),
        (ANCHOR, "", "content"),
        (f"{ANCHOR}<think>", "", "thinking"),
    ],
)
def test_the_prompt_prefix_is_looked_at(prefix: str | None, code: str, opens: str | None) -> None:
    report = found(PLAIN, prefix)
    assert report.opens == opens
    assert [one.code for one in report.findings if one.code in ("no_prefix", "anchor_not_found")] == [code] * bool(code)


def test_a_template_that_stops_in_the_prompt_is_said() -> None:
    data = template(thinking={"open_pattern": "x?", "close_pattern": "y?"}, content={})
    assert ("warning", "template_stopped", "/start_anchor") in codes(data, f"{ANCHOR}abc")


def test_a_broken_template_is_not_looked_into() -> None:
    report = found({"response_schema": {}})
    assert report.broken
    assert [one.pointer for one in report.findings] == ["/response_schema"]
