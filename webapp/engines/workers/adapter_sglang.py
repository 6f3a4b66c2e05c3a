"""SGLang's parsers, called in the order of its chat server (0.23): reasoning first, calls on what that leaves.

At the end of a stream both parsers are asked for what they hold, and the rest of the last call's arguments is added,
as the server does. Where torch or another package is absent, all is loaded that parsers need, which is not that.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from collections.abc import Mapping
from functools import partial
from importlib import metadata, util
from typing import Any


def adapter(own: str | type = "") -> Sglang:
    """The adapter; `own` is a detector class of somebody's own, or its module:Class."""
    return Sglang(own)


class Sglang:
    """All parsers by their names on the server's command line."""

    def __init__(self, own: str | type = "") -> None:
        try:
            protocol = importlib.import_module("sglang.srt.entrypoints.openai.protocol")
        except ImportError:
            stand_in()
            protocol = importlib.import_module("sglang.srt.entrypoints.openai.protocol")
        self._tool = protocol.Tool
        self._calls = importlib.import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
        self._reasoning = importlib.import_module("sglang.srt.parser.reasoning_parser").ReasoningParser
        self._named = self._calls.ToolCallParserEnum
        self._always: dict[str, bool] = {}
        self._own = None
        if own:
            found: Any = own if isinstance(own, type) else _imported(own)
            self._own = found.__name__
            self._named[found.__name__] = found

    def hello(self) -> dict[str, Any]:
        """What there is."""
        tool = [self._own] if self._own else sorted(self._named)
        reasoning = sorted(self._reasoning.DetectorMap)
        parsers = [{"name": name, "kind": "tool"} for name in tool]
        return {
            "name": "sglang",
            "version": metadata.version("sglang"),
            "parsers": parsers + [{"name": name, "kind": "reasoning"} for name in reasoning],
            "wants": "text",
            "whole": True,
            "contract": "sglang",
            "server": {"holds_text": "stop_strings", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        return _Stream(*self._parsers(asked))

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of an answer that does not stream."""
        calls, reasoning = self._parsers(asked)
        thought = ""
        if reasoning is not None:
            thought, text = reasoning.parse_non_stream(text)
        shares: list[dict[str, Any]] = []
        if calls is not None and calls.has_tool_call(text):
            text, found = calls.parse_non_stream(text)
            told = [{"name": call.name, "arguments": call.parameters} for call in found]
            shares = [{"index": at, "function": one} for at, one in enumerate(told)]
        return {"reasoning": thought or None, "content": text or None, "tool_calls": shares}

    def _parsers(self, asked: Mapping[str, Any]) -> tuple[Any, Any]:
        name, thinking = asked["parser"], asked.get("reasoning_parser")
        wanted = asked["request"]
        tools = [self._tool(**tool) for tool in wanted.get("tools") or ()]
        if name not in self._named:
            return None, self._thinker(name, asked)
        calls = self._calls(tools=tools, tool_call_parser=name)
        idle = (not tools and not calls.detector.parses_without_tools()) or wanted.get("tool_choice") == "none"
        return None if idle else calls, None if thinking is None else self._thinker(thinking, asked)

    def _thinker(self, name: str, asked: Mapping[str, Any]) -> Any:
        given = types.SimpleNamespace(
            chat_template_kwargs=asked.get("template_kwargs") or {},
            continue_final_message=False,
            messages=[],
        )
        forced = bool(asked["request"].get("reasoning_open")) or self._is_always_open(name)
        return self._reasoning(name, True, forced, given, tool_call_parser_active=bool(asked["request"].get("tools")))

    def _is_always_open(self, name: str) -> bool:
        """Whether the server takes reasoning for open with every request, where no chat template says otherwise (its
        serving_chat.py, _get_reasoning_from_request): it asks a parser of its own what is usual."""
        if name not in self._always:
            try:
                usual = getattr(self._reasoning(name, True).detector, "reasoning_default", None)
            except (TypeError, ValueError):
                usual = None
            self._always[name] = usual == "always"
        return self._always[name]


def _imported(own: str) -> Any:
    module, _, name = own.partition(":")
    return getattr(importlib.import_module(module), name)


class _Stream:
    """One answer as the server sends it."""

    def __init__(self, calls: Any, reasoning: Any) -> None:
        self._calls = calls
        self._reasoning = reasoning

    def watched(self) -> list[Any]:
        """The detectors whose attributes are looked at."""
        return [one.detector for one in (self._reasoning, self._calls) if one is not None]

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta while the answer goes on."""
        return self._said(text, end=False)

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The last delta."""
        return self._said("", end=reason != "abort")

    def _said(self, text: str, end: bool) -> dict[str, Any] | None:
        thought: str | None = None
        if self._reasoning is not None:
            thought, left = self._reasoning.parse_stream_chunk(text)
            if end:
                more, rest = self._reasoning.parse_stream_end()
                thought, left = (thought or "") + (more or ""), (left or "") + (rest or "")
            text = left or ""
        if self._calls is None:
            return _plain(thought, text, [])
        content, calls = self._calls.parse_stream_chunk(text)
        if end:
            last, others = self._calls.parse_stream_end()
            content, calls = (content or "") + last, [*calls, *others]
        shares = [_share(call.tool_index, call.name, call.parameters) for call in calls]
        return _plain(thought, content, shares + (_unstreamed(self._calls.detector) if end else []))


def _plain(thought: str | None, content: str | None, calls: list[Any]) -> dict[str, Any] | None:
    if not (thought or content or calls):
        return None
    return {"reasoning": thought or None, "content": content or None, "tool_calls": calls}


def _share(index: int, name: str | None, arguments: str | None) -> dict[str, Any]:
    return {
        "index": index,
        "id": "call_" + str(index) if name else None,
        "function": {"name": name or None, "arguments": arguments},
    }


def _unstreamed(detector: Any) -> list[dict[str, Any]]:
    """The rest of the last call's arguments that were parsed and not sent."""
    found, sent = getattr(detector, "prev_tool_call_arr", None), getattr(detector, "streamed_args_for_tool", None)
    if not found or not sent or len(found) > len(sent):
        return []
    arguments, last = found[-1].get("arguments", {}), sent[len(found) - 1]
    whole = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return [_share(len(found) - 1, None, whole[len(last) :])] if whole.startswith(last) and whole != last else []


def stand_in() -> None:
    """Packages of SGLang whose `__init__` asks for torch, as bare folders, and what parsers only name, as empty."""
    pydantic = importlib.import_module("pydantic")
    for name in [name for name in sys.modules if name.partition(".")[0] == "sglang"]:
        del sys.modules[name]  # what of it could be imported
    found = util.find_spec("sglang")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    for name in ("", ".srt", ".srt.entrypoints", ".srt.entrypoints.openai"):
        module = types.ModuleType("sglang" + name)
        vars(module)["__path__"] = [os.path.join(folder, *name.split(".")[1:]) for folder in folders]
        sys.modules[module.__name__] = module
    function = pydantic.create_model(
        "Function", name=(str, ...), description=(Any, None), parameters=(Any, None), strict=(bool, False)
    )
    tool = pydantic.create_model("Tool", type=(str, "function"), function=(function, ...))
    _empty_module("sglang.srt.entrypoints.openai.protocol", Function=function, Tool=tool)
    absent = [name for name in ("xgrammar", "transformers") if util.find_spec(name) is None]
    for name in [*absent, *["xgrammar.structural_tag"] * ("xgrammar" in absent)]:
        _empty_module(name)


def _empty_module(name: str, **known: Any) -> None:
    """A module in which every name that is not known is an empty class."""
    module = types.ModuleType(name)
    vars(module).update(known)
    vars(module)["__getattr__"] = partial(_empty_class, module)
    sys.modules[name] = module


def _empty_class(module: types.ModuleType, name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    made = type(name, (), {})
    setattr(module, name, made)
    return made
