"""What a server left in a content: the characters that a format reads as a call, or the markers alone."""

from __future__ import annotations

import pytest

from parsers.search.leaked import LONGEST, Leaked, is_leak, leaked
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Context

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CONTENTS = [
    (f"Hi. {CALL} Done.", [CALL], "qwen"),
    (f"{CALL}\n{CALL}", [f"{CALL}\n{CALL}"], "qwen"),
    ("Hi. </tool_call> Done.", ["</tool_call>"], ""),
    ("x" * LONGEST + CALL, ["<tool_call>", "</tool_call>"], ""),
    ("Hi.", [], ""),
]


@pytest.mark.parametrize(("content", "texts", "parser"), CONTENTS)
def test_what_leaked_is_told_to_the_character(content: str, texts: list[str], parser: str) -> None:
    found = leaked(content, Context())
    parts = [content[span.start : span.end] for span in found.stretches]
    assert ([part for part in parts if part[:1] != "{"], found.parser) == (texts, parser)
    assert found.size == sum(map(len, parts))


def test_findings_that_tell_of_a_leak_are_told_from_others() -> None:
    topics = {topic: is_leak(Finding("x", "error", "parser", "words", topic=topic)) for topic in Topic}
    assert [topic for topic, leaks in topics.items() if leaks] == [
        Topic.LEAK,
        Topic.OUTPUT_UNPARSED,
        Topic.CALLS_UNPARSED,
    ]
    assert Leaked().size == 0
