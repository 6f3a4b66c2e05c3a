"""Conversations as LangChain prints them for people: which message counts, and what its arguments were."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.intake.pretty_messages import read_pretty_messages
from tests.growth import assert_linear, seconds
from tests.parsers.intake.recorded_files import message


def title(who: str) -> str:
    return f" {who} Message ".center(80, "=") + "\n"


def call(name: str, *lines: str) -> str:
    return "\n".join([f"  {name} (c1)", " Call ID: c1", "  Args:", *[f"    {line}" for line in lines], ""])


AI = f"{title('Ai')}\nLook.\nTool Calls:\n"
READ: list[tuple[str, str, tuple[str, ...], str]] = [
    (AI + call("f", "a: Paris", "b: 3", "c: [1, 'x']", "d: True", "e: "), "Look.", ("f",),
     '{"a": "Paris", "b": 3, "c": [1, "x"], "d": true, "e": ""}'),
    (AI + call("f", "a: one") + call("g"), "Look.", ("f", "g"), '{"a": "one"}{}'),
    (AI + call("f", "a: 3 cats", "b: [1", "c: Paris(1)", 'd: -x'), "Look.", ("f",),
     '{"a": "3 cats", "b": "[1", "c": "Paris(1)", "d": "-x"}'),
    (AI + "  f (c1)\n Call ID: c1\n  Args:\n    a: one\ntwo: three\n", "Look.", ("f",), '{"a": "one\\ntwo: three"}'),
    (AI + "  f (c1)\n Call ID: c1\n", "Look.", ("f",), "{}"),
    (f"{title('Ai')}Name: bot\nInvalid Tool Calls:\n  f (c1)\n Call ID: c1\n  Error: x\n  Args:\n    {{\"a\": 1\n",
     "", ("f",), '{"a": 1'),
    (f"{title('Human')}\nhi\n{title('Ai')}\nOne\n{title('Tool')}\n2\n{title('Ai')}\nTwo <tool_call>\n",
     "Two <tool_call>", (), ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "content", "names", "arguments"), READ)
def test_the_last_message_of_the_model_is_the_output(
    text: str, content: str, names: tuple[str, ...], arguments: str
) -> None:
    found = recognise(text.encode(), pasted=True)
    said = message(found.outputs[0])
    assert (found.kind, said.content, said.names, said.arguments) == ("client_objects", content, names, arguments)
    assert ("arguments_rewritten" in [warn.code for warn in found.warnings]) == bool(names)


@pytest.mark.parametrize(
    "text", ["Hi", f"Before\n{title('Ai')}\nHi", f"{title('Human')}\nHi", f"{title('Ai')}\n", title("Ai")[20:60]]
)
def test_what_has_no_message_of_the_model_is_none(text: str) -> None:
    assert read_pretty_messages(text) is None


def test_reading_takes_linear_time() -> None:
    def timed(size: int) -> float:
        text = AI + call("f", *["a: ( ( (1) (b)"] * size) + json.dumps("( " * size)
        return seconds(lambda: read_pretty_messages(text))

    assert_linear(timed, (2_000, 4_000, 8_000))
