"""A message, how each format writes it, and what should be read back; written from the formats, not the parsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

BLANKS = " \t\r\n\f\v"
LLAMA_EDGE = BLANKS + ";"
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass
class Call:
    name: str
    arguments: dict[str, Any]


@dataclass
class Spoken:
    """A message to be written: `prose` has one text more than there are calls; they stand before and after each."""

    prose: list[str]
    calls: list[Call]
    reasoning: str | None = None
    style: int = 0

    @property
    def dumped(self) -> Callable[[Any], str]:
        """JSON text in one of several spellings."""
        options: list[dict[str, Any]] = [
            {},
            {"ensure_ascii": False},
            {"separators": (",", ":")},
            {"indent": 2, "ensure_ascii": False},
        ]
        chosen = options[self.style % len(options)]
        return lambda value: json.dumps(value, **chosen)


@dataclass
class Dialect:
    """One way to write messages: the parser it belongs to and how a call is written."""

    parser: str
    call: Callable[[Call, int, Spoken], str]
    think: tuple[str, str] | None = None
    policy: dict[str, str] = field(default_factory=dict)
    content: Callable[[Spoken], str] = lambda said: plain_content(said)

    def write(self, said: Spoken) -> str:
        parts = []
        if said.reasoning is not None and self.think is not None:
            parts += [self.think[0], said.reasoning, self.think[1]]
        parts.append(said.prose[0])
        for index, call in enumerate(said.calls):
            parts += [self.call(call, index, said), said.prose[index + 1]]
        return "".join(parts)


def plain_content(said: Spoken) -> str:
    """Text around calls; a run of it that is only white space goes."""
    if not said.calls:
        return said.prose[0]
    return "".join([text for text in said.prose if text.strip()])


def llama_content(said: Spoken) -> str:
    """Runs of text joined by one space, without the white space and separators at calls."""
    if not said.calls:
        return said.prose[0]
    first, *others = said.prose
    runs = [first.rstrip(LLAMA_EDGE), *(text.strip(LLAMA_EDGE) for text in others if text.strip(LLAMA_EDGE + ","))]
    return " ".join([run for run in runs if run])


def qwen(call: Call, index: int, said: Spoken) -> str:
    inner = said.dumped({"name": call.name, "arguments": call.arguments})
    return f"<tool_call>\n{inner}\n</tool_call>" if said.style % 2 else f"<tool_call>{inner}</tool_call>"


def qwen_coder(call: Call, index: int, said: Spoken) -> str:
    parameters = [f"<parameter={key}>\n{tagged(said, value)}\n</parameter>\n" for key, value in call.arguments.items()]
    return f"<tool_call>\n<function={call.name}>\n{''.join(parameters)}</function>\n</tool_call>"


def tagged(said: Spoken, value: Any) -> str:
    return value if isinstance(value, str) else said.dumped(value)


def kimik2(call: Call, index: int, said: Spoken) -> str:
    header = f"functions.{call.name}:{index}"
    inner = f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{said.dumped(call.arguments)}<|tool_call_end|>"
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def llama(call: Call, index: int, said: Spoken) -> str:
    tag = "<|python_tag|>" if said.style % 2 else ""
    return tag + said.dumped({"name": call.name, "parameters": call.arguments})


def mistral_array(call: Call, index: int, said: Spoken) -> str:
    keys: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
    if said.style % 3 == 1:
        keys = {"arguments": call.arguments, "id": index, "name": call.name}
    return f"[TOOL_CALLS]{' ' * (said.style % 2)}{said.dumped([keys])}"


def mistral_name(call: Call, index: int, said: Spoken) -> str:
    middle = ["", "[ARGS]", "[CALL_ID]abcdefghi[ARGS]"][said.style % 3]
    return f"[TOOL_CALLS]{call.name}{middle}{said.dumped(call.arguments)}"


DIALECTS: Mapping[str, Dialect] = {
    "qwen": Dialect("qwen", qwen, ("<think>", "</think>")),
    "qwen_coder": Dialect("qwen_coder", qwen_coder, ("<think>", "</think>")),
    "kimik2": Dialect("kimik2", kimik2, ("<think>", "</think>")),
    "llama": Dialect("llama", llama, content=llama_content),
    "mistral_array": Dialect("mistral", mistral_array, ("[THINK]", "[/THINK]")),
    "mistral_name": Dialect("mistral", mistral_name, ("[THINK]", "[/THINK]")),
    "mistral_array_fixed": Dialect("mistral", mistral_array, policy={"mistral_version": "pre_v11"}),
    "mistral_name_fixed": Dialect("mistral", mistral_name, policy={"mistral_version": "v11"}),
}


def schema_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema that these arguments fit."""
    kinds = {key: TYPES.get(type(value), "null") for key, value in arguments.items()}
    return {"type": "object", "properties": {key: {"type": kind} for key, kind in kinds.items()}}
