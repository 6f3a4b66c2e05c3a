"""mlx-lm's tool parsers, under the code of its server (0.32): text goes through its `TextStateMachine`, which takes
markers out, and each block of calls through `parse_tool_call` and the server's `ToolCallFormatter`.

A server of mlx-lm sees one token at a time, streamed or not, and has no second path for whole outputs. `think` puts its
pair of reasoning markers around a parser: `--reasoning-parser think`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from importlib import metadata
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any

THINK = {"think": ("<think>", "</think>")}
PARSERS = "mlx_lm.tool_parsers"


def adapter() -> Mlx:
    """The adapter."""
    return Mlx()


class Mlx:
    """All parsers by the names of `tool_parser_type`."""

    def __init__(self) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        self._generate = importlib.import_module("mlx_lm.generate")
        self._server = importlib.import_module("mlx_lm.server")
        found = importlib.import_module(PARSERS)
        self._parsers = {
            one.name: importlib.import_module(PARSERS + "." + one.name) for one in iter_modules(found.__path__)
        }

    def hello(self) -> dict[str, Any]:
        """What there is."""
        parsers = [{"name": name, "kind": "tool"} for name in sorted(self._parsers)]
        return {
            "name": "mlx-lm",
            "version": metadata.version("mlx-lm"),
            "parsers": parsers + [{"name": name, "kind": "reasoning"} for name in THINK],
            "wants": "text",
            "contract": "openai",
            "server": {"holds_text": "stop_strings", "many_tokens": "never", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams. Raises LookupError for a parser that there is not."""
        return _Stream(self._machine(asked), self._formatter(asked), self._generate.TextStateMachine, asked)

    def _machine(self, asked: Mapping[str, Any]) -> Any:
        """The server's own state machine, by as much of a tokenizer as it looks at."""
        parser, pair = self._parsers.get(asked["parser"]), THINK.get(asked.get("reasoning_parser") or asked["parser"])
        if parser is None and pair is None:
            raise LookupError("there is no parser " + str(asked["parser"]))
        tokenizer = SimpleNamespace(
            has_thinking=pair is not None,
            think_start=(pair or ("", ""))[0],
            think_end=(pair or ("", ""))[1],
            has_tool_calling=parser is not None,
            tool_call_start=getattr(parser, "tool_call_start", None),
            tool_call_end=getattr(parser, "tool_call_end", None),
            structural_markers=[],
            response_transitions={},
        )
        return self._generate.make_text_state_machine(tokenizer)

    def _formatter(self, asked: Mapping[str, Any]) -> Any:
        parser = self._parsers.get(asked["parser"])
        reads = None if parser is None else parser.parse_tool_call
        return self._server.ToolCallFormatter(reads, asked["request"].get("tools") or [], True)


class _Stream:
    """One answer in the order of the server's loop."""

    def __init__(self, machine: Any, formatter: Any, steps: Any, asked: Mapping[str, Any]) -> None:
        self._formatter = formatter
        self._steps = steps
        self.state = machine.make_state("reasoning" if asked["request"].get("reasoning_open") else "normal")
        self.before = self.state[0]
        self.content = self.reasoning = self.block = ""
        self.blocks: list[str] = []

    def watched(self) -> list[Any]:
        """What the server keeps between tokens."""
        return [self]

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta."""
        self.state, segments = self._steps.split(self.state, text)
        return self._said(segments)

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The last delta: what is held is dropped at a stop, and sent where the output was cut."""
        if reason == "length":
            self.state, held, name = self._steps.flush(self.state)
        else:
            (self.state, name), held = self._steps.discard(self.state), ""
        said = self._said([(name, held)])
        if self.before == "tool" and self.block:
            self.blocks.append(self.block)
        return _joined(said, self._sent())

    def _said(self, segments: Any) -> dict[str, Any] | None:
        now = self.before
        for now, text in segments:
            if now == "reasoning":
                self.reasoning += text
            elif now == "tool":
                self.block += text
            elif now == "normal":
                if self.before == "tool":
                    self.blocks.append(self.block)
                    self.block = ""
                self.content += text
            self.before = now
        return self._sent() if now != "tool" and (self.content or self.blocks or self.reasoning) else None

    def _sent(self) -> dict[str, Any]:
        calls = [
            {"index": call["index"], "id": call["id"], "function": call["function"]}
            for call in self._formatter(self.blocks)
        ]
        said = {"reasoning": self.reasoning or None, "content": self.content or None, "tool_calls": calls}
        self.content = self.reasoning = ""
        self.blocks = []
        return said


def _joined(first: dict[str, Any] | None, second: dict[str, Any]) -> dict[str, Any]:
    """Two chunks that leave at one step."""
    if first is None:
        return second
    texts = {key: (first[key] or "") + (second[key] or "") or None for key in ("reasoning", "content")}
    return {**texts, "tool_calls": first["tool_calls"] + second["tool_calls"]}
