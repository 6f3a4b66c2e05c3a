"""transformers' `ResponseParser` (5.13 and newer) by the response template of a tokenizer, in your version of it.

The template is what `--tokenizer` names: a tokenizer_config.json, the folder of one, or the template alone. Regions go
where vLLM's server routes them: thinking is reasoning, content is content, and the calls of a region are sent when it
closes. The engine `response_template` runs the release that Toolcall Inspector itself has, and sees inside it.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from importlib import metadata
from typing import Any

NAME = "response_template"
_GIVE = "give --tokenizer a tokenizer_config.json, the folder of one, or a response template"
THINKING = ("reasoning_content", "reasoning", "thinking")


def adapter() -> Transformers:
    """The adapter."""
    return Transformers()


class Transformers:
    """The one parser of the template."""

    def __init__(self) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        self._library = importlib.import_module("transformers.utils.chat_parsing")
        self._template: Any = None

    def take_tokenizer(self, path: str) -> None:
        """Read the template of a tokenizer. Raises LookupError where it has none, or is no file of that kind."""
        file = os.path.join(path, "tokenizer_config.json") if os.path.isdir(path) else path
        found = _read(file)
        self._template = found.get("response_template") if "fields" not in found else found
        if self._template is None:
            raise LookupError("there is no response_template in " + os.path.basename(file))

    def hello(self) -> dict[str, Any]:
        """What there is."""
        return {
            "name": "transformers",
            "version": metadata.version("transformers"),
            "parsers": [{"name": NAME, "kind": "tool"}],
            "wants": "text",
            "whole": True,
            "tokenizer": "needed",
            "contract": "openai",
            "server": {"holds_text": "unknown", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        return _Stream(self._library.ResponseParser(*self._given(asked), **_request(asked)))

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of a whole answer."""
        found = self._library.parse_response(text, *self._given(asked), **_request(asked))
        thought = next((found[key] for key in THINKING if found.get(key)), None)
        calls = found.get("tool_calls") or []
        shares = [_share(at, call) for at, call in enumerate(calls if isinstance(calls, list) else [calls])]
        return {"reasoning": thought, "content": found.get("content"), "tool_calls": shares}

    def _given(self, asked: Mapping[str, Any]) -> list[Any]:
        if asked.get("parser", NAME) != NAME:
            raise LookupError("there is no parser " + str(asked["parser"]))
        return [self._template]


def _read(file: str) -> dict[str, Any]:
    """The object in a file. Raises LookupError, and OSError."""
    try:
        with open(file, encoding="utf-8") as stream:
            found = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise LookupError(f"{file} is not JSON ({error}); {_GIVE}") from error
    if not isinstance(found, dict):
        raise LookupError(file + " holds no JSON object; " + _GIVE)
    return found


def _request(asked: Mapping[str, Any]) -> dict[str, Any]:
    wanted = asked["request"]
    return {"prefix": wanted.get("prompt_tail") or "", "tools": wanted.get("tools") or None}


class _Stream:
    """One answer, by the events of its regions."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._calls = 0

    def watched(self) -> list[Any]:
        """The parser."""
        return [self._parser]

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta."""
        return self._said(self._parser.feed(text))

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The end."""
        return self._said(self._parser.finalize()[1])

    def _said(self, events: Any) -> dict[str, Any] | None:
        said = {"reasoning": "", "content": ""}
        calls: list[dict[str, Any]] = []
        for event in events:
            field, kind = event.get("field"), event["type"]
            if kind == "region_chunk" and (field == "content" or field in THINKING):
                said["content" if field == "content" else "reasoning"] += event["text"]
            elif kind == "region_close" and field == "tool_calls":
                found = event.get("value")
                calls += [self._next(one) for one in (found if isinstance(found, list) else [found])]
        if not calls and not any(said.values()):
            return None
        return {**{key: words or None for key, words in said.items()}, "tool_calls": calls}

    def _next(self, call: Any) -> dict[str, Any]:
        self._calls += 1
        return {**_share(self._calls - 1, call), "id": "call_" + str(self._calls - 1)}


def _share(index: int, call: Any) -> dict[str, Any]:
    told = call.get("function", call) if isinstance(call, dict) else {}
    arguments = told.get("arguments")
    whole = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"index": index, "function": {"name": told.get("name"), "arguments": whole}}
