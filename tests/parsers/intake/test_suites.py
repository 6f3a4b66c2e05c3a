"""Suites of others as cases: vLLM's tests in Python, Dynamo's YAML, rows with columns; what is not read is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import dumps, loads
from parsers.intake import recognise
from parsers.intake.column_rows import COLUMNS, columns_of, read_rows
from parsers.intake.evidence import Intake, Skipped
from parsers.intake.suites import suite_in
from parsers.intake.vllm_parsers import GUESSED, UNKNOWN, parser_of
from parsers.intake.vllm_suites import read_vllm_suite
from parsers.vocabulary.types import UsageError

FOLDER = Path(__file__).with_name("suites")


def text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def modules(name: str) -> str | None:
    return text("suite_helpers.py.txt") if name == "suite_helpers" else None


def samples() -> Intake:
    found = read_vllm_suite(text("samples.py.txt"), modules)
    assert found is not None
    return found


@pytest.mark.replays
def test_a_sample_becomes_a_case_with_its_ids_and_what_its_test_compares() -> None:
    case = loads(samples().cases["written-out"])
    assert case.mode() == "ids"
    assert case.text() == 'Hm.</think>\n\n<tool_call>\n{"name": "lights", "arguments": {"on": true}}\n</tool_call>'
    assert case.markers() == {"<think>": 1, "</think>": 2, "<tool_call>": 3, "</tool_call>": 4}
    assert case.expect is not None
    assert (case.expect.reasoning, case.expect.content) == ("Hm.", "")
    assert [(call.name, call.arguments) for call in case.expect.tool_calls or ()] == [("lights", {"on": True})]
    context, source = case.context, case.source
    assert (context.template_kwargs, context.prompt_tail, context.reasoning_open) == (
        {"enable_thinking": True},
        "<think>",
        True,
    )
    assert source is not None
    assert (source.kind, source.project, source.link) == ("token_ids", "vLLM", "https://example.invalid/issues/1")
    assert (case.notes, [tool["function"]["name"] for tool in case.tools]) == (
        ("All of it in place", GUESSED),
        ["lights"],
    )


def test_samples_keep_their_names_and_what_is_not_read_is_named_by_its_line() -> None:
    found = samples()
    assert [*found.cases] == ["written-out", "plain", "plain (2)", "sample"]
    lines = text("samples.py.txt").splitlines()
    told = [(lines[one.line - 1].strip().split('"')[1::2][:1], one.why) for one in found.skipped]
    assert told == [
        ([""], "a call is expected whose arguments are no object"),
        (["made-elsewhere"], "vllm.parser.make_tokens is of another file"),
        (["no-pairs"], "its tokens are no pairs of an id and a text"),
        (["bad-tool"], told[3][1]),
    ]
    assert "/tools/0" in told[3][1]
    assert [warn.code for warn in found.warnings] == ["skipped"] * 4
    plain = loads(found.cases["plain"])
    assert (plain.context.reasoning_open, plain.context.prompt_tail) == (None, None)


def test_a_sample_of_a_function_that_makes_others_is_named_where_its_argument_is_not_known() -> None:
    call = "Sample(id=f'm-{n}', tokens=[(1, 'Hi')], expected_content='Hi')"
    found = read_vllm_suite(f"import os\ndef build(n):\n    return {call}\nA = build(1)\nB = build(os.getpid())\n")
    assert found is not None
    assert ([*found.cases], found.skipped) == (["m-1"], (Skipped(5, "os is of another file"),))


def test_without_the_file_it_imports_a_sample_is_not_guessed() -> None:
    found = read_vllm_suite(text("samples.py.txt"))
    assert found is not None
    assert [*found.cases] == ["sample"]
    assert "suite_helpers.marker_vocab is of another file" in {one.why for one in found.skipped}


def test_a_format_fixture_becomes_a_case_of_the_parser_that_it_names() -> None:
    found = read_vllm_suite(text("format_fixtures.py.txt"))
    assert found is not None
    cases = {name: loads(one) for name, one in found.cases.items()}
    assert {name: case.parser.name for name, case in cases.items()} == {"hermes": "qwen", "unknown": "auto"}
    assert cases["hermes"].notes == ("the JSON of a call between two tags",)
    expect = cases["hermes"].expect
    assert expect is not None
    assert [call.arguments for call in expect.tool_calls or ()] == [{"on": True}]
    assert [one.why for one in found.skipped] == [
        "its calls are no pairs of a name and arguments",
        "/input: give the output as 'text', 'tokens', 'deltas' or 'stream'",
    ]


FIXTURE = """(
    {0}("h", "hermes", "<tool_call>\\n{{}}\\n</tool_call>", (("f", {{"a": 1}}),)),
    {0}("u", "nobodys", "Hi.", ()),
    {0}("c", "hermes", "Hi."),
)
"""
IMPORTS = {
    "from where it is": ("from tests.tool_parsers.test_format_conformance import FormatFixture", "FormatFixture"),
    "from a file of one's own": ("from conftest import FormatFixture", "FormatFixture"),
    "as a module": ("import conformance", "conformance.FormatFixture"),
    "under another name": ("from conftest import FormatFixture as Row", "Row"),
}


@pytest.mark.parametrize("how", IMPORTS)
def test_a_format_fixture_by_places_of_a_class_that_is_imported_keeps_what_it_expects(how: str) -> None:
    line, name = IMPORTS[how]
    found = read_vllm_suite(f"{line}\nROWS = {FIXTURE.format(name)}")
    assert found is not None
    first, second = (loads(one) for one in found.cases.values())
    assert first.expect is not None
    assert [(call.name, call.arguments) for call in first.expect.tool_calls or ()] == [("f", {"a": 1})]
    assert (first.parser.name, first.notes, second.parser.name, second.notes) == ("qwen", (), "auto", (UNKNOWN,))
    assert [(one.line, one.why) for one in found.skipped] == [(5, "its calls are no pairs of a name and arguments")]


def test_a_class_of_that_name_with_other_fields_is_no_suite() -> None:
    assert read_vllm_suite("from mine import FormatFixture\nx = FormatFixture(request={}, response={})") is None


@pytest.mark.parametrize(
    ("name", "parser"),
    [("hermes", "qwen"), ("deepseek_r1", "deepseek_r1"), ("kimik2", "kimik2"), ("nobodys", "auto"), ("", "auto")],
)
def test_a_parser_of_vllm_is_read_by_ours(name: str, parser: str) -> None:
    assert parser_of(name) == parser


@pytest.mark.parametrize(
    "source",
    [
        "class Sample:\n    expected_content: str",
        "Sample(",
        "It says Sample(expected_content) here.",
        "x = Sample(1)",
        "# Sample( of expected_content\nx = 1",
    ],
)
def test_what_makes_no_samples_is_no_suite(source: str) -> None:
    assert read_vllm_suite(source) is None


def test_a_suite_is_recognised_as_cases_to_choose_from() -> None:
    data = (FOLDER / "format_fixtures.py.txt").read_bytes()
    found = recognise(data, pasted=True)
    assert (found.kind, [*found.cases], found.usable) == ("corpus", ["hermes", "unknown"], True)
    none = recognise(b"from replay_harness import x\nS = Sample(id=x())\n", pasted=True)
    assert (none.kind, none.usable, none.advice) == ("corpus", False, "None of its samples can be read.")


def rows(**columns: str) -> Intake:
    found = read_rows(text("rows.jsonl"), columns)
    assert found is not None
    return found


def test_rows_become_cases_by_columns_that_are_named_or_guessed() -> None:
    found = rows(**{"expect.tool_calls": "gold.calls", "expect.content": "gold.text"})
    told = {(one.key, one.path, one.guessed) for one in found.columns}
    assert told == {
        ("text", "completion", True),
        ("title", "id", True),
        ("tools", "tools", True),
        ("expect.tool_calls", "gold.calls", False),
        ("expect.content", "gold.text", False),
    }
    first, second = (loads(one) for one in found.cases.values())
    assert [*found.cases] == ["1", "1 (2)"]
    assert first.expect is not None
    assert [(call.name, call.arguments) for call in first.expect.tool_calls or ()] == [("lights", {"on": True})]
    assert (second.text(), [one.text for one in second.input.deltas or ()]) == ("Hello", ["He", "llo"])
    assert (second.expect.content if second.expect else None) == "Hello"
    assert [(one.line, one.why.split(":")[0]) for one in found.skipped] == [
        (4, "completion"),
        (5, "it is no JSON object"),
        (6, "it is no JSON object"),
        (7, "/tools/0"),
    ]


@pytest.mark.parametrize(
    ("row", "tools"),
    [
        ({}, [{"a": {"type": "integer"}}]),
        ({"tools": None}, [{"a": {"type": "integer"}}]),
        ({"tools": []}, []),
        ({"tools": [{"name": "g"}]}, [None]),
    ],
)
def test_a_row_without_tools_has_those_that_its_expected_calls_name(
    row: dict[str, Any], tools: list[dict[str, Any]]
) -> None:
    found = read_rows(
        json.dumps([{"text": "t", "expected_tool_calls": [{"name": "f", "arguments": {"a": 1}}], **row}]), {}
    )
    assert found is not None
    (case,) = map(loads, found.cases.values())
    told: Any = [one.get("function", {}).get("parameters", {}).get("properties") for one in case.tools]
    assert told == tools
    assert bool(case.notes) is bool(tools and tools[0]), "a case says what nobody declared"


def test_no_case_takes_the_place_of_another() -> None:
    found = read_rows(
        json.dumps([{"text": one, "id": name} for one, name in (("x", "a"), ("y", "a (3)"), ("z", "a"))]), {}
    )
    assert found is not None
    assert [loads(one).text() for one in found.cases.values()] == ["x", "y", "z"]


CELLS: list[tuple[str, Any, Any]] = [
    ("expect.tool_calls", [{"function": {"name": "f", "arguments": '{"a": 1}'}}], [("f", {"a": 1}, None)]),
    ("expect.tool_calls", {"name": "f", "parameters": {"a": 1}}, [("f", {"a": 1}, None)]),
    ("expect.tool_calls", '[{"name": "f", "args": null}]', [("f", {}, None)]),
    ("expect.tool_calls", [{"name": "f", "input": "{a"}], [("f", None, "{a")]),
    ("expect.tool_calls", [{"name": "f", "input": [1, "a", None, True]}], [("f", None, '[1, "a", null, true]')]),
    ("expect.tool_calls", ['{"name": "f"}'], [("f", {}, None)]),
    ("expect.tool_calls", ["f"], "a call is an object with a name and arguments"),
    ("expect.tool_calls", [{"f": 1}], "a call is an object with a name and arguments"),
    ("expect.tool_calls", "[" * 9, "a call is an object with a name and arguments"),
    ("expect.content", 3, "a text is expected, not int"),
    ("reasoning_open", 1, "true or false is expected"),
    ("reasoning_open", True, True),
    ("prompt_tail", "p" * 500, "p" * 400),
    ("model", "m", "m"),
    ("tools", {"name": "f"}, ({"name": "f"},)),
]


@pytest.mark.parametrize(("key", "cell", "value"), CELLS)
def test_a_cell_is_read_as_what_its_column_is(key: str, cell: Any, value: Any) -> None:
    found = read_rows(json.dumps([{"text": "a", "c": cell}]), {key: "c"})
    assert found is not None
    if not found.cases:
        assert [one.why for one in found.skipped] == [f"c: {value}"]
        return
    (case,) = map(loads, found.cases.values())
    made: Any = case
    for part in COLUMNS[key].place:
        made = getattr(made, part)
    assert ([(call.name, call.arguments, call.raw) for call in made] if key == "expect.tool_calls" else made) == value


@pytest.mark.parametrize(
    ("path", "value"),
    [("a.b", 1), ("l.1", 2), ("d.e", 3), ("n", "1"), ("n.x", "1")],
)
def test_a_path_leads_to_a_cell(path: str, value: Any) -> None:
    row = {"text": "t", "a": {"b": 1}, "l": [1, 2], "d.e": 3, "n": None}
    found = read_rows(json.dumps(row), {"title": path})
    assert found is not None
    assert [*found.cases] == [str(value)]


@pytest.mark.parametrize("path", ["a.0", "l.9", "l.x", "a.x", "x"])
def test_a_column_that_no_row_has_is_an_error_and_the_columns_are_told(path: str) -> None:
    row = {"text": "t", "a": {"b": 1}, "l": [1, 2], "e": {}}
    found = read_rows(json.dumps([row, 3]), {"title": path})
    assert found is not None
    assert (found.usable, found.cases, found.title) == (False, {}, "2 rows without a column")
    assert found.advice == (f"No row has {path}, which title was to be taken from: the first row has text, a.b, l, e.")


CALLS = [{"f": {"a": 1}}]
LACKING: list[tuple[list[dict[str, Any]], dict[str, str], list[str], list[str]]] = [
    # rows, named columns -> what is not read, what is warned of
    (
        [{"gold": CALLS}, {"glod": CALLS}, {"gold": None}], {"expect.tool_calls": "gold"},
        ["it has no gold, so that nothing is expected of it"], ["1 row without gold (expect.tool_calls): 2."],
    ),
    (
        [{"gold": CALLS}, {"said": "x"}, {}], {"expect.tool_calls": "gold", "expect.content": "said"},
        ["it has no said and no gold, so that nothing is expected of it"],
        ["2 rows without said (expect.content): 1, 3.", "2 rows without gold (expect.tool_calls): 2, 3."],
    ),
    ([{"gold": {"x": "a"}}, {"gold": None}], {"expect.content": "gold.x"}, [], []),
    ([{}, {"expected_content": "a"}], {}, [], ["1 row without expected_content (expect.content): 1."]),
    (
        [{"m": "a"}, *[{}] * 13], {"model": "m"}, [],
        ["13 rows without m (model): 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 1 more."],
    ),
    ([{"id": 1}, {}], {}, [], []),
]  # fmt: skip


@pytest.mark.parametrize(("given", "columns", "skipped", "warned"), LACKING)
def test_no_expectation_of_a_row_is_lost_in_silence(
    given: list[dict[str, Any]], columns: dict[str, str], skipped: list[str], warned: list[str]
) -> None:
    found = read_rows("\n".join([json.dumps({"text": "t", **row}) for row in given]), columns)
    assert found is not None
    assert [one.why for one in found.skipped] == skipped
    assert [warn.words for warn in found.warnings if warn.code == "column_lacking"] == warned
    assert len(found.cases) == len(given) - len(skipped)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("row", "why"),
    [
        ('{"text": "a", "text": "b"}', 'key "text" is given twice in one object'),
        ('{"text": "a", "x": {"y": 1, "y": 1}}', 'key "y" is given twice in one object'),
        (
            '{"text": "a", "tools": "[{\\"name\\": 1, \\"name\\": 2}]"}',
            'tools: key "name" is given twice in one object',
        ),
    ],
)
def test_a_row_that_gives_a_key_twice_is_not_read(row: str, why: str, listed: bool) -> None:
    other = '{"text": "c", "tools": [], "score": NaN}'
    found = read_rows(f"[{other},\n {row} , {other}]" if listed else f"{other}\n{row}\n{other}", {})
    assert found is not None
    assert [(one.line, one.why) for one in found.skipped] == [(2, why)]
    assert [*found.cases] == ["1", "3"]


def test_a_list_of_no_rows_is_none() -> None:
    assert read_rows("[]", {}) is None


def test_rows_without_an_output_say_which_columns_there_are() -> None:
    found = read_rows('{"a": 1, "b": 2}', {})
    assert found is not None
    assert (found.usable, found.title) == (False, "1 row without an output")
    assert found.advice == "Say which column is the model's output, as text=NAME: the first row has a, b."
    assert read_rows("[1]\nHello", {}) is None
    assert read_rows("[1, {]", {}) is None


@pytest.mark.parametrize("word", ["text", "text=", "colour=a", "=a"])
def test_a_column_is_named_by_a_key_and_a_path(word: str) -> None:
    assert columns_of(["text=a.b", "title=x=y"]) == {"text": "a.b", "title": "x=y"}
    with pytest.raises(UsageError, match="give a column as KEY=PATH; KEY is one of text, title, parser"):
        columns_of([word])


CASE = '{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": ["a"]}}'
SUITES: list[tuple[str | None, str, dict[str, str], list[str], list[str]]] = [
    ("a.py", text("format_fixtures.py.txt"), {}, ["hermes", "unknown"], []),
    ("a.py", "x = ['a', 'b']", {}, [], []),
    (None, text("unified.yaml"), {}, ["lights", "words"], []),
    (None, text("rows.jsonl"), {}, ["1", "1 (2)"], []),
    (None, text("rows.jsonl"), {"text": "gold.text"}, ["1"], []),
    (None, CASE, {}, [""], []),
    (None, f"{CASE}\n{CASE}", {}, ["1", "2"], []),
    (None, '["<tool_call>", "a"]', {}, ["output 1"], []),
    (None, "[[1, 2], [3]]", {}, [], ["output 1: 3 token ids"]),
    (None, "Hello", {}, [], []),
    (None, "", {"text": "a"}, [], []),
    (None, "Hello", {"text": "a"}, [], []),
]


@pytest.mark.parametrize(("name", "source", "columns", "cases", "why"), SUITES)
def test_a_file_is_read_into_cases_by_name(
    name: str | None, source: str, columns: dict[str, str], cases: list[str], why: list[str]
) -> None:
    found = suite_in(source.encode(), filename=name, columns=columns)
    assert [*found.cases] == cases
    assert [one.why[: len(said)] for one, said in zip(found.skipped, why, strict=False)] == why
    assert all(loads(one) for one in found.cases.values())
    assert found.cases or found.message


@pytest.mark.parametrize(
    ("family", "parser"), [("hermes", "qwen"), ("phi4", "phi4_mini_json"), ("kimi_k2", "kimik2"), ("nobodys", "auto")]
)
def test_the_family_of_a_suite_says_who_reads_it(family: str, parser: str) -> None:
    found = suite_in(f"family: {family}\n{text('unified.yaml')}".encode())
    assert {loads(one).parser.name for one in found.cases.values()} == {parser}


def test_bytes_that_are_no_text_are_no_rows() -> None:
    assert suite_in(b"\xff\xfe\x00", columns={"text": "a"}).cases == {}


def test_outputs_of_one_name_are_cases_of_two() -> None:
    found = suite_in(text("unified.yaml").encode())
    case = loads(found.cases["lights"])
    assert (case.title, [one.text for one in case.input.deltas or ()][:1]) == ("lights", ["<tool_call>\n"])
    assert dumps(case) == found.cases["lights"]
