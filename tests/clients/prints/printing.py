"""Keeps what a person would print of a client: run in the client's own interpreter, which has nothing of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

MESSAGES = [{"role": "user", "content": "Weather in Paris?"}]
_PROPERTIES = {"city": {"type": "string"}, "unit": {"type": "string"}}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "get_weather", "parameters": {"type": "object", "properties": _PROPERTIES}},
    }
]
STORIES = ("good", "leak", "brace", "dup", "idx", "think")


class Prints:
    """The prints of one story, by the name of their shape."""

    def __init__(self, story: str) -> None:
        self.story = story
        self.made: dict[str, str] = {}

    @contextmanager
    def shape(self, name: str) -> Iterator[None]:
        """What is printed inside the block is of this shape."""
        out = StringIO()
        with redirect_stdout(out):
            yield
        if out.getvalue().strip():
            self.made[name] = out.getvalue()


def printed(client: Callable[[str, str, Prints], Any]) -> None:
    """Let a client hear every story from the server that the command line names, and write as JSON what it printed: by
    story, by shape, or why it gave up."""
    found: dict[str, dict[str, str]] = {}
    for story in STORIES:
        prints = Prints(story)
        try:
            client(sys.argv[1], f"x-{story}", prints)
        except Exception as error:
            prints.made["raised"] = f"{type(error).__name__}: {error}"
        found[story] = prints.made
    json.dump(found, sys.stdout)
