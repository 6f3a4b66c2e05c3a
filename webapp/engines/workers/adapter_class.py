"""A parser class of somebody's own, by the methods that it has.

=========================================  ============================================================================
methods                                    how it is called
=========================================  ============================================================================
begin, feed, finish                        begin(request), then feed(text, ids) for each delta and finish(reason)
parse_streaming_increment                  as SGLang's detectors: (text, tools); finish(tools) at the end where it is
extract_tool_calls_streaming               as vLLM's parsers: the text and ids before and after, the delta's, and the
                                           request
=========================================  ============================================================================

Where vLLM or SGLang are installed and the class is one of theirs, their own adapter runs it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


def adapter(own: str) -> Any:
    """The adapter of a class, given as module:Class. Raises TypeError for one of no known shape."""
    module, colon, name = own.partition(":")
    if not colon:
        raise TypeError("a class is given as module:Class, not " + own)
    found = getattr(importlib.import_module(module), name)
    theirs = {base.__module__.partition(".")[0] for base in found.__mro__[1:]} & {"vllm", "sglang"}
    if theirs:
        return _adapter_of(theirs.pop(), own)
    return Class(found)


def _adapter_of(name: str, own: str) -> Any:
    import __main__

    return __main__.adapter_of(name, own)


class Class:
    """One parser."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        fitting = [shape for shape in SHAPES if all(hasattr(kind, name) for name in shape.needs)]
        if not fitting:
            known = "; ".join([", ".join(shape.needs) for shape in SHAPES])
            raise TypeError(kind.__name__ + " has the methods of no known shape, which are: " + known)
        self._shape = fitting[0]

    def hello(self) -> dict[str, Any]:
        """What it is."""
        told = {"name": "class", "version": str(getattr(self._kind, "version", ""))}
        parsers = [{"name": self._kind.__name__, "kind": "tool"}]
        server = dict(getattr(self._kind, "server", {}))
        return {**told, "parsers": parsers, "wants": self._shape.wants, "whole": hasattr(self._kind, "parse"),
                "contract": str(getattr(self._kind, "contract", "openai")), "server": server}  # fmt: skip

    def replay(self, asked: Mapping[str, Any]) -> Any:
        """A new parser for one output. Raises LookupError for the name of another one."""
        name = asked.get("parser", self._kind.__name__)
        if name != self._kind.__name__:
            raise LookupError("there is no parser " + str(name))
        return self._shape(self._kind, asked)

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> Any:
        """The message of a class that has `parse(request, text)` besides."""
        return self._kind().parse(asked["request"], text)


class Own:
    """begin, feed, finish."""

    needs, wants = ("begin", "feed", "finish"), "text"

    def __init__(self, kind: Any, asked: Mapping[str, Any]) -> None:
        self._parser = kind()
        self._parser.begin(asked["request"])

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self._parser]

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        return self._parser.feed(text, ids)

    def finish(self, reason: str | None) -> Any:
        """The end."""
        return self._parser.finish(reason)


class Detector:
    """As SGLang's."""

    needs, wants = ("parse_streaming_increment",), "text"

    def __init__(self, kind: Any, asked: Mapping[str, Any]) -> None:
        self._parser = kind()
        self._tools = [_namespace(tool) for tool in asked["request"].get("tools") or ()]

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self._parser]

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        return _of_detector(self._parser.parse_streaming_increment(text, self._tools))

    def finish(self, reason: str | None) -> Any:
        """The end."""
        return _of_detector(self._parser.finish(self._tools)) if hasattr(self._parser, "finish") else None


class Legacy:
    """As vLLM's parsers that are written by hand."""

    needs, wants = ("extract_tool_calls_streaming",), "ids"

    def __init__(self, kind: Any, asked: Mapping[str, Any]) -> None:
        self._table = asked["table"]()
        self._parser = kind(self._table)
        self._request = _namespace(asked["request"])
        self._text = ""
        self._ids: list[int] = []

    def watched(self) -> list[Any]:
        """Whose attributes are looked at."""
        return [self._parser]

    def feed(self, text: str, ids: list[int]) -> Any:
        """A delta."""
        before, known, new = self._text, self._ids, self._table.fed(ids)
        self._text, self._ids = before + text, known + new
        said = self._parser.extract_tool_calls_streaming(before, self._text, text, known, self._ids, new, self._request)
        return None if said is None else _of_delta(said)

    def finish(self, reason: str | None) -> Any:
        """The end, which such a parser is not told of but by a delta without text."""
        return self.feed("", [])


SHAPES: tuple[Any, ...] = (Own, Detector, Legacy)


def _namespace(value: Any) -> Any:
    """Objects of JSON with attributes, but for schemas."""
    if not isinstance(value, dict):
        return [_namespace(one) for one in value] if isinstance(value, list) else value
    return SimpleNamespace(**{name: one if name == "parameters" else _namespace(one) for name, one in value.items()})


def _of_detector(said: Any) -> dict[str, Any]:
    calls = [
        {"index": call.tool_index, "function": {"name": call.name or None, "arguments": call.parameters}}
        for call in said.calls
    ]
    return {"content": said.normal_text or None, "tool_calls": calls}


def _of_delta(said: Any) -> Any:
    if isinstance(said, dict):
        return said
    calls = [
        {"index": call.index, "id": getattr(call, "id", None), "function": _function(getattr(call, "function", None))}
        for call in getattr(said, "tool_calls", None) or ()
    ]
    return {"content": getattr(said, "content", None), "reasoning": getattr(said, "reasoning", None),
            "tool_calls": calls}  # fmt: skip


def _function(function: Any) -> dict[str, Any]:
    return {name: getattr(function, name, None) for name in ("name", "arguments")}
