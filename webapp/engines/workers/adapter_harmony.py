"""openai-harmony, the reference for gpt-oss: `StreamableParser`, fed one token id after the other.

What a server makes of its channels is the rule of vLLM's and SGLang's: `analysis` is reasoning; `final`, and
`commentary` to nobody, content; a message to `functions.NAME` a call of NAME. Its vocabulary is o200k: the folder of
`o200k_base.tiktoken` as tokenizer, or what the library keeps of an earlier download. Text that came without ids of that
vocabulary is encoded, special tokens included.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from importlib import metadata
from typing import Any

NAME = "StreamableParser"
CALLEE = "functions."


def adapter() -> Harmony:
    """The adapter."""
    return Harmony()


class Harmony:
    """The one parser there is."""

    def __init__(self) -> None:
        self._library = importlib.import_module("openai_harmony")
        self._encoding: Any = None

    def take_tokenizer(self, path: str) -> None:
        """Read the vocabulary from a folder, or the folder of a file."""
        os.environ["TIKTOKEN_ENCODINGS_BASE"] = path if os.path.isdir(path) else os.path.dirname(path)

    def hello(self) -> dict[str, Any]:
        """What there is. Raises LookupError where the vocabulary cannot be read."""
        try:
            self._encoding = self._library.load_harmony_encoding(self._library.HarmonyEncodingName.HARMONY_GPT_OSS)
        except Exception as error:
            given = os.environ.get("TIKTOKEN_ENCODINGS_BASE", "")
            where = "not in " + given if given else "kept by no earlier download"
            words = "its vocabulary is {} ({}): give the folder of o200k_base.tiktoken with --tokenizer PATH"
            raise LookupError(words.format(where, error)) from error
        return {
            "name": "openai-harmony",
            "version": metadata.version("openai-harmony"),
            "parsers": [{"name": NAME, "kind": "tool"}],
            "wants": "ids",
            "whole": True,
            "contract": "vllm",
            "server": {"holds_text": "unknown", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        _named(asked)
        role = self._library.Role.ASSISTANT
        return _Stream(self._library.StreamableParser(self._encoding, role=role), _Ids(self._encoding, asked))

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of a whole answer, by the library's own way of reading one."""
        _named(asked)
        tokens = _Ids(self._encoding, asked).of(text, ids)
        found = self._encoding.parse_messages_from_completion_tokens(tokens, self._library.Role.ASSISTANT)
        said = {"reasoning": "", "content": ""}
        calls: list[dict[str, Any]] = []
        for message in found:
            words = "".join([part.text for part in message.content])
            callee = _callee(message.recipient)
            if callee is not None:
                calls.append({"index": len(calls), "function": {"name": callee, "arguments": words}})
            elif message.recipient is None:
                said["reasoning" if message.channel == "analysis" else "content"] += words
        return {**{key: words or None for key, words in said.items()}, "tool_calls": calls}


def _named(asked: Mapping[str, Any]) -> None:
    if asked.get("parser", NAME) != NAME:
        raise LookupError("there is no parser " + str(asked["parser"]))


def _callee(recipient: str | None) -> str | None:
    """The tool that a message is for; None: it is for nobody, or for a tool of the server's own."""
    return recipient[len(CALLEE) :] if recipient and recipient.startswith(CALLEE) else None


class _Ids:
    """Ids of the vocabulary for what is fed."""

    def __init__(self, encoding: Any, asked: Mapping[str, Any]) -> None:
        self._encoding = encoding
        self._own: dict[int, list[int]] = {}
        for number, text in asked.get("tokens") or ():
            self._own[number] = [number] if self._spells(number, text) else self._encoded(text)

    def of(self, text: str, ids: list[int]) -> list[int]:
        """Those of a delta."""
        if ids and all(one in self._own for one in ids):
            return [own for one in ids for own in self._own[one]]
        return ids or self._encoded(text)

    def _spells(self, number: int, text: str) -> bool:
        try:
            return bool(self._encoding.decode([number]) == text)
        except Exception:
            return False

    def _encoded(self, text: str) -> list[int]:
        return list(self._encoding.encode(text, allowed_special="all"))


class _Stream:
    """One answer, told token by token."""

    def __init__(self, parser: Any, ids: _Ids) -> None:
        self._parser = parser
        self._ids = ids
        self._calls = -1
        self._open: str | None = None
        self.channel = self.recipient = ""

    def watched(self) -> list[Any]:
        """What is seen of a parser written in Rust: its channel and recipient. To read `state` costs all its tokens."""
        return [self]

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta."""
        said = {"reasoning": "", "content": ""}
        calls: list[dict[str, Any]] = []
        for one in self._ids.of(text, ids):
            self._parser.process(one)
            self._told(said, calls)
        return self._said(said, calls)

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The end, which the parser hears of; it may have kept half a character until now."""
        said = {"reasoning": "", "content": ""}
        calls: list[dict[str, Any]] = []
        self._parser.process_eos()
        self._told(said, calls)
        return self._said(said, calls)

    def _told(self, said: dict[str, str], calls: list[dict[str, Any]]) -> None:
        self.channel, self.recipient = self._parser.current_channel or "", self._parser.current_recipient or ""
        words, callee = self._parser.last_content_delta or "", _callee(self.recipient)
        if callee is None:
            self._open = None
            if words and not self.recipient:
                said["reasoning" if self.channel == "analysis" else "content"] += words
            return
        if self._open is None:
            self._open = callee
            self._calls += 1
            number = "call_" + str(self._calls)
            calls.append({"index": self._calls, "id": number, "function": {"name": callee, "arguments": ""}})
        if words:
            calls.append({"index": self._calls, "function": {"arguments": words}})

    def _said(self, said: dict[str, str], calls: list[dict[str, Any]]) -> dict[str, Any] | None:
        if not calls and not any(said.values()):
            return None
        return {**{key: words or None for key, words in said.items()}, "tool_calls": calls}
