"""Where a string argument stands in the output, and how its syntax writes a string.

A place is found in the format's own reading: a declared or undeclared string argument of a whole call whose spelling
occurs once between the call's name and its end. Which syntax that is follows from the codec of the state there.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Literal

from parsers.checks.subject import Variant
from parsers.formats.layers import layered
from parsers.formats.model import Format
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.variants.ground import Ground
from parsers.search.variants.growth import STEP, SlowError, growth
from parsers.vocabulary.events import CallEnd, CallName
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Tool

Syntax = Literal["json", "python", "bare"]
QUOTES = ("'", '"')
QUOTED: Mapping[str, Syntax] = {
    "json_call": "json",
    "json_calls": "json",
    "json_span": "json",
    "mistral": "json",
    "pythonic": "python",
}


@dataclass(slots=True)
class _Place:
    """A string argument: call number, key and value; where its spelling stands, quotes included; its syntax."""

    call: int
    key: str
    value: str
    start: int
    end: int
    syntax: Syntax

    def written(self, value: str) -> str:
        """Another value in this place's syntax."""
        if self.syntax == "json":
            return json.dumps(value, ensure_ascii=False)
        return repr(value) if self.syntax == "python" else value


def _find_place(ground: Ground) -> _Place | None:
    """A string argument that can be replaced: the first one with quotes, else the first one at all."""
    found = list(_places(ground))
    return next((place for place in found if place.syntax != "bare"), found[0] if found else None)


def _places(ground: Ground) -> Iterator[_Place]:
    own, fmt = ground.own, ground.replayer.format
    if own is None or fmt is None or not ground.can_call:
        return
    fmt, states = layered(fmt, ground.replayer.context), _states(own)
    for index, span in _spans(own).items():
        call = own.message.tool_calls[index]
        tool, arguments = ground.replayer.context.tool(call.name), object_of(call.arguments) if call.complete else None
        for key, value in (arguments or {}).items():
            if isinstance(value, str) and value.strip() and _is_free_string(tool, key):
                for start, end, syntax in islice(_spelled(own, fmt, states, value, span), 1):
                    yield _Place(index, key, value, start, end, syntax)


def _spelled(
    own: Trace, fmt: Format, states: list[tuple[int, str]], value: str, span: tuple[int, int]
) -> Iterator[tuple[int, int, Syntax]]:
    """The spellings of a value that stand once in a stretch of the output, with their place and syntax."""
    spellings: dict[str, Syntax] = {json.dumps(value): "json", json.dumps(value, ensure_ascii=False): "json"}
    spellings |= {repr(value): "python", value: "bare"}
    for spelling, kind in spellings.items():
        if own.text.count(spelling, *span) == 1:
            start = own.text.index(spelling, *span)
            end, state = start + len(spelling), states[bisect_right(states, start, key=itemgetter(0)) - 1][1]
            syntax = _syntax(fmt, state, kind, own.text[:start], own.text[end:])
            if syntax is not None:
                yield start, end, syntax


def _syntax(fmt: Format, state: str, kind: Syntax, before: str, after: str) -> Syntax | None:
    """The syntax of a spelling in this state, or None where it is not one that can be replaced as it stands."""
    codec = fmt.states[state].codec
    wanted = QUOTED.get(codec.name, "bare") if codec is not None else "bare"
    if kind != wanted:
        return wanted if (kind, wanted) == ("json", "python") else None
    if kind != "bare" or codec is None:
        return kind
    delimiter = codec.options.get("string")
    if delimiter is not None:  # a notation with delimiters, in which this value may stand without
        return kind if before.endswith(delimiter) and after.startswith(delimiter) else None
    return None if before.endswith(QUOTES) and after.startswith(QUOTES) else kind


def _spans(own: Trace) -> dict[int, tuple[int, int]]:
    names, spans = {}, {}
    for _, event in own.events():
        if isinstance(event, CallName):
            names[event.call] = event.end
        elif isinstance(event, CallEnd):
            spans[event.call] = (names[event.call], max(event.end, names[event.call]))
    return spans


