"""What the output itself has of a call that does not fit: then not the model but the parser is at fault.

Where nobody knows the grammar, no other reading says whose fault it is. The raw text still may: it has a declared name
of which a part is sent, JSON under a key that fits where what was sent does not, or it lacks a key that was sent.
Without such evidence nobody is to blame. Linear in the output.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from itertools import islice
from operator import getitem
from typing import Any

from parsers.checks.check import LIMIT, any_of
from parsers.checks.known import Origin
from parsers.checks.schema import Path, Problem, misfits
from parsers.checks.subject import Subject
from parsers.vocabulary.channels import message_texts
from parsers.vocabulary.words import quoted

_DECODER = json.JSONDecoder()
_CHOICES = ("enum", "const")


def whole_name(subject: Subject, name: str) -> str | None:
    """The declared tool that the output names where a part of its name is sent; None where the output has that part as
    a word of its own, too."""
    text, tools = subject.trace.text, [tool.name for tool in subject.request.tools]
    if not _is_evidence(subject) or _stands(name, any_of(tools).sub(" ", text)):
        return None
    return next((tool for tool in tools if name in tool and _stands(tool, text)), None)


def written_otherwise(subject: Subject, parameters: Mapping[str, Any], arguments: str, problem: Problem) -> str | None:
    """What the output has where arguments break a schema, as the end of a sentence; None where it does not say."""
    path = problem.path
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if not path or not _is_evidence(subject):
        return None
    text = subject.trace.text
    if problem.keyword == "properties" and not _stands(str(path[-1]), text):
        return "the output does not have that key"
    for value in _unsent(subject, str(path[-1])):
        if _fits(parameters, arguments, path, value):
            return f"the output has {quoted(value)}"
    given = _at(json.loads(arguments), path) if problem.keyword in _CHOICES else None
    return "the output does not have it" if isinstance(given, str) and not _stands(given, text) else None


def _is_evidence(subject: Subject) -> bool:
    """Return whether the raw output is there and no built-in parser reads it."""
    return subject.raw and subject.black_box and subject.known.grammar is not Origin.BUILTIN


def _stands(word: str, text: str) -> bool:
    """Return whether a word is in a text, not as a part of a longer one; what is written in escapes may be any word."""
    return "\\u" in text or re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _unsent(subject: Subject, key: str) -> Counter[str]:
    """The JSON values under a key in the output, without those that are sent under it, in a call or as text."""
    sent = "\n".join(message_texts(subject.trace.message).values())
    return _values(subject.trace.text, key) - _values(sent, key)


def _values(text: str, key: str) -> Counter[str]:
    """The JSON values under a key, in JSON that may itself stand in a string."""
    found = Counter[str]()
    for form in (text, text.replace('\\"', '"')) if '\\"' in text else (text,):
        pattern = rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*"
        values = Counter[str]()
        for match in islice(re.finditer(pattern, form), LIMIT):
            with suppress(ValueError, RecursionError):
                value, _ = _DECODER.raw_decode(form, match.end())
                values[json.dumps(value, ensure_ascii=False, allow_nan=False)] += 1
        found |= values
    return found


def _fits(parameters: Mapping[str, Any], arguments: str, path: Path, value: str) -> bool:
    """Return whether the arguments keep to the schema at a path, once a value stands there."""
    root = json.loads(arguments)
    _at(root, path[:-1])[path[-1]] = json.loads(value)
    return not any(other[: len(path)] == path for other in misfits(parameters, json.dumps(root)))


def _at(value: Any, path: Path) -> Any:
    """What stands at a path of a JSON value, which has it."""
    return reduce(getitem, path, value)
