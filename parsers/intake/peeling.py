"""Which layers come off: by themselves only where a text was no recording with them and is one without.

The search goes from layer to layer, the first that is there first, and tries another way where that leads nowhere; a
few tries are all it has, whatever the text. What it finds by layers that are `offered` only is not taken but offered,
and so is a raw text that has markers, or more of them, without a layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from parsers.intake.evidence import Intake, Offer, Peeled, WarnCode, holds_markers
from parsers.intake.layers import LAYERS, Layer, Lined, Rest

_TRIES = 16
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
_FOREIGN = re.compile(r"[\x1b\x9b]|[a-z]\\_[a-z_\\]{1,40}[\"']?\s{0,4}[:=]")
# Odd blanks between the parts of an object, where none of its texts can be.
_ODD = "[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000]"
_ODD_BETWEEN = re.compile(f"(?:[\"'\\]}}][:,]?|^[{{\\[,]?){_ODD}", re.MULTILINE)
_DAMAGED: frozenset[WarnCode] = frozenset(("bad_chunk", "bad_object", "broken_off", "cut_json", "other_chunk"))

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
    if not is_recording(found) or is_damaged(found):
        return False
    return found.kind not in _PRINTED or _FOREIGN.search(text) is None


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


@dataclass(slots=True)
class _Search:
    """A search for a recording under layers. `left` are the tries that it still has."""

    peeling: Peeling
    layers: tuple[Layer, ...]
    left: int = _TRIES
    seen: set[str] = field(default_factory=set)

    def find(self, text: str, taken: tuple[Peeled, ...] = ()) -> tuple[Intake, tuple[Peeled, ...]] | None:
        """Return the first recording that stands under layers of the text, and the layers."""
        for layer, rest, step in list(self.peeling.steps(self.layers, text)):
            if self.left <= 0 or rest in self.seen:
                continue
            self.seen.add(rest)
            way = (*taken, step)
            if layer.name not in _HIDING and _TELLING.search(rest) is None:
                continue
            self.left -= 1
            found = self.peeling.read(rest)
            if is_clean(found, rest) and not _is_quote(found):
                return found, way
            deeper = self.find(rest, way) if len(way) < _DEPTH else None
            if deeper is not None:
                return deeper
        return None


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
