"""The detokenizer in the form: fields to a case and back, and both in words."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.model import Case
from webapp.page.decode_form import DecodeFields, decode_fields, policy_words, read_decode, said, with_decode

FIELDS = {"decode_policy": "vllm_fast", "skip_special": "1", "stop": 'END\r\n\r\n"\\n\\nUser:"', "drop_eos": "1"}
DECODE = {"policy": "vllm_fast", "skip_special_tokens": True, "stop": ["END", "\n\nUser:"], "drop_eos": True}


def case(**decode: Any) -> Case:
    more = {"decode": decode} if decode else {}
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"}, **more})


def data_of(fields: dict[str, str], **given: Any) -> Any:
    data: dict[str, Any] = {"decode": {"policy": "sglang"}}
    with_decode(data, read_decode(fields), given)
    return data.get("decode")


def test_what_is_typed_becomes_the_decode_of_a_case() -> None:
    assert data_of(FIELDS) == DECODE


def test_defaults_are_not_said() -> None:
    assert data_of({}) is None
    assert data_of({"decode_policy": "exact"}) is None


def test_what_a_recording_brought_along_stays_and_what_is_typed_wins() -> None:
    given = {"policy": "sglang", "skip_special_tokens": True}
    assert data_of({}, decode=given) == given
    assert data_of({"decode_policy": "vllm_slow"}, decode=given) == {**given, "policy": "vllm_slow"}


@pytest.mark.parametrize(
    "stop", [["END"], ["\n\nUser:"], [" a "], ['"quoted"'], ["a", "b\tc"], ["\u202e"], ["[1]"], ["é"]]
)
def test_stop_strings_survive_the_form(stop: list[str]) -> None:
    fields = decode_fields(case(stop=stop))
    assert data_of({"stop": fields.stop}) == {"stop": stop}


@pytest.mark.parametrize("line", ['"', '"a', '"a" b'])
def test_a_line_that_is_no_json_string_is_taken_as_it_is(line: str) -> None:
    assert data_of({"stop": line}) == {"stop": [line]}


def test_the_fields_of_a_case_are_filled_and_a_case_without_has_defaults() -> None:
    fields = decode_fields(case(**DECODE))
    assert fields == DecodeFields("vllm_fast", True, 'END\n"\\n\\nUser:"', False, True)
    assert decode_fields(case()) == DecodeFields()


def test_the_words_name_what_is_not_the_default() -> None:
    assert said(case()) == ""
    words = said(case(**DECODE, include_stop=True))
    assert words == (
        'vllm_fast, special tokens skipped, stop "END", "\\n\\nUser:", which is kept, final end token dropped'
    )
    assert DecodeFields().words == ""
    assert DecodeFields(policy="sglang").words == "sglang"
    assert policy_words(case(policy="sglang")).startswith("SGLang")
    assert policy_words(case()).startswith("Every byte")
