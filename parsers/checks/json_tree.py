"""JSON values with their places: a tree of nodes for a text that is known to be one JSON object.

Built without recursion, in one pass, so neither depth nor length is limited. `JsonPrefix` must have accepted the
text before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["object", "array", "string", "integer", "number", "boolean", "null"]

Scalar = str | int | float | bool | None

_LONG = 300
_TOKEN = re.compile(
    r"""[\s,:]*(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<word>[^\s,}\]]+))"""
)


@dataclass(slots=True)
class Member:
    """A key of an object, where its opening quote stands, and its value."""

    key: str
    at: int
    value: Node


@dataclass(slots=True)
class Node:
    """A JSON value at [start, end) of its text. `value` is set for scalars, `members` and `items` for containers."""

    kind: Kind
    start: int
    end: int = 0
    value: Scalar = None
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)


def read_object(text: str) -> Node:
    """The tree of `text`, which must be one valid JSON object."""
    root = Node("array", 0)
    stack = [root]
    key: tuple[str, int] | None = None
    for match in _TOKEN.finditer(text):
        group = str(match.lastgroup)
        start, end = match.span(group)
        if group == "close":
            stack.pop().end = end
            continue
        if group == "string" and stack[-1].kind == "object" and key is None:
            key = (json.loads(match.group(group)), start)
            continue
        node = _node(group, match.group(group), start, end)
        if key is None:
            stack[-1].items.append(node)
        else:
            stack[-1].members.append(Member(*key, node))
            key = None
        if group == "open":
            stack.append(node)
    return root.items[0]


def walk(root: Node) -> Iterator[Node]:
    """Every node of the tree, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.items
        waiting += [member.value for member in node.members]


def _node(group: str, text: str, start: int, end: int) -> Node:
    if group == "open":
        return Node("object" if text == "{" else "array", start)
    if group == "string":
        return Node("string", start, end, json.loads(text))
    if text in ("true", "false"):
        return Node("boolean", start, end, text == "true")
    return Node("null", start, end) if text == "null" else _number(text, start, end)


def _number(text: str, start: int, end: int) -> Node:
    """Whole numbers are integers however they are spelled; very long ones are read as floats."""
    digits = text.lstrip("-").isdigit()
    value: int | float = int(text) if digits and len(text) < _LONG else float(text)
    whole = digits or float(value).is_integer()
    return Node("integer" if whole else "number", start, end, value)
