"""As much of LMDeploy, mlx-lm, openai-harmony and vLLM's Rust extension as their adapters touch."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from tests.webapp.engines.stand_ins import WORDS


def call(name: str | None, arguments: str | None, index: int = 0) -> Any:
    function = None if arguments is None else SimpleNamespace(name=name, arguments=arguments)
    return SimpleNamespace(index=index, id="i" if name else None, function=function)


class ResponseParser:
    """LMDeploy's: capital letters are reasoning, `f` is a call, all comes at the end."""

    named: ClassVar[Any] = None

    @classmethod
    def set_parsers(cls, *, reasoning_parser_name: Any, tool_parser_name: Any) -> None:
        cls.named = (reasoning_parser_name, tool_parser_name)

    def __init__(self, request: Any) -> None:
        WORDS.append((type(self).named, request.tool_choice, request.chat_template_kwargs))
        self.tool_parser = SimpleNamespace(seen="")

    def stream_chunk(self, text: str, ids: list[int], *, final: bool) -> list[tuple[Any, bool]]:
        WORDS.append((text, ids, final))
        thought = text if text.isupper() else None
        said = SimpleNamespace(reasoning_content=thought, content=None if thought else text, tool_calls=None)
        calls = SimpleNamespace(content=None, tool_calls=[call("f", ""), call(None, None)])
        return [(said, False), *[(calls, True)] * ("f" in text)] if text else []

    def parse_complete(self, text: str, ids: list[int]) -> Any:
        WORDS.append((text, ids))
        return text, [call("f", "{}")] if "f" in text else None, None


def lmdeploy() -> dict[str, dict[str, Any]]:
    """The modules of LMDeploy."""
    known = {"default": ResponseParser, "gpt-oss": ResponseParser}
    return {
        "lmdeploy": {},
        "lmdeploy.serve": {},
        "lmdeploy.serve.openai": {},
        "lmdeploy.serve.openai.protocol": {"ChatCompletionRequest": lambda **given: SimpleNamespace(**given)},
        "lmdeploy.serve.parsers": {"ResponseParserManager": SimpleNamespace(module_dict=known)},
        "lmdeploy.serve.parsers.tool_parser": {"ToolParserManager": SimpleNamespace(module_dict={"qwen3": 1})},
        "lmdeploy.serve.parsers.reasoning_parser": {
            "ReasoningParserManager": SimpleNamespace(module_dict={"default": 1})
        },
    }


class TextStateMachine:
    """mlx-lm's, with markers that come in a delta of their own; `<` is held."""

    def __init__(self, edges: dict[str, Any]) -> None:
        self.edges = edges

    def make_state(self, name: str) -> Any:
        return name, self.edges, ""

    @staticmethod
    def split(state: Any, text: str) -> Any:
        name, edges, held = state
        to = dict(edges.get(name, ())).get(text)
        if to is not None:
            return (to, edges, held), [(name, ""), (to, "")]
        return (name, edges, "<") if text == "<" else state, [(name, "" if text == "<" else text)]

    @staticmethod
    def flush(state: Any) -> Any:
        return (*state[:2], ""), state[2], state[0]

    @staticmethod
    def discard(state: Any) -> Any:
        return (*state[:2], ""), state[0]


class ToolCallFormatter:
    """mlx-lm's."""

    def __init__(self, reads: Any, tools: Any, streaming: bool) -> None:
        WORDS.append(("formatter", reads is not None, len(tools), streaming))
        self._count = 0

    def __call__(self, blocks: list[str]) -> list[Any]:
        self._count += len(blocks)
        return [
            {"index": self._count - 1, "id": "i", "type": "function", "function": {"name": one, "arguments": "{}"}}
            for one in blocks
        ]


def machine(tokenizer: Any) -> Any:
    edges: dict[str, Any] = {"normal": [], "tool": [], "reasoning": []}
    if tokenizer.has_tool_calling:
        edges["normal"].append((tokenizer.tool_call_start, "tool"))
        edges["tool"].append((tokenizer.tool_call_end, "normal"))
    if tokenizer.has_thinking:
        edges["normal"].append((tokenizer.think_start, "reasoning"))
        edges["reasoning"].append((tokenizer.think_end, "normal"))
    return TextStateMachine(edges)


def mlx(folder: Path) -> dict[str, dict[str, Any]]:
    """The modules of mlx-lm; the one parser is a file in the folder, as adapters list files."""
    (folder / "json_tools.py").write_text("")
    parser = {"tool_call_start": "[", "tool_call_end": "]", "parse_tool_call": print}
    return {
        "mlx_lm": {},
        "mlx_lm.generate": {"TextStateMachine": TextStateMachine, "make_text_state_machine": machine},
        "mlx_lm.server": {"ToolCallFormatter": ToolCallFormatter},
        "mlx_lm.tool_parsers": {},
        "mlx_lm.tool_parsers.json_tools": parser,
    }


class Role(Enum):
    ASSISTANT = "assistant"


class Encoding:
    """openai-harmony's: characters are tokens, by their code points."""

    def encode(self, text: str, *, allowed_special: str) -> list[int]:
        return [ord(one) for one in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))

    def parse_messages_from_completion_tokens(self, tokens: list[int], role: Role) -> Iterator[Any]:
        """A message for each token: `A` analysis, `!` to a tool of the server, `f` a call, anything else final."""
        for one in self.decode(tokens):
            to = {"f": "functions.f", "!": "browser"}.get(one)
            channel = "analysis" if one == "A" else "final"
            yield SimpleNamespace(channel=channel, recipient=to, content=[SimpleNamespace(text=one)])


class StreamableParser:
    """openai-harmony's; each token is a message as above."""

    def __init__(self, encoding: Encoding, *, role: Role) -> None:
        self.current_channel: str | None = None
        self.current_recipient: str | None = None
        self.last_content_delta: str | None = None

    def process(self, token: int) -> None:
        text = chr(token)
        self.current_channel = "analysis" if text == "A" else "final"
        self.current_recipient = {"f": "functions.f", "g": "functions.f", "!": "browser"}.get(text)
        self.last_content_delta = None if text == "f" else text

    def process_eos(self) -> None:
        self.current_channel = self.current_recipient = self.last_content_delta = None


def harmony() -> dict[str, dict[str, Any]]:
    """The module of openai-harmony."""
    name = SimpleNamespace(HARMONY_GPT_OSS="gpt")
    load = {"load_harmony_encoding": lambda given: Encoding(), "HarmonyEncodingName": name}
    return {"openai_harmony": {**load, "Role": Role, "StreamableParser": StreamableParser}}


RUST = """
class Tool:
    def __init__(self, name, description, parameters, strict):
        self.name = name

class Call:
    tool_index, name, arguments = 0, "f", "{}"

class ToolParserOutput:
    def __init__(self):
        self.normal_text, self.calls = "", []

class ToolParser:
    def __init__(self, name, tools):
        if name != "KimiK2ToolParser":
            raise ValueError("unsupported tool parser")
        self._tools = [tool.name for tool in tools]

    def parse_into(self, text, output):
        output.normal_text = text
        output.calls = [Call()] if text in self._tools else []

    def finish(self):
        return ToolParserOutput()

    def tool_call_id(self, index):
        return "functions.f:" + str(index)
"""
