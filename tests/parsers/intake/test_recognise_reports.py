"""A recording inside other text: a whole bug report can be pasted, and a model's own code blocks stay its output."""

from __future__ import annotations

import json

import pytest

from parsers.formats.model import builtin_formats
from parsers.intake import Intake, recognise

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "get_weather"}}]
ASKED = json.dumps({"model": "Qwen3-8B", "messages": [{"role": "user", "content": "?"}], "tools": TOOLS}, indent=2)
ANSWER = json.dumps({"choices": [{"index": 0, "message": {"content": CALL}, "finish_reason": "stop"}]}, indent=2)
CHUNKS = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("<tool_", "call>")]
LOG = "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS])
PRINTED = "ChatCompletionMessage(content='<think>x', role='assistant', tool_calls=[])"
CASE = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}})


def fenced(*texts: str, fence: str = "```", word: str = "") -> str:
    return "\n".join([f"### Part\n\n{fence}{word}\n{text}\n{fence}\n" for text in texts])


def read(text: str, take_as: str | None = None) -> Intake:
    return recognise(text.encode(), pasted=True, take_as=take_as)  # type: ignore[arg-type]


TAKEN = {
    "fenced": (fenced(ANSWER), "json_response", CALL, 1),
    "with a language": (fenced(ANSWER, word="json"), "json_response", CALL, 1),
    "tildes": (fenced(ANSWER, fence="~~~~"), "json_response", CALL, 1),
    "a fence that lacks its end": (f"Seen:\n\n```\n{ANSWER}", "json_response", CALL, 1),
    "in a list": (
        "1. Run\n   ```\n" + "".join([f"   {line}\n" for line in ANSWER.split("\n")]) + "   ```\n",
        "json_response",
        CALL,
        1,
    ),
    "after another block": (fenced("$ pip list\ntorch 2.8", ANSWER), "json_response", CALL, 4),
    "a stream": (f"Seen:\n\n{LOG}\nwhy?", "sse_log", "<tool_call>", None),
    "chunks": ("Seen:\n" + "\n".join(map(json.dumps, CHUNKS)) + "\nwhy?", "ndjson_log", "<tool_call>", 2),
    "printed": (fenced(PRINTED), "client_objects", "<think>x", None),
    "between paragraphs": (f"What I get:\n\n{ANSWER}\n\nIt has no calls.", "json_response", CALL, 2),
}


@pytest.mark.parametrize(("text", "kind", "output", "left"), TAKEN.values(), ids=TAKEN.keys())
def test_a_recording_in_a_report_is_found(text: str, kind: str, output: str, left: int | None) -> None:
    found = read(text)
    assert (found.kind, found.usable) == (kind, True)
    assert found.recording is not None
    assert found.recording.text == output
    assert "raw_text" in [reading.kind for reading in found.readings]
    if left is not None:
        assert found.why[0] == "It stands inside other text."
        noun = "line" if left == 1 else "lines"
        assert f"{left} {noun} of other text around it left out." in [warn.words for warn in found.warnings]


@pytest.mark.parametrize(
    "text",
    [
        fenced(ASKED, ANSWER),
        fenced(ANSWER, ASKED, word="json"),
        f"Request\n\n{ASKED}\n\nAnswer:\n\n{ANSWER}\n\nIt has no calls.",
        f"Request\n\n```\n{ASKED}\n```\n\nLog:\n\n{LOG}",
    ],
)
def test_the_request_is_found_in_another_part(text: str) -> None:
    found = read(text)
    assert found.usable
    assert found.request is not None
    assert (found.request.model, found.request.tools) == ("Qwen3-8B", tuple(TOOLS))
    assert "With it came a JSON request." in found.why
    assert found.notes == ("Taken from the request: tools, model.",)


def test_the_first_of_several_recordings_is_taken_and_the_others_are_listed() -> None:
    found = read(fenced(ANSWER, PRINTED, json.dumps(CHUNKS)))
    assert found.kind == "client_objects"  # which need no block to be found
    found = read(fenced(ANSWER, CASE, "x", json.dumps(CHUNKS)))
    assert found.kind == "json_response"
    assert [warn.code for warn in found.warnings] == ["other_text", "several"]
    assert len(found.outputs) == 2
    assert [part.kind for part in found.parts] == ["recording", "recording", "other", "recording"]


def test_a_case_in_a_report_is_taken() -> None:
    found = read(fenced(CASE))
    assert (found.kind, found.cases) == ("case", {"": CASE})


WRITTEN = {
    "a call in a block": f"So:\n\n```xml\n{CALL}\n```\n",
    "a list": 'These:\n\n```json\n["<think>", "b"]\n```\n',
    "numbers": "These:\n\n```\n[1, 2, 3]\n```\n",
    "an error": f"```\n{json.dumps({'error': {'message': 'no', 'code': 400}})}\n```\nso {CALL}",
    "a string": "It is:\n\n```python\n'abc'\n```\n",
    "an object": 'It is:\n\n```json\n{"content": "abc"}\n```\n',
    "an answer in a line": f"It is:\n{json.dumps(CHUNKS[0])} or so.",
    "broken JSON": "It is:\n[\n[\n{\n",
    "a request": f"You send:\n\n```json\n{ASKED}\n```\n",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
def test_what_a_model_may_have_written_stays_the_output(text: str) -> None:
    found = read(text)
    assert (found.kind, found.request) == ("raw_text", None)
    assert found.recording is not None
    assert found.recording.text == text


def test_a_part_of_an_answer_in_prose_is_offered_and_in_a_report_taken() -> None:
    calls = '{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}'
    found = read(f"I would call it like this:\n\n```json\n{calls}\n```\n")
    assert (found.kind, [reading.kind for reading in found.readings]) == ("raw_text", ["json_response", "code_block"])
    found = read(f"We run vLLM 0.9.1 with streaming and arguments are missing:\n\n```json\n{calls}\n```\n")
    assert (found.kind, [reading.kind for reading in found.readings]) == ("json_response", ["raw_text"])


def test_a_block_with_markup_is_offered() -> None:
    text = fenced("$ vllm serve", ASKED, f"  {CALL}")
    found = read(text)
    title = f"the text in a code block, {len(CALL) + 2} characters"
    assert (found.kind, found.readings[0].kind, found.readings[0].title) == ("raw_text", "code_block", title)
    chosen = read(text, "code_block")
    assert (chosen.kind, chosen.usable, chosen.captures) == ("code_block", True, ())
    assert chosen.recording is not None
    assert chosen.recording.text == f"  {CALL}"
    assert chosen.request is not None
    assert [(fact.about, fact.certainty) for fact in chosen.facts[:1]] == [("text", "assumed")]
    assert read(fenced("no markup")).readings == ()


def test_a_text_that_is_one_block_can_be_taken_without_its_fence() -> None:
    assert [reading.kind for reading in read(f"```\n{CALL}\n```\n").readings] == ["code_block"]


@pytest.mark.parametrize("name", sorted(builtin_formats()))
@pytest.mark.replays
def test_the_fences_of_a_grammar_quote_nothing(name: str) -> None:
    example = builtin_formats()[name].example or ""
    found = read(example)
    assert "code_block" not in {found.kind, *(reading.kind for reading in found.readings)}
    reported = f"We run vLLM 0.9.1 and get this:\n\n```\n{CALL}\n```\n"
    assert "code_block" in {read(reported).kind, *(reading.kind for reading in read(reported).readings)}
