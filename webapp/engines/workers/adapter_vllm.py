"""vLLM's parsers, under the code that its chat server runs for every delta and for a whole answer.

`ChatStreamProcessor` and `assemble_chat_message_fields` are the server's own (0.33.0), and so is the parser that
`ParserManager` makes of a tool and a reasoning parser, be they built on its engine or written by hand. Where a release
has no processor (0.24 to 0.31), `parse_delta` is called as its server does. A parser of somebody's own is a class of
its bases, registered under its name before any is asked for. A plugin is imported as its server imports the file of
--tool-parser-plugin; that logs what goes wrong and goes on without it (0.33.0: utils/import_utils.py), here it is said.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from traceback import extract_tb
from typing import Any

os.environ.update(VLLM_LOGGING_LEVEL=os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"), VLLM_NO_USAGE_STATS="1")
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

STREAMS = "vllm.entrypoints.openai.chat_completion.stream_processor"
MESSAGES = "vllm.entrypoints.openai.chat_completion.message_assembly"
HARMONY = "openai"
REQUESTS = "vllm.entrypoints.openai.chat_completion.protocol"


def adapter(own: str | type = "", plugin: str = "") -> Vllm:
    """The adapter; `own` is a class of somebody's own, or its module:Class, `plugin` a file for
    --tool-parser-plugin."""
    return Vllm(own, plugin)


class Vllm:
    """All parsers by their names on the server's command line."""

    def __init__(self, own: str | type = "", plugin: str = "") -> None:
        self._manager = importlib.import_module("vllm.parser").ParserManager
        self._tools = importlib.import_module("vllm.tool_parsers").ToolParserManager
        self._reasoning = importlib.import_module("vllm.reasoning").ReasoningParserManager
        self._request = importlib.import_module(REQUESTS).ChatCompletionRequest
        self._step = _attribute(STREAMS, "ChatStreamProcessor")
        self._fields = _attribute(MESSAGES, "assemble_chat_message_fields")
        self._made: dict[tuple[str | None, str | None], Any] = {}
        self._own = None
        self._plugged = self._registered_by(plugin) if plugin else set()
        if own:
            found: Any = own if isinstance(own, type) else _attribute(*own.partition(":")[::2])
            self._own = found.__name__
            if hasattr(found, "parse_delta"):
                self._made[found.__name__, None] = found
            else:
                self._tools.register_module(name=found.__name__, module=found, force=True)

    def hello(self) -> dict[str, Any]:
        """What there is."""
        tool = [self._own] if self._own else _names(self._tools, "tool_parsers")
        reasoning = _names(self._reasoning, "reasoning_parsers")
        known = [("tool", name) for name in tool] + [("reasoning", name) for name in reasoning]
        return {
            "name": "vllm",
            "version": metadata.version("vllm"),
            "parsers": [{"name": name, "kind": kind, "plugin": (kind, name) in self._plugged} for kind, name in known],
            "wants": "ids",
            "whole": True,
            "contract": "vllm",
            "server": {"holds_text": "stop_strings", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def _registered_by(self, plugin: str) -> set[tuple[str, str]]:
        """Import a plugin: the parsers that it registers, be it in the place of others. Raises PluginError."""
        before = self._classes()
        _import_plugin(plugin)
        found = {key for key, kind in self._classes().items() if before.get(key) is not kind}
        if not found:
            words = "it registers no parser; give a class of it to ToolParserManager.register_module"
            raise PluginError(words, os.path.basename(plugin))
        return found

    def _classes(self) -> dict[tuple[str, str], Any]:
        """What is registered, by kind and name: a class, or where one is."""
        managers = ("tool", self._tools, "tool_parsers"), ("reasoning", self._reasoning, "reasoning_parsers")
        lists = [(kind, getattr(of, name, None)) for kind, of, own in managers for name in ("lazy_parsers", own)]
        return {(kind, name): there for kind, found in lists for name, there in (found or {}).items()}

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        return _Stream(self._parser(asked), self._step, asked)

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of an answer that does not stream."""
        made = self._parser(asked)
        if asked.get("prompt_ids") is not None:
            made.parser.set_prompt_token_ids(made.table.fed(asked["prompt_ids"]))
        how: dict[str, Any] = {"enable_auto_tools": True}
        fed = made.table.fed(ids)
        reasoning, content, calls = made.parser.parse(text, made.request, model_output_token_ids=fed, **how)
        if self._fields is not None:
            fields = self._fields(made.request, reasoning, content, calls, parser_cls=made.kind, **how)
            reasoning, content, calls = fields.reasoning, fields.content, [one.function for one in fields.tool_calls]
        shares = [
            {"index": at, "function": {"name": call.name, "arguments": call.arguments}}
            for at, call in enumerate(calls or [])
        ]
        return {"reasoning": reasoning, "content": content, "tool_calls": shares}

    def _parser(self, asked: Mapping[str, Any]) -> _Made:
        kind = self._kind(asked["parser"], asked.get("reasoning_parser"))
        wanted, table = asked["request"], asked["table"]()
        kwargs = asked.get("template_kwargs") or {}
        request = self._request(
            model=wanted.get("model") or "m",
            messages=[],
            tools=wanted.get("tools") or None,
            tool_choice=wanted.get("tool_choice", "auto") if wanted.get("tools") else "none",
            chat_template_kwargs=kwargs or None,
        )
        make = partial(kind, table, request.tools, chat_template_kwargs=kwargs)
        return _Made(make(), kind, self._adjusted(make(), kind, request, asked), table)

    def _adjusted(self, asking: Any, kind: Any, request: Any, asked: Mapping[str, Any]) -> Any:
        """The request as a parser wants it, under the renderer's own condition; another instance is asked, as there."""
        wanted = (
            getattr(kind, "always_adjust_request", False) or getattr(kind, "reasoning_parser_cls", None) is not None
        )
        if not (wanted or request.tool_choice != "none") or not hasattr(asking, "adjust_request"):
            return request
        prompt = asked.get("prompt_ids")
        if prompt is not None and hasattr(asking, "set_prompt_token_ids"):
            asking.set_prompt_token_ids(asked["table"]().fed(prompt))
        return asking.adjust_request(request=request)

    def _kind(self, name: str, reasoning: str | None) -> Any:
        tool: str | None = name
        if name not in _names(self._tools, "tool_parsers") and (name, None) not in self._made:
            tool, reasoning = None, name
        if (tool, reasoning) not in self._made:
            named: dict[str, Any] = {"tool_parser_name": tool, "reasoning_parser_name": reasoning}
            if tool == HARMONY:
                named["is_harmony"] = True  # as its server says of a gpt_oss model, whatever parsers are named
            self._made[tool, reasoning] = self._manager.get_parser(**named, enable_auto_tools=True)
        return self._made[tool, reasoning]


class _Made:
    """A parser for one answer, its class, the request as it was adjusted, and the tokens."""

    def __init__(self, parser: Any, kind: Any, request: Any, table: Any) -> None:
        self.parser = parser
        self.kind = kind
        self.request = request
        self.table = table


class _Stream:
    """One answer under the server's own step."""

    def __init__(self, made: _Made, processor: Any, asked: Mapping[str, Any]) -> None:
        self._made = made
        prompt = asked.get("prompt_ids")
        self._prompt = [] if prompt is None else made.table.fed(prompt)
        self._moves: list[list[str]] = []
        self._ended = False
        self._processor = None
        if processor is not None:
            self._processor = processor(made.request, made.parser, enable_auto_tools=True, parser_cls=made.kind)

    def watched(self) -> list[Any]:
        """The parsers whose attributes are looked at."""
        parser = self._made.parser
        inner = [getattr(parser, name, None) for name in ("_reasoning_parser", "_tool_parser", "_stream_state")]
        behind = [getattr(one, "_parser_engine", None) for one in inner]
        engines = [getattr(one, "_engine", None) for one in (parser, *behind)]
        held = [getattr(one, name, None) for one in engines for name in ("_lexer", "_scanner")]
        return [one for one in [*engines, parser, *inner, *behind, *held] if one is not None]

    def table(self) -> tuple[Any, Any, Any] | None:
        """What a parser on vLLM's own machine declares: transitions, terminals and the first state. From now on the
        transitions that it makes are kept."""
        machine = next((one for one in self.watched() if hasattr(getattr(one, "config", None), "transitions")), None)
        if machine is None:
            return None
        self._keep_moves(machine)
        config = machine.config
        return config.transitions, config.terminals, config.initial_state

    def moved(self) -> list[list[str]]:
        """The transitions since somebody asked last."""
        moves, self._moves = self._moves, []
        return moves

    def _keep_moves(self, machine: Any) -> None:
        on_terminal = machine._on_terminal

        def kept(terminal: str, *given: Any) -> Any:
            before = machine.state.name
            try:
                return on_terminal(terminal, *given)
            finally:
                self._moves.append([before, terminal, machine.state.name])

        machine._on_terminal = kept

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta while the answer goes on."""
        return self._said(text, self._made.table.fed(ids), None)

    def last(self, text: str, ids: list[int], reason: str | None) -> dict[str, Any] | None:
        """The last delta of an answer, where its server says with these tokens that they were the last."""
        self._ended = True
        return self._said(text, self._made.table.fed(ids), reason or "stop")

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The last delta, where it brings no text: that of the end token is left out."""
        return None if self._ended else self._said("", [], reason or "stop")

    def _said(self, text: str, ids: list[int], finish: str | None) -> dict[str, Any] | None:
        if self._processor is not None:
            return _plain(self._processor.step(text, ids, finish, self._prompt).delta)
        request = self._made.request
        return _plain(self._made.parser.parse_delta(text, ids, request, self._prompt, finished=finish is not None))


def _plain(delta: Any) -> dict[str, Any] | None:
    if delta is None:
        return None
    return {
        "reasoning": getattr(delta, "reasoning", None),
        "content": delta.content,
        "tool_calls": [_call(call) for call in delta.tool_calls or ()],
    }


def _call(call: Any) -> dict[str, Any]:
    function = call.function
    told = {} if function is None else {"name": function.name, "arguments": function.arguments}
    return {"index": call.index, "id": call.id, "function": told}


class PluginError(Exception):
    """A plugin cannot be used. It is told with the place in it."""

    def __init__(self, words: str, place: str) -> None:
        super().__init__(words)
        self.told_place = place


def _import_plugin(file: str) -> None:
    """Raises PluginError, whatever goes wrong in it."""
    name = os.path.splitext(os.path.basename(file))[0]
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not os.path.isfile(file):
        raise PluginError("there is no Python file " + file + "; give that of the plugin with --plugin", "")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        words = "{}: {}; vLLM logs that and serves without the plugin, so mend it and enter it again"
        raise PluginError(words.format(type(error).__name__, getattr(error, "msg", error)), _place(error)) from error


def _place(error: Exception) -> str:
    """Where it was raised."""
    if isinstance(error, SyntaxError):
        return "line {} of {}".format(error.lineno, os.path.basename(error.filename or ""))
    last = extract_tb(error.__traceback__)[-1]
    return f"{last.name}, line {last.lineno} of {os.path.basename(last.filename)}"


def _names(manager: Any, attribute: str) -> list[str]:
    lists = [getattr(manager, name, None) or {} for name in (attribute, "lazy_parsers")]
    return sorted({name for found in lists for name in found})


def _attribute(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        if module.startswith("vllm."):
            return None
        raise
