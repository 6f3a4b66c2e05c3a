"""Outputs of a format that are drawn from a seed: tools with their schemas, a scenario, a style of writing, chunkings.

A message is drawn, written as the format writes it (`dialects.py`), and becomes a case that expects this message. Kept
is only what the built-in parser reads as it was meant, in one delta and character by character: so a case that fails
is a matter of the parser that is tested, and not of the writer. What a format cannot say (a marker in a value that it
cannot escape) is drawn again.

Invariants: format, seed and number give the same case, on every machine and Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.cases.expect import differences
from parsers.cases.io import load_case
from parsers.cases.run import replayer_of
from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Dialect, Spoken
from parsers.cases.written.schema_values import Schema, arguments_of
from parsers.cases.written.texts import sentences
from parsers.formats.model import Format
from parsers.machine.program import literals
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Piece, UsageError

ATTEMPTS = 20  # drawings for one output
STYLES = 12
_READINGS = (WHOLE, Chunking(by="char"))
_LONG_READINGS = (WHOLE, Chunking(by="random", seed=1, unit="char", max=64))  # of texts of many words


@dataclass(slots=True, frozen=True)
class Scenario:
    """What an output has: so many calls, text before, between and after them, reasoning, and what its strings hold."""

    words: str
    calls: int = 1
    before: bool = False
    between: bool = False
    after: bool = False
    reasoning: bool = False
    strings: str = "plain"


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("one call"),
    Scenario("text before a call", before=True),
    Scenario("text after a call", after=True),
    Scenario("two calls", calls=2),
    Scenario("three calls", calls=3),
    Scenario("two calls, text between", calls=2, between=True),
    Scenario("text before and after two calls", calls=2, before=True, after=True),
    Scenario("reasoning and a call", reasoning=True),
    Scenario("reasoning, text and two calls", calls=2, reasoning=True, before=True),
    Scenario("reasoning and text", calls=0, reasoning=True, before=True),
    Scenario("text alone", calls=0, before=True),
    Scenario("quotes and escapes in a value", strings="escapes"),
    Scenario("lines in a value", strings="lines"),
    Scenario("a long value", strings="long"),
    Scenario("letters of many scripts", before=True, strings="scripts"),
    Scenario("the beginning of a marker in a value", strings="beginnings"),
    Scenario("a marker in a value", strings="markers"),
    Scenario("the beginning of a marker in text", before=True, after=True, strings="beginnings"),
)

_TEXT = {"type": "string"}
_WHOLE_NUMBER = {"type": "integer"}
_FILTERS = {"type": "object", "properties": {"language": _TEXT, "year": _WHOLE_NUMBER, "exact": {"type": "boolean"}}}
TOOLS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "get_weather": {"city": _TEXT, "days": _WHOLE_NUMBER, "unit": {"type": "string", "enum": ["celsius", "kelvin"]}},
    "write_file": {"path": _TEXT, "text": _TEXT, "append": {"type": "boolean"}},
    "search": {"query": _TEXT, "limit": _WHOLE_NUMBER, "tags": {"type": "array", "items": _TEXT}, "filters": _FILTERS},
    "set_value": {"key": _TEXT, "value": {"type": "number"}},
    "get_time": {},
}
_WORDS = ("Zurich", "new york", "main.py", "a b c", "42", "true", "x = 1", "to be or not", "half past nine", "-")
_SPOKEN = ("Let me look that up.", "One moment, please", "Sure: here it is", "I will check both.", "Done")


def generated_format(name: str) -> Format:
    """The built-in format of that name, of which outputs can be drawn. Raises UsageError where there is none."""
    fmt = get_format(name)
    if not _dialects(fmt):
        raise UsageError(f"no outputs of {fmt.name} can be generated: it has no calls")
    return fmt


@dataclass(slots=True, frozen=True)
class Kit:
    """What outputs are drawn from: the declared tools, and of about how many words a text is. 0: a phrase."""

    tools: Mapping[str, Mapping[str, Any]]
    words: int = 0

    def schema(self, name: str) -> Schema:
        """The schema of the arguments of a tool."""
        return self.tools[name]["function"].get("parameters") or {}


def kit_of(tools: Sequence[Mapping[str, Any]], words: int = 0) -> Kit:
    """The kit of declared tools, in the shape of OpenAI's API. Raises UsageError where there are none of that shape."""
    named = {one["function"]["name"]: one for one in tools if isinstance(one.get("function"), Mapping)}
    if not named:
        raise UsageError('tools are declared as {"type": "function", "function": {"name", "parameters"}}')
    return Kit(named, words)


@dataclass(slots=True, frozen=True)
class Drawn:
    """An output that was drawn: what is said, how that is written, and the case that expects it back."""

    fmt: Format
    dialect: Dialect
    said: Spoken
    case: Case


def generated(name: str, seed: int, first: int, count: int, *, reasoning: bool = True) -> Iterator[Case]:
    """The cases of these numbers, in order; one that cannot be drawn is left out. `reasoning`: whether some of them
    have any. Raises UsageError for a format of which nothing can be drawn."""
    scenarios = [one for one in SCENARIOS if reasoning or not one.reasoning]
    found = (drawn_output(name, seed, number, scenarios=scenarios) for number in range(first, first + count))
    yield from (one.case for one in found if one is not None)


def drawn_output(
    name: str, seed: int, number: int, *, scenarios: Sequence[Scenario] = SCENARIOS, kit: Kit | None = None
) -> Drawn | None:
    """The output of that number, None where none can be drawn. Raises UsageError for a format of which none can be."""
    fmt, kit = generated_format(name), kit or KIT
    readings = _LONG_READINGS if kit.words else _READINGS
    found = (_drawn(fmt, scenarios, (seed, number, attempt), kit) for attempt in range(ATTEMPTS))
    return next((one for one in found if _is_read_as_meant(one.case, readings)), None)


