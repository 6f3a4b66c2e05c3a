"""The lines of AI SDK 4, as the parts of its streams."""

from __future__ import annotations

import pytest

from parsers.intake import recognise
from parsers.intake.answers import read_events
from parsers.intake.vercel_lines import vercel_lines
from tests.parsers.intake.recorded_files import Story, message

STREAM = """\
f:{"messageId":"m"}
g:"I look."
0:"Let me "

0:"check."
b:{"toolCallId":"c","toolName":"f"}
c:{"toolCallId":"c","argsTextDelta":"{\\"city\\":"}
c:{"toolCallId":"c","argsTextDelta":"\\"Bern\\"}"}
9:{"toolCallId":"c","toolName":"f","args":{"city":"Bern"}}
2:[{"a":1}]
e:{"finishReason":"tool-calls","isContinued":false}
d:{"finishReason":"tool-calls"}
"""


def test_the_lines_say_what_the_answer_says() -> None:
    found = recognise(STREAM.encode(), pasted=True).recording
    assert found is not None
    assert message(found) == Story("I look.", "Let me check.", ("f",), '{"city":"Bern"}')
    assert found.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "text",
    [
        'f:{"messageId":"m"}\n0:"Hi"\n3:"Overloaded."\n0:"and',
        'data: {"type":"text-delta","id":"1","delta":"Hi"}\n\ndata: {"type":"error","errorText":"Overloaded."}\n\n',
    ],
)
def test_an_error_stays_and_a_last_line_may_break_off(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    assert (found.recording.stream or ())[1] == {"error": {"type": "error", "message": "Overloaded."}}


@pytest.mark.parametrize(
    "text",
    [
        '0:"Hi"',  # one line may be anything
        "2:[1]\n8:[2]",
        '0:"Hi"\nand then',
        '0:"Hi\n0:"and"',
        '3:{"a":1}\n0:"and"',
        '0:{"a":1}\n0:"and"',
        '9:[1]\n0:"and"',
        '1:"first"\n2:"second"',
        "",
    ],
)
def test_other_lines_are_none(text: str) -> None:
    assert vercel_lines(text) is None


ENDED = """\
data: {{"type":"start"}}

data: {{"type":"text-delta","id":"0","delta":"Fed."}}

data: {{"type":"finish"{}}}

"""


@pytest.mark.parametrize(("more", "reason"), [("", None), (',"finishReason":"length"', "length")])
def test_a_stream_of_ui_messages_ends_for_the_reason_that_it_gives(more: str, reason: str | None) -> None:
    found = read_events(ENDED.format(more))
    assert found is not None
    output = found.outputs[0]
    assert output.finish_reason == reason
    assert any("finish_reason" in chunk["choices"][0] for chunk in output.stream or ()) == (reason is not None)


BEGUN = '{"type":"tool-input-start","toolCallId":"c","toolName":"feed"}'
PARTS = ['{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{\\"g\\":"}',
         '{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"3}"}']  # fmt: skip
WHOLE = '{"type":"tool-input-available","toolCallId":"c","toolName":"feed","input":{"g":3}}'


@pytest.mark.parametrize(
    ("parts", "lost"),
    [
        ([BEGUN, *PARTS, WHOLE], False),
        ([BEGUN, *PARTS], False),
        ([BEGUN, PARTS[1], WHOLE], True),
        ([*PARTS, WHOLE], True),
        ([BEGUN.replace(',"toolName":"feed"', ""), *PARTS], True),
    ],
)
def test_parts_that_do_not_give_the_whole_input_are_missing_from_the_recording(parts: list[str], lost: bool) -> None:
    found = read_events("".join([f"data: {one}\n\n" for one in ['{"type":"start"}', *parts, '{"type":"finish"}']]))
    assert found is not None
    assert found.outputs[0].gaps == lost
    assert ("events_missing" in [warn.code for warn in found.warnings]) == lost
