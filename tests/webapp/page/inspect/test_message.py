"""The result pane: the message by steps, its arguments, and what was expected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.io import load_case
from parsers.vocabulary.types import Context, Tool
from webapp.page.inspect.index import index_of
from webapp.page.inspect.result import members, result
from webapp.page.inspect.window import window_around

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'


def test_the_result_tags_every_character_with_its_step(make: Any) -> None:
    run = make.run(CALL)
    found = result(index_of(run), window_around(index_of(run), 1), Context(), None)
    assert "".join(item.text for item in found.content) == run.trace.message.content
    assert "".join(item.text for item in found.calls[0].raw) == '{"a": "b c", "n": 3}'
    assert [(row.key, "".join(v.text for v in row.value)) for row in found.calls[0].arguments] == [
        ("a", '"b c"'),
        ("n", "3"),
    ]
    steps = [item.step for item in found.calls[0].raw]
    assert steps == sorted(steps)


def test_an_argument_points_at_its_output(make: Any) -> None:
    run = make.run(CALL)
    row = result(index_of(run), window_around(index_of(run), 1), Context(), None).calls[0].arguments[0]
    assert CALL[row.start : row.end] == '"b c"'
    assert f'data-select="{row.start}-{row.end}"' in row.attributes


def test_the_schema_speaks_about_each_member(make: Any) -> None:
    run = make.run(CALL)
    schema = {"properties": {"a": {"type": ["string", "null"]}, "b": True}}
    rows = (
        result(index_of(run), window_around(index_of(run), 1), Context((Tool("f", schema),)), None).calls[0].arguments
    )
    assert [(row.schema, row.unknown) for row in rows] == [("string or null", False), ("not in schema", True)]


def test_all_of_a_short_message_is_shown_wherever_the_window_is(make: Any) -> None:
    run = make.run("word " * 300, parser="passthrough")
    found = result(index_of(run), window_around(index_of(run), 150), Context(), None)
    assert index_of(run).total > 150
    assert "".join([item.text for item in found.content]) == "word " * 300
    assert not any(item.folded for item in found.content)


def test_text_outside_the_window_of_a_long_run_is_folded(make: Any) -> None:
    run = make.run("word " * 1_500, parser="passthrough")
    found = result(index_of(run), window_around(index_of(run), 400), Context(), None)
    assert found.content[0].folded.endswith("from step 1 on")
    assert found.content[-1].folded
    folded = sum(int(item.folded.split()[0].replace(",", "")) for item in found.content if item.folded)
    assert folded + sum(len(item.text) for item in found.content) == 7_500


def test_calls_that_were_rejected_alike_are_counted(make: Any) -> None:
    names = [*["same"] * 60, *[f"f{number}" for number in range(30)]]
    output = "".join([f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in names])
    tools = [{"type": "function", "function": {"name": "known"}}]
    run = make.runner.run(
        load_case(
            {
                "schema": 1,
                "parser": {"name": "qwen", "policy": {"unknown_tool": "drop"}},
                "tools": tools,
                "input": {"text": output},
            }
        )
    )
    found = result(index_of(run), window_around(index_of(run), 1), Context(), None).rejected
    assert found[0].startswith("same: ")
    assert found[0].endswith(" (60 times)")
    assert len(found) == 13
    assert found[-1] == f"{30 - 11} more"


def test_a_very_long_run_keeps_its_two_ends(make: Any) -> None:
    run = make.run("x" * 9000 + "end", parser="passthrough", replay=[{"by": "whole"}])
    found = result(index_of(run), window_around(index_of(run), 1), Context(), None)
    head, folded, tail = found.content
    assert (len(head.text), folded.folded, len(tail.text)) == (1000, "7,003 characters more", 1000)
    assert tail.text.endswith("end")
    assert (tail.at, tail.start) == (8003, 8003)  # what is folded is counted


def test_calls_outside_the_window_are_counted(make: Any) -> None:
    run = make.run(CALL * 60)
    found = result(index_of(run), window_around(index_of(run), index_of(run).total // 2), Context(), None)
    assert found.calls_before > 0
    assert found.calls_before + len(found.calls) + found.calls_after == 60


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": "b', "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', ""),
    ],
)
def test_arguments_that_cannot_be_read_say_so(make: Any, output: str, problem: str) -> None:
    run = make.run(output)
    found = result(index_of(run), window_around(index_of(run), 1), Context(), None).calls[0].problem
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


MANY = 700
MEMBERS = "{" + ", ".join([f'"k{number}": {number}' for number in range(MANY)]) + "}"


@pytest.mark.parametrize(("by", "step"), [("token", 1), ("token", 900), ("token", 10**6), ("whole", 1)])
def test_of_very_many_arguments_those_around_the_window_are_shown(make: Any, by: str, step: int) -> None:
    run = make.run(f'<tool_call>{{"name": "f", "arguments": {MEMBERS}}}</tool_call>', replay=[{"by": by}])
    index = index_of(run)
    call = result(index, window_around(index, min(step, index.total)), Context(), None).calls[0]
    shown = [f"k{number}" for number in range(call.arguments_before, MANY - call.arguments_after)]
    assert [row.key for row in call.arguments] == shown
    assert 10 < len(shown) <= 140
    assert step != 900 or {row.step for row in call.arguments} & {*range(step - 20, step + 20)}


def test_expected_and_actual_are_compared_part_by_part(make: Any) -> None:
    run = make.run(CALL)
    expect = {
        "content": "Hi.\n",
        "reasoning": None,
        "finish_reason": "stop",
        "tool_calls": [{"name": "f", "arguments": {"n": 3, "a": "b c"}}, {"name": "g", "raw": "{"}],
    }
    found = result(index_of(run), window_around(index_of(run), 1), Context(), expect).differences
    same = {item.part: item.same for item in found}
    assert same == {"content": same["content"], "reasoning": True, "finish": False, "call 0": True, "call 1": False}


@pytest.mark.parametrize(
    ("events", "same"),
    [
        ([{"kind": "text", "text": "Hi."}, {"kind": "tool_call", "name": "f"}], {"order": True}),
        ([{"kind": "tool_call", "name": "f"}, {"kind": "text", "text": "Hi."}], {"order": False}),
        ([{"kind": "text", "text": "H"}, {"kind": "text", "text": "i."}, {"kind": "tool_call"}], {"order": True}),
        (
            [{"kind": "text", "text": ["Hi."]}, {"kind": "tool_call"}, {"kind": "text", "text": "x"}],
            {"order": False, "text 0": True, "text 1": False},
        ),
    ],
)
def test_the_order_of_the_parts_is_one_of_them(make: Any, events: list[dict[str, Any]], same: dict[str, bool]) -> None:
    index = index_of(make.run("Hi." + CALL[CALL.index("<tool_call>") :]))
    found = result(index, window_around(index, 1), Context(), {"events": events}).differences
    assert {item.part: item.same for item in found} == same


@pytest.mark.replays
@pytest.mark.parametrize(("whitespace", "words"), [("soft", {"same"}), ("exact", {"same", "differs"})])
def test_white_space_is_a_difference_where_the_case_says_so(
    client: FlaskClient, whitespace: str, words: set[str]
) -> None:
    """Of a server that sends text and the call in one chunk, so that its order is not known."""
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    sent = [{"content": "Hi \n", "tool_calls": [call]}, {"content": " Bye\n"}]
    stream = [{"choices": [{"index": 0, "delta": delta}]} for delta in sent]
    texts = [{"kind": "text", "text": text} for text in ("Hi", "  Bye")]
    events = [texts[0], {"kind": "tool_call", "name": "f", "arguments": {}}, texts[1]]
    case = {"schema": 1, "parser": {"name": "recorded", "engine": "recorded"}, "input": {"stream": stream}}
    expect = {"content": "Hi Bye", "events": events}
    posted = client.post(
        "/run", data={"case": json.dumps({**case, "expect": expect, "compare": {"whitespace": whitespace}})}
    )
    shown = BeautifulSoup(posted.text, "html.parser").select("#message .differences .outcome")
    assert {one.text.split()[-1] for one in shown} == words


def found(text: str) -> list[tuple[str, str]]:
    return [(member.key, text[member.start : member.end]) for member in members(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": "x"}', [("a", "1"), ("b", '"x"')]),
        ('{"a": {"b": [1, {"c": "}"}]}, "d": null}', [("a", '{"b": [1, {"c": "}"}]}'), ("d", "null")]),
        ('{"a": "quote \\" and , and }', [("a", '"quote \\" and , and }')]),
        ('{"a": [1, 2', [("a", "[1, 2")]),
        ('{"a"', []),
        ('{"\\u00e9": 1}', [("é", "1")]),
        ("[1, 2]", []),
        ("", []),
        ('{"a": 1} {"b": 2}', [("a", "1")]),
        ('{"bad\n": 1}', [('"bad\n"', "1")]),
    ],
)
def test_members_are_found_with_their_places(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.replays
@given(st.dictionaries(st.text(), json_values))
def test_every_object_is_cut_as_json_reads_it(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert {key: json.loads(part) for key, part in found(text)} == value


@given(st.text(alphabet='{}[]",:\\ a1'))
def test_no_text_makes_it_fail(text: str) -> None:
    assert all(0 <= member.start <= len(text) for member in members(text))
