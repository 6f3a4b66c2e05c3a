"""An output as one of our parsers reads it, under a contract: by text and by token ids, under many chunkings.

What is served of a parser's events is the matter of `serving`; what a contract says of all of the output (calls only
where they are all of it, lists that are not closed) is done here, to the message. Readings that differ, text that is
lost and exceptions are failures of ours, whatever a suite expects.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Any, TypeVar

from parsers.compare import call_rules, text_rules
from parsers.compare.call_rules import Pair, without_fractions
from parsers.compare.divergence import ANY_ID, message_key
from parsers.compare.right_reading import Said, Stretch, read_events
from parsers.formats.contracts import Contract
from parsers.formats.model import Format
from parsers.replays.partition import partition
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Diagnostic, Event
from parsers.vocabulary.types import Context, Message, Mode, Piece
from parsers.wire.assemble import Assembler
from tests.truth.serving import Serving
from tests.truth.tokens import Tokens, ordinary_tokens, special_tokens

PLAIN = Contract(name="plain")
_VARIED = (
    *("truncated_call", "invalid_call", "unknown_tool", "content_after_calls"),
    *("malformed_call", "rejected_call", "missing_arguments", "unclosed_list", "unclosed_value", "second_block"),
)
_OF_ALL = {
    "unclosed_list": call_rules.unclosed_list,
    "whole_output": call_rules.whole_output,
    "reasoning_alone": text_rules.reasoning_alone,
}
_Parts = Sequence[tuple[Piece, ...]]
_Whole = TypeVar("_Whole", str, tuple[Piece, ...])


def variants(contract: Contract) -> Iterator[Contract]:
    """What a contract allows: its own behaviours first, then others that it names in the place of one or two."""
    keys = [key for key in _VARIED if len(contract.values(key)) > 1]
    for others in chain.from_iterable([combinations(keys, size) for size in range(3)]):
        for values in product(*[contract.values(key)[1:] for key in others]):
            yield contract.model_copy(update={key: (value,) for key, value in zip(others, values, strict=True)})


@dataclass(frozen=True, slots=True)
class Run:
    """How a suite is run: by text or by ids, under which contract each test, and which tests (None: all)."""

    mode: Mode = "text"
    contracts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only: frozenset[str] | None = None

    def contract(self, test: str, own: Contract = PLAIN) -> Contract:
        """The contract of a test: the suite's own, and over it what is known of the test."""
        said = own.model_dump(exclude_defaults=True) | dict(self.contracts.get(test, {}))
        return Contract.model_validate({**said, "name": "suite"})

    def has(self, test: str) -> bool:
        """Return whether the test is asked for."""
        return self.only is None or test in self.only


class Streaming:
    """One of our parsers that is given text as it comes, in deltas of anybody's.

    By ids it gets whole tokens: text that may still become a marker waits for the rest of it.
    """

    def __init__(
        self,
        fmt: Format,
        context: Context,
        contract: Contract,
        mode: Mode = "text",
        policies: Mapping[str, str] | None = None,
    ) -> None:
        self._fmt, self._by_ids = fmt, mode == "ids"
        self._markers = special_tokens(fmt, "", ()).ids if self._by_ids else {}
        self._serving = Serving(fmt, context, contract, Tokens((), self._markers) if self._by_ids else None, policies)
        self._held = ""

    @property
    def state(self) -> str:
        """The state that the parser is in."""
        return self._serving.state

    def feed(self, text: str) -> list[Event]:
        """The events that are served for a delta."""
        if not self._by_ids:
            return self._serving.feed((Piece(text),))[1]
        text = self._held + text
        solid = next((at for at in range(len(text)) if self._may_be_marker(text[at:])), len(text))
        text, self._held = text[:solid], text[solid:]
        return self._serving.feed(special_tokens(self._fmt, text, ()).pieces)[1]

    def _may_be_marker(self, rest: str) -> bool:
        """Return whether more text may make this a marker."""
        return any(len(one) > len(rest) and one.startswith(rest) for one in self._markers)

    def finish(self) -> list[Event]:
        """The events of the end."""
        rest = self._serving.feed(ordinary_tokens(self._fmt, self._held).pieces)[1]
        return rest + self._serving.finish(None)[1]


