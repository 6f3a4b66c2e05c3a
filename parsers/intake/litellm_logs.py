"""Answers in LiteLLM's debug log, whatever stands before and between them.

    POST Request Sent from LiteLLM: ...
    RAW RESPONSE:
    {"id": ..., "choices": [...]}

What follows the words is what the server answered, as JSON or as Python prints it; where a parser of the caller's
failed, it may be the text alone. (LiteLLM 1.x, `litellm_core_utils/litellm_logging.py`.)
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from parsers.intake.written_values import literal_at

_MARK = re.compile(r"\bRAW RESPONSE:[ \t]*\r?\n?[ \t]*")
_ANSWER = re.compile(r"\{\s*['\"](?:id|object|choices|created|model|created_at|error|usage)['\"]\s*:")
_OVER = re.compile(r"\n[ \t]*\n|\Z")


class RawResponse(NamedTuple):
    """What stands behind the words: the text of a server's answer as JSON, `whole` if it does not break off; or, where
    `is_answer` is false, other text."""

    text: str
    is_answer: bool
    whole: bool


def raw_responses(body: str) -> list[RawResponse]:
    """Return what follows each of the marks, in order; nothing where no text does."""
    found = []
    for mark in _MARK.finditer(body):
        over = _OVER.search(body, mark.end())
        text = body[mark.end() : len(body) if over is None else over.start()].strip()
        if _ANSWER.match(text):
            value = literal_at(body, mark.end())
            whole = value is not None and value.whole and isinstance(value.value, dict)
            found.append(RawResponse(_as_json(value.value, text) if value and whole else text, True, whole))
        elif text:
            found.append(RawResponse(text, False, True))
    return found


def _as_json(value: object, text: str) -> str:
    """The value as JSON; the text that it was read from where it holds something that JSON has not."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return text
