"""What LiteLLM logs as a server's raw response is that response."""

from __future__ import annotations

import json

import pytest

from parsers.intake.litellm_logs import RawResponse, raw_responses
from parsers.intake.recognise import recognise

HEAD = "15:24:11 - LiteLLM:DEBUG: litellm_logging.py:1007 - RAW RESPONSE:\n"
CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": CALL}}
ANSWER = {"id": "chatcmpl-1", "object": "chat.completion", "model": "qwen", "choices": [CHOICE]}
OLLAMA = {"model": "qwen", "message": {"role": "assistant", "content": CALL}, "done": True}


@pytest.mark.parametrize("value", [ANSWER, OLLAMA])
@pytest.mark.parametrize("spell", [json.dumps, repr])
def test_the_answer_is_taken_and_not_what_its_content_quotes(value: object, spell: object) -> None:
    text = f"{HEAD}{spell(value)}\n\n\n15:24:12 - LiteLLM:DEBUG: utils.py:321 - success\n"  # type: ignore[operator]
    found = recognise(text.encode(), pasted=True)
    assert (found.kind, found.usable, len(found.outputs[0].stream or ())) == ("json_response", True, 1)
    assert found.why[0] == "It stands behind `RAW RESPONSE:` in LiteLLM's log."


def test_the_last_of_several_answers_is_taken() -> None:
    found = recognise(f"{HEAD}{json.dumps(OLLAMA)}\n\n{HEAD}{json.dumps(ANSWER)}\n".encode(), pasted=True)
    assert "OpenAI" in found.title
    assert found.warnings[-1].words == "1 earlier response left out."


def test_other_text_is_the_output_itself() -> None:
    found = recognise(f"{HEAD}{CALL}\n\n\n".encode(), pasted=True)
    assert (found.kind, found.outputs[0].text) == ("server_log", CALL)


@pytest.mark.parametrize("text", [json.dumps(ANSWER)[:90], '{"id": "a", "usage": {}}', '{"id": nothing}'])
def test_an_answer_that_breaks_off_or_has_no_message_is_no_output(text: str) -> None:
    found = recognise(f"{HEAD}{text}\n".encode(), pasted=True)
    assert (found.kind, found.usable) == ("server_log", False)
    assert "paste all of it" in found.advice


def test_what_json_has_not_stays_as_it_was_printed() -> None:
    text = "{'id': 'a', 'choices': Thing(1)}"
    assert raw_responses(f"RAW RESPONSE:\n{text}\n") == [RawResponse(text, True, True)]
    assert raw_responses("RAW RESPONSE:\n\n") == []
