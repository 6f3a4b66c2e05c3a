"""A bug report names its parts and lists every output in it; an error alone is explained; logs hold objects."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.search.known_errors import KNOWN_ERRORS, NOTHING_GENERATED, known_errors
from tests.clients.told import RAW
from tests.parsers.intake.recorded_files import STORIES, message, recorded

ANSWER = next(one.text for one in recorded() if (one.shape, one.story) == ("curl_json", "good"))
TRACEBACK = (
    'Traceback (most recent call last):\n  File "x.py", line 3, in f\njson.decoder.JSONDecodeError: Expecting value'
)
REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": []})
REPORT = "\n\n".join(
    [
        "# vLLM drops a call",
        "I run vLLM 0.33 with hermes, the request was:",
        f"```json\n{REQUEST}\n```",
        f"The answer:\n\n```json\n{ANSWER}\n```",
        f"The raw output in the log:\n\n```\n{RAW}\n```",
        f"```\n{TRACEBACK}\n```",
    ]
)


def test_a_report_names_its_parts_and_lists_every_output() -> None:
    found = recognise(REPORT.encode(), pasted=True)
    assert [part.kind for part in found.parts] == ["request", "recording", "output", "other"]
    assert [part.line for part in found.parts] == sorted(part.line for part in found.parts)
    assert message(found.outputs[0]).names == STORIES["good"].names
    assert found.outputs[1].text == RAW
    assert len({output.label for output in found.outputs}) == 2


ERRORS = [
    ('openai.BadRequestError: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser', "vLLM"),
    ("RuntimeError: Invalid diff: now finding less tool calls!", "llama.cpp"),
    ("Error: registry.ollama.ai/library/gemma does not support tools (status code: 400)", "Ollama"),
    ("AI_NoSuchToolError: Model tried to call unavailable tool 'f'.", None),
    (TRACEBACK, None),
]


@pytest.mark.parametrize(("text", "server"), ERRORS)
def test_an_error_is_known_by_what_it_says(text: str, server: str | None) -> None:
    first = next(known_errors(text))
    assert first.server == server
    assert first.meaning.endswith(".")


def test_each_known_error_has_a_meaning_of_its_own() -> None:
    assert len({row.meaning for row in KNOWN_ERRORS}) == len(KNOWN_ERRORS)


def test_an_error_alone_is_explained_and_the_command_shown() -> None:
    found = recognise(TRACEBACK.encode(), pasted=True)
    assert found.kind == "raw_text"
    assert next(known_errors(TRACEBACK)).meaning in found.notes
    assert found.captures


LM_STUDIO = "[2025-11-28 10:00:00][INFO][LM STUDIO SERVER] "
DEVELOPERS = "2025-11-28 10:00:00 [DEBUG]\n "


def packets(stamp: str = LM_STUDIO) -> str:
    chunks = [
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}],
        }
        for part in ("I'll look", " it up.")
    ]
    lines = [f"[qwen3-8b] Generated packet: {json.dumps(chunk, indent=2)}" for chunk in chunks]
    return "\n".join([stamp + line for line in ("Running chat completion", *lines)])


@pytest.mark.parametrize("stamp", [LM_STUDIO, DEVELOPERS])
def test_objects_in_a_log_are_the_stream_they_were(stamp: str) -> None:
    found = recognise(packets(stamp).encode(), pasted=True)
    assert (found.kind, found.server) == ("server_log", "LM Studio")
    assert message(found.outputs[0]).content == STORIES["good"].content


def test_the_steps_that_vllm_logs_bring_their_ids() -> None:
    head = "DEBUG 11-28 10:00:00 [hermes_tool_parser.py:156] "
    steps = [("<tool_call>", 1), ("\n{}\n", 2), ("</tool_call>", 3)]
    lines = [
        f"{head}delta_text: {text.replace(chr(10), chr(10) + head)}\n{head}delta_token_ids: [{one}]"
        for text, one in steps
    ]
    found = recognise("\n".join(lines).encode(), pasted=True)
    assert found.recording is not None
    assert [(one.text, one.ids) for one in found.recording.deltas or ()] == [(text, (one,)) for text, one in steps]


SERVED = "I run vLLM 0.33 with glm45 and the call is lost."
SECOND = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
PATTERN = '```python\nCALL = re.compile(r"<tool_call>(.*?)</tool_call>")\n```'
FIELDS = {"reasoning_content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
LEFT = json.dumps({"content": "<think>Hm.</think>", **FIELDS}, indent=2)
MEANT = json.dumps({"content": None, **FIELDS, "reasoning_content": "Hm."}, indent=2)
CUT = 'data: {"choices":[{"delta":{"tool_calls": … }}]}'


def texts(body: str) -> tuple[str, list[str | None]]:
    found = recognise(body.encode(), pasted=True)
    return found.kind, [output.text for output in found.outputs]


QUOTED = {
    "an output, and the pattern of a parser": (f"{SERVED}\n\n```\n{RAW}\n```\n\n{PATTERN}\n", [RAW]),
    "two outputs": (f"{SERVED}\n\n```\n{RAW}\n```\n\nand then\n\n```\n{SECOND}\n```\n", [RAW, SECOND]),
    "a string as a program printed it": (f"{SERVED}\n\n```\n# Generated text: {RAW!r}\n```\n", [RAW]),
    "no heading, nobody's server": (f"The call is lost as text:\n\n```\n{RAW}\n```\n\nIt is never parsed.\n", [RAW]),
    "what Groq could not read": (
        f"I get a different error each time:\n`400 {json.dumps({'error': {'failed_generation': RAW}})}`\n",
        [RAW],
    ),
}


@pytest.mark.parametrize(("body", "outputs"), QUOTED.values(), ids=QUOTED)
def test_the_outputs_that_a_report_shows_are_listed_in_order(body: str, outputs: list[str]) -> None:
    assert texts(body) == ("code_block", outputs)


REFUSED = {
    "a stream that was shortened": f"{SERVED}\n\n```\n{CUT}\n```\n",
    "a header that a library complains of": f'{SERVED}\n\n```\nHarmonyError: unexpected: Some("to=functions.f")\n```\n',
    "a pattern alone": f"{SERVED}\n\n{PATTERN}\n",
    "an output that was left out": f'{SERVED}\n\n```\n{{"message": "Failed to parse input at pos 9: ..."}}\n```\n',
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_a_report_without_an_output_is_said_to_be_none_and_its_parts_are_named(body: str) -> None:
    found = recognise(body.encode(), pasted=True)
    assert (found.kind, [part.kind for part in found.parts]) == ("raw_text", ["other"])
    assert any("It looks like the text of a bug report" in note for note in found.notes)


def test_a_fragment_of_a_message_is_read_as_one_and_what_should_have_come_stands_behind() -> None:
    body = f"{SERVED}\n\n## Expected\n\n```json\n{MEANT}\n```\n\n## Actual\n\n```json\n{LEFT}\n```\n"
    found = recognise(body.encode(), pasted=True)
    assert found.kind == "json_response"
    assert [message(output).content for output in found.outputs] == ["<think>Hm.</think>", ""]
    assert [output.label.endswith("expected (line 6)") for output in found.outputs] == [False, True]


def test_an_error_of_an_api_is_explained_without_a_command_where_the_request_was_refused() -> None:
    said = {
        "error": {"message": "Requests which include `tool_use` or `tool_result` blocks must define tools", "type": "x"}
    }
    found = recognise(json.dumps(said).encode(), pasted=True)
    assert (found.usable, found.captures, found.notes[-1]) == (False, (), NOTHING_GENERATED)


def test_the_words_of_an_error_are_no_quoted_string() -> None:
    found = recognise(b"KeyError: 'invalid tool call parser: qwen9'", pasted=True)
    assert (found.kind, found.title) == ("raw_text", "the message of an error, 43 characters")
