"""A package `sglang` that is none: every module its parsers' tests import, with our parsers under its names.

Shapes: BaseFormatDetector, StreamingParseResult and ToolCallItem of SGLang 0.5.23 (sglang/srt/function_call), and the
detectors and ReasoningParser of sglang/srt/parser/reasoning_parser.py. Which class has which name is read from the
given source tree; what a detector keeps for itself is equal to anything, so that a test goes on to what was sent.
"""

from __future__ import annotations

import ast
import json
import sys
import unittest
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from pydantic import Field

from parsers.formats.contracts import Contract, builtin_contracts
from parsers.selection.registry import get_format
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Context, Tool, ToolCallDelta
from parsers.wire.assemble import delta_of
from tests.truth.adapters import NOW, FunctionDefinition, Kind, Open
from tests.truth.constants import constants_of
from tests.truth.served import Reader, Streaming

_ROOTS = ("sglang", "xgrammar")
_ALIASES = Path(__file__).resolve().parents[2] / "docs" / "aliases.json"
_OPENED = frozenset(("deepseek-r1", "step3", "step3p5", "qwen3-thinking", "minimax", "gpt-oss"))
_PREFIX = {"minimax-append-think": "<think>"}
_BY_TAG = {"<think>": "qwen3"}
_WHOLE = frozenset(
    ("pythonic", "lfm2", "gemma4", "minicpm5", "muse", "kimi_k3", "inkling")
)  # detectors that send a whole call, as one item


class ToolCallItem(Open):
    """A call, or a piece of it."""

    tool_index: int
    name: str | None = None
    parameters: str = ""


class StreamingParseResult(Open):
    """What a detector found: text, reasoning, calls."""

    normal_text: str = ""
    reasoning_text: str = ""
    calls: list[ToolCallItem] = Field(default_factory=list)

    def __init__(self, normal_text: str = "", reasoning_text: str = "", **more: Any) -> None:
        super().__init__(normal_text=normal_text, reasoning_text=reasoning_text, **more)


class DeclaredTool(Open):
    """A declared tool."""

    type: str = "function"
    function: FunctionDefinition = Field(default_factory=FunctionDefinition)


class _Kept:
    """What a detector keeps for itself."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        pytest.skip("inside: what is kept")

    def __call__(self, *_given: Any, **_named: Any) -> Any:
        pytest.skip("inside: what is called")

    def __getattr__(self, name: str) -> Any:
        pytest.skip(f"inside: {name}")


class _Detector(metaclass=Kind):
    """A format as a detector."""

    parser: ClassVar[str | None] = None
    named: ClassVar[str] = ""
    guided: ClassVar[bool] = False

    def __init__(self, *_given: Any, **_named: Any) -> None:
        if self.parser is None:
            pytest.skip(f"format: {self.named} is not built in")
        self._fmt = get_format(self.parser)
        self._contract = NOW.contract(self._own())
        self._streaming: Streaming | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and not name.startswith("__"):
            return _Kept()
        if name.startswith("__") or name == "build_ebnf":
            raise AttributeError(name)
        pytest.skip(f"inside: {name}")

    def _own(self) -> Contract:
        whole = {"truncated_call": ("text",)} if self.named in _WHOLE else {}
        return builtin_contracts()["sglang"].model_copy(update=whole)

    def _context(self, tools: Any) -> Context:
        given = [(tool if isinstance(tool, dict) else tool.model_dump())["function"] for tool in tools or ()]
        declared = [Tool(str(one.get("name")), parameters=one.get("parameters") or {}) for one in given]
        return Context(tools=tuple(declared), tool_choice="required" if self.guided else "auto")

    def detect_and_parse(self, text: str, tools: Any = None) -> StreamingParseResult:
        """Read a whole output."""
        message = Reader(self._fmt, self._context(tools), self._contract, NOW.run.mode).message(text)
        calls = [
            ToolCallItem(tool_index=at, name=call.name, parameters=call.arguments)
            for at, call in enumerate(message.tool_calls)
        ]
        return StreamingParseResult(message.content or "", message.reasoning or "", calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: Any = None) -> StreamingParseResult:
        """Read a delta."""
        if self._streaming is None:
            self._streaming = Streaming(self._fmt, self._context(tools), self._contract, NOW.run.mode)
        return self._result(self._streaming.feed(new_text))

    def finish(self, tools: Any = None) -> StreamingParseResult:
        """The end of the output."""
        streaming, self._streaming = self._streaming, None
        return self._result(streaming.finish() if streaming is not None else [])

    def _result(self, events: Sequence[Event]) -> StreamingParseResult:
        sent = delta_of(events)
        if sent is None:
            return StreamingParseResult()
        calls = [piece for call in sent.tool_calls for piece in self._pieces(call)]
        return StreamingParseResult(sent.content or "", sent.reasoning or "", calls=calls)

    def _pieces(self, call: ToolCallDelta) -> Iterator[ToolCallItem]:
        """A call's name goes out by itself, its arguments after it."""
        if call.name and self.named in _WHOLE:
            yield ToolCallItem(tool_index=call.index, name=call.name, parameters=call.arguments or "")
            return
        if call.name:
            yield ToolCallItem(tool_index=call.index, name=call.name)
        if call.arguments:
            yield ToolCallItem(tool_index=call.index, parameters=call.arguments)