@dataclass(frozen=True, slots=True)
class Reader:
    """A parser and a request, to read whole outputs with."""

    fmt: Format
    context: Context
    contract: Contract
    mode: Mode = "text"
    parts: tuple[str, ...] = ()
    finish_reason: str | None = None
    quick: bool = False
    policies: Mapping[str, str] = field(default_factory=dict)

    def message(self, text: str) -> Message:
        """What all readings of the output in this mode say. Raises AssertionError where they say different things."""
        if self.contract.values("stray_reasoning_end")[:1] == ("reasoning",) and not self.context.reasoning_open:
            _, events = self._read(((Piece(text),),))
            if any(isinstance(event, Diagnostic) and event.code == "orphan_reasoning_end" for event in events):
                return replace(self, context=replace(self.context, reasoning_open=True)).message(text)
        whole, events = self._read(((Piece(text),),))
        typed = [run for run in partition(events, len(text)) if run.owner == "arguments"]
        inside = frozenset([at for run in typed for at in range(run.start, run.end)])
        readings: Iterable[tuple[str, _Parts, Tokens | None]] = ()
        if not (self.quick and self.mode == "text"):
            readings = self._by_text(text) if self.mode == "text" else self._by_ids(text, inside)
        first: Message | None = whole if self.mode == "text" else None
        for how, parts, tokens in readings:
            message, _ = self._read(parts, tokens)
            first = first or message
            assert message_key(message, ANY_ID) == message_key(first, ANY_ID), f"read differently {how}"
        assert first is not None
        return self._all_calls(text, first, events)

    def _by_text(self, text: str) -> Iterator[tuple[str, _Parts, Tokens | None]]:
        yield "by characters", [(Piece(char),) for char in text], None
        if self.parts:
            yield "as given", [(Piece(part),) for part in self.parts], None
        for seed in range(3):
            yield f"at random ({seed})", [(Piece(part),) for part in _cut(text, seed)], None
        tokens = ordinary_tokens(self.fmt, text)
        yield "by tokens", [(replace(piece, token_id=None),) for piece in tokens.pieces], None
        yield "by ordinary ids", [(piece,) for piece in tokens.pieces], tokens

    def _by_ids(self, text: str, inside: frozenset[int]) -> Iterator[tuple[str, _Parts, Tokens | None]]:
        tokens = special_tokens(self.fmt, text, inside)
        pieces = tokens.pieces
        yield "by tokens", [(piece,) for piece in pieces], tokens
        yield "all tokens at once", [pieces], tokens
        yield "by three tokens", [pieces[at : at + 3] for at in range(0, len(pieces), 3)], tokens
        for seed in range(2):
            yield f"at random tokens ({seed})", _cut(pieces, seed), tokens

    def _read(self, parts: _Parts, tokens: Tokens | None = None) -> tuple[Message, list[Event]]:
        """The message, and all events."""
        serving, assembler = Serving(self.fmt, self.context, self.contract, tokens, self.policies), Assembler()
        all_events: list[Event] = []
        for events, served in chain(map(serving.feed, parts), map(serving.finish, [self.finish_reason])):
            all_events += events
            assembler.absorb(served)
        size = sum([len(piece.text) for part in parts for piece in part])
        lost = [run for run in partition(all_events, size) if run.owner == "dropped" and run.reason == LOST]
        assert not lost, f"characters {lost[0].start} to {lost[0].end} are lost"
        return assembler.message(), all_events

    def _all_calls(self, text: str, message: Message, events: Sequence[Event]) -> Message:
        """Contracts about all of the output, by their rules: the calls of a list that is not closed, or beside which
        text stands, are none, or are dropped; reasoning alone may be the content."""
        reading = read_events(events, text)
        served = Stretch(message.content or "", 0, 0)  # where that is not what was read
        calls = tuple(zip(reading.calls, message.tool_calls, strict=False))
        said = reading.message(message) or Said(message.reasoning or "", (served,), calls)
        for key, rule in _OF_ALL.items():
            values = self.contract.values(key)[:1]
            pair = Pair(reading, said, message, text, self.context, values)
            said = next(rule(pair), said) if values and values[0] in ("text", "drop", "only", "content") else said
        found = said.message
        if self.contract.values("whole_numbers")[:1] == ("shorten",):
            calls_of = [replace(call, arguments=without_fractions(call.arguments)) for call in found.tool_calls]
            found = replace(found, tool_calls=calls_of)
        return replace(found, reasoning=found.reasoning or None, content=found.content or None)


def _cut(whole: _Whole, seed: int) -> list[_Whole]:
    rng = random.Random(seed)
    parts, at = [], 0
    while at < len(whole):
        size = rng.randint(1, 9)
        parts.append(whole[at : at + size])
        at += size
    return parts
