"""Our parsers in the shape of vLLM's: a tool parser and a reasoning parser, made for a name of its registries.

Shapes: ToolParser and ReasoningParser of vLLM 0.33.0 (vllm/tool_parsers/abstract_tool_parser.py and
vllm/reasoning/abs_reasoning_parsers.py). A whole output is read under many chunkings. By ids, what a test streams
reaches the parser by whole tokens: text that may become a marker waits for the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from parsers.formats.contracts import Contract
from parsers.selection.registry import get_format
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Context, Message, Tool
from parsers.wire.assemble import delta_of
from tests.truth.served import PLAIN, Reader, Run, Streaming
from tests.truth.tokens import StandInTokenizer

_NUMBERS = count()
_NOTATIONS = {"xml": "tags", "xml_typed": "typed_tags", "json": "json"}
_TURNS = {"gemma4": "<|turn>"}  # where a prompt of several turns is told from an output: the last turn counts
_SWITCHES = ("thinking", "enable_thinking")  # options of chat templates; one without them always opens reasoning
_STRIPPING = frozenset(("hunyuan_a13b", "step3p5"))  # vLLM's other reasoning parsers cut nothing off


def _new_id() -> str:
    return f"call-{next(_NUMBERS):032}"


@dataclass(slots=True)
class Now:
    """The run, and the test of it that is running."""

    run: Run = Run()  # noqa: RUF009 - it is frozen
    test: str = ""

    def contract(self, own: Contract) -> Contract:
        """The contract of the test."""
        return self.run.contract(self.test, own)


NOW = Now()


class Open(BaseModel):
    """A value of the protocol that holds whatever it is given."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)


class FunctionCall(Open):
    """The name and arguments of a call."""

    name: str = ""
    arguments: str = ""


class ToolCall(Open):
    """A call of a whole answer."""

    id: str = Field(default_factory=_new_id)
    type: Literal["function"] = "function"
    function: FunctionCall


class DeltaFunctionCall(Open):
    """A piece of a call."""

    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(Open):
    """A piece of a call, and which call it is of."""

    id: str | None = None
    type: Literal["function"] | None = None
    index: int
    function: DeltaFunctionCall | None = None


class ExtractedToolCallInformation(Open):
    """What a tool parser makes of a whole output."""

    tools_called: bool
    tool_calls: list[ToolCall]
    content: str | None = None


class DeltaMessage(Open):
    """What a parser sends for a delta."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[DeltaToolCall] = Field(default_factory=list)


class FunctionDefinition(Open):
    """A declared function."""

    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolParam(Open):
    """A declared tool."""

    type: str = "function"
    function: FunctionDefinition = Field(default_factory=FunctionDefinition)


class ChatRequest(Open):
    """A request."""

    tools: list[ToolParam] | None = None
    tool_choice: Any = None
    chat_template_kwargs: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in (self.model_extra or {}):
            return super().__getattr__(name)  # type: ignore[misc]
        pytest.skip(f"request: {name}")


class Kind(type):
    """A class of parsers. What a test asks of it that it has not is a parser's inside."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"inside: {name}")


class _Adapter(metaclass=Kind):
    """What both kinds share. `parser` is a built-in format, `prefix` what its server puts before the output."""

    parser: ClassVar[str | None] = None
    named: ClassVar[str] = ""
    prefix: ClassVar[str] = ""

    def __init__(self, tokenizer: Any = None, tools: Any = None, **options: Any) -> None:
        if self.parser is None:
            pytest.skip(f"format: {self.named} is not built in")
        self.model_tokenizer = tokenizer if tokenizer is not None else StandInTokenizer()
        self.tools = list(tools or ())
        self.options = options
        self._fmt = get_format(self.parser)
        keeps = "reasoning_tail" in self._fmt.policies and self.named not in _STRIPPING
        own = Contract(name="vllm", reasoning_tail=("keep",)) if keeps else PLAIN
        self._contract = NOW.contract(own)
        self._streaming: Streaming | None = None
        self._fed = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"inside: {name}")

    @property
    def vocab(self) -> dict[str, int]:
        """Ids by text."""
        found: dict[str, int] = self.model_tokenizer.get_vocab()
        return found

    def _context(self, request: Any) -> Context:
        given = [one for one in [*(getattr(request, "tools", None) or ()), *self.tools] if one is not None]
        choice = request.tool_choice if isinstance(request, ChatRequest) else None
        named = (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None
        return Context(tools=tuple(_tools(given)), tool_choice="named" if named else "auto", named_tool=named)

    def _policies(self, request: Any) -> Mapping[str, str]:
        """What a request says of how calls are written (K2 Horizon's tool_call_format)."""
        if self.named != "k2_horizon" or not isinstance(request, ChatRequest):
            return {}
        asked = (request.chat_template_kwargs or {}).get("tool_call_format", "xml")
        return {"call_notation": _NOTATIONS.get(asked, "any")}

    def _whole(self, text: str, request: Any) -> Message:
        context, policies = self._context(request), self._policies(request)
        reader = Reader(self._fmt, context, self._contract, NOW.run.mode, policies=policies)
        return reader.message(self.prefix + text)

    def _step(self, before: str, current: str, text: str, request: Any) -> DeltaMessage | None:
        in_the_middle = bool(before) and before != self._fed
        if self._streaming is None or in_the_middle or (not before and current == text):
            context, policies = self._context(request), self._policies(request)
            self._streaming = Streaming(self._fmt, context, self._contract, NOW.run.mode, policies)
            begun = self.prefix + before if before else ""
            self._streaming.feed(begun)
            self._fed = before
        text, added = (text if self._fed else self.prefix + text), text
        self._fed += added
        return self._sent(self._streaming.feed(text))

    def _finished(self) -> DeltaMessage | None:
        streaming, self._streaming = self._streaming, None
        return None if streaming is None else self._sent(streaming.finish())

    def _sent(self, events: Sequence[Event]) -> DeltaMessage | None:
        sent = delta_of(events)
        if sent is None:
            return None
        calls = [
            DeltaToolCall(
                index=one.index,
                id=(one.id or _new_id()) if one.name else None,
                type="function" if one.name else None,
                function=DeltaFunctionCall(name=one.name or None, arguments=one.arguments),
            )
            for one in sent.tool_calls
        ]
        return DeltaMessage(content=sent.content, reasoning=sent.reasoning, tool_calls=calls)


class ToolParser(_Adapter):
    """A format as a tool parser."""

    def extract_tool_calls(self, model_output: str, request: Any = None) -> ExtractedToolCallInformation:
        """Read a whole output."""
        message = self._whole(model_output, request)
        calls = [
            ToolCall(id=one.id or _new_id(), function=FunctionCall(name=one.name, arguments=one.arguments))
            for one in message.tool_calls
        ]
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=message.content)

    def extract_tool_calls_streaming(
        self, previous_text: str, current_text: str, delta_text: str, *ids: Any, **more: Any
    ) -> DeltaMessage | None:
        """Read a delta; the first one begins anew."""
        request = more.get("request", ids[3] if len(ids) > 3 else None)
        return self._step(previous_text, current_text, delta_text, request)

    def finish_streaming(self) -> DeltaMessage | None:
        """The end of a stream."""
        return self._finished()

    def flush_pending_normal_text(self) -> str:
        """The text that was held back when the stream ended."""
        sent = self._finished()
        return "" if sent is None else sent.content or ""