class _ReasoningDetector(_Detector):
    """A format as a detector of reasoning: calls are text."""

    def __init__(self, *given: Any, force_reasoning: bool = False, **named: Any) -> None:
        start = given[0] if given else named.get("think_start_token")
        if isinstance(start, str):
            self.parser = _BY_TAG.get(start)  # type: ignore[misc]
        elif self.named in _PREFIX:
            self.parser = "passthrough"  # type: ignore[misc]
        for option in ("continue_final_message", "force_nonempty_content"):
            if named.get(option):
                pytest.skip(f"request: {option}")
        self._opened = force_reasoning or self.named in _OPENED
        super().__init__()
        if named.get("stream_reasoning") is False:
            pytest.skip("request: stream_reasoning")

    def _context(self, tools: Any) -> Context:
        return Context(tool_choice="none", reasoning_open=self._opened)

    def detect_and_parse(self, text: str, tools: Any = None) -> StreamingParseResult:
        """Read a whole output."""
        return super().detect_and_parse(_PREFIX.get(self.named, "") + text)

    def parse_streaming_increment(self, new_text: str, tools: Any = None) -> StreamingParseResult:
        """Read a delta."""
        prefix = _PREFIX.get(self.named, "") if self._streaming is None else ""
        return super().parse_streaming_increment(prefix + new_text)


class SglangStandIn(MetaPathFinder, Loader):
    """Finds every module of SGLang."""

    def __init__(self, source: Path) -> None:
        self._source = source
        found = json.loads(_ALIASES.read_text("utf-8"))["engines"]
        aliases = next(one for one in found if one["name"] == "SGLang")
        folder = source / "python" / "sglang" / "srt"
        tools = _registry(folder / "function_call" / "function_call_parser.py", "ToolCallParserEnum")
        thoughts = _registry(folder / "parser" / "reasoning_parser.py", "DetectorMap")
        self._tools = _kinds(_Detector, tools, aliases["tool"])
        self._thoughts = _kinds(_ReasoningDetector, thoughts, aliases["reasoning"])
        guided = {"parser": "passthrough", "guided": True, "named": "guided"}
        self._tools["JsonArrayParser"] = Kind("JsonArrayParser", (_Detector,), guided)
        self._by_name = {name: self._thoughts[cls] for name, cls in thoughts.items()}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Every module of these packages is found."""
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in _ROOTS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module whose names are looked up when they are asked for."""
        module = ModuleType(spec.name)
        kinds = self._thoughts if spec.name.endswith("reasoning_parser") else self._tools
        path = self._source.joinpath("python", *spec.name.split(".")).with_suffix(".py")
        module.__dict__["__getattr__"] = lambda name: constants_of(path).get(name) or self._lookup(kinds, name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed."""

    def _lookup(self, kinds: Mapping[str, type], name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        match name:
            case "register_cpu_ci":
                return lambda *_given, **_named: None
            case "CustomTestCase":
                return unittest.TestCase
            case "Tool":
                return DeclaredTool
            case "Function":
                return FunctionDefinition
            case "StreamingParseResult":
                return StreamingParseResult
            case "ToolCallItem":
                return ToolCallItem
            case "BaseReasoningFormatDetector":
                return _ReasoningDetector
            case "ReasoningParser":
                return self._reasoning_parser
        return kinds.get(name) or _Inside

    def _reasoning_parser(self, model_type: str | None = None, **options: Any) -> Any:
        if not model_type or model_type.lower() not in self._by_name:
            raise ValueError("Model type must be specified" if not model_type else "Unsupported model type")
        return _ReasoningParser(self._by_name[model_type.lower()](**options))


class _Inside(metaclass=Kind):
    """Something of SGLang that has no counterpart."""

    def __init__(self, *_given: Any, **_named: Any) -> None:
        pytest.skip("inside: no counterpart")


class _ReasoningParser:
    """A detector of reasoning by the name of a model's family."""

    def __init__(self, detector: Any) -> None:
        self.detector = detector

    def parse_non_stream(self, full_text: str) -> tuple[str, str]:
        """Reasoning and the rest of a whole output."""
        found = self.detector.detect_and_parse(full_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_chunk(self, chunk_text: str) -> tuple[str, str]:
        """Reasoning and the rest of a delta."""
        found = self.detector.parse_streaming_increment(chunk_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_end(self) -> tuple[str, str]:
        """Reasoning and the rest of what waited."""
        found = self.detector.finish()
        return found.reasoning_text, found.normal_text


def _kinds(base: type, names: Mapping[str, str], formats: Mapping[str, str | None]) -> dict[str, type]:
    kinds: dict[str, type] = {}
    for name, cls in names.items():
        kinds.setdefault(cls, Kind(cls, (base,), {"parser": formats.get(name), "named": name}))
    return kinds


def _registry(path: Path, table: str) -> dict[str, str]:
    """The classes by name in a dictionary of a file of SGLang's."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == table:
            assert isinstance(node.value, ast.Dict)
            pairs = zip(node.value.keys, node.value.values, strict=True)
            named = [(key, cls.id) for key, cls in pairs if key is not None and isinstance(cls, ast.Name)]
            return {ast.literal_eval(key): cls for key, cls in named}
    return {}


def install_sglang(source: Path) -> None:
    """Have imports of SGLang end here."""
    sys.meta_path.insert(0, SglangStandIn(source))
    for name in [name for name in sys.modules if name.partition(".")[0] in _ROOTS]:
        del sys.modules[name]
