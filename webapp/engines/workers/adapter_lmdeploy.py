"""LMDeploy's parsers (0.18), called as its chat runner calls them: one `ResponseParser` of two parsers,
`stream_chunk(text, ids, final=)` for every result of its engine, `parse_complete` for an answer that does not stream.

Where torch cannot be imported, all of the package is loaded that parsers need, which is not that.
"""

from __future__ import annotations

import importlib
import logging
import sys
import types
from collections.abc import Mapping
from importlib import metadata, util
from typing import Any

DEFAULT, HARMONY = "default", "gpt-oss"


def adapter() -> Lmdeploy:
    """The adapter."""
    return Lmdeploy()


class Lmdeploy:
    """All parsers by their names on the server's command line, and `gpt-oss`, which is one by itself."""

    def __init__(self) -> None:
        try:
            protocol = importlib.import_module("lmdeploy.serve.openai.protocol")
        except ImportError:
            stand_in()
            protocol = importlib.import_module("lmdeploy.serve.openai.protocol")
        self._request = protocol.ChatCompletionRequest
        self._all = importlib.import_module("lmdeploy.serve.parsers").ResponseParserManager.module_dict
        self._tools = importlib.import_module("lmdeploy.serve.parsers.tool_parser").ToolParserManager.module_dict
        reasoning = importlib.import_module("lmdeploy.serve.parsers.reasoning_parser")
        self._reasoning = reasoning.ReasoningParserManager.module_dict
        self._kinds: dict[tuple[str | None, str | None], Any] = {}

    def hello(self) -> dict[str, Any]:
        """What there is."""
        alone = [HARMONY] * (HARMONY in self._all)
        parsers = [{"name": name, "kind": "tool"} for name in [*sorted(self._tools), *alone]]
        return {
            "name": "lmdeploy",
            "version": metadata.version("lmdeploy"),
            "parsers": parsers + [{"name": name, "kind": "reasoning"} for name in sorted(self._reasoning)],
            "wants": "ids",
            "whole": True,
            "contract": "openai",
            "server": {"holds_text": "stop_strings", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        return _Stream(self._parser(asked), asked["table"]())

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of an answer that does not stream."""
        content, calls, reasoning = self._parser(asked).parse_complete(text, asked["table"]().fed(ids))
        told = [{"name": call.function.name, "arguments": call.function.arguments} for call in calls or ()]
        shares = [{"index": at, "function": one} for at, one in enumerate(told)]
        return {"reasoning": reasoning, "content": content, "tool_calls": shares}

    def _parser(self, asked: Mapping[str, Any]) -> Any:
        wanted = asked["request"]
        request = self._request(
            model=wanted.get("model") or "m",
            messages=[],
            tools=wanted.get("tools") or None,
            tool_choice=wanted.get("tool_choice", "auto") if wanted.get("tools") else "none",
            chat_template_kwargs=asked.get("template_kwargs") or None,
        )
        return self._kind(asked["parser"], asked.get("reasoning_parser"))(request)

    def _kind(self, name: str, reasoning: str | None) -> Any:
        """The class that the server makes of two names: they become its attributes, so each pair has its own."""
        if name == HARMONY:
            return self._all[HARMONY]
        tool: str | None = name
        if name not in self._tools:
            if name not in self._reasoning:
                raise LookupError("there is no parser " + name)
            tool, reasoning = None, name
        if (tool, reasoning) not in self._kinds:
            made: Any = type("ResponseParser", (self._all[DEFAULT],), {})
            made.set_parsers(reasoning_parser_name=reasoning, tool_parser_name=tool)
            self._kinds[tool, reasoning] = made
        return self._kinds[tool, reasoning]


class _Stream:
    """One answer as the server sends it."""

    def __init__(self, parser: Any, table: Any) -> None:
        self._parser = parser
        self._table = table

    def watched(self) -> list[Any]:
        """The parsers whose attributes are looked at."""
        inner = [getattr(self._parser, name, None) for name in ("reasoning_parser", "tool_parser")]
        return [one for one in [self._parser, *inner] if one is not None]

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta while the answer goes on."""
        return self._said(text, self._table.fed(ids), final=False)

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The last delta, which brings no text."""
        return self._said("", [], final=True)

    def _said(self, text: str, ids: list[int], final: bool) -> dict[str, Any] | None:
        found = [message for message, _ in self._parser.stream_chunk(text, ids, final=final)]
        if not found:
            return None
        texts = {
            key: "".join([getattr(one, key, None) or "" for one in found]) for key in ("reasoning_content", "content")
        }
        calls = [_call(call) for one in found for call in one.tool_calls or ()]
        return {
            "reasoning": texts["reasoning_content"] or None,
            "content": texts["content"] or None,
            "tool_calls": calls,
        }


def _call(call: Any) -> dict[str, Any]:
    function = call.function
    told = {} if function is None else {"name": function.name, "arguments": function.arguments}
    return {"index": call.index, "id": call.id, "function": told}


def stand_in() -> None:
    """Packages of LMDeploy whose `__init__` asks for torch, as bare folders, and of its tools the logger alone."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "lmdeploy"]:
        del sys.modules[name]  # what of it could be imported
    found = util.find_spec("lmdeploy")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    for name in ("", "serve", "serve/openai"):
        module = types.ModuleType(".".join(["lmdeploy", *name.split("/")]).rstrip("."))
        vars(module)["__path__"] = [folder + "/" + name for folder in folders]
        sys.modules[module.__name__] = module
    utils = types.ModuleType("lmdeploy.utils")
    vars(utils).update(get_logger=logging.getLogger)
    sys.modules["lmdeploy.utils"] = utils
