from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases import jsontext
from parsers.formats.model import builtin_formats, load_format
from tests.growth import assert_linear, seconds
from webapp.formats.folder import file_text
from webapp.formats.format_text import MOST_CHARACTERS, Place, Places, check_text, laid_out, skeleton
from webapp.settings import Settings

SKELETON = skeleton()


def text(**changes: Any) -> str:
    """The skeleton with keys replaced, or taken out where the value is None."""
    data = {**json.loads(SKELETON), **changes}
    return json.dumps({key: value for key, value in data.items() if value is not None}, indent=1)


def states(**changes: Any) -> dict[str, Any]:
    return {"states": {**json.loads(SKELETON)["states"], **changes}}


def test_the_skeleton_is_a_format_without_findings() -> None:
    found = check_text(SKELETON)
    assert (found.findings, found.runs) == ([], found.format)
    assert found.format is not None


WRONG = [  # text, pointer, words of the message
    ("", "", "There is no text yet"),
    ("{", "", "Not JSON: "),
    ('{"a": 1, "a": 2}', "", "is given twice"),
    ('["\\ud800"]', "/0", "Lone surrogate"),
    ("[" * 200 + "]" * 200, "/0/0/0/0", "Nested deeper"),
    ("[]", "", "the whole: must be a JSON object."),
    (text(name="1x"), "/name", "name: must be a name: a letter, then letters, digits and underscores."),
    (text(title=None), "/title", "title: this key is required."),
    (text(title=3), "/title", "title: must be a valid string, not 3."),
    (text(terminals={"A": ""}), "/terminals/A", "A: must have at least one character."),
    (text(inital="X"), "/inital", "inital: unknown key; perhaps it is initial."),
    (text(extend="qwen"), "/extend", "perhaps it is extends"),
    (text(zzzzzz=1), "/zzzzzz", "unknown key; the keys here are schema, name, title"),
    (text(policy={"recovry": "fail"}), "/policy/recovry", "perhaps it is recovery"),
    (text(models={"tekst": []}), "/models/tekst", "perhaps it is text"),
    (text(provenance=[{"projekt": "x"}]), "/provenance/0/projekt", "perhaps it is project"),
    (text(tokens={"<x>": {"ids": 1}}), "/tokens/<x>/ids", "perhaps it is id"),
    (text(**states(X={"rwos": []})), "/states/X/rwos", "perhaps it is rows"),
    (text(**states(X={"text": "contents"})), "/states/X/text", "must be 'content', "),
    (text(**states(X={"text": "content", "rows": [{"on": "END", "too": "X"}]})), "/states/X/rows/0/to", "is required"),
    (text(**states(X={"codec": {"name": "tagged", "option": {}}})), "/states/X/codec/option", "perhaps it is options"),
    (text(**states(X={"text": "content", "rows": 3})), "/states/X/rows", "must be a list, not 3"),
    ("x" * (MOST_CHARACTERS + 1), "", "200,001 characters; a format may have 200,000"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "pointer", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place_and_does_not_run(typed: str, pointer: str, message: str) -> None:
    found = check_text(typed)
    said = [one for one in found.findings if one.pointer == pointer]
    assert message in " ".join([one.message for one in said])
    assert (found.runs, found.findings[0].severity) == (None, "error")


def test_every_fault_of_the_model_is_said_at_once() -> None:
    found = check_text(text(inital="X", title=None, name="1"))
    assert {one.pointer for one in found.findings} == {"/inital", "/title", "/name"}


@pytest.mark.replays
def test_every_built_in_file_is_laid_out_as_tidy_lays_it_out() -> None:
    files = {name: file_text(name, Settings()) for name in builtin_formats()}
    assert [name for name, text in files.items() if laid_out(json.loads(text)) != text] == []


LAID_OUT = [  # a format's JSON in part, a line of the layout
    ({"states": {"A": {"rows": [{"on": "END", "to": "A"}], "text": "name"}}}, '    "A": {"text": "name", "rows": ['),
    ({"states": {"A": {"rows": [{"on": "END", "to": "A"}]}}}, '    "A": {"rows": ['),
    ({"states": {"A": {"note": "x" * 120, "rows": [{"on": "END"}]}}}, '        {"on": "END"}'),
    ({"states": {"A": {"note": "x" * 120}}}, '    "A": {'),
    ({"states": {"A": {"inert": ["x" * 60, "y" * 60]}}}, f'        "{"x" * 60}",'),
    ({"states": {"A": None, "B": 3, "C": {}}}, '    "A": null,'),
    ({"models": {"id_contains": ["x" * 130]}}, f'  "models": {{"id_contains": ["{"x" * 130}"]}}'),
    ({"tokens": {"<x>": {"special": True}}}, '    "<x>": {"special": true}'),
    ([1, {"a": []}], '  {"a": []}'),
]


@pytest.mark.parametrize(("data", "line"), LAID_OUT)
def test_a_row_stands_on_one_line_and_the_rest_where_a_line_holds_it(data: Any, line: str) -> None:
    text = laid_out(data)
    assert line in text.splitlines()
    assert json.loads(text) == json.loads(json.dumps(data))


EXTENDS = [  # what a file that extends qwen says, pointer, words of the message
    ({"extends": "nobody"}, "/extends", "There is no format 'nobody' to extend."),
    ({"terminals": {"X": None}}, "/terminals/X", "Neither a parent nor the reasoning block has this"),
    ({"states": {"CONTENT": {"rows": [{"on": "END", "to": 3}]}}}, "/states/CONTENT/rows/0/to", "to: must be"),
    ({"initial": "GONE", "reasoning": None}, "/initial", "The format starts in GONE, which is no state"),
    ({"states": {"AFTER_CALL": None}}, "/extends", "From qwen: TOOL_CALL goes to AFTER_CALL on CALL_END"),
]


@pytest.mark.parametrize(("says", "pointer", "message"), EXTENDS)
def test_what_is_wrong_with_a_file_that_extends_another_leads_into_the_file(
    says: dict[str, Any], pointer: str, message: str
) -> None:
    found = check_text(json.dumps({"schema": 1, "name": "x", "title": "X", "extends": "qwen", **says}, indent=1))
    said = [one for one in found.findings if one.pointer == pointer]
    assert message in " ".join([one.message for one in said])
    assert found.text.splitlines()[said[0].place.line - 1].strip().startswith(f'"{pointer.rpartition("/")[2]}"')


def test_findings_know_the_line_they_speak_of() -> None:
    typed = SKELETON.replace('"to": "CALL",', '"to": "CALLS",', 1)
    (found,) = [one for one in check_text(typed).findings if one.code == "unknown_target"]
    assert "CALLS" in typed.splitlines()[found.place.line - 1]


def test_a_format_with_an_error_is_shown_and_not_run() -> None:
    found = check_text(SKELETON.replace('"to": "CALL",', '"to": "CALLS",'))
    assert (found.format is None, found.runs) == (False, None)


def test_a_warning_does_not_keep_a_format_from_running() -> None:
    found = check_text(text(terminals={**json.loads(SKELETON)["terminals"], "X": "<x>"}))
    assert [one.code for one in found.findings] == ["unused_terminal"]
    assert found.runs is not None


def test_a_name_that_others_go_by_is_worth_a_note() -> None:
    taken = builtin_formats()
    (found,) = check_text(text(name="qwen", aliases=["hermes"]), taken=taken).findings
    assert (found.severity, found.code, found.pointer) == ("info", "name_taken", "/name")
    assert found.message.startswith("qwen and hermes already name the parser “Qwen / Hermes JSON”")
    (alias,) = check_text(text(aliases=["hermes"]), taken=taken).findings
    assert alias.pointer == "/aliases"


def test_a_format_that_is_the_built_in_one_is_not_told_so() -> None:
    fmt = builtin_formats()["qwen"]
    same = check_text(fmt.model_dump_json(by_alias=True), taken=builtin_formats())
    assert [one for one in same.findings if one.code == "name_taken"] == []
    assert same.format == load_format(fmt.model_dump(mode="json", by_alias=True))


# Places


TEXT = """{
  "a": 1,
  "b": {"c/d": [true, {"e": "x"}]},
  "é😀": "ü\\"}",
  "f": []
}"""

SELECTED = [
    ("", "{", 1),
    ("/a", "1", 2),
    ("/b", '"b"', 3),
    ("/b/c~1d", '"c/d"', 3),
    ("/b/c~1d/0", "true", 3),
    ("/b/c~1d/1", "{", 3),
    ("/b/c~1d/1/e", '"x"', 3),
    ("/é😀", '"ü\\"}"', 4),
    ("/f", '"f"', 5),
]


def selected(text: str, place: Place) -> str:
    """What a browser selects between the two offsets."""
    return text.encode("utf-16-le")[2 * place.start : 2 * place.end].decode("utf-16-le")


@pytest.mark.parametrize(("pointer", "what", "line"), SELECTED)
def test_a_pointer_leads_to_its_value_or_the_key_of_a_container(pointer: str, what: str, line: int) -> None:
    place = Places(TEXT).at(pointer)
    assert (selected(TEXT, place), place.line) == (what, line)


def test_columns_count_characters_from_one() -> None:
    assert (Places(TEXT).at("/a").line, Places(TEXT).at("/a").column) == (2, 8)


@pytest.mark.parametrize("pointer", ["/b/missing", "/b/c~1d/9/z"])
def test_what_is_missing_is_said_at_what_is_around_it(pointer: str) -> None:
    assert selected(TEXT, Places(TEXT).at(pointer)) in ('"b"', '"c/d"')


REFUSED = [
    ('{"a": 1,\n "a": 2}', 2, '"a"'),
    ('[{"a": 1}, {"a": NaN}]', 1, "NaN"),
    ('{"a": 1,\n  "b" 2}', 2, "2"),
    ('{"a": "x', 1, '"'),
    ("", 1, ""),
    (f"[{'9' * 5000}]", 1, "["),
    ('[{"a": 1,\n "a": 2}, {"\\x": 1}]', 2, '"a"'),  # behind what is refused stands no JSON
    ('[NaN, {"\\u12": 1}]', 1, "NaN"),
    ("[" * 2_000 + '{"\\x": 1}', 1, "["),
]


@pytest.mark.parametrize(("text", "line", "what"), REFUSED)
def test_what_is_no_json_is_said_where_it_stops_being_json(text: str, line: int, what: str) -> None:
    (found,) = check_text(text).findings
    assert (found.place.line, selected(text, found.place)) == (line, what)


@pytest.mark.linear
def test_brackets_without_end_are_refused_in_linear_time() -> None:
    assert_linear(lambda size: seconds(lambda: check_text("[" * size)), (4_000, 8_000, 16_000))


@pytest.mark.replays
@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_every_value_of_every_document_has_its_place(data: Any) -> None:
    for indent in (None, 2):
        text = json.dumps(data, indent=indent, ensure_ascii=False)
        places = Places(text)
        for path, value in jsontext.walk(data):
            if not isinstance(value, list | dict):
                assert json.loads(selected(text, places.at(jsontext.pointer(path)))) == value
