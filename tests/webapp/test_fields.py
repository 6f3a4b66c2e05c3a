"""The table of fields: what is typed becomes a value of a case and is shown again, and every place has its owner."""

from __future__ import annotations

import re
from typing import Any

import pytest

from parsers.cases.case import Case
from webapp.commands.options import Options
from webapp.fields import FIELDS, FORMAT, PARTS, DecodeFields, field_at, is_said, options_at, read_part, side_at
from webapp.page.compare.asked import Side

TYPED: dict[str, tuple[str, Any, Any]] = {
    "parser": (" qwen ", "qwen", "qwen"),
    "wrapper": ("1", True, "fallback"),
    "template": ('{"fields": {}}', '{"fields": {}}', {"fields": {}}),
    "markers": ("<call>, [A, B]", "<call>, [A, B]", ["<call>", "[A", "B]"]),
    "tools": ('{"name": "f"}\r\n', '{"name": "f"}\n', [{"name": "f"}]),
    "tool_choice": ("f", "f", {"name": "f"}),
    "reasoning_open": ("1", True, True),
    "prompt_tail": ("a\r\nb", "a\nb", "a\nb"),
    "chunking": ("token-2", "token-2", {"by": "token", "size": 2}),
    "cuts": ("1, 3 5", "1, 3 5", [1, 3, 5]),
    "seed": ("7", "7", 7),
    "stop": ('END\r\n\r\n"\\n\\nUser:"', 'END\n\n"\\n\\nUser:"', ["END", "\n\nUser:"]),
    "decode_policy": ("sglang", "sglang", "sglang"),
    "json_arguments": ("on", True, "json"),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_held_and_says_a_value(name: str) -> None:
    posted, held, value = TYPED[name]
    row = FIELDS[name]
    assert getattr(read_part(PARTS[row.part], {name: posted}), name) == held
    assert row.kind.value(held) == value


@pytest.mark.parametrize("name", [name for name in TYPED if name not in ("tools", "cuts", "stop", "template")])
def test_a_value_is_shown_as_it_was_held(name: str) -> None:
    _, held, value = TYPED[name]
    assert FIELDS[name].kind.shown(value) == held


@pytest.mark.parametrize("name", [name for name, row in FIELDS.items() if row.place and name != "tool_choice"])
def test_a_blank_field_says_nothing_or_what_a_case_has_anyway(name: str) -> None:
    row = FIELDS[name]
    if row.only is None and name not in ("parser", "tokenizer", "chunking"):
        assert row.kind.value(row.blank or {}) is None if name == "policies" else row.kind.value(row.blank) is None
    assert getattr(read_part(PARTS[row.part], {}), name) == (row.blank if name != "policies" else {})


def test_markers_with_commas_are_a_json_list() -> None:
    kind = FIELDS["markers"].kind
    assert kind.value('["<a, b>", "c>"]') == ["<a, b>", "c>"]
    assert kind.shown(("<a, b>", "c>")) == '["<a, b>", "c>"]'
    assert kind.value("[TOOL], [/TOOL]") == ["[TOOL]", "[/TOOL]"]
    assert kind.shown(("[TOOL]", "[/TOOL]")) == "[TOOL], [/TOOL]"
    assert kind.value(" , ") is None
    assert kind.value('["\\nEND"]') == ["\nEND"]
    assert [kind.shown((one,)) for one in ("\\nEND", "\nEND")] == ['["\\\\nEND"]', '["\\nEND"]']


@pytest.mark.parametrize(
    ("name", "held", "sentence"),
    [
        ("cuts", "1,x", "'x' is not a whole number."),
        ("markers", "<a>, \\nEND", '["\\nEND"] for a line break or tab, ["\\\\nEND"] for a backslash and a letter'),
        ("seed", "-1", "'-1' is not a whole number."),
        ("chunking", "nonsense", "There is no chunking 'nonsense'."),
        ("tools", "[{", "The tools are not JSON"),
        ("template", "{", "The template is not JSON"),
        ("template", " ", "Paste a response_template"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name: str, held: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        FIELDS[name].kind.value(held)


@pytest.mark.parametrize(
    "stop", [["END"], ["\n\nUser:"], [" a "], ['"quoted"'], ["a", "b\tc"], ["\u202e"], ["[1]"], ["é"]]
)
def test_stop_strings_survive_the_form(stop: list[str]) -> None:
    kind = FIELDS["stop"].kind
    assert kind.value(kind.shown(stop)) == stop


@pytest.mark.parametrize("line", ['"', '"a', '"a" b'])
def test_a_line_that_is_no_json_string_is_taken_as_it_is(line: str) -> None:
    assert FIELDS["stop"].kind.value(line) == [line]


@pytest.mark.parametrize(
    ("chunking", "name"),
    [
        ({"by": "token", "size": 2}, "token-2"),
        ({"by": "token", "size": 4}, "token"),
        ({"by": "random", "seed": 3}, "random"),
        ({"by": "cuts", "cuts": [1]}, "cuts"),
        ({"by": "delta"}, "token"),
    ],
)
def test_a_chunking_finds_its_name(chunking: dict[str, Any], name: str) -> None:
    assert FIELDS["chunking"].kind.shown(chunking) == name


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"parser": {"name": "qwen", "engine": "fallback", "policy": {"recovery": "fail"}}}, True),
        ({"parser": {"name": "qwen", "engine": "builtin"}}, False),
        ({"parser": {"name": "qwen", "options": {"budget": 9}}}, False),
        ({"context": {"prompt_tail": "a\n"}, "replay": [{"by": "char"}], "decode": {"stop": ["\r"]}}, True),
        ({"context": {"prompt_tail": "a\r\n"}}, False),
        ({"context": {"strict": True}}, False),
        ({"replay": [{"by": "token"}, {"by": "whole"}]}, False),
        ({"compare": {"arguments": "json"}, "parent": "x", "tools": [{"name": "f"}]}, True),
        ({"expect": {"content": ""}}, False),
    ],
)
def test_the_fields_know_what_they_cannot_say(data: dict[str, Any], said: bool) -> None:
    assert is_said(data) is said


