"""As much of vLLM and SGLang as their adapters touch: names, signatures and order of the real ones, nothing else."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

WORDS: list[Any] = []  # what was called


def install(patch: pytest.MonkeyPatch, modules: Mapping[str, Mapping[str, Any]]) -> None:
    """Let these modules be importable, with these names in them."""
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        vars(module)["__path__"] = []
        patch.setitem(sys.modules, name, module)
    patch.setattr(metadata, "version", lambda name: "9.9")
    WORDS.clear()


class Parser:
    """A parser of vLLM: capital letters are reasoning, `f` is a call."""

    def __init__(self, tokenizer: Any, tools: Any, *, chat_template_kwargs: Any = None) -> None:
        WORDS.append(("made", tokenizer.get_vocab().get("<t>"), bool(tools), chat_template_kwargs))
        self.seen = ""

    def parse_delta(self, text: str, ids: list[int], request: Any, prompt: Any, *, finished: bool) -> Any:
        WORDS.append(("parse_delta", text, ids, prompt, finished))
        if not text:
            return None
        call = SimpleNamespace(index=0, id="i", function=SimpleNamespace(name="f", arguments="{}"))
        bare = SimpleNamespace(index=1, id=None, function=None)
        return SimpleNamespace(reasoning=None, content=text, tool_calls=[call, bare] if "f" in text else [])

    def adjust_request(self, *, request: Any) -> Any:
        WORDS.append(("adjust", request.tool_choice))
        return request

    def set_prompt_token_ids(self, ids: list[int]) -> None:
        WORDS.append(("prompt", ids))

    def parse(self, text: str, request: Any, enable_auto_tools: bool, model_output_token_ids: Any) -> Any:
        return None, text, [SimpleNamespace(name="f", arguments="{}")]


class Processor:
    """vLLM's chat stream processor."""

    def __init__(self, request: Any, parser: Any, *, enable_auto_tools: bool, parser_cls: Any) -> None:
        self._parser, self._request = parser, request

    def step(self, text: str, ids: list[int], finish: str | None, prompt: Any) -> Any:
        WORDS.append(("step", text, finish))
        found = self._parser.parse_delta(text, ids, self._request, prompt, finished=finish is not None)
        return SimpleNamespace(delta=found)


class ParserManager:
    """vLLM's."""

    @classmethod
    def get_parser(
        cls, *, tool_parser_name: Any, reasoning_parser_name: Any, enable_auto_tools: bool, **more: Any
    ) -> Any:
        WORDS.append(("get_parser", tool_parser_name, reasoning_parser_name, *more))
        return Parser


def vllm(*, processor: bool = True) -> dict[str, dict[str, Any]]:
    """The modules of vLLM; without the processor as in older releases."""
    request = lambda **given: SimpleNamespace(**given)  # noqa: E731
    fields = lambda request, reasoning, content, calls, **how: SimpleNamespace(  # noqa: E731
        reasoning=reasoning, content=content, tool_calls=[SimpleNamespace(function=call) for call in calls]
    )

    class Tools:
        tool_parsers: ClassVar[dict[str, Any]] = {"hermes": Parser}
        lazy_parsers: ClassVar[dict[str, Any]] = {"qwen3_coder": "module"}

        @classmethod
        def register_module(cls, *, name: str, module: Any, force: bool) -> None:
            cls.tool_parsers[name] = module

    found: dict[str, dict[str, Any]] = {
        "vllm": {},
        "vllm.parser": {"ParserManager": ParserManager},
        "vllm.tool_parsers": {"ToolParserManager": Tools},
        "vllm.reasoning": {"ReasoningParserManager": SimpleNamespace(reasoning_parsers={"qwen3": Parser})},
        "vllm.entrypoints.openai.chat_completion.protocol": {"ChatCompletionRequest": request},
    }
    if processor:
        found["vllm.entrypoints.openai.chat_completion.stream_processor"] = {"ChatStreamProcessor": Processor}
        found["vllm.entrypoints.openai.chat_completion.message_assembly"] = {"assemble_chat_message_fields": fields}
    return found


class Detector:
    """A detector of SGLang, which holds a text back and forgets to stream the end of its arguments."""

    reasoning_default = ""

    def __init__(self) -> None:
        self.prev_tool_call_arr: list[Any] = []
        self.streamed_args_for_tool: list[str] = []

    def parses_without_tools(self) -> bool:
        return False


class FunctionCallParser:
    """SGLang's."""

    ToolCallParserEnum: ClassVar[dict[str, Any]] = {"qwen25": Detector}

    def __init__(self, *, tools: Any, tool_call_parser: str) -> None:
        WORDS.append(("calls", tool_call_parser, len(tools)))
        self.detector = self.ToolCallParserEnum[tool_call_parser]()

    def has_tool_call(self, text: str) -> bool:
        return "f" in text

    def parse_non_stream(self, text: str) -> Any:
        return text.replace("f", ""), [SimpleNamespace(tool_index=0, name="f", parameters="{}")]

    def parse_stream_chunk(self, text: str) -> Any:
        WORDS.append(("chunk", text))
        if "f" not in text:
            return text, []
        self.detector.prev_tool_call_arr = [{"name": "f", "arguments": {"a": 1}}]
        self.detector.streamed_args_for_tool = ['{"a"']
        share = [SimpleNamespace(tool_index=0, name="f", parameters=""),
                 SimpleNamespace(tool_index=0, name=None, parameters='{"a"')]  # fmt: skip
        return "", share

    def parse_stream_end(self) -> Any:
        WORDS.append(("end",))
        return "!", []


class ReasoningParser:
    """SGLang's: all before `/` is reasoning."""

    DetectorMap: ClassVar[dict[str, Any]] = {"qwen3": Detector, "k2_horizon": Detector}

    def __init__(
        self,
        name: str,
        stream: bool,
        forced: bool = True,
        request: Any = None,
        *,
        tool_call_parser_active: bool = False,
    ) -> None:
        if name == "k2_horizon" and not forced:
            raise ValueError("it needs force_reasoning")
        self.detector = Detector()
        self.detector.reasoning_default = "always" if name == "k2_horizon" else "enable_thinking"
        if request is not None:
            WORDS.append(("reasoning", name, stream, forced, request.chat_template_kwargs, tool_call_parser_active))

    def parse_non_stream(self, text: str) -> Any:
        return text.partition("/")[::2]

    def parse_stream_chunk(self, text: str) -> Any:
        return (text, "") if text.isupper() else ("", text)

    def parse_stream_end(self) -> Any:
        return None, "?"


def sglang() -> dict[str, dict[str, Any]]:
    """The modules of SGLang."""
    return {
        "sglang": {},
        "sglang.srt": {},
        "sglang.srt.entrypoints": {},
        "sglang.srt.entrypoints.openai": {},
        "sglang.srt.entrypoints.openai.protocol": {"Tool": lambda **given: SimpleNamespace(**given)},
        "sglang.srt.function_call": {},
        "sglang.srt.function_call.function_call_parser": {"FunctionCallParser": FunctionCallParser},
        "sglang.srt.parser": {},
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": ReasoningParser},
    }
