"""Which layers come off: by themselves only where a text was no recording with them and is one without.

The search tries one layer, then two and so on: the fewest are the likeliest, and of as many those under which the
arguments of calls are whole, since a layer too many takes their escapes. A few tries are all it has, whatever the text.
What it finds by layers that are `offered` only is not taken but offered, and so is a raw text that has markers, or more
of them, without a layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from parsers.checks.json_text import is_whole_object
from parsers.intake.evidence import Intake, Offer, Peeled, WarnCode, holds_markers
from parsers.intake.layers import LAYERS, Layer, Lined, Rest
from parsers.vocabulary.types import Recording
from parsers.wire.read import read_stream

_TRIES = 24
_DEPTH = 5
_OFFERS = 3
# A text that has none of these in it is no recording under any layer that leaves letters as they are.
_TELLING = re.compile(
    r"choices|delta|content|message|tool_?call|tool_use|candidates|output|data:|token_id|Generated|functionCall|toolUse"
    r"|choices|parts|arguments|role|packet|[=:]\s*\[\s*'"
)
_HIDING = frozenset(("base64", "percent"))  # layers under which nothing can be told
_NO_RECORDING = frozenset(("raw_text", "text_literal", "code_block", "conversation", "empty", "request", "case"))
_PRINTED = frozenset(("json_response", "sse_log", "ndjson_log", "client_objects"))
# No program writes these into the objects that it prints: it escapes them, or an underscore needs none.
_FOREIGN = re.compile(r"[\x1b\x9b]|[a-z]\\_[a-z_\\]{1,40}[\"']?\s{0,4}[:=]|(?<!\\)[A-Za-z0-9]\\_[A-Za-z0-9]")
_LITERAL = re.compile(r"\s*(['\"]).*\1\s*\Z", re.DOTALL)  # a string around all of it
# Odd blanks between the parts of an object, where none of its texts can be.
_ODD = "[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000]"
_ODD_BETWEEN = re.compile(f"(?:[\"'\\]}}][:,]?|^[{{\\[,]?){_ODD}", re.MULTILINE)
_DAMAGED: frozenset[WarnCode] = frozenset(
    ("bad_chunk", "bad_object", "broken_off", "cut_json", "other_chunk", "unquoted")
)

Read = Callable[[str], Intake]


def is_recording(found: Intake) -> bool:
    """Return whether it was recognised for what no model writes: one that a program printed may lack all values."""
    told = found.usable or any(warn.code == "left_out" for warn in found.warnings)
    return told and found.kind not in _NO_RECORDING


def is_damaged(found: Intake) -> bool:
    """Return whether parts of a recording could not be read."""
    return any(warn.code in _DAMAGED for warn in found.warnings)


def is_clean(found: Intake, text: str) -> bool:
    """Return whether a text is a recording as it was printed: whole, and nothing in it that no program writes."""
    if not is_recording(found) or is_damaged(found) or _is_quote(found):
        return False
    return found.kind not in _PRINTED or (_FOREIGN.search(text) is None and _LITERAL.match(text) is None)


class Peeling:
    """Takes layers off texts, one at a time. Each is tried once on a text, however often a search comes back to it.
    `read` recognises what is under them."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self._lined: dict[str, Lined] = {}
        self._known: dict[tuple[Layer, str], Rest] = {}

    def steps(self, layers: tuple[Layer, ...], text: str) -> Iterator[tuple[Layer, str, Peeled]]:
        """What each of the layers that are there leaves of a text."""
        for layer in layers:
            rest = self._without(layer, text)
            if rest is not None and rest[0] != text:
                yield layer, rest[0], Peeled(layer.name, layer.words, rest[1])

    def _without(self, layer: Layer, text: str) -> Rest:
        key = layer, text
        if key not in self._known:
            lined = self._lined.setdefault(text, Lined(text))
            self._known[key] = layer.without(lined)
        return self._known[key]


class _Way(NamedTuple):
    """A text under layers: what is left of it, and what came off."""

    text: str
    taken: tuple[Peeled, ...] = ()


class _Under(NamedTuple):
    """A recording that stands under layers, and what came off."""

    found: Intake
    taken: tuple[Peeled, ...]


