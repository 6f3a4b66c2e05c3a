"""A message, how each format writes it, and what should be read back; written from the formats, not the parsers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

BLANKS = " \t\r\n\f\v"
LLAMA_EDGE = BLANKS + ";"
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass
class Call:
    """A call to be written."""

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


def plain_content(said: Spoken) -> str:
    """Text around calls; a run of it that is only white space goes."""
    if not said.calls:
        return said.prose[0]
    return "".join([text for text in said.prose if text.strip()])


Write = Callable[[Call, int, Spoken], str]
THINK = ("<think>", "</think>")


@dataclass(eq=False)  # each is itself, and a key of what is drawn for it
class Dialect:
    """One way to write messages: the parser it belongs to, how a call is written, and what stands around calls.

    `values` says how arguments are written: as json text, as bare text between tags, tags that say the type, or in a
    notation of the format's own. Calls with nothing between them share a section, or have one each, by the style.
    """

    parser: str
    call: Write
    think: tuple[str, str] | None = THINK
    section: tuple[str, str] = ("", "")
    between: str = ""
    values: str = "json"
    policy: dict[str, str] = field(default_factory=dict)
    content: Callable[[Spoken], str] = plain_content
    whole: Callable[[Spoken], str] | None = None

    def write(self, said: Spoken) -> str:
        """The output of a model that says this."""
        if self.whole is not None:
            return self.whole(said)
        parts = []
        if said.reasoning is not None and self.think is not None:
            parts += [self.think[0], said.reasoning, self.think[1]]
        parts.append(said.prose[0])
        for index, call in enumerate(said.calls):
            shared = said.style % 2 == 1
            first = index == 0 or not shared or said.prose[index] != ""
            last = index == len(said.calls) - 1 or not shared or said.prose[index + 1] != ""
            parts += [self.section[0] if first else self.between, self.call(call, index, said)]
            parts += [self.section[1] if last else "", said.prose[index + 1]]
        return "".join(parts)


def unpadded_content(said: Spoken) -> str:
    """As plain, but white space that follows reasoning belongs to nobody."""
    if said.reasoning is not None:
        said = replace(said, prose=[said.prose[0].lstrip(), *said.prose[1:]])
    return plain_content(said)


def llama_content(said: Spoken) -> str:
    """Runs of text joined by one space, without the white space and separators at calls."""
    if not said.calls:
        return said.prose[0]
    first, *others = said.prose
    runs = [first.rstrip(LLAMA_EDGE), *(text.strip(LLAMA_EDGE) for text in others if text.strip(LLAMA_EDGE + ","))]
    return " ".join([run for run in runs if run])


def json_call(before: str = "", after: str = "", key: str = "arguments") -> Write:
    """One JSON object a call."""

    def write(call: Call, index: int, said: Spoken) -> str:
        return before + said.dumped({"name": call.name, key: call.arguments}) + after

    return write


def named(before: str, middle: str, after: str) -> Write:
    """The name, then the arguments as a JSON object."""

    def write(call: Call, index: int, said: Spoken) -> str:
        return f"{before}{call.name}{middle}{said.dumped(call.arguments)}{after}"

    return write


def tags(head: str, one: str, tail: str) -> Write:
    """The name in `head`, then each argument in tags; {n}, {k} and {v} stand for name, key and value."""

    def write(call: Call, index: int, said: Spoken) -> str:
        pairs = [one.replace("{k}", key).replace("{v}", bare(said, value), 1) for key, value in call.arguments.items()]
        return head.replace("{n}", call.name) + "".join(pairs) + tail

    return write


def bare(said: Spoken, value: Any) -> str:
    """A value between tags: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else said.dumped(value)


def typed(head: str, one: str, tail: str) -> Write:
    """As `tags`, but {t} says whether the value is a string."""

    def write(call: Call, index: int, said: Spoken) -> str:
        pairs = [
            one.replace("{k}", key)
            .replace("{t}", str(isinstance(value, str)).lower())
            .replace("{v}", bare(said, value), 1)
            for key, value in call.arguments.items()
        ]
        return head.replace("{n}", call.name) + "".join(pairs) + tail

    return write


def kimi_header(call: Call, index: int, said: Spoken) -> str:
    """Kimi K2: the name with the number of the call, then a JSON object."""
    header = f"functions.{call.name}:{index}"
    return f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{said.dumped(call.arguments)}<|tool_call_end|>"


