"""The parsers that vLLM has in Rust, `vllm._rust_tool_parser`, in wheels that bring it (0.24 to 0.27; 0.33 does not).

The extension is loaded from vLLM's folder by itself, so that neither torch nor vLLM is imported. It is fed as
`RustToolParser` of those releases does, which the adapter `vllm` runs too where it is all there; but at the end
`finish()` is called here, which that class leaves out while it streams.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from importlib import metadata, util
from typing import Any

TRIED = (
    "MinimaxM3ToolParser",
    "KimiK2ToolParser",
    "DeepSeekV4ToolParser",
    "DeepSeekV32ToolParser",
    "DummyUnifiedParser",
)


def adapter() -> VllmRust:
    """The adapter."""
    return VllmRust()


class VllmRust:
    """All parsers that the extension makes, by the names that it has for them."""

    def __init__(self) -> None:
        self._library = _loaded()
        self._names = [name for name in TRIED if self._makes(name)]

    def _makes(self, name: str) -> bool:
        try:
            self._library.ToolParser(name, [])
        except ValueError:
            return False
        return True

    def hello(self) -> dict[str, Any]:
        """What there is."""
        return {
            "name": "vllm-rust",
            "version": metadata.version("vllm"),
            "parsers": [{"name": name, "kind": "tool"} for name in self._names],
            "wants": "text",
            "contract": "vllm",
            "server": {"holds_text": "stop_strings", "many_tokens": "sent", "empty_deltas": "sent"},
        }

    def replay(self, asked: Mapping[str, Any]) -> _Stream:
        """One answer that streams."""
        tools = [tool["function"] for tool in asked["request"].get("tools") or ()]
        made = [self._library.Tool(one["name"], None, one.get("parameters") or {}, None) for one in tools]
        return _Stream(self._library.ToolParser(asked["parser"], made), self._library.ToolParserOutput)


def _loaded() -> Any:
    found = util.find_spec("vllm")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    files = [file for folder in folders for file in glob.glob(os.path.join(folder, "_rust_tool_parser*"))]
    if not files:
        raise ImportError("this vLLM has no vllm._rust_tool_parser")
    spec = util.spec_from_file_location("vllm._rust_tool_parser", files[0])
    if spec is None or spec.loader is None:
        raise ImportError("vllm._rust_tool_parser cannot be loaded")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Stream:
    """One answer, appended to an output of the extension at every delta."""

    def __init__(self, parser: Any, output: Any) -> None:
        self._parser = parser
        self._output = output

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """A delta."""
        said = self._output()
        self._parser.parse_into(text, said)
        return self._told(said)

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The end."""
        return self._told(self._parser.finish())

    def _told(self, said: Any) -> dict[str, Any]:
        calls = [
            {
                "index": call.tool_index,
                "id": self._parser.tool_call_id(call.tool_index) if call.name else None,
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in said.calls
        ]
        return {"content": said.normal_text or None, "tool_calls": calls}
