"""Dynamo's YAML cases: what they become, and files that cost more than they are worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake.dynamo_cases import FINISH, read_dynamo
from parsers.intake.evidence import Skipped
from parsers.intake.yaml_values import BYTES, DIGITS, EVENTS, load_yaml
from parsers.vocabulary.types import Recording


def case(lines: str) -> Recording:
    found = read_dynamo("cases:\n  a:\n" + "".join(f"    {line}\n" for line in lines.split("\n")))
    assert found is not None
    (output,) = found.outputs
    return output


TEXTS: list[tuple[str, str, list[str] | None, str | None]] = [
    ("model_text: '<a>'", "<a>", None, None),
    ("model_text: true", "true", None, None),
    ("model_text: True", "True", None, None),
    ("model_text: 1.50", "1.50", None, None),
    ("model_text: 1e5\nchunks: [{delta_text: +1}, {delta_text: .5e3}]", "+1.5e3", ["+1", ".5e3"], None),
    ("model_text: yes", "yes", None, None),
    ("model_text: 12:30:00", "12:30:00", None, None),
    ("model_text: ''", "", None, None),
    ("chunks:\n- delta_text: a\n- delta_text: 2\n- {finish_reason: length}", "a2", ["a", "2", ""], "length"),
    (
        f"request:\n  input: ab\n  finish_reason: stop\n  chunks: [{{delta_text: ab}}, {{delta_text: {FINISH}}}]",
        "ab",
        ["ab"],
        "stop",
    ),
    ("model_text: a\nchunks: []", "a", None, None),
]


@pytest.mark.parametrize(("lines", "text", "deltas", "finish"), TEXTS)
def test_the_text_of_a_case_is_taken_with_its_chunks(
    lines: str, text: str, deltas: list[str] | None, finish: str | None
) -> None:
    output = case(lines)
    assert (output.label, output.text, output.finish_reason) == ("a", text, finish)
    assert (None if output.deltas is None else [delta.text for delta in output.deltas]) == deltas


EXPECTED: list[tuple[str, dict[str, Any] | None]] = [
    ("model_text: x\nexpected: {dynamo: {calls: [], normal_text: ''}}", {"content": None, "tool_calls": []}),
    (
        "model_text: x\nexpected: {dynamo: {error: e}, vllm: {calls: [], normal_text: y}}",
        {"content": "y", "tool_calls": []},
    ),
    (
        "model_text: x\nexpected:\n  sglang: {calls: [{name: f, arguments: '{\"a'}, {a: 1}], reasoning_text: r}",
        {"content": None, "reasoning": "r", "tool_calls": [{"name": "f", "raw": '{"a'}, {"name": "", "raw": ""}]},
    ),
    ("model_text: x\nexpected: {dynamo: {diverges: true}}", None),
    ("model_text: x", None),
    ("request: {input: x, chunks: [{delta_text: x}]}", None),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: text, text: a}, {kind: reasoning, text: b}]}",
        {
            "content": "a", "reasoning": "b", "tool_calls": [],
            "events": [{"kind": "text", "text": "a"}, {"kind": "reasoning", "text": "b"}],
        },
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: text, text: a}, {kind: text, text: b}, {kind: text}]}",
        {"content": "ab", "reasoning": None, "tool_calls": [], "events": [{"kind": "text", "text": "ab"}]},
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: tool_call, name: f, arguments: {1: {2: x}}}]}",
        {
            "content": None, "reasoning": None, "tool_calls": [{"name": "f", "arguments": {"1": {"2": "x"}}}],
            "events": [{"kind": "tool_call", "name": "f", "arguments": {"1": {"2": "x"}}}],
        },
    ),
    (
        "request: {input: 42}\ngolden: {assembled: [{kind: reasoning, text: TRUE}, {kind: text, text: 42}]}",
        {
            "content": "42", "reasoning": "TRUE", "tool_calls": [],
            "events": [{"kind": "reasoning", "text": "TRUE"}, {"kind": "text", "text": "42"}],
        },
    ),
    (
        "model_text: x\nexpected:\n  vllm:\n    reasoning_text: 1e5\n    normal_text: 0.10\n"
        "    calls: [{name: 7, arguments: 1e5}, {name: null, arguments: {1e5: 1e5, ~: True}}]",
        {
            "content": "0.10", "reasoning": "1e5",
            "tool_calls": [
                {"name": "7", "raw": "1e5"}, {"name": "", "arguments": {"1e5": 100000.0, "~": True}},
            ],
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expect"), EXPECTED)
def test_what_should_come_out_is_said_in_a_cases_words(lines: str, expect: dict[str, Any] | None) -> None:
    assert case(lines).expect == expect


UNREAD: list[tuple[str, str]] = [
    ("requst: {input: x}\ngolden: {assembled: []}", "it has no output: give request.input, or chunks"),
    ("request: {inputt: x}\ngolden: {assembled: []}", "it has no output: give request.input, or chunks"),
    ("expected: {dynamo: {calls: []}}", "it has no output: give request.input, or chunks"),
    ("request: {input: x}\ngolden: {assembeld: []}", "its golden has no list of mappings called assembled"),
    ("request: {input: x}\ngolden: {error: boom}", "its golden has no list of mappings called assembled"),
    ("request: {input: x}\ngolden: {assembled: [a]}", "its golden has no list of mappings called assembled"),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: text, text: a}, {kind: image}]}",
        "its golden has a part of kind image, which no case can expect",
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{text: a}]}",
        "its golden has a part of kind None, which no case can expect",
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: 4}]}",
        "its golden has a part of kind 4, which no case can expect",
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: text, text: [a]}]}",
        "what it expects has no text as its text",
    ),
    (
        "request: {input: x}\ngolden: {assembled: [{kind: tool_call, name: f, arguments: [a]}]}",
        "what it expects has no text as its arguments",
    ),
    (
        "model_text: x\nexpected: {vllm: {calls: [{name: {a: b}}]}}",
        "what it expects has no text as its name",
    ),
    (
        "model_text: x\nexpected: {dynamo: {calls: [], normal_text: {a: b}}}",
        "what it expects has no text as its normal_text",
    ),
    ("model_text: x\nchunks: {delta_text: a}", "its chunks are no list of mappings"),
    ("model_text: x\nchunks: [a]", "its chunks are no list of mappings"),
    ("chunks: [{delta_text: a}, {deltatext: b}]", "its chunk 2 has no delta_text"),
    ("chunks: [{delta_text: [a]}]", "its chunk 1 has no delta_text"),
    ("model_text: x\ntools: {name: f}", "its tools are no list of mappings"),
]


@pytest.mark.parametrize(("lines", "why"), UNREAD)
@pytest.mark.parametrize("beside", [True, False])
def test_a_case_that_is_not_read_is_named_by_its_line(lines: str, why: str, beside: bool) -> None:
    wrong = "".join(f"    {line}\n" for line in lines.split("\n"))
    found = read_dynamo("cases:\n" + "  good: {model_text: x}\n" * beside + f"  # delta_text:\n  wrong:\n{wrong}")
    assert found is not None
    assert [output.label for output in found.outputs] == ["good"] * beside
    assert found.skipped == (Skipped(3 + beside, f"wrong: {why}"),)
    assert f"Line {3 + beside} is not read: wrong: {why}." in found.message


def test_keys_are_told_apart_by_how_they_are_written() -> None:
    names = ["1.1", "1.10", "1e5", "100000.0", "true", "True", "~", "null", "007", "7"]
    found = read_dynamo("cases:\n" + "".join(f"  {name}: {{model_text: {name}x}}\n" for name in names))
    assert found is not None
    assert [(one.label, one.text, one.line) for one in found.outputs] == [
        (name, f"{name}x", line) for line, name in enumerate(names, 2)
    ]


def test_a_case_of_a_list_is_called_by_its_id_as_it_is_written() -> None:
    found = read_dynamo("cases:\n- {id: 1.10, model_text: a}\n- {id: 1.1, model_text: b}\n- {id: ~, model_text: c}\n")
    assert found is not None
    assert [one.label for one in found.outputs] == ["1.10", "1.1", "case 3"]


def test_a_tool_has_texts_as_they_are_written_and_values_in_its_schema() -> None:
    schema = "{properties: {x: {title: 07.0, description: 1e5, default: {name: 1e3}, minimum: 1e2}}}"
    request = case(f"model_text: x\ntools: [{{name: 1.10, description: true, parameters: {schema}}}]").request
    assert request is not None
    assert request.tools is not None
    assert request.tools[0]["function"] == {
        "name": "1.10",
        "description": "true",
        "parameters": {
            "properties": {"x": {"title": "07.0", "description": "1e5", "default": {"name": 1e3}, "minimum": 1e2}}
        },
    }


def test_what_is_no_case_is_named_beside_cases() -> None:
    found = read_dynamo("cases:\n- model_text: x\n- 3\n- id: b\n")
    assert found is not None
    assert [(one.line, one.why) for one in found.skipped] == [
        (3, "case 2: it is no mapping"),
        (4, "b: it has no output: give request.input, or chunks"),
    ]


def test_a_file_of_one_case_that_is_not_read_says_why_and_another_is_no_such_file() -> None:
    found = read_dynamo("request:\n  input: a\n  tools: x\n# delta_text:\ngolden:\n  assembled: []\n")
    assert found is not None
    assert found.skipped == (Skipped(1, "its tools are no list of mappings"),)
    assert read_dynamo("request:\n  body: {delta_text: a}\n") is None


def test_cases_that_are_named_elsewhere_are_read() -> None:
    found = read_dynamo("kept: &a {x: {model_text: m}}\ncases: *a\n# request:\n")
    assert found is None, "no line says that there are cases"
    found = read_dynamo("golden:\nkept: &a {x: {model_text: m}, y: 3}\ncases: *a\n")
    assert found is not None
    assert [one.label for one in found.outputs] == ["x"]
    assert found.skipped == (Skipped(1, "y: it is no mapping"),)


TWICE: list[tuple[str, str]] = [
    (
        "cases:\n  a: {model_text: x}\n  b: {model_text: y}\n  a: {model_text: z}\n",
        "Two cases are called 'a', at line 2 and at line 4: rename one.",
    ),
    (
        "cases:\n  a:\n    model_text: x\n    model_text: y\n",
        "The key 'model_text' is given twice in one mapping, at line 3 and at line 4: leave one out.",
    ),
    (
        "cases:\n- model_text: x\n  b: [{c: 1}, {c: 1, 'c': 2}]\n",
        "The key 'c' is given twice in one mapping, at line 3 and at line 3: leave one out.",
    ),
    (
        "cases:\n  ? &a n\n  : {model_text: x}\n  ? *a\n  : {model_text: y}\n",
        "Two cases are called 'n', at line 2 and at line 4: rename one.",
    ),
    (
        "family: a\ncases:\n  a: {model_text: x}\nfamily: b\n",
        "The key 'family' is given twice in one mapping, at line 1 and at line 4: leave one out.",
    ),
]


@pytest.mark.parametrize(("body", "words"), TWICE)
def test_a_file_that_gives_a_key_twice_is_not_read(body: str, words: str) -> None:
    found = read_dynamo(body)
    assert found is not None
    assert (found.outputs, found.advice, [one.why for one in found.skipped]) == ((), words, [words])


def test_cases_without_an_expectation_and_with_chunks_of_another_text_are_named() -> None:
    rows = [f"  c{at}: {{model_text: x, chunks: [{{delta_text: {'y' if at else 'x'}}}]}}\n" for at in range(11)]
    found = read_dynamo("cases:\n" + "".join(rows))
    assert found is not None
    assert [(warn.code, warn.words.partition(": ")[2]) for warn in found.warnings] == [
        (
            "chunks_differ",
            "c1 (line 3), c2 (line 4), c3 (line 5), c4 (line 6), c5 (line 7), c6 (line 8), c7 (line 9), c8 (line 10)"
            " and 2 more.",
        ),
        (
            "no_expectation",
            "c0 (line 2), c1 (line 3), c2 (line 4), c3 (line 5), c4 (line 6), c5 (line 7), c6 (line 8), c7 (line 9)"
            " and 3 more.",
        ),
    ]


@pytest.mark.parametrize(
    ("state", "is_open"), [("None", False), ("Reasoning", True), ("ToolCall", None), ("null", None)]
)
def test_the_starting_state_says_whether_reasoning_is_open(state: str, is_open: bool | None) -> None:
    output = case(
        f"request: {{input: x, init: {{starting_state: {state}}}, tools: [{{name: f}}, {{function: {{name: g}}}}]}}"
    )
    assert output.request is not None
    assert output.request.reasoning_open is is_open
    assert output.request.tools == ({"type": "function", "function": {"name": "f"}}, {"function": {"name": "g"}})


def test_cases_may_be_a_list_or_the_file_itself() -> None:
    listed = read_dynamo("cases:\n- id: x\n  model_text: a\n- model_text: b\n- 3\n")
    assert listed is not None
    assert [(output.label, output.text) for output in listed.outputs] == [("x", "a"), ("case 2", "b")]
    alone = read_dynamo("family: f\nrequest:\n  input: a\n  init:\n    starting_state: None\n")
    assert alone is not None
    assert [(output.label, output.text) for output in alone.outputs] == [("", "a")]
    assert "f" in alone.advice


def laughs(depth: int) -> str:
    lines = [f"  k{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, depth)]
    return "cases:\n  model_text: &a0 [x]\n" + "".join(lines)


REFUSED: list[tuple[str, str]] = [
    ("changes:\n  a:\n    assembled: []\n", "what engines made of the cases"),
    ("cases:\n  model_text: x\n", "what engines made of the cases"),
    (laughs(12), "aliases multiply"),
    ("cases:\n  model_text: &a [*a]\n", "aliases multiply"),
    ("cases:\n  model_text: " + "[" * 5_000, "more than 40 levels"),
    ("cases:\n  model_text: !!python/name:os.system x\n", "tags"),
    ("cases:\n  model_text: !!int '1:1'\n", "tags"),
    ("cases:\n  model_text: 'x\n", "no whole YAML at line"),
    ("cases:\n  model_text: \x07\n", "no whole YAML"),
    ("cases:\n  model_text: \ud83d\n", "half of a UTF-16 pair"),
    ("cases:\n  model_text: *b\n", "no whole YAML"),
    ("cases:\n  ? [model_text]\n  : {model_text: x}\n", "no whole YAML at line 2: a key is a list or a mapping"),
    ("cases:\n  model_text: [" + "a," * EVENTS + "]", "parts"),
    ("cases:\n  model_text: " + "a" * BYTES, "longer than"),
]


@pytest.mark.parametrize(("body", "words"), REFUSED, ids=[row[1] for row in REFUSED])
def test_a_file_that_is_not_read_says_why(body: str, words: str) -> None:
    found = read_dynamo(body)
    assert found is not None
    assert (found.kind, found.usable, found.outputs) == ("dynamo_yaml", False, ())
    assert words in found.advice


def test_merge_keys_are_plain_keys() -> None:
    found = read_dynamo("cases:\n  a: &a\n    model_text: x\n  b:\n    <<: *a\n")
    assert found is not None
    assert [output.label for output in found.outputs] == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        "cases:\n",
        "cases: 3\nmodel_text: x\n",
        "model_text: x\n",
        "- cases\ncases:\n  model_text:",
        "request:\n  model_text: 3",
    ],
)
def test_other_text_is_not_taken(body: str) -> None:
    found = read_dynamo(body)
    assert found is None or not found.usable


def test_a_text_is_no_file_of_cases() -> None:
    assert read_dynamo('"\n\ncases:\n\n  model_text: x\n"') is None


WORDS = (
    "cases:\n",
    "  a:\n",
    "    model_text: x\n",
    "- ",
    "&a ",
    "*a",
    "[",
    "]",
    "{",
    "}",
    ": ",
    "'",
    '"',
    "\n",
    "|\n",
    "!!int ",
    "1",
)


@given(st.lists(st.sampled_from(WORDS)).map("".join), st.sampled_from((str.strip, str.upper, str.title)))
def test_any_yaml_is_read_or_refused(text: str, change: Callable[[str], str]) -> None:
    read_dynamo("cases:\n  a:\n    model_text: x\n" + text)
    read_dynamo("cases:\n  model_text:\n" + change(text))


NUMBERS: list[tuple[str, Any]] = [
    ("9223372036854775807", 9223372036854775807),
    ("-18446744073709551616", -18446744073709551616),
    ("9" * DIGITS, int("9" * DIGITS)),
    ("9" * (DIGITS + 1), "9" * (DIGITS + 1)),
    ("1e3", 1000.0),
    ("-1.5E-3", -0.0015),
    (".5", 0.5),
    ("1.", 1.0),
    ("1e999", "1e999"),
    ("-1.0e999999999", "-1.0e999999999"),
    ("1e9999999999", "1e9999999999"),
    ("1e", "1e"),
    ("e3", "e3"),
    (".", "."),
    ("007", "007"),
    ("1_000", "1_000"),
    ("12:30", "12:30"),
    ("0x1f", "0x1f"),
]


@pytest.mark.parametrize(("written", "value"), NUMBERS)
def test_numbers_are_those_of_yaml_in_decimal_digits(written: str, value: Any) -> None:
    assert json.dumps(load_yaml(f"[{written}]")) == json.dumps([value])


# Texts that one reader of YAML or another takes for something else; PyYAML quotes those that it takes for such itself.
LIKE_VALUES = (
    "42", "1.50", "1e5", "12E3", "3e-7", "1e400", ".5e3", "+.5", "0x10", "0o17", "007", "08", "1_000", "1:30", "12e03",
    "true", "True", "yes", "NO", "on", "null", "~", "=", "<<", "-", "?", ".inf", ".nan", "2001-01-01", "",
    "2001-12-14 21:59:43.10 -5", "!!int 1", "&a", "*a", "- a", "a: b", "# a", " a ", "a\n", "\n", "\ta", "a\r\nb",
    "\x00\x85", "'", '"', "\\", "\u2028\ufeff", "\U0001f600", "%", "@", "`",
)  # fmt: skip
WRITTEN_TEXTS = st.one_of(
    st.sampled_from(LIKE_VALUES),
    st.from_regex(r"\A[-+]?[0-9._:eExXob]{1,9}\Z"),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)


@pytest.mark.replays
@given(
    st.dictionaries(WRITTEN_TEXTS, st.tuples(*[WRITTEN_TEXTS] * 5), min_size=1, max_size=4),
    st.booleans(),
)
def test_what_pyyaml_writes_of_a_case_is_read_as_the_same_texts(cases: dict[str, tuple[str, ...]], flow: bool) -> None:
    written = {
        name: {
            "request": {"input": text + more, "chunks": [{"delta_text": text}, {"delta_text": more}],
                        "init": {"named_tool": tool}, "tools": [{"name": tool, "description": said}]},
            "golden": {"assembled": [
                {"kind": "reasoning", "text": said}, {"kind": "text", "text": text},
                {"kind": "tool_call", "name": tool, "arguments": {key: "x"}},
                {"kind": "tool_call", "name": tool, "arguments": key},
            ]},
        }
        for name, (text, more, tool, said, key) in cases.items()
    }  # fmt: skip
    found = read_dynamo(yaml.safe_dump({"cases": written}, default_flow_style=None if flow else False, sort_keys=False))
    assert found is not None
    assert len(found.outputs) == len(cases)
    for output, (name, (text, more, tool, said, key)) in zip(found.outputs, cases.items(), strict=True):
        assert (output.label, output.text) == (name, text + more)
        assert [delta.text for delta in output.deltas or ()] == [text, more]
        assert output.request is not None
        assert [one["function"] for one in output.request.tools or ()] == [{"name": tool, "description": said}]
        choice = {"type": "function", "function": {"name": tool}}
        assert output.request.tool_choice == (choice if tool else None)
        calls: list[dict[str, Any]] = [{"name": tool, "arguments": {key: "x"}}, {"name": tool, "raw": key}]
        texts = [{"kind": kind, "text": one} for kind, one in (("reasoning", said), ("text", text)) if one]
        assert output.expect == {
            "content": text or None, "reasoning": said or None, "tool_calls": calls,
            "events": [*texts, *[{"kind": "tool_call", **call} for call in calls]],
        }  # fmt: skip


def test_a_number_of_any_length_is_read_in_bounds() -> None:
    assert load_yaml(f"- {'9' * 100_000}\n- {'9' * 100_000}e5") == ["9" * 100_000, f"{'9' * 100_000}e5"]
