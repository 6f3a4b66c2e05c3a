"""The prefix of a container or the journal before every line."""

from __future__ import annotations

import pytest

from parsers.intake.prefixes import without_prefixes
from parsers.intake.server_log import read_server_log

PREFIXES = [
    "llama-1  | ",
    "[pod/vllm-0/server] ",
    "Nov 22 03:11:12 host llama-server[12]: ",
    "Nov  2 03:11:12 host srv: ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_of_every_line_is_taken_off(prefix: str) -> None:
    lines = ["srv a", "unparsed peg-native output: <tool_call>", "{}", "srv b"]
    body = "\n".join(prefix + line for line in lines) + "\n"
    assert without_prefixes(body) == "\n".join(lines) + "\n"
    found = read_server_log(body)
    assert found is not None
    assert [output.text for output in found.outputs] == ["<tool_call>\n{}"]


@pytest.mark.parametrize("body", ["", "text", "a | b\nc", "\na | b"])
def test_anything_else_stays(body: str) -> None:
    assert without_prefixes(body) == body