@pytest.mark.parametrize(
    ("pointer", "field"),
    [
        ("/context/model", "model"),
        ("/context/model_type", "model_type"),
        ("/context/template_kwargs/a", "template_kwargs"),
        ("/parser/policy/recovery", "policies"),
        ("/parser/options/budget", "wrapper"),
        ("/parser/options/template/fields", "template"),
        ("/parser/engine", "parser"),
        ("/replay/0/cuts", "chunking"),
        ("/decode/stop/0", "stop"),
        ("/decode/policy", "decode_policy"),
        ("/tokenizer/name", "tokenizer"),
        ("/tools/0", "tools"),
        ("/input", "text"),
        ("/expect/content", "text"),
        ("", "text"),
    ],
)
def test_an_error_of_a_case_is_told_at_a_field(pointer: str, field: str) -> None:
    assert field_at(pointer) == field


@pytest.mark.parametrize(
    ("pointer", "options"),
    [
        ("/parser/policy/recovery", ["policy"]),
        ("/parser/format/states", ["format_file"]),
        ("/context/model_type", ["model_type", "model_id"]),
        ("/replay/0/cuts", ["cuts", "chunk"]),
        ("/replay/0/by", ["chunk"]),
        ("/context", []),
    ],
)
def test_a_place_is_told_under_the_options_that_write_it(pointer: str, options: list[str]) -> None:
    assert [row.option for row in options_at(pointer)] == options


@pytest.mark.parametrize(
    ("pointer", "side"),
    [
        ("/parser/policy/recovery", "policy"),
        ("/parser/engine", "parser"),
        ("/replay/0/cuts", "chunk"),
        ("/context", "start"),
        ("/decode/stop", "decode"),
        ("/input", ""),
        ("", ""),
    ],
)
def test_a_place_is_told_at_the_word_of_a_side(pointer: str, side: str) -> None:
    assert side_at(pointer) == side


def test_every_place_is_one_of_a_case_and_has_one_field() -> None:
    places = [row.place for row in FIELDS.values() if row.place]
    assert len(set(places)) == len(places)
    schema = Case.model_json_schema(by_alias=True)
    assert {place.split("/")[1] for place in places} <= schema["properties"].keys()


def test_options_and_sides_that_the_table_names_exist() -> None:
    assert {row.option for row in (*FIELDS.values(), FORMAT) if row.option} <= set(Options.__dataclass_fields__)
    assert {row.side for row in FIELDS.values() if row.side} <= set(Side.__slots__)


def test_fields_that_a_recording_fills_have_a_label() -> None:
    assert [name for name, row in FIELDS.items() if row.filled and not row.label] == []


def test_the_detokenizer_is_blank_while_nobody_has_filled_it() -> None:
    assert read_part(DecodeFields, {}) == DecodeFields()
