"""The answers of a guest that come with a request, where nobody can be asked in between, as over HTTP.

A request brings all that its guest has said so far. The work is done anew each time; where an answer is missing, it is
noted, and the built-in parser of the format stands in, so that what will be wanted later is mostly known as well. What
was noted is the answer then, and the next request brings more. So the first of what is wanted is always wanted
for certain, a request less is made for each guess that is right, and no result is given that rests on a guess.

Nothing is kept here between two requests: any process of a server can answer any of them, and a client that goes away
leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from parsers.formats.model import Format
from parsers.selection.registry import build
from parsers.vocabulary.types import Context, Delta, Piece
from parsers.wire.assemble import Assembler

MOST_RUNS = 64  # that are wanted at once
MOST_REPLAYS = 256  # in all of them

StandIn = Callable[[Mapping[str, Any]], Any]


class WantedError(BaseException):
    """Enough is wanted. Not an Exception: what a parser raises is caught as one."""


class Known(BaseModel):
    """What a guest said to a run; `of` is what the run was told by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: str = Field(max_length=64)
    answer: Any = None


class Answers:
    """What is known of a guest, and what is `wanted`. What was asked twice is answered twice, in that order: the same
    guest may not say the same. Without somebody to stand in the first answer that is missing ends the work."""

    def __init__(self, known: Sequence[Known], stand_in: StandIn | None = None) -> None:
        self.wanted: list[dict[str, Any]] = []
        self._replays = 0
        self._stand_in = stand_in
        self._known: dict[str, deque[Any]] = {}
        for one in known:
            self._known.setdefault(one.of, deque()).append(one.answer)

    def ask(self, run: Mapping[str, Any]) -> Any:
        """The answer to a run, or a guess. Raises WantedError where enough is wanted."""
        left = self._known.get(digest(run))
        if left:
            return left.popleft()
        self.wanted.append(dict(run))
        self._replays += len(run["replays"])
        if self._stand_in is None or len(self.wanted) >= MOST_RUNS or self._replays >= MOST_REPLAYS:
            raise WantedError
        return self._stand_in(run)


def digest(run: Mapping[str, Any]) -> str:
    """The same for runs that are alike."""
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode("ascii")).hexdigest()


def by_format(fmt: Format, context: Context) -> StandIn:
    """The built-in parser of a format in the place of a guest, for a request that a run may have changed."""

    def answered(run: Mapping[str, Any]) -> Any:
        told = run["request"]
        named = {tool["function"]["name"] for tool in told["tools"]}
        tools = tuple([tool for tool in context.tools if tool.name in named])
        changed = replace(context, tools=tools, reasoning_open=bool(told["reasoning_open"]))
        whole = run["path"] == "whole"
        return {"replays": [_replayed(fmt, changed, deltas, run, whole=whole) for deltas in run["replays"]]}

    return answered


def _replayed(fmt: Format, context: Context, deltas: Any, run: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    parser, assembler = build(fmt), Assembler()
    parser.begin(context)
    events = [parser.feed(Delta(number, (Piece(delta[0]),))) for number, delta in enumerate(deltas, 1)]
    events.append(parser.finish(run["finish_reason"]))
    steps = [[one for step in events for one in step]] if whole else events
    sent = [assembler.add(step) for step in steps]
    return {"sent": [None if delta is None else delta.to_openai() for delta in sent]}
