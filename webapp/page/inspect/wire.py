"""The wire view: the answer as a client receives it, in chunks, as an event stream, or as the one object, and what
clients make of it.

Chunks and stream show the steps of the window, and of a step that sends very many chunks those around the cursor. The
one object is built only when it is asked for, and shortened where its texts and lists are long. A recorded stream that
is played back is shown as it was recorded.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from parsers.checks.deltas import EVERY_CHUNK, ClientResult, clients
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall
from parsers.wire.chunks import Chunk, Dialect, Envelope, closing_chunks, recorded_chunks, step_chunks
from parsers.wire.message import Usage, chat_completion
from webapp.glyphs import count, shorten
from webapp.page.inspect.index import TraceIndex, Window

CHUNKS_SHOWN = 400
TEXT_SHOWN = 2_000
ITEMS_SHOWN = 60
HOLE = "\u2026"


@dataclass(slots=True)
class WireRow:
    """One chunk: the step that sent it, its delta, the reason if it is the last, and the event that carries it."""

    step: int
    delta: str
    finish: str
    event: str


@dataclass(slots=True)
class Wire:
    """What the view shows. `whole`: nothing is left out, so that a copy of it is the answer.

    `before` and `after` count chunks of the window that are not shown; `envelope` is what stands around every delta.
    """

    view: str
    dialect: Dialect
    first: int
    last: int
    envelope: tuple[str, str] = ("", "")
    rows: list[WireRow] = field(default_factory=list)
    before: int = 0
    after: int = 0
    done: bool = False
    response: list[str] = field(default_factory=list)
    whole: bool = True
    clients: list[ClientView] = field(default_factory=list)
    recorded: bool = False


def wire(
    index: TraceIndex,
    window: Window,
    step: int,
    *,
    view: str,
    envelope: Envelope,
    tokens: int,
    stream: Sequence[Any] | None = None,
) -> Wire:
    """The wire view of `window`, seen from `step`. `tokens` is the number of tokens of the output; `stream` what a
    server sent, where that is played back."""
    found = Wire(view, envelope.dialect, window.first, window.last, recorded=stream is not None)
    if view == "response":
        _respond(found, chat_completion(index.trace, envelope, Usage(0, tokens)))
        return found
    if view == "clients":
        found.clients = client_views(index.trace)
        return found
    sent = None if stream is None else recorded_chunks(stream, window.first, window.last)
    chunks = list(_chunks(index, window, envelope) if sent is None else sent)
    low = max(0, min(bisect_left(chunks, step, key=_step) - CHUNKS_SHOWN // 2, len(chunks) - CHUNKS_SHOWN))
    high = min(len(chunks), low + CHUNKS_SHOWN)
    found.before, found.after = low, len(chunks) - high
    found.done = window.last == index.total and not found.after
    found.envelope = _around(envelope) if sent is None else ("", "")
    found.rows = [_row(chunk) for chunk in chunks[low:high]]
    cut = any(len(chunk.text) > TEXT_SHOWN for chunk in chunks[low:high])
    found.whole = found.done and not cut and not low and window.first == 1
    return found


def dialect_of(name: str) -> Dialect:
    """The dialect of that name, else the usual one."""
    return "reasoning_content" if name == "reasoning_content" else "reasoning"


def _step(chunk: Chunk) -> int:
    return chunk.step


def _chunks(index: TraceIndex, window: Window, envelope: Envelope) -> Iterator[Chunk]:
    """The chunks of the window's steps, the closing one included where the window holds the last step."""
    opening = index.emissions[0] if index.emissions else 0
    steps = index.trace.steps[window.first - 1 : window.last]
    sent = chain.from_iterable(step_chunks(step, envelope, first=step.index == opening) for step in steps)
    end = closing_chunks(index.trace, envelope, opened=bool(opening)) if window.last == index.total else ()
    return chain(sent, end)


