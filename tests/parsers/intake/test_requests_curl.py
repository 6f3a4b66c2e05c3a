"""The words of a pasted command, as a shell reads them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake.requests import curl_commands

# Text, words, here-document, what is left, whether a quote is open.
COMMANDS = [
    ("a 'b c'd \"e\\\"f\\\ng\" $'h\\n' \\x\ny", ["a", "b cd", 'e"fg', "h\n", "x"], None, "y", False),
    ("a <<< 'b'\n", ["a", "<<<", "b"], None, "", False),
    ("a <b", ["a", "<b"], None, "", False),
    ("a | b\nc", ["a"], None, "c", False),
    ("a 2>&1", ["a"], None, "", False),
    ("a <<X\nbody\nX\nrest", ["a"], "body\n", "rest", False),
    ("a <<X\nbody", ["a"], "body", "", True),
    ("a <<X; b\nbody\nX", ["a"], "body\n", "", False),
    ("a <<X", ["a"], "", "", True),
    ("a 'open\ndata: x", ["a"], None, "data: x", True),
    ("a \\", ["a", "\\"], None, "", False),
    ("a '' b", ["a", "", "b"], None, "", False),
]


@pytest.mark.parametrize(("text", "words", "here", "rest", "unclosed"), COMMANDS)
def test_words_are_read_as_a_shell_reads_them(
    text: str, words: list[str], here: str | None, rest: str, unclosed: bool
) -> None:
    made = next(curl_commands("curl " + text))
    assert (made.words, made.here, ("curl " + text)[made.end :], made.unclosed) == (words, here, rest, unclosed)


@given(st.text(alphabet=string.printable + "é"))
def test_any_command_is_read(text: str) -> None:
    assert 5 <= next(curl_commands("curl " + text)).end <= 5 + len(text)


def test_more_commands_than_anybody_pastes_are_text() -> None:
    assert len(list(curl_commands("curl x\n" * 50))) == 20
