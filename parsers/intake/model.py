"""The intake's values: what it hands out (`Intake`), and the log and frames its readers pass on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from parsers.types import Recording

Kind = Literal[
    "raw_text",  # model output as it stands
    "case",  # a case file: the caller loads it
    "sse_log",  # server-sent events of a streaming API
    "json_response",  # one API answer, or a JSON array of such objects
    "ndjson_log",  # API or log objects one after the other
    "chunk_list",  # a JSON array of delta texts
    "token_ids",  # token ids without their text
    "empty",  # nothing at all
    "not_text",  # not UTF-8
]
LogKind = Literal["sse_log", "json_response", "ndjson_log"]
Payload = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Intake:
    """What was recognised.

    `title` names it in a few words. `message` is one line: what it is, what was changed, what to do next.
    `usable` says whether it can be replayed now: through `recording`, or for a case through `case`, its JSON
    text. `notes` are the changes and caveats alone, one sentence each.
    """

    kind: Kind
    title: str
    message: str
    usable: bool
    recording: Recording | None = None
    case: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Recognised:
    """An Intake in the making: `advice` is what to do next, the changes made while decoding are not in yet."""

    kind: Kind
    title: str
    advice: str
    usable: bool = False
    recording: Recording | None = None
    case: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Frame:
    """One payload of a log and the line (from 1) it starts on. None: it is not a JSON object."""

    line: int
    payload: Payload | None


def number(count: int, noun: str) -> str:
    """`1 chunk`, `2,048 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