class ReasoningParser(_Adapter):
    """A format as a reasoning parser: calls are text. `opened`: the prompt left reasoning open, unless told not to."""

    opened: ClassVar[bool] = False
    by_effort: ClassVar[bool] = False  # only where the request says how much to think
    thinks: ClassVar[str | None] = None  # the format that tells reasoning where all of the output is content

    def _asked(self, request: Any) -> Mapping[str, Any]:
        """What the request says to the chat template."""
        asked = getattr(request, "chat_template_kwargs", None) if isinstance(request, ChatRequest) else None
        return {**(self.options.get("chat_template_kwargs") or {}), **(asked or {})}

    def _context(self, request: Any) -> Context:
        kwargs = self._asked(request)
        template = vars(self.model_tokenizer).get("chat_template")
        switches = [key for key in _SWITCHES if not isinstance(template, str) or key in template]
        off = [key for key in switches if key in kwargs and not kwargs[key]]
        off += [key for key in ("reasoning_effort",) if kwargs.get(key) in ("no_think", "none")]
        opened = (self.opened and (not self.by_effort or "reasoning_effort" in kwargs)) or kwargs.get(
            "thinking_mode"
        ) == "enabled"
        return Context(tool_choice="none", reasoning_open=opened and not off)

    def extract_reasoning(self, model_output: str, request: Any = None) -> tuple[str | None, str | None]:
        """Reasoning and the rest of a whole output."""
        message = self._whole(model_output, request)
        return message.reasoning, message.content

    def extract_reasoning_streaming(
        self, previous_text: str, current_text: str, delta_text: str, *_ids: Any, **_more: Any
    ) -> DeltaMessage | None:
        """Read a delta; the first one begins anew."""
        return self._step(previous_text or "", current_text, delta_text, None)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Return whether reasoning is over after these tokens."""
        if not isinstance(self.model_tokenizer, StandInTokenizer):
            pytest.skip("tokenizer: the test has one of its own")
        text, turn = self.model_tokenizer.decode(list(input_ids)), _TURNS.get(self.named, "")
        fmt = get_format(self.thinks) if self.thinks else self._fmt
        context = replace(self._context(None), reasoning_open=True) if self.thinks else self._context(None)
        if turn and turn in text:
            text, context = text[text.rfind(turn) :], replace(context, reasoning_open=self._thinks_anew)
        streaming = Streaming(fmt, context, self._contract)
        streaming.feed(text)
        return fmt.states[streaming.state].text != "reasoning"

    @property
    def _thinks_anew(self) -> bool:
        """Return whether the model is asked to reason in a new turn."""
        return bool(self._asked(None).get("enable_thinking"))

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Sequence[int]) -> bool:
        """Return whether reasoning is over after all tokens so far, of which the last ones came just now."""
        return self.is_reasoning_end(input_ids)

    def extract_content_ids(self, input_ids: Sequence[int]) -> list[int]:
        """The tokens behind reasoning."""
        ends = [at for at in range(1, len(input_ids) + 1) if self.is_reasoning_end(input_ids[:at])]
        return list(input_ids[ends[0] :]) if ends else []


def _tools(given: Sequence[Any]) -> Iterator[Tool]:
    for one in given:
        found = one if isinstance(one, dict) else one.model_dump() if hasattr(one, "model_dump") else vars(one)
        found = found.get("function") or found
        found = found if isinstance(found, dict) else vars(found)
        yield Tool(str(found.get("name")), parameters=found.get("parameters") or {})
