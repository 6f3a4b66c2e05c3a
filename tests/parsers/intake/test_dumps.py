"""What holds an output in a string: a notebook, a table, a statement, a dump."""

from __future__ import annotations

import csv
import io
import json

import pytest

from parsers.intake import Intake, recognise
from parsers.intake.dumps import dump_of

CALL = '{"name": "get_weather", "arguments": {"city": "Troms\u00f8", "note": "say \\"hi\\""}}'
RAW = f"Let me see.\n<tool_call>\n{CALL}\n</tool_call>"
ANSWER = json.dumps(
    {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": RAW}}]}
)
PROMPT = "<|im_start|>system\nYou have <tool_call>.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"


def read(text: str) -> Intake:
    return recognise(text.encode(), pasted=True)


def texts(text: str) -> list[str | None]:
    return [output.text for output in read(text).outputs]


def notebook(*outputs: object) -> str:
    return json.dumps({"cells": [{"cell_type": "markdown"}, {"outputs": outputs}], "nbformat": 4, "nbformat_minor": 5})


def table(rows: list[list[str]], sign: str = ",") -> str:
    made = io.StringIO()
    csv.writer(made, delimiter=sign, lineterminator="\n").writerows(rows)
    return made.getvalue()


def doubled(text: str) -> str:
    return text.replace("'", "''")


def escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


QUOTED = json.dumps(RAW, ensure_ascii=False)
SHAPES = {
    "a notebook that printed it": notebook({"output_type": "stream", "text": RAW.splitlines(keepends=True)}),
    "a notebook that shows it": notebook({"data": {"text/plain": repr(RAW)}}),
    "a notebook that shows an object": notebook({"text": f"{RAW}"}, {"data": {"text/plain": "<Figure>"}}),
    "CSV": table([["id", "completion"], ["1", RAW]]),
    "tabs": table([["id", "completion"], ["1", RAW]], "\t"),
    "SQL": f"INSERT INTO outputs (id, text) VALUES (1, '{doubled(RAW)}');",
    "SQL with escapes": f"INSERT INTO outputs VALUES (1, E'{doubled(escaped(RAW))}');",
    "SQL of MySQL": f"REPLACE INTO outputs VALUES (1, '{doubled(escaped(RAW))}');",
    "PHP": f'array(1) {{\n  ["content"]=>\n  string({len(RAW.encode())}) "{RAW}"\n}}\n',
    "Java": f"ChatResponse[id=1, message=Message[role=ASSISTANT, text={QUOTED}]]",
    "Ruby": f'irb(main):004> answer\n=> {{:role=>"assistant", :content=>{QUOTED}, :id=>nil}}',
    "rows": f'{{"doc": 0, "prompt": {json.dumps(PROMPT)}, "resps": [[{QUOTED}]], "filtered": [{QUOTED}]}}',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_string_is_the_output(shape: str) -> None:
    found = read(SHAPES[shape])
    assert found.kind != "raw_text"
    assert texts(SHAPES[shape]) == [RAW]


@pytest.mark.replays
def test_each_row_of_a_column_is_an_output_and_says_which() -> None:
    text = table([["prompt", "completion"], ["Weather, please", RAW], ["Hi", 'I say "hello".'], ["", " "]])
    assert texts(text) == [RAW, 'I say "hello".']
    assert [output.label for output in read(text).outputs] == ["row 1, completion", "row 2, completion"]


@pytest.mark.parametrize(
    "text",
    [
        notebook({"output_type": "stream", "text": f"response: {ANSWER}\n"}),
        table([["id", "body"], ["1", ANSWER]]),
        f"INSERT INTO log VALUES ('{doubled(ANSWER)}');",
        f"response=Response{{status=200, body={json.dumps(ANSWER)}}}",
        "id: x\nobject: chat.completion\nchoices:\n- index: 0\n  message:\n    role: assistant\n    content: " + QUOTED,
        "response:\n  choices:\n  - message:\n      role: assistant\n      content: " + QUOTED,
    ],
)
def test_a_recording_in_it_is_read_as_one(text: str) -> None:
    found = read(text)
    assert found.kind in ("json_response", "ndjson_log", "sse_log")
    assert found.recording is not None
    assert (found.recording.stream or ())[0]["choices"][0]["message"]["content"] == RAW


@pytest.mark.parametrize(
    "text",
    [
        RAW,
        f"You could write content={QUOTED} in your own parser.",
        f'<tool_call>\n{{"name": "write", "arguments": {{"text": {QUOTED}}}}}\n</tool_call>',
        'a,b\n1\n""' + RAW,
        'a,b\n"<tool_call>\n{""x"": 1}" x,2\n',
        table([["<tool_call>", "b"], ['"', RAW]]),
        f"INSERT INTO t VALUES ('x'); {RAW}",
        'string(9) "<think>a',
        notebook({"text": "nothing", "data": {"text/plain": "'cut"}}),
        '{"nbformat": 4, "cells": 1}',
        "content: [unclosed\n  tool_calls: {",
    ],
)
def test_what_a_model_may_have_written_stays_as_it_is(text: str) -> None:
    assert read(text).kind == "raw_text"


def test_a_dump_of_nothing_is_none() -> None:
    assert dump_of("array(0) {\n}") is None
