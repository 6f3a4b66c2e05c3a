"""Doubts about raw text: signs that it is something else, each told as a note and none decisive.

The text is replayed as it stands. A sign is one linear search; the sentence says what to do if it is right.
"""

from __future__ import annotations

import re
from typing import Any

_SIGNS = (
    (
        re.compile(r'^[ \t]*data: ?\{"|"(?:chat\.completion(?:\.chunk)?|text_completion)"', re.MULTILINE),
        "It holds parts of an API log among other text. If it is a log, paste the log's lines alone.",
    ),
    (
        re.compile(r"Generated response \S+ \(|DELTA TEXT:|Model Output:|unparsed peg-native output:"),
        "It holds lines of a server's log. If it is a log, paste only what it quotes as the output.",
    ),
    (
        re.compile(r"\b(?:ChatCompletion\(|ChatCompletionChunk\(|ChoiceDelta\(|ChoiceDeltaToolCall\()"),
        "It looks like a printed Python object of an OpenAI client, but it cannot be read: paste it whole.",
    ),
    (
        re.compile(r"\A\s*\[\s*'"),
        "It looks like a Python list of strings, but it is none that can be read: paste the whole list.",
    ),
    (
        re.compile(r"\A\s*<(?:!doctype html|html)\b", re.IGNORECASE),
        "It looks like a web page, perhaps the error of a proxy, not a model's output.",
    ),
    (
        re.compile(r"\bsk-[\w-]{20}|\bhf_[A-Za-z0-9]{30}|\bBearer +[\w.~+/=-]{20}"),
        "It holds what looks like an API key. It is part of the text and stays in it: take it out before sharing.",
    ),
    (
        re.compile("\ufffd"),
        "It holds U+FFFD: some bytes were lost before it came here.",
    ),
    (
        re.compile(r"\A\s+\Z"),
        "It is white space only.",
    ),
)


def hints(text: str, value: Any) -> tuple[str, ...]:
    """The notes for raw text; `value` is what it says as JSON, or None."""
    found = [note for sign, note in _SIGNS if sign.search(text)]
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        found.append("It looks like a request. Paste the model's output, or the answer beside it.")
    if isinstance(value, dict) and type(value.get("schema")) is int and ("input" in value) != ("parser" in value):
        found.append("It looks like a case file, but it lacks `input` or `parser`.")
    return tuple(found)
