"""A bug report names its parts and lists every output in it; an error alone is explained; logs hold objects."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.search.known_errors import KNOWN_ERRORS, known_errors
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


def packets() -> str:
    chunks = [
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}],
        }
        for part in ("I'll look", " it up.")
    ]
    head = "[2025-11-28 10:00:00][INFO][LM STUDIO SERVER] [qwen3-8b] Generated packet: "
    return "[2025-11-28 10:00:00][INFO][LM STUDIO SERVER] Running chat completion\n" + "\n".join(
        [head + json.dumps(chunk, indent=2) for chunk in chunks]
    )


def test_objects_in_a_log_are_the_stream_they_were() -> None:
    found = recognise(packets().encode(), pasted=True)
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
