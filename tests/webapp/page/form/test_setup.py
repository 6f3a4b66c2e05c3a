"""The form as it is to be shown again: filled from what was typed, or from a case."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.io import load_case
from webapp.fields import FIELDS, DecodeFields
from webapp.page.form.setup import Setup, decode_sentence, decode_words, read_setup, setup_of

DECODE = {"policy": "vllm_fast", "skip_special_tokens": True, "stop": ["END", "\n\nUser:"], "drop_eos": True}


def case(**decode: Any) -> Case:
    more = {"decode": decode} if decode else {}
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"}, **more})


def test_every_field_of_the_table_can_be_read_and_filled() -> None:
    setup = Setup()
    for name, row in FIELDS.items():
        assert setup.get(name) == (row.blank if name != "policies" else {})
        setup.put(name, "x")
        assert setup.get(name) == "x"


def test_the_detokenizer_is_filled_from_a_case() -> None:
    setup = setup_of(case(**DECODE))
    assert setup.decode == DecodeFields('END\n"\\n\\nUser:"', True, False, "vllm_fast", True)
    assert setup_of(case()).decode == DecodeFields()


def test_the_words_name_what_is_not_the_default() -> None:
    words = 'vllm_fast, special tokens skipped, stop "END", "\\n\\nUser:", which is kept, final end token dropped'
    found = case(**DECODE, include_stop=True)
    assert (decode_words(case()), decode_words(found), setup_of(found).decode_words) == ("", words, words)
    assert Setup().decode_words == ""
    assert read_setup({"decode_policy": "sglang"}).decode_words == "sglang"


@pytest.mark.parametrize(("decode", "words"), [({"policy": "sglang"}, "SGLang"), ({}, "Every byte")])
def test_a_decode_policy_has_a_sentence(decode: dict[str, str], words: str) -> None:
    assert decode_sentence(case(**decode)).startswith(words)


def test_what_a_recording_filled_in_is_remembered_with_the_line_ends_of_the_page() -> None:
    setup = read_setup({"taken.tools": "a\r\nb", "taken.parser": "x", "taken_as": " raw_text "})
    assert (setup.taken, setup.output.take_as) == ({"tools": "a\nb"}, "raw_text")
