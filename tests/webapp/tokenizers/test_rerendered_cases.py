"""Outputs of four families, written again by templates of theirs, sound ones and faulty ones, and read again."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, run_case
from tests.webapp.tokenizers.templates import DEEPSEEK, HOSTILE, MISTRAL, QWEN, THINKING
from webapp.tokenizers.chat import renderings, rerender_of

ARGUMENTS = '{"city":"Zürich \\"<b>\\"","days":2,"more":[1.5,null]}'
TOOL = {
    "name": "find",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
}
OUTPUTS = {
    "qwen": f'<tool_call>\n{{"name": "find", "arguments": {ARGUMENTS}}}\n</tool_call>',
    "qwen3": f'<think>\nHm.\n</think>\n\n<tool_call>\n{{"name": "find", "arguments": {ARGUMENTS}}}\n</tool_call>',
    "deepseek_v31": (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "mistral": f'[TOOL_CALLS][{{"name": "find", "arguments": {ARGUMENTS}, "id": "abcdefghi"}}]',
}


def run(parser: str, template: str, text: str = "", **more: Any) -> CaseRun:
    data = {"schema": 1, "parser": {"name": parser}, "input": {"text": text or OUTPUTS[parser]}}
    case = load_case({**data, "tools": [TOOL], "checks": ["rerenders"], **more})
    return run_case(case, rerender=rerender_of(template, partial(renderings, seconds=20)), compare=False)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("parser", "template"), [("qwen", QWEN), ("qwen", THINKING), ("qwen3", THINKING), ("mistral", MISTRAL)]
)
def test_a_sound_template_writes_calls_that_read_the_same(parser: str, template: str) -> None:
    found = run(parser, template)
    assert len(found.trace.message.tool_calls) == 1
    assert (found.findings, found.holding) == ([], ["rerenders"])


def test_two_calls_are_written_in_one_turn() -> None:
    assert run("qwen", QWEN, f"{OUTPUTS['qwen']}\n{OUTPUTS['qwen']}").holding == ["rerenders"]


def test_a_template_for_text_alone_is_a_note_and_its_text_reads_the_same() -> None:
    [one] = run("deepseek_v31", DEEPSEEK).findings
    assert (one.severity, one.about) == ("info", "request")
    assert "can only concatenate str" in one.message


@pytest.mark.replays
@pytest.mark.parametrize(
    ("fault", "wrote"),
    [
        ("{'city': call.arguments.city} | tojson", '"arguments": {"city": "Zürich \\"<b>\\""}}'),
        ("call.arguments | tojson | replace('\\\\\"', '\"')", '"Zürich "<b>""'),
        ("call.arguments | tojson | replace('<', '&lt;')", "&lt;b>"),
    ],
    ids=["loses an argument", "does not escape", "escapes HTML"],
)
def test_a_faulty_template_is_one_warning_that_shows_what_it_wrote(fault: str, wrote: str) -> None:
    template = QWEN.replace("call.arguments | tojson", fault).replace("call.arguments is string", "false")
    [one] = run("qwen", template).findings
    assert (one.severity, one.about) == ("warning", "parser")
    assert one.proof is not None
    assert wrote in one.proof.edits[0][2]


def test_arguments_that_are_escaped_twice_are_read_as_what_they_spell() -> None:
    template = QWEN.replace("call.arguments | tojson", "call.arguments | tojson | tojson")
    assert run("qwen", template.replace("call.arguments is string", "false")).holding == ["rerenders"]


@pytest.mark.replays
@pytest.mark.parametrize("name", ["huge range", "attributes", "refusal", "syntax"])
def test_a_hostile_template_is_one_note_and_no_failure(name: str) -> None:
    template, words = HOSTILE[name]
    [one] = run("qwen", template).findings
    assert (one.severity, one.about) == ("info", "request")
    assert words in one.message


def test_template_kwargs_of_the_request_reach_the_template() -> None:
    template = QWEN.replace("'<|im_start|>' ~", "(raise_exception('mode ' ~ mode) if mode else '<|im_start|>') ~")
    [one] = run("qwen", template, context={"template_kwargs": {"mode": "fast"}}).findings
    assert "refuses such a conversation (mode fast)" in one.message
