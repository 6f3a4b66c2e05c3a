"""Recorded streams: the chunks of a server, and cases that hold them."""

from __future__ import annotations

import json
from typing import Any

from parsers.cases.case import Case
from parsers.cases.io import load_case

Payload = dict[str, Any]


def chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None = 0, id: str | None = None, **function: str) -> Payload:
    return chunk({"tool_calls": [{"index": index, "id": id, "function": function}]})


ROLE, END = chunk({"role": "assistant", "content": ""}), chunk({}, "tool_calls")
STREAM = [ROLE, chunk({"content": "Hi"}), call(0, "a", name="f", arguments=""), call(arguments='{"x": 1}'), END]
FAULTY = [*STREAM[:3], call(None, arguments='{"x": 1}'), chunk({}, "stop")]
TEXT = 'Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'
DELTAS = [{"text": text} for text in ("", "Hi", TEXT[2:30], TEXT[30:], "")]


def stream_case(stream: list[Payload] | None = None, parser: str = "auto", **given: Any) -> Case:
    known = {"stream": STREAM if stream is None else stream, **given}
    return load_case({"schema": 1, "parser": {"name": parser}, "input": known})


def log(stream: list[Payload]) -> str:
    return "".join([f"data: {json.dumps(payload)}\n\n" for payload in stream]) + "data: [DONE]\n\n"
