"""What tests of the format editor post, and how they read what comes back."""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup

from webapp.formats.format_text import skeleton

PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
OUTPUT = 'Hi.\n<call>{"name": "f", "arguments": {"a": "b"}}</call>'
BARE = json.loads(skeleton())
BARE["states"]["CALL"] = {
    "codec": {"name": "tagged"},
    "rows": [
        {"on": "CALL_END", "to": "CONTENT", "emit": ["CallEnd"]},
        {"on": "END", "to": "CALL", "emit": ["CallEnd"]},
    ],
}
BARE["terminals"]["NAME_END"] = ":"
BARE["states"]["NAME"] = {
    "text": "name",
    "rows": [{"on": "NAME_END", "to": "CALL"}, {"on": "END", "to": "NAME", "emit": ["CallEnd"]}],
}
BARE["states"]["CONTENT"]["rows"][0]["to"] = "NAME"


SHORT = json.dumps(
    {
        "schema": 1,
        "name": "short_format",
        "title": "Extends another",
        "extends": "folder_format",
        "reasoning": {"start": "<think>", "end": "</think>", "ended_by": {"CALL_START": "A call ends it."}},
        "states": {"CONTENT": {"note": "Its own."}},
        "example": OUTPUT,
    },
    indent=1,
)


def fields(text: str = skeleton(), *samples: tuple[str, str], **more: str) -> dict[str, Any]:
    """What the form posts."""
    data: dict[str, Any] = {"format": text, "sample": [str(n) for n in range(1, len(samples) + 1)], **more}
    for number, (output, expect) in enumerate(samples, 1):
        data |= {f"output.{number}": output, f"expect.{number}": expect}
    return data


def area(html: str, name: str) -> str:
    """What stands in a text area."""
    found = re.search(rf'<textarea[^>]* name="{re.escape(name)}"[^>]*>\n(.*?)</textarea>', html, re.DOTALL)
    assert found
    return Markup(found[1]).unescape()


def words(html: str) -> str:
    """What a page says, on one line."""
    return " ".join(Markup(re.sub("<[^>]*>", " ", html)).unescape().split())


def inline(**more: Any) -> dict[str, Any]:
    """A case that brings its own format."""
    return {
        "schema": 1,
        "parser": {"name": "my_format", "format": json.loads(skeleton())},
        "input": {"text": OUTPUT},
        "expect": {"content": "Hi.\n", "tool_calls": [{"name": "f", "arguments": {"a": "b"}}]},
        **more,
    }
