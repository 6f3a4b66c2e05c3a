from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.formats.model import Format, builtin_formats, load_format
from parsers.vocabulary.types import Piece
from tests.parsers.parsing import Hasty
from webapp.formats.format_text import skeleton
from webapp.page.formats import editor_report as format_report
from webapp.page.formats.editor_report import CALLS_SHOWN, NOTES_SHOWN, SHOWN, Outcome, replayed

FORMAT = load_format(json.loads(skeleton()))
CALL = '<call>{"name": "f", "arguments": {}}</call>'
QWEN = builtin_formats()["qwen"]


def run(text: str, fmt: Format = FORMAT, beside: Format | None = None, **more: Any) -> Outcome:
    case = load_case({"schema": 1, "parser": {"name": "auto"}, "input": {"text": text}, **more})
    return replayed(case, [Piece(char) for char in text], fmt, beside)


def said(outcome: Outcome) -> list[tuple[str, str]]:
    return [(remark.severity, remark.text) for remark in outcome.remarks]


def shown(outcome: Outcome, part: str) -> Any:
    return next(one for one in outcome.parts if one.name == part)


def test_a_sample_without_expectation_is_compared_with_itself() -> None:
    found = run("Hi." + CALL)
    assert said(found) == [
        ("info", "Nothing is expected of this sample, so only the chunkings are compared."),
        ("pass", "The same message under 291 chunkings, token by token and whole among them."),
    ]
    assert (found.severity, [part.name for part in found.parts]) == (
        "info",
        ["reasoning", "content", "tool_calls[0].name", "tool_calls[0].arguments", "finish_reason"],
    )


@pytest.mark.replays
def test_what_differs_from_the_format_beside_is_marked() -> None:
    longer = load_format({**json.loads(skeleton()), "policy": {"content_before_calls": "strip"}, "name": "strips"})
    found = run("a b \n" + CALL, beside=longer)
    part = shown(found, "content")
    assert [kind for kind, _ in part.mine.pieces] == ["same", "differs"]
    assert [kind for kind, _ in part.beside.pieces] == ["same"]
    assert ("info", "Not the message of strips: 1 part differs.") in said(found)
    assert ("pass", "The same message as my_format.") in said(run(CALL, beside=FORMAT))


def test_a_part_that_only_one_side_has_is_none_on_the_other() -> None:
    part = shown(run(CALL, beside=QWEN), "tool_calls[0].name")
    assert (part.mine.text, part.beside, part.same) == ("f", None, False)


EXPECTED = [
    ({"tool_calls": [{"name": "f", "arguments": {}}]}, ("pass", "As expected."), "tool_calls[0].name", True),
    ({"content": "x"}, ("error", "Not as expected: content."), "content", False),
    ({"tool_calls": []}, ("error", "Not as expected: tool_calls."), "content", None),
    ({"events": [{"kind": "text", "text": "x"}]}, ("error", "Not as expected: events."), "content", None),
    ({"reasoning": None}, ("pass", "As expected."), "reasoning", True),
    ({"finish_reason": "stop"}, ("error", "Not as expected: finish_reason."), "finish_reason", False),
    (
        {"tool_calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]},
        ("error", "Not as expected: tool_calls."),
        "tool_calls[1].name",
        False,
    ),
]


@pytest.mark.replays
@pytest.mark.parametrize(("expect", "remark", "part", "met"), EXPECTED)
def test_what_is_expected_is_met_or_not_part_by_part(
    expect: dict[str, Any], remark: tuple[str, str], part: str, met: bool | None
) -> None:
    found = run(CALL, expect=expect)
    assert (said(found)[0], shown(found, part).met) == (remark, met)


@pytest.mark.replays
def test_what_the_parser_gave_up_is_said_and_counted() -> None:
    found = run("<call>no</call>" * (NOTES_SHOWN + 2))
    assert said(found)[2] == ("info", "Not kept as a call: What follows the marker is no call.")
    assert said(found)[-1] == ("info", "And 2 more.")


def test_long_texts_and_many_calls_are_cut() -> None:
    found = run("x" * (SHOWN + 10) + CALL * (CALLS_SHOWN + 3))
    assert shown(found, "content").mine.text == "x" * SHOWN + "…"
    assert len([part for part in found.parts if part.name.endswith(".name")]) == CALLS_SHOWN


def test_a_call_that_is_cut_off_says_so() -> None:
    assert shown(run(CALL[:-12]), "tool_calls[0].arguments").mine.text.endswith(" (cut off)")


def test_a_policy_that_a_format_does_not_list_is_left_out() -> None:
    parser = {"name": "qwen", "policy": {"unknown_tool": "drop"}}
    tools = [{"name": "g", "parameters": {}}]
    found = run(CALL, parser=parser, tools=tools)
    assert shown(found, "tool_calls[0].name").mine.text == "f"


def test_a_sample_whose_message_depends_on_the_chunking_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_report, "build", Hasty.build)
    found, end = said(run(CALL, beside=QWEN)), len(CALL)
    other = 'With the chunking "whole" the message is not the one of token by token, in content.'
    assert ("error", other) in found
    assert ("error", f'With the chunking "whole" characters {end - 1} to {end} have no owner.') in found
    assert ("warning", "qwen itself gives different messages token by token and whole.") in found