def _row(chunk: Chunk) -> WireRow:
    """A chunk of ours by its delta; one that was recorded, whatever its shape, as a whole."""
    choice, event = _choice(chunk.payload), f"data: {shortened(chunk.text)}"
    if choice is None:
        return WireRow(chunk.step, shortened(json.dumps(chunk.payload, ensure_ascii=False)), "", event)
    reason = choice.get("finish_reason")
    shown = json.dumps(choice["delta"], ensure_ascii=False)
    return WireRow(chunk.step, shortened(shown), reason if isinstance(reason, str) else "", event)


def _choice(payload: Any) -> dict[str, Any] | None:
    """The one choice of a chunk, where it has the usual shape."""
    choices = payload.get("choices") if isinstance(payload, dict) else None
    one = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    return one if isinstance(one, dict) and "delta" in one else None


def _around(envelope: Envelope) -> tuple[str, str]:
    """What stands before and after the delta in every chunk but the last."""
    given = {"id": envelope.id, "object": "chat.completion.chunk", "created": envelope.created, "model": envelope.model}
    head = json.dumps(given, ensure_ascii=False).removesuffix("}")
    return f'{head}, "choices": [{{"index": 0, "delta": ', ', "finish_reason": null}]}'


def _respond(found: Wire, answer: dict[str, Any]) -> None:
    shown = folded(answer)
    found.response = json.dumps(shown, ensure_ascii=False, indent=2).split("\n")
    found.whole = shown == answer


def folded(value: Any) -> Any:
    """JSON data with long texts and lists shortened in the middle."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {key: folded(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) <= ITEMS_SHOWN:
        return [folded(item) for item in value]
    half = ITEMS_SHOWN // 2
    hole = f"{HOLE} {len(value) - ITEMS_SHOWN:,} more {HOLE}"
    return [*map(folded, value[:half]), hole, *map(folded, value[-half:])]


def shortened(text: str) -> str:
    """The text, or its two ends and how much is between them."""
    if len(text) <= TEXT_SHOWN:
        return text
    half = TEXT_SHOWN // 2
    return f"{text[:half]} [{HOLE}{len(text) - TEXT_SHOWN:,} more{HOLE}] {text[-half:]}"


# What clients make of a stream: the calls as each of three models of a client builds them, beside each other.
#
# The models are those of the check deltas_build_message (`parsers.checks.deltas`); here they are drawn.

SHOWN = 300
CALLS_SHOWN = 40
STRICT = "The OpenAI API sends arguments in pieces without them, so that this client breaks on every such stream."
TITLES = ("by index", "by id", "id and name in every chunk")


@dataclass(slots=True)
class ClientCall:
    """A call as a client has it at the end. `differs`: the message has no such call."""

    name: str
    arguments: str
    differs: bool


@dataclass(slots=True)
class ClientView:
    """One client. `outcome` in a few words, with its severity; `broke` and `step` say what stopped it, and where."""

    title: str
    about: str
    severity: str
    outcome: str
    broke: str
    step: int | None
    note: str
    calls: list[ClientCall]
    more: int


def client_views(trace: Trace) -> list[ClientView]:
    """The three clients on the deltas of a replay."""
    wanted = trace.message.tool_calls
    return [_view(number, result, wanted) for number, result in enumerate(clients(trace))]


def _view(number: int, result: ClientResult, wanted: list[ToolCall]) -> ClientView:
    right = [(call.name, call.arguments) for call in wanted]
    same = result.calls == right and not result.broke
    usual = number == EVERY_CHUNK
    severity = "pass" if same else "info" if usual else "error"
    outcome = f"gets {count(len(result.calls), 'call')}" + (", as the message has" if same else "")
    calls = [
        ClientCall(shorten(name, SHOWN), shorten(arguments, SHOWN), right[at : at + 1] != [(name, arguments)])
        for at, (name, arguments) in enumerate(result.calls[:CALLS_SHOWN])
    ]
    return ClientView(
        title=TITLES[number],
        about=result.words,
        severity=severity,
        outcome=outcome if same or not result.broke else f"breaks, {outcome}",
        broke=result.broke,
        step=result.step,
        note=STRICT if usual and not same else "",
        calls=calls,
        more=max(0, len(result.calls) - CALLS_SHOWN),
    )