def _dialects(fmt: Format) -> list[Dialect]:
    """How a format writes messages without a policy of somebody's own."""
    return [one for one in DIALECTS.values() if one.parser == fmt.name and not one.policy]


def _drawn(fmt: Format, scenarios: Sequence[Scenario], place: tuple[int, int, int], kit: Kit) -> Drawn:
    seed, number, attempt = place
    draw = Random(f"{fmt.name} {seed} {number} {attempt}")
    scenario, dialect = draw.choice(scenarios), draw.choice(_dialects(fmt))
    said = _said(draw, scenario, dialect, fmt, kit)
    named = {call.name for call in said.calls} | {draw.choice([*kit.tools])}
    calls = [{"name": call.name, "arguments": call.arguments} for call in said.calls]
    case = load_case(
        {
            "schema": 1,
            "title": f"{fmt.name}: {scenario.words}",
            "notes": [f"Generated: format {fmt.name}, seed {seed}, output {number}."],
            "parser": {"name": fmt.name},
            "input": {"text": dialect.write(said)},
            "tools": [tool for name, tool in kit.tools.items() if name in named],
            "replay": _chunkings(draw),
            "expect": {
                "reasoning": (said.reasoning or "").rstrip() or None,
                "content": dialect.content(said) or None,
                "tool_calls": calls,
            },
            "compare": {"arguments": "json", "whitespace": "soft"},
        }
    )
    return Drawn(fmt, dialect, said, case)


def _chunkings(draw: Random) -> list[dict[str, Any]]:
    """Tokens one by one, characters, and two that are drawn."""
    drawn = {"by": "random", "seed": draw.randrange(1_000)}
    return [{"by": "token"}, {"by": "char"}, drawn, {**drawn, "unit": "char", "max": draw.choice([3, 9, 30])}]


def _declared(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": TOOLS[name], "required": [*TOOLS[name]][:1]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


KIT = kit_of([_declared(name) for name in TOOLS])


def _said(draw: Random, scenario: Scenario, dialect: Dialect, fmt: Format, kit: Kit) -> Spoken:
    strings = _STRINGS[scenario.strings](draw, fmt)
    calls = [_call(draw, strings, kit) for _ in range(scenario.calls)]
    places = [scenario.before, *[scenario.between] * (scenario.calls - 1), *[scenario.after] * bool(scenario.calls)]
    ends = strings if scenario.strings == "beginnings" else [""]
    prose = [f"{_text(draw, kit)} {draw.choice(ends)}".rstrip() if wanted else "" for wanted in places]
    thought = _text(draw, kit) if scenario.reasoning and dialect.think is not None else None
    return Spoken(prose, calls, thought, draw.randrange(STYLES))


def _text(draw: Random, kit: Kit) -> str:
    return sentences(draw, draw.randint(kit.words // 2, kit.words * 3 // 2)) if kit.words else draw.choice(_SPOKEN)


def _call(draw: Random, strings: Sequence[str], kit: Kit) -> Call:
    name = draw.choice([*kit.tools])
    texts = [*strings, *[_text(draw, kit)] * len(strings)] if kit.words else strings
    return Call(name, arguments_of(draw, kit.schema(name), texts))


# What strings hold, by the word of a scenario.


def _beginnings(draw: Random, fmt: Format) -> list[str]:
    """Beginnings of the format's markers, up to all but their last character."""
    markers = [one for one in literals(fmt) if len(one) > 1] or ["<tool_call>"]
    chosen = [draw.choice(markers) for _ in range(3)]
    return [f"a {one[: draw.randrange(1, len(one))]} b" for one in chosen]


def _markers(draw: Random, fmt: Format) -> list[str]:
    markers = [one for one in literals(fmt) if len(one) > 1] or ["<tool_call>"]
    return [f"the marker {draw.choice(markers)} in a value" for _ in range(3)]


_STRINGS: Mapping[str, Callable[[Random, Format], list[str]]] = {
    "plain": lambda draw, fmt: [*_WORDS],
    "escapes": lambda draw, fmt: ['say "no"', "back\\slash", "it's", 'a\\"b', "{}", '{"a": [1]}', "\\n", "a/b"],
    "lines": lambda draw, fmt: ["one\ntwo", "def f():\n    return 1", "a\n\nb", "tab\there"],
    "long": lambda draw, fmt: [" ".join([draw.choice(_WORDS) for _ in range(60)])],
    "scripts": lambda draw, fmt: ["Zürich", "北京市", "naïve café", "🌦️ 12°", "שלום", "e\u0301", "👩‍🚀"],
    "beginnings": _beginnings,
    "markers": _markers,
}


def _is_read_as_meant(case: Case, readings: Sequence[Chunking]) -> bool:
    """Whether the built-in parser gives what is expected, however the output is cut."""
    replayer = replace(_replayer(case.parser.name), pieces=(Piece(case.text()),), context=case.to_context())
    assert case.expect is not None
    outcomes = (replayer.outcome(chunking) for chunking in readings)
    return not any(differences(case.expect, one.message, None, case.compare) for one in outcomes)


@cache
def _replayer(name: str) -> Replayer:
    """A replayer of the parser of a format, for any output."""
    case = load_case({"schema": 1, "parser": {"name": name}, "input": {"text": "."}})
    return replayer_of(case, choose(case), (Piece("."),))
