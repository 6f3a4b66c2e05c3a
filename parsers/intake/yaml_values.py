"""YAML, read without tags, merge keys and dates, and within bounds on size, depth and what aliases multiply to, so that
reading stays linear; and an answer of an API that somebody keeps as YAML. Keys are texts, as they are spelled."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from parsers.intake.answers import found_in, log_intake
from parsers.intake.api_families import family_of
from parsers.intake.api_logs import response_log
from parsers.intake.evidence import Intake
from parsers.intake.yaml_spelling import Spelled, plain_value

BYTES = 2_000_000
EVENTS = 150_000  # the largest such file has a third of it
NODES = 150_000  # with every alias written out
DEPTH = 40
DIGITS = 600  # of a number: Python reads as many, however low its limit is set
_MULTIPLIED = "Its aliases multiply to more than such a file ever holds: it is not read."
_KEY = r"(?:id|object|role|content|choices|message|messages|response|completion|output|model)"
_ANSWER = re.compile(rf"(?:---[^\n]*\n)?(?:#[^\n]*\n)*(?:- )?{_KEY}:(?:[ \t]|\n)")
_TEXTS = frozenset({
    "content", "reasoning", "reasoning_content", "text", "thinking", "arguments", "partial_json", "name",
})  # fmt: skip
_SAID = re.compile(r"^[ \t-]*(?:content|tool_calls):", re.MULTILINE)


class YamlError(Exception):
    """It is not read; the text says why, in a whole sentence."""


def _loader() -> Any:
    """Return libyaml's reader where it is there, with no more scalar types than such a file needs. Numbers are those of
    YAML 1.2 in decimal digits, of which a longer one stays text."""
    whole, power = rf"[0-9]{{1,{DIGITS}}}", r"(?:[eE][-+]?[0-9]{1,9})"
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}, "construct_mapping": _mapping})
    for tag, pattern, first in (
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("int", rf"^[-+]?(?:0|[1-9][0-9]{{0,{DIGITS - 1}}})$", "-+0123456789"),
        ("float", rf"^[-+]?(?:{whole}\.[0-9]{{0,{DIGITS}}}|{whole}(?=[eE])|\.{whole}){power}?$", "-+.0123456789"),
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ):
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    for tag, read in (("bool", _bool), ("int", int), ("float", float)):
        loader.add_constructor(f"tag:yaml.org,2002:{tag}", partial(_spelled, read))
    return loader


def _bool(text: str) -> bool:
    return text.lower() == "true"


def _spelled(read: Callable[[str], bool | float], _: Any, node: Any) -> Spelled | str:
    """A scalar, and the text alone of a number that is beyond every float: JSON has no infinity."""
    text: str = node.value
    value = read(text)
    return text if isinstance(value, float) and not math.isfinite(value) else Spelled(value, text)


def _mapping(loader: Any, node: Any, deep: bool = False) -> dict[str, Any]:
    """A mapping by how its keys are spelled: 1.1 and 1.10 are two, as are true and True. Raises ConstructorError."""
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ConstructorError("a mapping", node.start_mark, "a key is a list or a mapping", key.start_mark)
    return {key.value: loader.construct_object(value, deep=deep) for key, value in node.value}


_LOADER = _loader()


def read_yaml_answer(body: str) -> Intake | None:
    """Read an answer, or one inside of what is logged."""
    if _ANSWER.match(body) is None or _SAID.search(body) is None:
        return None
    try:
        value = plain_value(load_spelled(body), _TEXTS)
    except YamlError:
        return None
    if isinstance(value, dict) and family_of(value) is not None:
        return log_intake(response_log(value))
    return found_in(value)


def load_yaml(body: str) -> Any:
    """Return the value that is written, as JSON. Raises YamlError."""
    return plain_value(load_spelled(body))


def load_spelled(body: str) -> Any:
    """Return the value that is written, with each number and boolean as it is spelled. Raises YamlError."""
    if len(body) > BYTES:
        raise YamlError(f"The file is longer than {BYTES:,} characters: cut the cases out that are of interest.")
    try:
        _check_events(body)
        return _written_out(yaml.load(body, Loader=_LOADER), count())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1:,}" if mark is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise YamlError(f"It is no whole YAML{where}: {problem}. Was the file cut?") from error
    except UnicodeError as error:
        raise YamlError("It holds half of a UTF-16 pair, which no YAML can hold.") from error
    except RecursionError as error:
        raise YamlError(_MULTIPLIED) from error


def _check_events(body: str) -> None:
    """Refuse what would cost more than its length, before anything is built."""
    depth = 0
    for place, event in enumerate(yaml.parse(body, Loader=_LOADER)):
        if place > EVENTS:
            raise YamlError(f"It has more than {EVENTS:,} parts: cut the cases out that are of interest.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        tag = getattr(event, "tag", None)
        if depth > DEPTH or tag is not None:
            what = "tags" if tag is not None else f"more than {DEPTH} levels"
            raise YamlError(f"It has {what}, which such a file does not need: it is not read.")


def _written_out(value: Any, nodes: Iterator[int]) -> Any:
    """Return the value with every alias written out, if that is not too much."""
    if next(nodes) >= NODES:
        raise YamlError(_MULTIPLIED)
    if isinstance(value, dict):
        return {key: _written_out(one, nodes) for key, one in value.items()}
    return [_written_out(one, nodes) for one in value] if isinstance(value, list) else value