def llama(call: Call, index: int, said: Spoken) -> str:
    """Llama 3: one JSON object, in some styles behind a tag."""
    tag = "<|python_tag|>" if said.style % 2 else ""
    return tag + said.dumped({"name": call.name, "parameters": call.arguments})


def mistral_array(call: Call, index: int, said: Spoken) -> str:
    """Mistral before v11: a list of one object, its keys in one of two orders."""
    keys: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
    if said.style % 3 == 1:
        keys = {"arguments": call.arguments, "id": index, "name": call.name}
    return f"[TOOL_CALLS]{' ' * (said.style % 2)}{said.dumped([keys])}"


def mistral_name(call: Call, index: int, said: Spoken) -> str:
    """Mistral from v11: the name, in some styles an id, and the arguments."""
    middle = ["", "[ARGS]", f"[CALL_ID]abcdefgh{index % 10}[ARGS]"][said.style % 3]
    return f"[TOOL_CALLS]{call.name}{middle}{said.dumped(call.arguments)}"


def python_call(call: Call, index: int, said: Spoken) -> str:
    """Keywords with literals; JSON's words in some styles."""
    return f"{call.name}({', '.join([f'{key}={python_value(value, said)}' for key, value in call.arguments.items()])})"


def python_value(value: Any, said: Spoken) -> str:
    """A value as a Python literal."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{key!r}: {python_value(one, said)}" for key, one in value.items()]) + "}"
    if isinstance(value, list):
        inner = ", ".join([python_value(one, said) for one in value])
        return f"({inner})" if said.style % 3 == 2 and len(value) > 1 else f"[{inner}]"
    if value is None or isinstance(value, bool):
        return repr(value) if said.style % 2 else json.dumps(value)
    return repr(value)


def keyvalue(head: str, string: str, tail: str) -> Write:
    """Keys that are not quoted, or in some styles are; strings between delimiters."""

    def value(one: Any, said: Spoken) -> str:
        if isinstance(one, dict):
            return "{" + ",".join([f"{string}{key}{string}:{value(inner, said)}" for key, inner in one.items()]) + "}"
        if isinstance(one, list):
            return "[" + ",".join([value(inner, said) for inner in one]) + "]"
        return f"{string}{one}{string}" if isinstance(one, str) else json.dumps(one)

    def write(call: Call, index: int, said: Spoken) -> str:
        quote = string if said.style % 3 == 2 else ""
        pairs = [f"{quote}{key}{quote}:{value(one, said)}" for key, one in call.arguments.items()]
        return f"{head}{call.name}{{{','.join(pairs)}}}{tail}"

    return write


def dsml(parser: str, block: str, space: str = "", *, word: str = "DSML", as_object: bool = False) -> Dialect:
    """DeepSeek's tags, or those of another word, with typed parameters or one JSON object in their place."""
    head, tail = f'<｜{word}｜{space}invoke name="{{n}}">\n', f"</｜{word}｜{space}invoke>\n"
    section = (f"<｜{word}｜{block}>\n", f"</｜{word}｜{block}>")
    if as_object:
        return Dialect(parser, named(head.split("{n}")[0], head.split("{n}")[1], tail), section=section)
    one = f'<｜{word}｜{space}parameter name="{{k}}" string="{{t}}">{{v}}</｜{word}｜{space}parameter>\n'
    return Dialect(parser, typed(head, one, tail), section=section, values="typed")


def kimi_k3(call: Call, index: int, said: Spoken) -> str:
    """Kimi K3: attributes say the name, the number and the types."""
    parts = [f'<|open|>call tool="{call.name}" index="{index + 1}"<|sep|>']
    for key, value in call.arguments.items():
        kind = TYPES.get(type(value), "null")
        parts.append(f'<|open|>argument key="{key}" type="{kind}"<|sep|>{bare(said, value)}<|close|>argument<|sep|>')
    return "".join([*parts, "<|close|>call<|sep|>"])


def harmony_call(call: Call, index: int, said: Spoken) -> str:
    """A call of gpt-oss: the recipient in either place, the type in one of four spellings."""
    recipient, kind = (
        f" to=functions.{call.name}",
        ["", " json", " <|constrain|>json", "<|constrain|>json"][said.style % 4],
    )
    header = f"<|channel|>commentary{recipient}{kind}" if said.style % 3 else f"{recipient}<|channel|>commentary{kind}"
    return f"{header}<|message|>{said.dumped(call.arguments)}<|call|>"


