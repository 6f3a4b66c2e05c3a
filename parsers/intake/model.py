"""The intake's values: what it hands out (`Intake`), and the log and frames its readers pass on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from parsers.vocabulary.types import Recording, Request

Kind = Literal[
    "raw_text",  # model output as it stands
    "case",  # a case file: the caller loads it
    "sse_log",  # server-sent events of a streaming API
    "json_response",  # one API answer, or a JSON array of such objects
    "ndjson_log",  # API or log objects one after the other
    "chunk_list",  # delta texts: a JSON array, a Python list, lines of a debug print
    "text_literal",  # one string as a program spells it: a Python repr or a JSON string
    "token_ids",  # token ids without their text, flat or by delta
    "replay_record",  # token ids with the prompt's and the length of each chunk, as vLLM's replay has them
    "code_block",  # raw text in a fenced code block of other text
    "client_objects",  # the printed objects of a client library: ChoiceDeltaToolCall(...)
    "server_log",  # lines of a server's own log that quote the output
    "dynamo_yaml",  # a case of Dynamo's parity tests or of the unified suite
    "request",  # a request (JSON, or a curl command), without any answer
    "pickle",  # never loaded
    "empty",  # nothing at all
    "not_text",  # not UTF-8
]
LogKind = Literal["sse_log", "json_response", "ndjson_log"]
Payload = dict[str, Any]

About = Literal["text", "ids", "deltas", "server", "tools", "start", "finish"]
Certainty = Literal["exact", "assumed", "lossy", "missing"]


@dataclass(slots=True, frozen=True)
class Fact:
    """How sure one thing about the recording is, in one sentence.

    `about`: the raw text, the token ids, where deltas begin and end, what the server's parser sent, the tools, the
    state the output began in, why it ended. lossy: it is there, but something is missing from it for good.
    """

    about: About
    certainty: Certainty
    words: str


@dataclass(slots=True, frozen=True)
class Warn:
    """A trap that this recording is in. `code` is its name for programs, `words` one sentence."""

    code: str
    words: str


@dataclass(slots=True, frozen=True)
class Ask:
    """Something that is missing and that a person can give. `field` is its field in the form, such as tokenizer."""

    field: str
    words: str


@dataclass(slots=True, frozen=True)
class Capture:
    """How the missing raw text is recorded: one command for one server."""

    server: str
    words: str
    command: str


@dataclass(slots=True, frozen=True)
class Reading:
    """Something else that the same bytes can be taken for."""

    kind: Kind
    title: str


@dataclass(slots=True, kw_only=True)
class Found:
    """What was recognised.

    `title` names it in a few words. `usable` says whether there is something to replay now: `outputs` (one for each
    response and choice), or for a case `case`, its JSON text. `why` is the evidence, a sentence each; `facts` what is
    exact, assumed or missing; `warnings` the traps; `asks` what a person can add; `captures` how to record what is
    missing; `readings` what else it can be taken for. `notes` are the changes and caveats alone, one sentence each.
    `request` is what was asked of the server.
    """

    kind: Kind
    title: str
    usable: bool = False
    outputs: tuple[Recording, ...] = ()
    case: str | None = None
    why: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[Warn, ...] = ()
    asks: tuple[Ask, ...] = ()
    captures: tuple[Capture, ...] = ()
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    request: Request | None = None


@dataclass(slots=True, kw_only=True)
class Intake(Found):
    """The answer. `message` is one line: what it is, what was changed, what to do next."""

    message: str

    @property
    def recording(self) -> Recording | None:
        """The first output, or None."""
        return self.outputs[0] if self.outputs else None


@dataclass(slots=True, kw_only=True)
class Recognised(Found):
    """An Intake in the making: `advice` is what to do next, the changes made while decoding are not in yet.

    `server` is the server that the log shows signs of, as `captures` names it. A fact given here stands; the facts
    about everything else follow from the outputs and the request.
    """

    advice: str
    server: str | None = None


# Reads a body (HTTP, curl and log noise blanked, line numbers kept) as one shape, or says None. Never raises; linear.
Reader = Callable[[str], Recognised | None]


@dataclass(slots=True)
class Frame:
    """One payload of a log and the line (from 1) it starts on. None: it is not a JSON object.

    `event` is the name that server-sent events gave it.
    """

    line: int
    payload: Payload | None
    event: str = ""


def number(count: int, noun: str) -> str:
    """`1 chunk`, `2,048 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
