"""Where keys stand in a YAML text: one that is given twice, of which a reader keeps the last, and those of one mapping
or the items of one list, by which somebody finds a part again.

It goes through the events of the parser once, and builds nothing. The text is one that `yaml_values` has read, so that
every key is a scalar, or an alias of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Twice(NamedTuple):
    """A key that one mapping has twice, and the lines of both; `under`: the key at the top that the mapping is itself
    the value of, else None."""

    under: str | None
    key: str
    first: int
    second: int


class Keys(NamedTuple):
    """The line of each key, or of each item by its number from 1, of what is under one key at the top of a text; and
    the first key that is given twice anywhere."""

    lines: dict[str, int]
    twice: Twice | None


@dataclass(slots=True)
class _Open:
    """A mapping or list that has not ended. `key` is the last one of a mapping, `awaits`: its value has not come;
    `lines` are those of its keys, or items."""

    mapping: bool
    key: str | None = None
    awaits: bool = False
    lines: dict[str, int] = field(default_factory=dict)


def keys_under(body: str, top: str) -> Keys:
    """The keys under one at the top of a text."""
    opened, anchored, found = list[_Open](), dict[str, str](), dict[str, int]()
    for event in yaml.parse(body, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            ended = opened.pop()
            if _under(opened) == top:
                found = ended.lines
        elif isinstance(event, yaml.NodeEvent):
            twice = _node(opened, _text(event, anchored), _line(event))
            if twice is not None:
                return Keys(found, twice)
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append(_Open(isinstance(event, yaml.MappingStartEvent)))
    return Keys(found, None)


def _line(event: Any) -> int:
    """The line that a part begins in, from 1."""
    line: int = event.start_mark.line
    return line + 1


def _text(event: yaml.NodeEvent, anchored: dict[str, str]) -> str:
    """The text of a scalar, or of the one that an alias names."""
    if isinstance(event, yaml.AliasEvent):
        return anchored.get(event.anchor or "", "")
    text = event.value if isinstance(event, yaml.ScalarEvent) else ""
    if event.anchor is not None:
        anchored[event.anchor] = text
    return text


def _node(opened: list[_Open], text: str, line: int) -> Twice | None:
    """Take a key, a value or an item; what it is where that key was there before."""
    around = opened[-1] if opened else None
    if around is None or around.awaits:
        if around is not None:
            around.awaits = False
        return None
    if not around.mapping:
        around.lines[str(len(around.lines) + 1)] = line
        return None
    if text in around.lines:
        return Twice(_under(opened[:-1]), text, around.lines[text], line)
    around.key, around.awaits, around.lines[text] = text, True, line
    return None


def _under(opened: list[_Open]) -> str | None:
    """The key at the top that a part is the value of, None where it is of something else."""
    return opened[0].key if len(opened) == 1 else None