def harmony(said: Spoken) -> str:
    """A message each for reasoning, calls and texts that are not blank."""
    parts = [] if said.reasoning is None else [f"<|channel|>analysis<|message|>{said.reasoning}<|end|>"]
    for index, text in enumerate(said.prose):
        channel, end = ("final", "<|return|>") if index == len(said.prose) - 1 else ("commentary", "<|end|>")
        parts += [f"<|channel|>{channel}<|message|>{text}{end}"] * (text.strip() != "")
        parts += [harmony_call(call, index, said) for call in said.calls[index : index + 1]]
    return "<|start|>assistant".join(parts)


def blocks_content(said: Spoken) -> str:
    """Texts that are messages of their own; one that is blank is not written."""
    return "".join([text for text in said.prose if text.strip()])


def gigachat_content(said: Spoken) -> str:
    """As plain, but white space that follows a call stands between two messages."""
    first, *others = said.prose
    return plain_content(replace(said, prose=[first, *[text.lstrip() for text in others]]))


def inkling(said: Spoken) -> str:
    """A block each for reasoning, calls and texts that are not blank; a call may be named in its header too."""
    parts = [] if said.reasoning is None else [f"<|content_thinking|>{said.reasoning}<|end_message|>"]
    for index, text in enumerate(said.prose):
        parts += [f"<|content_text|>{text}<|end_message|>"] * (text.strip() != "")
        for call in said.calls[index : index + 1]:
            head = call.name if said.style % 2 else ""
            parts.append(f"{head}<|content_invoke_tool_json|>{json_call(key='args')(call, index, said)}<|end_message|>")
    return "<|message_model|>".join(parts) + "<|content_model_end_sampling|>" * (said.style % 3 == 0)


def muse(said: Spoken) -> str:
    """A message each for reasoning, calls and texts that are not blank."""
    one = '<atem:parameter name="{k}">{v}</atem:parameter>\n'
    write = tags('<atem:function_calls>\n<atem:invoke name="{n}">\n', one, "</atem:invoke>\n</atem:function_calls>")
    parts = [] if said.reasoning is None else [f" to=self<|message|>{said.reasoning}<|eom|>"]
    for index, text in enumerate(said.prose):
        parts += [f" to=user<|message|>{text}<|eom|>"] * (text.strip() != "")
        for call in said.calls[index : index + 1]:
            parts.append(f" to={call.name}<|message|>{write(call, index, said)}<|eom|>")
    return "<|start|>assistant".join(parts)


def functionary(said: Spoken) -> str:
    """Recipients on a line of their own. No text ends in an arrow, which those of the next message would lengthen."""
    parts = []
    for index, text in enumerate([text.rstrip(">") for text in said.prose]):
        parts += [f"all\n{text}"] * (text.strip() != "")
        parts += [f"{call.name}\n{said.dumped(call.arguments)}" for call in said.calls[index : index + 1]]
    return ">>>".join(parts)


def functionary_content(said: Spoken) -> str:
    """As it is written."""
    return blocks_content(replace(said, prose=[text.rstrip(">") for text in said.prose]))


def solar(said: Spoken) -> str:
    """A message each for reasoning, calls and texts that are not blank."""
    parts = [] if said.reasoning is None else [f"<|think|>{said.reasoning}<|end|>"]
    for index, text in enumerate(said.prose):
        parts += [f"<|content|>{text}<|end|>"] * (text.strip() != "")
        for call in said.calls[index : index + 1]:
            inner = f"a1b2c3d4e{index % 10}<|tool_call:name|>{call.name}<|tool_call:args|>{said.dumped(call.arguments)}"
            parts.append(f"<|tool_calls|><|tool_call:begin|>{inner}<|tool_call:end|><|calls|>")
    return "<|begin|>assistant".join(parts)


def typed_by_tag(call: Call, index: int, said: Spoken) -> str:
    """K2 Horizon's pairs with the type between."""
    parts = [f"<ifm|tool_call>{call.name}\n"]
    for key, value in call.arguments.items():
        kind = f"<ifm|arg_type>{TYPES.get(type(value), 'null')}</ifm|arg_type>"
        parts += [f"<ifm|arg_key>{key}</ifm|arg_key>\n{kind}\n<ifm|arg_value>{bare(said, value)}</ifm|arg_value>\n"]
    return "".join([*parts, "</ifm|tool_call>\n"])


def harmony_content(said: Spoken) -> str:
    """One line break between messages."""
    return "\n".join([text for text in said.prose if text.strip()])