def test_the_chunkings_of_a_long_sample_are_not_all_tried() -> None:
    severity, words = said(run("word " * 4_000 + CALL))[1]
    assert severity == "pass"
    assert words.endswith(", token by token and whole among them; the search in the inspector tries more.")


def test_a_problem_is_the_worst_there_is_to_say() -> None:
    assert (Outcome(problem="x").severity, Outcome().severity) == ("error", "pass")


def tagged() -> Format:
    """The skeleton with a name up to a colon and bare values."""
    data = json.loads(skeleton())
    ends = [{"on": "CALL_END", "to": "CONTENT", "emit": ["CallEnd"]}, {"on": "END", "to": "CALL", "emit": ["CallEnd"]}]
    data["terminals"]["NAME_END"] = ":"
    data["states"]["CONTENT"]["rows"][0]["to"] = "NAME"
    data["states"]["CALL"] = {"codec": {"name": "tagged"}, "rows": ends}
    rows = [{"on": "NAME_END", "to": "CALL"}, {"on": "END", "to": "NAME", "emit": ["CallEnd"]}]
    data["states"]["NAME"] = {"text": "name", "rows": rows}
    return load_format(data)


LEFT_OVER = [
    ("<parameter=a>x</parameter>y</parameter>", True),
    ("<parameter=a>x</parameter> \n y", True),
    ("<parameter=a>x</parameter>\n", False),
    ("y<parameter=a>x</parameter>", False),
]


@pytest.mark.replays
@pytest.mark.parametrize(("arguments", "warned"), LEFT_OVER)
def test_text_after_a_closed_value_may_have_been_part_of_it(arguments: str, warned: bool) -> None:
    found = run(f"<call>f:{arguments}</call>", tagged())
    assert any("the value may have held its own closing tag" in text for _, text in said(found)) == warned


def test_an_expected_string_that_the_format_cannot_spell_is_named() -> None:
    arguments = {"a": [{"b": "x</parameter>"}], "c": "fine"}
    found = run("", tagged(), expect={"tool_calls": [{"name": "f", "arguments": arguments}]})
    (text,) = [text for severity, text in said(found) if severity == "warning"]
    assert text.startswith(
        "The expected string at tool_calls[0].arguments/a/0/b holds `</parameter>`, which ends a value"
    )
    raw = run("", tagged(), expect={"tool_calls": [{"name": "f", "raw": '{"a": "</parameter>"}'}]})
    assert "warning" not in [severity for severity, _ in said(raw)]
