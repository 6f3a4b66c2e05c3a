"""Whose fault a call that does not fit is, where nobody knows the grammar: the raw output says it, or nobody does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from parsers.vocabulary.types import Context, Delta, MessageDelta, ToolCallDelta
from tests.parsers.search.test_unknown_grammar import searched

Call = tuple[str, Any]
Change = Callable[[str, Any], Call]


class Calls:
    """`<c>{"name": ..., "args": {...}}</c>`, of which a change makes what is sent."""

    def __init__(self, change: Change) -> None:
        self.change = change

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        bodies = re.findall(r"<c>(.*?)</c>", self.text)
        if not bodies:
            return MessageDelta(content=self.text)
        calls = [self.change(*json.loads(body).values()) for body in bodies]
        return MessageDelta(
            tool_calls=[ToolCallDelta(at, f"c{at}", name, json.dumps(args)) for at, (name, args) in enumerate(calls)]
        )


def tools(*names: str, **properties: Any) -> list[Mapping[str, Any]]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return [{"name": name, "parameters": schema} for name in names]


def written(name: str, **args: Any) -> str:
    return f"<c>{json.dumps({'name': name, 'args': args})}</c>"


def having(key: str, value: Any) -> Change:
    return lambda name, args: (name, {**args, key: value})


def as_it_is(name: str, args: Any) -> Call:
    return name, args


def lower(name: str, args: Any) -> Call:
    return name, {key.lower(): value for key, value in args.items()}


CITY, DAYS = {"type": "string"}, {"type": "integer"}
UNIT = {"enum": ["celsius", "kelvin"]}
LISTED = {"type": "array", "items": {"type": "integer"}}
PARIS = written("f", city="Paris", days=12)


@pytest.mark.parametrize(
    ("text", "change", "declared", "about", "words"),
    [
        (written("get_weather"), lambda name, args: (name[4:], args), tools("get_weather"), "parser",
         "`weather` is not one of the declared tools; the output has `get_weather`, which is."),
        (written("weather"), as_it_is, tools("get_weather"), "output", "A call has a made-up name: `weather` is not"),
        (written("get_weather", of="the weather"), lambda name, args: (name[4:], args), tools("get_weather"), "output",
         "A call has a made-up name: `weather` is not"),
        (PARIS, lambda name, args: (name, {"city": "Paris"}), tools("f", city=CITY, days=DAYS), "parser",
         "`days` is missing; `f` requires it; the output has `12`."),
        (PARIS, lambda name, args: (name, {}), tools("f", city=CITY), "parser",
         '`city` is missing; `f` requires it; the output has `"Paris"`.'),
        (PARIS, having("days", "12"), tools("f", city=CITY, days=DAYS), "parser",
         "`days` is a string; `f` wants an integer; the output has `12`."),
        (PARIS, having("days", None), tools("f", city=CITY, days=DAYS), "parser",
         "`days` is null; `f` wants an integer; the output has `12`."),
        (written("f", days=[1, 2]), having("days", [1, "2"]), tools("f", days=LISTED), "parser",
         "`days[1]` is a string; `f` wants an integer; the output has `[1, 2]`."),
        (f"<c>{json.dumps({'name': 'f', 'args': json.dumps({'days': 12})})}</c>", lambda name, args: (name, {}),
         tools("f", days=DAYS), "parser", "`days` is missing; `f` requires it; the output has `12`."),
        (written("f", days=float("nan")), lambda name, args: (name, {}), tools("f", days={}), "output",
         "Arguments do not fit the schema: `days` is missing; `f` requires it."),
        (written("f", o={"days": 12}), having("o", {"days": "12"}), tools("f", o={"properties": {"days": DAYS}}),
         "parser", "`o.days` is a string; `f` wants an integer; the output has `12`."),
        (written("f", days=12), lambda name, args: (name, {"days": [12]}), tools("f", days=DAYS), "parser",
         "`days` is an array; `f` wants an integer; the output has `12`."),
        (written("f", unit="celsius"), having("unit", "elsius"), tools("f", unit=UNIT), "parser",
         '`unit` is not one of the values that `f` allows; the output has `"celsius"`.'),
        (f"<c>{json.dumps({'name': 'f', 'args': {'u': 'celsius'}})}</c>", lambda name, args: (name, {"unit": "elsius"}),
         tools("f", unit=UNIT), "parser", "the output does not have it."),
        (written("f", cityName="Paris"), lower, tools("f", cityName=CITY), "parser",
         "`cityname` is not a property of `f`, which has `cityName`; the output does not have that key."),
        # What the model wrote so, or what the output does not tell: nobody is blamed by name.
        (written("f", city="Paris"), as_it_is, tools("f", city=CITY, days=DAYS), "output",
         "Arguments do not fit the schema: `days` is missing"),
        (PARIS + written("f", city="Rome"), as_it_is, tools("f", city=CITY, days=DAYS), "output",
         "Arguments do not fit the schema: `days` is missing"),
        (written("f", days="12"), as_it_is, tools("f", days=DAYS), "output",
         "Arguments do not fit the schema: `days` is a string"),
        (written("f", unit="rankine"), as_it_is, tools("f", unit=UNIT), "output",
         "Arguments do not fit the schema: `unit` is not one of"),
        (written("f", a={"b": 1}), as_it_is, tools("f", a={"properties": {"b": CITY}}), "output",
         "Arguments do not fit the schema: `a.b` is an integer"),
        (written("f", city="Paris", more=1), as_it_is, tools("f", city=CITY), "output",
         "Arguments do not fit the schema: `more` is not a property"),
    ],
)  # fmt: skip
def test_who_is_blamed_for_a_call_that_does_not_fit(
    text: str, change: Change, declared: list[Mapping[str, Any]], about: str, words: str
) -> None:
    said = searched(lambda: Calls(change), text, tools=declared).verdict
    assert words in " ".join([said.headline, *said.sentences])
    assert (said.severity, said.about) == ("warning", about)
