"""What is measured: outputs of many tokens, the same thing said in every grammar.

A token is four characters, or a whole marker where the vocabulary of the models has it as one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Dialect, Spoken, json_call
from parsers.replays.chunking import Chunking, apply
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece, Tool
from tests.parsers.properties.schemas import schema_of
from webapp.tokenizers.embedded import Embedded

ROOT = Path(__file__).resolve().parents[2]
TOKEN = 4
SMALL, MIDDLE, LARGE = 1_000, 10_000, 100_000  # tokens
COMMON = ("qwen", "glm45_moe", "pythonic")  # one of each way to write arguments: JSON, tags, a notation of its own
SENTENCE = "The quick brown fox jumps over 13 lazy dogs, twice a day. "
RECORD = {"id": 12, "ok": True, "at": [1.5, None], "name": "ab"}
FIRST_ID = 1_000  # of ordinary tokens; those of markers are smaller
ANSWER = "It is done."

# As models write it most, where a grammar leaves a choice: several calls in one list, and which words are in a header.
_ARRAY = replace(DIALECTS["mistral_array"], call=json_call(), section=("[TOOL_CALLS] [", "]"), between=", ")
WRITTEN = {
    **DIALECTS,
    "mistral_array": _ARRAY,
    "mistral_array_fixed": replace(_ARRAY, policy=DIALECTS["mistral_array_fixed"].policy, think=None),
    "llama": replace(DIALECTS["llama"], call=json_call(key="parameters"), between="; "),
}
STYLES = {"harmony": 2}
STYLE = 1  # of all others


class Kind(StrEnum):
    """What an output is full of."""

    CONTENT = "content"
    REASONING = "reasoning"
    STRING = "string argument"
    TAGGED = "tagged value"
    CALLS = "small calls"
    JSON = "dense JSON"


DENSE = frozenset([Kind.CALLS, Kind.JSON])
ARGUMENTS = frozenset([Kind.STRING, Kind.TAGGED, Kind.CALLS, Kind.JSON])


def prose(characters: int) -> str:
    """So many characters of English, which end in none that is white space."""
    return "".join(islice(cycle(SENTENCE), characters - 1)) + "."


def kinds_of(dialect: Dialect) -> list[Kind]:
    """What outputs of a grammar can be full of."""
    argument = Kind.TAGGED if dialect.values in ("tags", "typed") else Kind.STRING
    reasoning = [Kind.REASONING] * (SENTENCE in dialect.write(Spoken([ANSWER], [], reasoning=SENTENCE)))
    return [Kind.CONTENT, *reasoning, argument, Kind.CALLS, Kind.JSON]


@dataclass(frozen=True)
class Output:
    """An output of one kind in one grammar, about `tokens` long.

    It is written when it is asked for, and only the last one is kept: the collector would look at all of them.
    """

    grammar: str
    kind: Kind
    tokens: int

    @property
    def dialect(self) -> Dialect:
        """How its grammar is written."""
        return WRITTEN[self.grammar]

    @property
    def said(self) -> Spoken:
        """What it says."""
        characters = self.tokens * TOKEN
        if self.kind is Kind.CONTENT:
            return Spoken([prose(characters)], [])
        if self.kind is Kind.REASONING:
            return Spoken([ANSWER], [], reasoning=prose(characters))
        if self.kind is Kind.CALLS:
            return self._calls(max(1, characters // self._characters_of_a_call))
        if self.kind is Kind.JSON:
            records = characters // (len(str(RECORD)) + 2)
            return Spoken(["", ""], [Call("write", {"data": [RECORD] * records})], style=self._style)
        return Spoken(["", ""], [Call("write", {"text": prose(characters)})], style=self._style)

    @property
    def _characters_of_a_call(self) -> int:
        return (len(self.dialect.write(self._calls(11))) - len(self.dialect.write(self._calls(1)))) // 10

    @property
    def _style(self) -> int:
        return STYLES.get(self.grammar, STYLE)

    def _calls(self, count: int) -> Spoken:
        calls = [Call("read", {"path": "a.py", "line": 7})] * count
        return Spoken([""] * (count + 1), calls, style=self._style)

    @property
    def context(self) -> Context:
        """The request: its tools are declared."""
        return Context(tools=tuple([Tool(call.name, schema_of(call.arguments)) for call in self.said.calls[:1]]))

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as a client declares them."""
        declared = self.context.tools or (Tool("write", schema_of({"text": ""})),)
        return [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}} for tool in declared
        ]

    @property
    def markers(self) -> dict[str, int]:
        """The ids of the markers that are single tokens."""
        return _markers(self.grammar)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Its tokens, with their ids."""
        return _written(self)

    @property
    def parser(self) -> StreamParser:
        """A parser of its grammar."""
        return build(get_format(self.dialect.parser), self.dialect.policy)

    def deltas(self, mode: Mode = "text", *, whole: bool = False) -> Sequence[Delta]:
        """A token a delta, or one delta."""
        return apply(Chunking(by="whole" if whole else "token"), self.pieces, mode)

    def is_said_by(self, content: str, reasoning: str, calls: Sequence[tuple[str, Any]]) -> bool:
        """Return whether that is what the output says. The arguments of calls are values."""
        wanted = [(call.name, call.arguments) for call in self.said.calls]
        texts = (content.strip(), reasoning.strip())
        return texts == ("".join(self.said.prose), self.said.reasoning or "") and list(calls) == wanted


def as_said(message: Message) -> tuple[str, str, list[tuple[str, str]]]:
    """Content, reasoning, and the names and argument texts of calls."""
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    return message.content or "", message.reasoning or "", calls


@cache
def _markers(grammar: str) -> dict[str, int]:
    """The single-token markers that outputs of a grammar hold."""
    calls = [Call("read", {"path": "a.py"})] * 2
    said = Spoken([ANSWER, "", ANSWER], calls, reasoning=ANSWER, style=STYLES.get(grammar, STYLE))
    text, tokens = WRITTEN[grammar].write(said), get_format(DIALECTS[grammar].parser).tokens
    return {marker: number for number, marker in enumerate(tokens, 1) if marker in text}


@lru_cache(1)
def _written(output: Output) -> tuple[Piece, ...]:
    return tuple(_pieces(output.dialect.write(output.said), output.markers))


def _pieces(text: str, markers: dict[str, int]) -> Iterator[Piece]:
    special = "|".join(map(re.escape, sorted(markers, key=len, reverse=True)))
    ids: dict[str, int] = {}
    for part in re.split(f"({special})", text) if special else [text]:
        if part in markers:
            yield Piece(part, markers[part], part.encode(), "special", True)
            continue
        for at in range(0, len(part), TOKEN):
            token = part[at : at + TOKEN]
            yield Piece(token, ids.setdefault(token, FIRST_ID + len(ids)), token.encode(), "text", True)


def long_text(tokens: int) -> str:
    """Reasoning and one long call in the grammar `qwen3`, of nearly so many tokens of the embedded tokenizer.

    The words are those of the licence at random: a sentence again and again would be sent in no bytes at all.
    """
    words = re.findall(r"[a-z]+", (ROOT / "LICENSE").read_text("utf-8"))
    sample = " ".join(random.Random(1).choices(words, k=tokens))
    characters = int(tokens * 20_000 / len(Embedded(()).encode(sample[:20_000])) * 0.99) // 2
    said = Spoken(["", ""], [Call("write", {"text": sample[-characters:]})], reasoning=sample[:characters])
    return DIALECTS["qwen3_json"].write(said)
