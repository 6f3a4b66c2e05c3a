"""The parsers that servers have, by their names on the command line: which format each of them reads.

server_parsers.json holds for each server what docs/aliases.json says of it (a test compares them).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from parsers.cases.export.suite_subject import ParserNames


@cache
def _data() -> dict[str, Any]:
    text = (resources.files("parsers.cases.export") / "server_parsers.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def names_of(server: str) -> ParserNames:
    """The parsers of a server."""
    return ParserNames(**_data()[server])
