"""Verdicts on streams that are played back: what their log shows, and what is known of the output beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.intake import recognise
from parsers.search.found import Found

RAW = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is so."
CALLED = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>'


def played(stream: Any, **given: Any) -> Found:
    body = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [*stream], **given}}
    made = CaseSearch(load_case({**body, "context": {"model": "openai/gpt-oss-20b"}}))
    assert list(made.run())
    return made.result().found


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def answer(**message: Any) -> list[dict[str, Any]]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return [{"object": "chat.completion", "choices": [choice]}]


@pytest.mark.parametrize("text", [RAW, CALLED, "analysisHm.assistantfinalIt is so."])
@pytest.mark.replays
def test_a_content_that_is_all_of_the_output_is_not_laid_beside_itself(text: str) -> None:
    for stream in ([chunk({"content": text[:9]}), chunk({"content": text[9:]}, "stop")], answer(content=text)):
        found = played(stream, text=text)
        assert found.verdict.headline.startswith("The server left ")
        assert "uilt-in" not in " ".join([found.verdict.headline, *found.verdict.sentences])
        assert found.verdict.offer == text


def test_other_calls_than_the_output_that_is_known_are_no_pass() -> None:
    said = played(
        answer(content="", reasoning="Hm."), text=RAW[: RAW.index("<|start|>")] + "<|start|>assistant" + CALLED
    )
    words = "The server sent another message than `harmony` reads in the same output: the only call (`f`) is lost."
    assert (said.verdict.kind, said.verdict.severity, said.verdict.headline) == ("server_departs", "warning", words)


# Responses: what their events say twice.

CREATED = {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}
ITEM = {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": ""}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": ITEM}
WHOLE = '{"a": 1}'


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text}


def done(text: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": text}


def completed(*output: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "response.completed",
        "response": {"object": "response", "status": "completed", "output": [*output]},
    }


TEXT = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is so."}]}
LOGS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "whole": ([CREATED, ADDED, delta(WHOLE), done(WHOLE), completed()], "all_hold", "All checks hold: 1 complete call"),
    "no deltas": (
        [CREATED, ADDED, done(WHOLE), completed()], "text_lost",
        "The server lost text: no delta of the arguments of `f` in output item 0 came, though the event that closes",
    ),
    "no deltas, and no call begun": (
        [CREATED, done(WHOLE), completed()], "text_lost",
        "The server lost text: no delta of the arguments in output item 0 came, though",
    ),
    "the last delta": (
        [CREATED, ADDED, delta('{"a"'), done(WHOLE), completed()], "text_lost",
        'The server lost text: the deltas of the arguments of `f` in output item 0 stop at `{"a"`, though the event',
    ),
    "done cut": (
        [CREATED, ADDED, delta(WHOLE), done('{"a"'), completed()], "text_lost",
        'The server lost text: the event that closes the arguments of `f` in output item 0 has only `{"a"`, though',
    ),
    "the end alone": ([CREATED, completed(TEXT)], "all_hold", "All checks hold: a plain answer without calls"),
    "a call in the end alone": (
        [completed({**ITEM, "arguments": WHOLE})], "all_hold", "All checks hold: 1 complete call",
    ),
}  # fmt: skip


def log(events: list[dict[str, Any]]) -> Found:
    text = "".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events])
    output = recognise(text.encode(), pasted=False).outputs[0]
    return played(output.stream, gaps=output.gaps)


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_responses_is_told_which_side_is_short(name: str) -> None:
    events, kind, words = LOGS[name]
    found = log(events)
    assert (found.verdict.kind, found.verdict.headline[: len(words)]) == (kind, words)
    assert len(found.findings) == (kind != "all_hold")


def test_where_numbers_of_events_jump_the_recording_is_to_blame() -> None:
    events = [{**one, "sequence_number": at} for at, one in zip((0, 1, 4, 5), LOGS["no deltas"][0], strict=True)]
    found = log(events).verdict
    assert (found.kind, found.about) == ("recording_cut", "request")
    assert found.headline.startswith("Not all events were recorded, for their `sequence_number` jumps from 1 to 4.")


@pytest.mark.parametrize(
    ("status", "reason", "finish"),
    [
        ("completed", None, "stop"),
        ("incomplete", None, "length"),
        ("incomplete", "max_output_tokens", "length"),
        ("incomplete", "content_filter", "content_filter"),
    ],
)
def test_why_a_response_is_incomplete_is_its_finish_reason(status: str, reason: str | None, finish: str) -> None:
    body = {"object": "response", "status": status, "incomplete_details": {"reason": reason}, "output": [TEXT]}
    assert recognise(json.dumps(body).encode(), pasted=False).outputs[0].finish_reason == finish
