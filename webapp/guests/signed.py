"""What failures of one bug have in common: a signature of the smallest case of each, by which that is kept once.

Of an exception it is its type and the line that raised it. Else it is what is not as expected and how, without the
words that stand there; whether every chunking shows it or some do; and the marker nearest to where it shows. Names,
texts and places do not count, so that two bugs that look alike at one marker have one signature: nobody can tell them
apart here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from parsers.cases.tested import CaseTest
from parsers.search.harms import changed_at
from parsers.sweeps.signature import marker_near
from parsers.vocabulary.types import Span
from webapp.guests.alike import kinds_of
from webapp.guests.judged import step_of

_DIGITS = 10


def signature_of_test(found: CaseTest, terminals: Mapping[str, str]) -> str:
    """A short name of it, the same on every machine. `terminals` are the markers of the format."""
    one = found.smallest
    failure = one.trace.failure
    said: list[Any] = [one.trace.parser]
    if failure is not None:
        said += failure.cause
    else:
        said += [len(found.failing) == len(found.replays), sorted({*_parts(found)}), _marker(found, terminals)]
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()[:_DIGITS]


def _parts(found: CaseTest) -> Iterator[tuple[str, ...]]:
    """What is not as expected, and how; where nothing is expected, what the checks say."""
    one = found.smallest
    for difference in one.different:
        expected, actual = difference.expected, difference.actual
        if difference.field.endswith(".arguments"):
            yield re.sub(r"\d+", "0", difference.field), *_values(expected, actual)
        elif difference.field in ("content", "reasoning"):
            yield difference.field, *(changed_at(expected, actual) or ())
    yield from kinds_of(found.run, one)
    if not one.different:
        yield from ((error.check, error.sort or "") for error in found.errors)


def _values(expected: str, actual: str) -> tuple[str, ...]:
    """The kinds of the first values of arguments that are not the same, and of a text also how it changed."""
    try:
        right, wrong = json.loads(expected), json.loads(actual)
    except ValueError:
        return ("no JSON",)
    while type(right) is type(wrong) and isinstance(right, dict | list) and right and wrong:
        pairs = _pairs(right, wrong)
        if pairs is None:
            return (type(right).__name__, "items")
        right, wrong = next((pair for pair in pairs if pair[0] != pair[1]), (None, None))
    how = changed_at(right, wrong) if isinstance(right, str) and isinstance(wrong, str) else None
    return type(right).__name__, type(wrong).__name__, *(how or ())


def _pairs(right: Any, wrong: Any) -> list[tuple[Any, Any]] | None:
    """The values of two objects or lists beside each other; None where one has others than the other one."""
    if isinstance(right, list):
        return [*zip(right, wrong, strict=True)] if len(right) == len(wrong) else None
    return [(one, wrong[key]) for key, one in right.items()] if right.keys() == wrong.keys() else None


def _marker(found: CaseTest, terminals: Mapping[str, str]) -> str:
    """The marker nearest to the step at which it shows."""
    trace = found.smallest.trace
    fed = trace.steps[step_of(found, found.smallest) - 1].span
    return marker_near(trace.text, Span(fed.end, fed.end), terminals)
