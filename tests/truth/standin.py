"""A package `vllm` that is none: every module its tests import, with our parsers under its names.

Names of parsers, files and classes are read from the registries of the given source tree, so none of them is kept here.
What a test takes from any other place of vLLM is a value that skips the test as soon as it is used: the test is about
vLLM's insides.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.truth import adapters
from tests.truth.constants import constants_of
from tests.truth.tokens import StandInTokenizer, decode_next

_ALIASES = Path(__file__).resolve().parents[2] / "docs" / "aliases.json"
# Names of vLLM's reasoning parsers that take an output without an opening marker for reasoning (their docstrings).
_OPENED = frozenset((
    *("deepseek_r1", "deepseek_v3", "deepseek_v4", "qwen3", "minimax_m2", "step3", "step3p5", "nemotron_v3", "holo2"),
    *("kimi_k2", "glm45", "mimo", "ernie45", "seed_oss", "hy_v3", "granite_thinking_parser", "olmo3", "k2_horizon"),
))  # fmt: skip
_BY_EFFORT = frozenset(("hy_v3",))
# Reasoning parsers under which all of the output is content, behind the marker that the prompt opened reasoning with.
_APPENDING = {"minimax_m2_append_think": "<think>"}
_PROTOCOL = {
    **{name: getattr(adapters, name) for name in ("FunctionCall", "ToolCall", "DeltaFunctionCall", "DeltaToolCall")},
    **{
        name: getattr(adapters, name) for name in ("ExtractedToolCallInformation", "DeltaMessage", "FunctionDefinition")
    },
    **dict.fromkeys(("ChatCompletionRequest", "ResponsesRequest"), adapters.ChatRequest),
    "ChatCompletionToolsParam": adapters.ToolParam,
    "FunctionTool": adapters.FunctionDefinition,
    "detokenize_incrementally": decode_next,
}
_ROOTS = ("vllm", "transformers", "openai", "xgrammar", "torch")


class _Skips(type):
    """A class that skips the test as soon as it is asked for something of its own."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"inside: {name}")


class _Inside(Exception, metaclass=_Skips):  # noqa: N818 - tests also catch errors of vLLM's own
    """Something of vLLM that has no counterpart."""

    def __init__(self, *_given: Any, **_named: Any) -> None:
        pytest.skip("inside: no counterpart")


class _Manager:
    """A registry of parsers by name."""

    def __init__(self, kinds: Mapping[str, type]) -> None:
        self._kinds = kinds

    def __getattr__(self, name: str) -> Any:
        if name in ("get_tool_parser", "get_reasoning_parser"):
            return self._get
        raise AttributeError(name)

    def _get(self, name: str) -> type:
        return self._kinds.get(name) or _Inside


class _Tokenizers:
    @staticmethod
    def from_pretrained(*_given: Any, **_named: Any) -> StandInTokenizer:
        return StandInTokenizer()


class StandIn(MetaPathFinder, Loader):
    """Finds every module of vLLM, and of the packages that its tests need only for names."""

    def __init__(self, source: Path) -> None:
        self._source = source
        aliases = next(one for one in json.loads(_ALIASES.read_text("utf-8"))["engines"] if one["name"] == "vLLM")
        tools = dict(_registry(source / "vllm" / "tool_parsers" / "__init__.py"))
        thoughts = dict(_registry(source / "vllm" / "reasoning" / "__init__.py"))
        self._tools = {name: _kind(adapters.ToolParser, name, aliases["tool"]) for name in tools}
        self._thoughts = {name: _kind(adapters.ReasoningParser, name, aliases["reasoning"]) for name in thoughts}
        self._classes: dict[str, type] = {}
        for files, kinds in ((tools, self._tools), (thoughts, self._thoughts)):
            for name, (_, cls) in files.items():
                self._classes.setdefault(cls, kinds[name])

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Every module of these packages is found."""
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in _ROOTS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module whose names are looked up when they are asked for."""
        module = ModuleType(spec.name)
        module.__dict__["__getattr__"] = lambda name: self._lookup(spec.name, name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed."""

    def _lookup(self, module: str, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _PROTOCOL or name in self._classes:
            return _PROTOCOL.get(name) or self._classes[name]
        match name:
            case "ToolParser" | "ReasoningParser" | "Open":
                return getattr(adapters, name)
            case "ToolParserManager":
                return _Manager(self._tools)
            case "ReasoningParserManager":
                return _Manager(self._thoughts)
            case "AutoTokenizer" | "PreTrainedTokenizerBase" | "TokenizerLike":
                return _Tokenizers
            case "get_tokenizer":
                return _Tokenizers.from_pretrained
            case "is_mistral_tokenizer":
                return lambda _tokenizer: False
        return constants_of(self._source.joinpath(*module.split(".")).with_suffix(".py")).get(name, _Inside)


def _kind(base: type, name: str, formats: Mapping[str, str | None]) -> type:
    own = {"parser": formats.get(name), "named": name, "opened": name in _OPENED, "by_effort": name in _BY_EFFORT}
    if base is adapters.ReasoningParser and name in _APPENDING:
        own |= {"parser": "passthrough", "prefix": _APPENDING[name], "thinks": formats.get(name)}
    return adapters.Kind(base.__name__, (base,), own)


def _registry(path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield parser, file and class of each entry of the dictionary literals in a registry."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            entries = ast.literal_eval(node.value)
            yield from [
                (name, entry) for name, entry in entries.items() if isinstance(entry, tuple) and len(entry) == 2
            ]


def install_vllm(source: Path) -> None:
    """Have imports of vLLM end here, and imports of `tests` in the given source tree."""
    sys.meta_path.insert(0, StandIn(source))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", *_ROOTS)]:
        del sys.modules[name]
    sys.path.insert(0, str(source))
