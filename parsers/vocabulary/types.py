"""The vocabulary every other module shares: plain values, no behaviour beyond what follows from them.

Offsets everywhere in this package are half-open and counted in code points of the *output text*: the exact
decode of the model's tokens with special tokens kept. Values inside the library are slotted dataclasses, and structs
where a parser makes them for every token (`events`, `trace`); pydantic stands only at the edges (formats, cases,
settings, HTTP).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

PieceKind = Literal["text", "special", "added", "partial", "unknown"]
Mode = Literal["text", "ids"]
Owner = Literal["content", "reasoning", "name", "id", "arguments", "marker", "dropped"]


class UsageError(Exception):
    """The caller broke the protocol: a parser fed before begin(), an unknown name, an impossible option."""


class FormatError(Exception):
    """A format definition is wrong. `pointer` is the JSON pointer (RFC 6901) of the place."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.message = message
        self.pointer = pointer


class Span(NamedTuple):
    """Half-open range of code points in the output text."""

    start: int
    end: int


@dataclass(slots=True)
class Piece:
    """The contribution of one token to the text. A token that yields no text yet is a piece with text ''.

    `kind`: text (ordinary), special (an added token with special=true), added (an added token with
    special=false), partial (ends inside a UTF-8 character), unknown (an id the vocabulary lacks).
    `recorded` is true when the id came from a server or a case, false when our own tokenizer made it up.
    """

    text: str
    token_id: int | None = None
    raw: bytes | None = None
    kind: PieceKind = "text"
    recorded: bool = False

    @property
    def marker(self) -> str:
        """The text of a marker, without the blank that WordPiece's decoder puts before it; '' of any other token."""
        return (self.text.lstrip(" ") or self.text) if self.kind in ("special", "added") else ""


def joined(pieces: Iterable[Piece]) -> str:
    """The text of some pieces."""
    return "".join([piece.text for piece in pieces])


@dataclass(slots=True)
class Delta:
    """The text that a parser is fed in one step.

    `early_ids` is set only where ids run ahead of their text (hold-back, text delay): the ids delivered
    in this step, whatever text came with it. Otherwise ids are those of the pieces.
    """

    index: int
    pieces: tuple[Piece, ...]
    early_ids: tuple[int, ...] | None = None

    @property
    def text(self) -> str:
        """The text of this delta."""
        pieces = self.pieces
        return pieces[0].text if len(pieces) == 1 else "".join([piece.text for piece in pieces])

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The token ids delivered with this delta."""
        if self.early_ids is not None:
            return self.early_ids
        return tuple([piece.token_id for piece in self.pieces if piece.token_id is not None])


@dataclass(slots=True)
class RecordedDelta:
    """One delta as a server sent it: its text and, where known, its token ids."""

    text: str
    ids: tuple[int, ...] | None = None


@dataclass(slots=True)
class Request:
    """A request to the server, as far as a recording or a pasted request tells it. What it does not tell is None.

    `tools` are the objects as they were sent. `skip_special_tokens`, `include_stop` (vLLM's
    include_stop_str_in_output) and `stop` decide what is left of the raw text.
    """

    tools: tuple[dict[str, Any], ...] | None = None
    tool_choice: Any = None
    template_kwargs: dict[str, Any] | None = None
    model: str | None = None
    prompt_tail: str | None = None
    stop: tuple[str, ...] | None = None
    include_stop: bool | None = None
    skip_special_tokens: bool | None = None
    reasoning_open: bool | None = None


@dataclass(slots=True)
class Recording:
    """One model output as it was captured: what the intake found, and what a tokenizer completes. None: not recorded.

    `kind` names the recognised shape (raw_text, case, token_ids, chunk_list, sse_log ...), `label` tells outputs of
    one recording apart ("choice 1"). `text` is the raw output with special tokens kept. `pieces` are its tokens where
    their bytes were recorded. `ids` are token ids whose text takes the model's tokenizer; `counts` says how many of
    them came with each delta. `deltas` is the raw text as it was streamed. `stream` are the chunks (or the one answer)
    that the server's own parser made of the output: OpenAI objects as they came; `done`: the stream's own end came
    behind them, `gaps`: some of them are missing; `times`: when each came, in milliseconds since the first time that is
    known. `prompt_ids` and `prompt_text` are the prompt. `expect` is what should come out, in a case's words. `notes`
    say what was changed or assumed. `line` is where it begins in a file of several, from 1.
    """

    text: str | None
    kind: str = "raw_text"
    label: str = ""
    pieces: tuple[Piece, ...] | None = None
    ids: tuple[int, ...] | None = None
    counts: tuple[int, ...] | None = None
    deltas: tuple[RecordedDelta, ...] | None = None
    stream: tuple[dict[str, Any], ...] | None = None
    done: bool = False
    gaps: bool = False
    times: tuple[float | None, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    request: Request | None = None
    expect: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    line: int | None = None


@dataclass(slots=True)
class Tool:
    """One declared tool: its name and the JSON Schema of its arguments."""

    name: str
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(slots=True)
class Context:
    """The request: everything a parser may know besides the output itself.

    `tool_choice` is auto, none, required or named; `named_tool` is the tool of a named choice.
    `reasoning_open` says whether the prompt left a reasoning block open. `id_seed` seeds generated ids.
    """

    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "none", "required", "named"] = "auto"
    named_tool: str | None = None
    reasoning_open: bool = False
    prompt_tail: str | None = None
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    strict: bool | None = None
    finish_reason: str | None = None
    model: str | None = None
    id_seed: int = 0
    model_type: str | None = None

    def tool(self, name: str) -> Tool | None:
        """The declared tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(slots=True)
class ToolCall:
    """A finished tool call. `arguments` is the exact JSON text; `complete` is false for a call cut off."""

    id: str | None
    name: str
    arguments: str
    complete: bool = True


@dataclass(slots=True)
class Message:
    """The assembled message. Absent text is None, never ''.

    `tool_calls` are listed by index. `order` are their places in that list in the order in which the calls began,
    where that is another one; else ().
    """

    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    order: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The message as `replay --json` prints it."""
        return {
            "reasoning": self.reasoning,
            "content": self.content,
            "tool_calls": [
                {"id": c.id, "name": c.name, "arguments": c.arguments, "complete": c.complete} for c in self.tool_calls
            ],
        }


@dataclass(slots=True)
class ToolCallDelta:
    """One tool call's share of a delta. `id` and `name` come once, with the call's first delta."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str | None = None

    def to_openai(self) -> dict[str, Any]:
        """The share as an OpenAI-style object; absent fields are left out."""
        begun = {} if self.name is None else {"id": self.id, "type": "function"}
        texts = {"name": self.name, "arguments": self.arguments}
        return {"index": self.index, **begun, "function": {k: text for k, text in texts.items() if text is not None}}


@dataclass(slots=True)
class MessageDelta:
    """The delta that one step sends to the client, in the shape of an OpenAI chat completion chunk's delta."""

    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[ToolCallDelta] = field(default_factory=list)

    def to_openai(self) -> dict[str, Any]:
        """The delta as an OpenAI-style object; absent fields are left out."""
        texts = {"reasoning": self.reasoning, "content": self.content}
        delta: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
        if self.tool_calls:
            delta["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return delta
