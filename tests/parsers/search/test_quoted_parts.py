"""Of what a report quotes, only what a model can have written is an output; printed strings are read as spelled."""

from __future__ import annotations

import pytest

from parsers.search.quoted_parts import failed_generations, is_code, is_of_answer, is_output, printed_strings

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
FUNCTION = '"function": {"name": "f", "arguments": "{}"}'

OUTPUTS = [
    CALL,
    '{"name": "f", "arguments": {"role": "x", "content": "y"}}',
    '{"tool_calls": [{"name": "f", "arguments": {}}]}',
    '{"type": "function", "function": {"name": "f", "parameters": {"city": "x"}}',
    '[f(a="<x>")]',
    "Let me look.\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>",
    '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
]
CODE = [
    'FOUND = re.compile(\n    r"<arg_key>(?P<key>.*?)</arg_key>"\n)',
    "text = output.split('</tool_call>')[0]",
    "def parse(text):\n    return text.find('<tool_call>')",
    "{%- if tools %}<tools>{{ tools | tojson }}</tools>{%- endif %}",
]
ANSWERS = [
    f'{{"content": "<think>Hm.</think>", "tool_calls": [{{{FUNCTION}}}]}}',
    f'data: {{"choices": [{{"delta": {{"tool_calls": [{{"index": 0, {FUNCTION}}}]}}, …}}]}}',
    f'# first\nChunk 1: {{"index": 0, {FUNCTION}}}',
    f'{{"tool_calls": [{{"id": "a", {FUNCTION}}}]}}',
]


@pytest.mark.parametrize("text", OUTPUTS)
def test_what_a_model_writes_is_an_output(text: str) -> None:
    assert (is_output(text), is_code(text)) == (True, False)


@pytest.mark.parametrize("text", CODE)
def test_source_and_templates_have_markers_that_no_model_wrote(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_a_part_of_an_answer_is_no_raw_output(text: str) -> None:
    assert (is_of_answer(text), is_output(text)) == (True, False)


@pytest.mark.parametrize("text", ["to=functions.look-up", "<tool_call>", "functions.f:0"])
def test_a_header_or_a_marker_alone_is_no_output(text: str) -> None:
    assert not is_output(text)


PRINTED = [
    (f"# Generated text: {CALL!r}", [CALL]),
    (f"output = {CALL!r}\nagain = {CALL!r}\n", [CALL, CALL]),
    (f"{CALL!r}", [CALL]),
    (f"{CALL}\nsaid: {CALL!r}", []),
    (f"raw {CALL!r} and more", []),
    ('[f(a="<x>")]', []),
    ("words", []),
]


@pytest.mark.parametrize(("text", "found"), PRINTED)
def test_strings_that_a_program_printed_are_read(text: str, found: list[str]) -> None:
    assert printed_strings(text) == found


def test_what_groq_could_not_read_is_given_by_its_error() -> None:
    kept = """x {'failed_generation': '<function=f>{"a": 1}</function>'} y {"failed_generation": "no\\n<f>"} z"""
    assert failed_generations(kept) == ['<function=f>{"a": 1}</function>', "no\n<f>"]
    assert failed_generations("""{"failed_generation": "Tool use failed"} {'failed_generation': 'cut""") == []
