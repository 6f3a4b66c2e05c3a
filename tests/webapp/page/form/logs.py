"""Logs as people paste them, and the form with one in it."""

from __future__ import annotations

import json
from typing import Any

from parsers.cases.case import Case
from webapp.page.form.form_page import Panel, panel
from webapp.page.form.setup import Setup, case_of, read_setup, setup_after, setup_of

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
REQUEST = {
    "model": "Qwen/Qwen3-8B", "messages": [{"role": "user", "content": "Paris?"}], "stream": True, "tools": [TOOL],
    "tool_choice": "required", "chat_template_kwargs": {"enable_thinking": False},
}  # fmt: skip
CURL = f"curl -sN http://localhost:8000/v1 -H 'Authorization: Bearer sk-abc123' -d '{json.dumps(REQUEST)}'\n"


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "Qwen/Qwen3-8B", "choices": [choice]}


def sse(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
CALLS = sse(chunk({"role": "assistant", "content": ""}), chunk({"tool_calls": [CALL]}), chunk({}, 0, "tool_calls"))
TWO = sse(
    chunk({"content": "<tool_call>\n"}), chunk({"content": "One"}, 1), chunk({}, 0, "stop"), chunk({}, 1, "length")
)


def typed(text: str, **fields: str) -> Setup:
    return read_setup({"text": text, **{key.replace("__", "."): value for key, value in fields.items()}})


def again(setup: Setup, **fields: str) -> Setup:
    """The form as a browser posts it after it was shown, with changes."""
    taken = {f"taken.{name}": value.replace("\n", "\r\n") for name, value in setup.taken.items()}
    names = (
        "text",
        "tools",
        "tool_choice",
        "finish_reason",
        "model",
        "template_kwargs",
        "prompt_tail",
        "base",
        "output",
    )
    shown = {name: str(setup.get(name)) for name in (*names, "tokenizer")}
    shown["taken_as"] = setup.output.take_as
    return read_setup(shown | taken | fields)


def ran(setup: Setup) -> tuple[Case, Setup]:
    case = case_of(setup, None)
    return case, setup_after(setup, setup_of(case))


def shown_for(setup: Setup) -> Panel:
    found = panel(setup)
    assert found is not None
    return found