def _states(own: Trace) -> list[tuple[int, str]]:
    """(offset, state) for each change of state, in order of offsets."""
    first = own.steps[0].transitions[0].from_state if own.steps[0].transitions else own.steps[0].state
    return [(0, first), *[(move.end, move.to_state) for _, move in own.columns.moves()]]


def _is_free_string(tool: Tool | None, key: str) -> bool:
    """Return whether any text fits an argument: nothing is declared for it, or the type string and no more."""
    properties: Any = ((tool.parameters if tool is not None else None) or {}).get("properties", {})
    schema = properties.get(key, {}) if isinstance(properties, Mapping) else None
    narrower = {"enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not"}
    if not isinstance(schema, Mapping) or schema.get("type", "string") != "string":
        return False
    return schema.keys().isdisjoint(narrower)


# Variants of one string argument: markers, braces and quotes planted into it, and a long text.
#
# What is planted is escaped as the argument's syntax asks for. A syntax without escapes (text between tags or
# delimiters) cannot say its own markers; the check tells that apart by the `syntax` and `marker` of the facts.

SIGNS = ("{", "}", "[", "]", '"', "'", "\\", "</", "\\n", '"}', "')", "}}]", '{"name": "f", "arguments": {}}')
AROUND = ("a", "b")  # a plant stands between these
PAD = "abcdefghi "
SIZES = (2_000, 16_000, 64_000)
STREAMED_PAD = Chunking(by="char", size=997)


def plants(ground: Ground) -> list[tuple[str, bool]]:
    """Return what is planted, and whether it is a marker. Recorded markers are tokens: typed out they are left out
    here."""
    fmt = ground.replayer.format
    own = () if fmt is None or ground.replayer.mode == "ids" else (*fmt.terminals.values(), *fmt.end_tokens)
    found = dict.fromkeys(SIGNS, False) | {marker: True for marker in own if marker.strip()}
    return list(found.items())


def escaped(ground: Ground) -> Iterator[Variant]:
    """Each plant in the place of a string argument's text."""
    place = _find_place(ground)
    if place is None:
        return
    for plant, marker in plants(ground):
        label = f"with `{plant}` in the argument `{place.key}`"
        yield from _with_value(ground, place, "escaped", label, plant.join(AROUND), {"plant": plant, "marker": marker})


def _with_value(
    ground: Ground, place: _Place, kind: Any, label: str, value: str, facts: dict[str, Any], *ways: Chunking
) -> Iterator[Variant]:
    said = {"call": place.call, "key": place.key, "was": place.value, "value": value, "syntax": place.syntax, **facts}
    edit = (place.start, place.end, place.written(value))
    yield from ground.run(kind, label, edits=(edit,), facts=said, chunkings=ways or None)


def padded(ground: Ground) -> Iterator[Variant]:
    """The argument lengthened to three sizes, and how what reading it takes grows. A parser that is too slow for one
    size is not asked for a greater one."""
    place = _find_place(ground)
    if place is None:
        return

    def lengthened(size: int) -> Replayer:
        return ground.replayer.changed(((place.start, place.end, place.written(_pad(size))),))

    try:
        slopes = growth(lengthened, ground.meters)
    except SlowError as error:
        yield from _too_slow(ground, place, error.size)
        return
    streamed = ground.streamed if ground.replayer.mode == "ids" or ground.replayer.black_box else STREAMED_PAD
    for size in SIZES:
        label = f"with {size:,} characters in the argument `{place.key}`"
        facts = {"size": size, **slopes}
        for one in _with_value(ground, place, "padded", label, _pad(size), facts, WHOLE, streamed):
            yield one
            if one.raised is not None and one.raised.slow:
                return


def _too_slow(ground: Ground, place: _Place, size: int) -> Iterator[Variant]:
    """The argument of a length that takes too long when it comes in small deltas, if it takes as long again."""
    label = f"with {size:,} characters in the argument `{place.key}`, {STEP.size} at a time"
    found = _with_value(ground, place, "padded", label, _pad(size), {"size": size}, STEP)
    yield from (one for one in found if one.raised is not None and one.raised.slow)


def _pad(size: int) -> str:
    return PAD * (size // len(PAD) - 1) + "abcdefghij"