@dataclass(slots=True)
class _Search:
    """A search for a recording under layers. `left` are the tries that it still has."""

    peeling: Peeling
    layers: tuple[Layer, ...]
    left: int = _TRIES
    seen: set[str] = field(default_factory=set)

    def find(self, text: str) -> _Under | None:
        """Return the recording under the fewest layers of the text, one with whole arguments before any other."""
        second, ways = None, [_Way(text)]
        for _ in range(_DEPTH):
            ways = [step for way in ways for step in self._steps(way)]
            for under in filter(None, map(self._under, ways)):
                if _is_first_rate(under.found):
                    return under
                second = _better(under, second)
            if second is not None and has_whole_arguments(second.found):
                return second
        return second

    def _steps(self, way: _Way) -> Iterator[_Way]:
        """Every text that is left when one more layer comes off, once."""
        for layer, rest, step in self.peeling.steps(self.layers, way.text):
            if rest not in self.seen and (layer.name in _HIDING or _TELLING.search(rest)):
                self.seen.add(rest)
                yield _Way(rest, (*way.taken, step))

    def _under(self, way: _Way) -> _Under | None:
        """The recording that is left; None where there is none, or the search has no tries any more."""
        self.left -= 1
        found = self.peeling.read(way.text) if self.left >= 0 else None
        return _Under(found, way.taken) if found is not None and is_clean(found, way.text) else None


def _is_first_rate(found: Intake) -> bool:
    """Return whether nothing better can be found: objects that a program printed may be the lines of a stream."""
    return found.kind != "client_objects" and has_whole_arguments(found)


def _better(under: _Under, than: _Under | None) -> _Under:
    return under if than is None or has_whole_arguments(under.found) else than


def has_whole_arguments(found: Intake) -> bool:
    """Return whether the arguments of each call that was recorded are an object, or none."""
    texts = [text for output in found.outputs for text in _arguments(output)]
    return all(not text.strip() or is_whole_object(text) for text in texts)


def _arguments(output: Recording) -> Iterable[str]:
    """What the server sent as the arguments of each call."""
    calls: dict[int, list[str]] = {}
    for chunk in read_stream(output.stream or ()):
        for call in chunk.delta.tool_calls if chunk.delta is not None else ():
            calls.setdefault(call.index, []).append(call.arguments or "")
    return map("".join, calls.values())


def _is_quote(found: Intake) -> bool:
    """Return whether only a part of an output was found, quoted in a log: the layers may be the model's own text."""
    return found.kind == "server_log" and any(warn.code == "only_the_call" for warn in found.warnings)


_BY_THEMSELVES = tuple([layer for layer in LAYERS if not layer.offered])
_OFFERED = tuple([layer for layer in LAYERS if layer.offered])


def read_peeled(text: str, peeling: Peeling) -> Intake | None:
    """Return the recording that stands under layers which may come off by themselves, with their names."""
    found = _Search(peeling, _BY_THEMSELVES).find(text)
    if found is None:
        return None
    made, taken = found
    made.layers = taken
    return made


def offers(text: str, peeling: Peeling, *, raw: bool) -> tuple[Offer, ...]:
    """Return what could be taken off: to a recording, or, where `raw` text is replayed, to text with markers."""
    found = _Search(peeling, _OFFERED).find(text) or _Search(peeling, LAYERS).find(text)
    if found is not None:
        return (Offer(tuple([one.name for one in found[1]]), f"{found[0].title}, without {_words(found[1])}"),)
    return tuple(_raw_offers(text, peeling))[:_OFFERS] if raw else ()


def offers_of_recording(text: str, peeling: Peeling) -> tuple[Offer, ...]:
    """Return what could be taken off a recording that can be read with it: odd blanks between the parts of objects."""
    return offers(text, peeling, raw=False) if _ODD_BETWEEN.search(text) else ()


def _raw_offers(text: str, peeling: Peeling) -> Iterator[Offer]:
    marked = holds_markers(text)
    for layer, rest, step in peeling.steps(LAYERS, text):
        if layer.name in ("wrapped", "filled", "label"):
            continue
        more = not marked and holds_markers(rest)
        if layer.name == "colours" or more or (marked and _touches_all(text, step) and holds_markers(rest)):
            yield Offer((layer.name,), f"raw model output without {_words((step,))}")


def _touches_all(text: str, step: Peeled) -> bool:
    return step.lines > 1 and step.lines == sum(1 for line in text.split("\n") if line.strip())


def _words(taken: tuple[Peeled, ...]) -> str:
    return ", ".join([one.words for one in taken])
