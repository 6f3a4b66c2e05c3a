"""The output as a source of values: the ways in which a word, a number or a string of the arguments may stand in it.

A value may be escaped in the output (JSON, Python, HTML), spelled otherwise (1e3 and 1000.0, True and true), or come
from the schema (a default, an enum). So the questions are lenient: a value counts as missing only if no reading of
the output has it. All work is linear in the output; searches that may each cost as much are limited.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from parsers.checks.check import Subject, call_words
from parsers.checks.json_prefix import is_whole_object
from parsers.checks.json_tree import Node, read_object, walk
from parsers.checks.schema import Judge
from parsers.compare.divergence import Channel, Place, Stretch
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Tool, ToolCall

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+")
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))""", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "a": "\a", "v": "\v", "\n": ""}
_SEARCHES = 200


class Source:
    """One output, and the declared tools."""

    def __init__(self, text: str, tools: Iterable[Tool]) -> None:
        self.text = text
        self._tools = tools
        self._left = _SEARCHES

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The output as it is, and with its escapes undone in the ways that change it."""
        forms = [self.text, unescape(self.text)]
        forms += [html.unescape(form) for form in forms if "&" in form]
        return tuple(dict.fromkeys(forms))

    @cached_property
    def _schemas(self) -> str:
        return json.dumps([[tool.name, tool.parameters] for tool in self._tools], ensure_ascii=False, default=str)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for form in (*self.readings, self._schemas) for word in _WORD.findall(form))

    @cached_property
    def _numbers(self) -> frozenset[float]:
        found = [_value(text) for form in (self.text, self._schemas) for text in _NUMBER.findall(form)]
        return frozenset(value for value in found if value is not None)

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(["".join(_WORD.findall(form)).casefold() for form in self.readings])

    def missing_word(self, text: str) -> str | None:
        """The first word of `text` that stands nowhere in the output."""
        return next((word for word in _WORD.findall(text) if not self._has_word(word.casefold())), None)

    def _has_word(self, word: str) -> bool:
        if word in self._words:
            return True
        self._left -= 1  # cut out of a longer word, or joined where something was left out
        return self._left < 0 or any(word in form for form in self._squeezed)

    def has_number(self, spelling: str, value: float) -> bool:
        """Whether the output has a number of this value, however it is spelled, or its digits."""
        if value in (0, 1) or abs(value) in self._numbers:
            return True
        self._left -= 1
        digits = spelling.lstrip("-")
        return self._left < 0 or any(digits in form for form in self.readings)


def unescape(text: str) -> str:
    """`text` with the escapes of JSON and Python strings undone; what is no escape stays."""
    if "\\" not in text:
        return text
    undone = _ESCAPE.sub(_unescaped, text)
    return undone.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str]) -> str:
    four, two, eight, char = match.groups()
    code = four or two or eight
    if code is None:
        return _CONTROL.get(char, char)
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else match.group()


def _value(text: str) -> float | None:
    plain = text.replace("_", "").replace(",", "")
    try:
        return float(int(plain, 0)) if plain[:2].lower() in ("0x", "0b", "0o") else float(plain)
    except (ValueError, OverflowError):
        return None


# Names, words and numbers of calls that the output does not have.


def made_up(subject: Subject) -> Iterator[tuple[str, Place, str]]:
    """A sentence, a place and the text for the first thing of each call that was made up."""
    source = Source((subject.context.prompt_tail or "") + subject.trace.text, subject.context.tools)
    for index, call in enumerate(subject.trace.message.tool_calls):
        words = call_words(index, call.name)
        if (word := source.missing_word(call.name)) is not None:
            place = subject.channels[f"tool_calls[{index}].name"].place(0)
            yield f"The name of {words} is not in the output, which has no `{word}`.", place, call.name
        if call.arguments in subject.trace.text or not is_whole_object(call.arguments):
            continue
        for node, word in _foreign(source, read_object(call.arguments), call.arguments):
            place = subject.arguments(index).place(max(node.start, call.arguments.find(word, node.start, node.end)))
            yield f"`{word}` in the arguments of {words} is not in the output.", place, word
            break


def is_sound(subject: Subject, call: ToolCall) -> bool:
    """Whether a call is whole, to a declared tool, and fits its schema: no server has a reason to refuse it."""
    tool = subject.context.tool(call.name)
    if tool is None or not call.complete or not is_whole_object(call.arguments):
        return False
    return tool.parameters is None or not Judge(tool.parameters, call.arguments).problems(read_object(call.arguments))


def _foreign(source: Source, root: Node, text: str) -> Iterator[tuple[Node, str]]:
    """Values and keys with something in them that the output does not have."""
    for node in walk(root):
        for text_, at in [(member.key, member.value) for member in node.members]:
            if (word := source.missing_word(text_)) is not None:
                yield at, word
        if node.kind == "string" and (word := source.missing_word(str(node.value))) is not None:
            yield node, word
        spelling = text[node.start : node.end]
        if node.kind in ("integer", "number") and not source.has_number(spelling, float(node.value or 0)):
            yield node, spelling


# Sent text laid over the output: which of it can have come from what had arrived by then.
#
# Content and reasoning are copies of the output with some of it left out, so what is sent, whitespace aside, is found
# in the output in order. `align` matches greedily: each character takes the first place after the one before. If that
# fails, every way fails.


@dataclass(slots=True)
class Alignment:
    """`ends`: for each stretch that fits, the place after its last character. `misfit` is the first that does not fit,
    and `offset` where in its text it stops fitting."""

    ends: list[int]
    misfit: Stretch | None = None
    offset: int = 0


def align(trace: Trace, sent: Channel, start: int = 0) -> Alignment:
    """Lay what was sent over the output from `start` on, each stretch over what had arrived by its step."""
    arrived = {step.index: step.span.end for step in trace.steps}
    text, place, ends = trace.text, start, list[int]()
    for stretch in sent.stretches:
        limit = arrived[stretch.step]
        for offset, char in enumerate(stretch.text):
            if char.isspace():
                continue
            found = text.find(char, place, limit)
            if found < 0:
                return Alignment(ends, stretch, offset)
            place = found + 1
        ends.append(place)
    return Alignment(ends)
