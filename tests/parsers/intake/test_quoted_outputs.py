"""Of errors, reports and conversations the output in them is taken; what quotes none stays what it is."""

from __future__ import annotations

import pytest

from parsers.intake import recognise
from parsers.intake.quoted_outputs import read_conversation, read_quote
from tests.parsers.search.test_pasted import LOG, PROSE, QUOTING, TRACEBACK
from tests.parsers.search.test_pasted_outputs import CHAT, ERRORS, REPORTS

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
BARE = TRACEBACK + "ValueError: Failed to parse tool call: <function=f>{}</function>\n"
GROQ = (
    'Traceback (most recent call last):\n  File "/app/a.py", line 3, in <module>\n    create()\n'
    "groq.BadRequestError: Error code: 400 - {'error': {'message': 'Failed', 'failed_generation': "
    '\'<function=f>{"city": "Paris"}</function>\'}}'
)
SGLANG = (
    '[2025-03-14 10:00:00 TP0] Failed to parse JSON part: {"name": "f", "arguments": {"a": 1}, '
    "JSON parse error: Expecting ',' delimiter\n" + LOG
)
ERROR = "ERROR 07-21 14:03:55 [serving_chat.py:889] Error in tool parser creation."
DSML = '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
HARMONY = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>'
MISTRAL = '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]'
COMPOSED = f"vllm-1  | {ERROR} Model output: " + CALL.replace("\n", "\nvllm-1  | ")
PROMPTED = f"{LOG}INFO 07-21 14:03:56 [logger.py:1] Received request 1: prompt: '<tools></tools>', params: x\n"
UNCLOSED = (
    TRACEBACK + 'ValueError: odd quote " and `tick before <tool_call>{"name": "f", "arguments": {}}</tool_call>\n'
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (QUOTING, CALL),
        (GROQ, '<function=f>{"city": "Paris"}</function>'),
        (SGLANG, '{"name": "f", "arguments": {"a": 1}'),
        (BARE, "<function=f>{}</function>"),
        (f"{TRACEBACK}KeyError: {CALL!r}\n", CALL),
        *[(f"{ERROR}\n{made}\n{TRACEBACK}", made) for made in (CALL, DSML, HARMONY, MISTRAL)],
        *[(f"{ERROR} Model output: {made}\n{LOG}", made) for made in (CALL, DSML, HARMONY, MISTRAL)],
        (f"{ERROR} raw text: Let me see.\n{LOG}{ERROR} content: Hm. {CALL}\n{LOG}", f"Hm. {CALL}"),
        (f"{COMPOSED}\nvllm-1  | {ERROR}\n", CALL),
    ],
)
@pytest.mark.replays
def test_the_quoted_output_is_taken_and_the_rest_offered(text: str, quoted: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.kind == "server_log"
    assert found.recording is not None
    assert found.recording.text == quoted
    assert [one.kind for one in found.readings] == ["raw_text"]
    assert {"only_the_call", "special_tokens"} == {warn.code for warn in found.warnings}


def test_a_quote_that_does_not_end_is_passed_over() -> None:
    found = recognise(UNCLOSED.encode(), pasted=True)
    assert found.recording is not None
    assert "<tool_call>" in (found.recording.text or "")


@pytest.mark.replays
@pytest.mark.parametrize("mark", ["`", "'"])
def test_after_a_quote_that_does_not_end_nothing_is_lost(mark: str) -> None:
    found = recognise(f"{TRACEBACK}ValueError: {mark} and <function=f>{{}}</function>\n".encode(), pasted=True)
    assert found.recording is not None
    assert "<function=f>{}</function>" in (found.recording.text or "")


def test_more_quotes_than_are_looked_at_are_no_trouble() -> None:
    text = TRACEBACK + "".join([f"ValueError: '{number}'\n" for number in range(300)]) + f"KeyError: {CALL!r}\n"
    assert recognise(text.encode(), pasted=True).recording is not None


@pytest.mark.parametrize("text", [TRACEBACK, PROSE, LOG, PROMPTED])
def test_an_error_that_quotes_nothing_is_said_to_be_no_output(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.kind == "raw_text"
    assert any("not like a model's output" in note for note in found.notes)


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS)
@pytest.mark.replays
def test_every_shape_of_an_error_gives_its_output(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.kind == "server_log"
    assert found.recording is not None
    assert "".join((found.recording.text or "").split()) == "".join(CALL.split())


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
@pytest.mark.replays
def test_the_output_in_a_report_is_taken_and_all_of_it_offered(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert (found.kind, found.title) == ("code_block", f"bug report that quotes an output, {len(CALL)} characters")
    assert found.recording is not None
    assert found.recording.text == CALL
    assert [one.kind for one in found.readings] == ["raw_text"]
    assert found.readings[0].title == f"the text of a bug report, {len(text)} characters"


def test_a_recording_in_a_report_goes_before_what_it_quotes() -> None:
    answer = '{"choices": [{"index": 0, "message": {"content": "<think>a</think>b"}, "finish_reason": "stop"}]}'
    found = recognise(f"{REPORTS['a fence']}\n```\n{answer}\n```\n".encode(), pasted=True)
    assert (found.kind, [one.kind for one in found.readings]) == ("json_response", ["code_block", "raw_text"])


def test_the_last_turn_of_a_conversation_is_taken_with_its_prompt() -> None:
    found = recognise(f"{CHAT}{CALL}<|im_end|>\n".encode(), pasted=True)
    assert (found.kind, found.usable, found.captures) == ("conversation", True, ())
    assert found.title == f"whole conversation, whose last turn has {len(CALL)} characters"
    assert found.recording is not None
    assert (found.recording.text, found.recording.prompt_text) == (CALL, CHAT)
    assert [(fact.about, fact.certainty) for fact in found.facts[:1]] == [("text", "assumed")]
    chosen = recognise(f"{CHAT}{CALL}<|im_end|>\n".encode(), pasted=True, take_as="raw_text")
    assert chosen.kind == "raw_text"


@pytest.mark.parametrize("text", [CALL, CHAT, f"{CHAT}Ho<|im_end|>\n{CHAT}", "Human: Hi\nAI: Ho\nHuman: Well?"])
def test_what_is_no_whole_conversation_has_no_last_turn(text: str) -> None:
    assert read_conversation(text) is None


def test_an_output_quotes_nothing() -> None:
    assert read_quote(CALL) is None
