"""What a check is, what it looks at and what it answers.

A check is a pure function from a `Subject` (one traced replay, the replays it is compared with, and the request) to
findings. `@check` turns the function into a `Check`: a callable that also carries its name, its number in the list of
invariants and the sentence that is shown to people. No check needs an expected result; none raises on any trace.

Invariants: every check is linear in the length of the output; a finding's message is one sentence in plain words;
severity error means the parser (or server) is at fault, warning and info that the output deserves a look.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from parsers.compare.divergence import EXACT, Channel, Place, Rules, channels, delta_channels, excerpt
from parsers.vocabulary.events import Diagnostic, Severity
from parsers.vocabulary.trace import About, Finding, Proof, RejectedCall, Trace
from parsers.vocabulary.types import Context, Message, Piece, Span, ToolCall
from parsers.wire.read import ServerChunk

Need = Literal[
    "tools",
    "ids",
    "compared",
    "whole",
    "counters",
    "costs",
    "finished",
    "token_ids",
    "bytes",
    "end_tokens",
    "reasoning_markers",
    "server_deltas",
    "server_chunks",
    "raw",
    "bookkeeping",
    "reference",
    "variants",
    "variants:truncated",
    "variants:followed",
    "variants:neighbour",
    "variants:escaped",
    "variants:padded",
    "variants:start_state",
    "variants:reused",
    "variants:no_tools",
    "variants:no_calls",
    "variants:rerendered",
]


@dataclass(slots=True, frozen=True)
class Books:
    """What a serving layer keeps for each call beside the parser: the arguments it was told of, and those it sent."""

    told: Sequence[str]
    sent: Sequence[str]


@dataclass(slots=True)
class Subject:
    """What checks look at.

    `trace`: the replay under study. `whole`: the same output in one delta; `compared`: (label, trace) of other
    chunkings; all in one mode. `terminals`: name to literal of the format's markers; `longest_terminal` in characters
    (0 means that the parser has no literal to wait for). `special_tokens`: texts of the vocabulary's special tokens.
    `black_box`: the parser says nothing but its deltas, and makes up ids as it likes. `counters`: characters
    examined for the output and for an output of twice its length. `variants`: replays of changed outputs.
    `rules`: what counts as a difference. `shares`: by label, how many chunkings gave the message of a compared replay.
    `policy`: the policies in force, by key. `timings`: seconds for the output and for twice the output, by a clock of
    the caller's. `pieces`: the output as tokens. `end_tokens`, `openers`, `closers`: the texts that end a turn, and
    those that open and close reasoning in the format. `reference`: for a black box, what the built-in parser of its
    format makes of the output; it settles what a marker is, never what is right. `server`: the chunks a server sent,
    and `server_ends`, where it is known, how many characters of the output were there after each of them. `served`: the
    trace itself is what a server sent. `raw`: the output text is known; else only what became of it is.
    `reading`: the message that the format's built-in parser gives; where replays differ, it says which to call right.
    `books`: what a serving layer keeps beside the parser. `one_shot`: `whole` was read by a second code path for whole
    outputs, so that it is no chunking among others. `behind`: how many characters the decode policy has not let out
    yet at most, when their ids have come. `spelled`: the text is the bytes of the tokens joined; a decode policy, or
    byte fallback, makes another text of them.
    """

    trace: Trace
    context: Context = field(default_factory=Context)
    whole: Trace | None = None
    compared: Sequence[tuple[str, Trace]] = ()
    terminals: Mapping[str, str] = field(default_factory=dict)
    longest_terminal: int = 0
    special_tokens: frozenset[str] = frozenset()
    black_box: bool = False
    counters: tuple[int, int] | None = None
    variants: Sequence[Variant] = ()
    rules: Rules = EXACT
    shares: Mapping[str, int] = field(default_factory=dict)
    policy: Mapping[str, str] = field(default_factory=dict)
    timings: tuple[float, float] | None = None
    pieces: Sequence[Piece] = ()
    end_tokens: Sequence[str] = ()
    openers: Sequence[str] = ()
    closers: Sequence[str] = ()
    reference: Trace | None = None
    reading: Message | None = None
    server: Sequence[ServerChunk] | None = None
    server_ends: Sequence[int] | None = None
    served: bool = False
    raw: bool = True
    books: Books | None = None
    one_shot: bool = False
    behind: int = 0
    spelled: bool = True
    _channels: dict[str, Channel] | None = field(default=None, init=False, repr=False)
    _streamed: dict[str, Channel] | None = field(default=None, init=False, repr=False)

    @property
    def channels(self) -> dict[str, Channel]:
        """The channels of the trace's message, built once."""
        if self._channels is None:
            self._channels = channels(self.trace)
        return self._channels

    @property
    def streamed(self) -> dict[str, Channel]:
        """The channels as a client builds them from the deltas, built once."""
        if self._streamed is None:
            found = delta_channels(self.trace)
            self._streamed = _in_places(found) if self.served else found
        return self._streamed

    @property
    def failed_at(self) -> int | None:
        """Where the delta begins at which the parser failed, or None. What comes after has that one cause."""
        raised = (e.start for _, e in self.trace.events() if isinstance(e, Diagnostic) and e.code == "parser_raised")
        return next(raised, None)

    def contract(self, key: str, default: str) -> str:
        """A policy as findings name it; `default` where the parser does not say."""
        return f"{key}={self.policy.get(key, default)}"

    @property
    def others(self) -> list[tuple[str, Trace]]:
        """Every other replay of the same output, the whole one first."""
        whole = {} if self.whole is None else {"whole": self.whole}
        return list((whole | dict(self.compared)).items())

    def of_kind(self, kind: str) -> list[Variant]:
        """The replays of changed outputs of one kind, without those in which the parser failed."""
        return [one for one in self.variants if one.kind == kind and one.raised is None]

    def arguments(self, call: int) -> Channel:
        """The arguments channel of a call of the message."""
        return self.channels[f"tool_calls[{call}].arguments"]

    def rejected_at(self, raw: int | None) -> RejectedCall | None:
        """The rejected call that holds the character at `raw` of the output."""
        calls = self.trace.rejected_calls
        if raw is None:
            return None
        index = bisect_right(calls, raw, key=lambda call: call.start) - 1
        return calls[index] if index >= 0 and raw < calls[index].end else None


@dataclass(slots=True)
class CheckReport:
    """What came out: findings, worst first; checks that ran without error or warning; checks that could not run."""

    findings: list[Finding]
    holding: list[str]
    skipped: list[tuple[str, str]]


@dataclass(slots=True, frozen=True)
class Check:
    """A named invariant. `severity` and `about` are what its findings say unless they say otherwise.

    `needs` lists what the subject must have for the check to run; `black_box` says whether it can judge a parser
    that only shows its deltas. `word` is what production logs call the anomaly (names of Dynamo, pull request 10569).
    """

    name: str
    id: str
    definition: str
    run: Callable[[Subject], list[Finding]]
    severity: Severity = "error"
    about: About = "parser"
    needs: tuple[Need, ...] = ()
    black_box: bool = True
    word: str = ""

    def __call__(self, subject: Subject) -> list[Finding]:
        """Run the check."""
        return self.run(subject)

    def finding(
        self,
        message: str,
        *,
        severity: Severity | None = None,
        about: About | None = None,
        step: int | None = None,
        span: Span | None = None,
        expected: str | None = None,
        actual: str | None = None,
        grade: str | None = None,
        policy: str | None = None,
        proof: Proof | None = None,
    ) -> Finding:
        """A finding of this check; long texts are cut to an excerpt."""
        short = [None if text is None else excerpt(text) for text in (expected, actual)]
        level, whose = severity or self.severity, about or self.about
        return Finding(self.name, level, whose, message, step, span, short[0], short[1], self.id, grade, policy, proof)


def check(
    name: str,
    id: str,
    definition: str,
    *,
    severity: Severity = "error",
    about: About = "parser",
    needs: tuple[Need, ...] = (),
    black_box: bool = True,
    word: str = "",
) -> Callable[[Callable[[Subject], list[Finding]]], Check]:
    """Make a function a `Check`."""

    def wrap(run: Callable[[Subject], list[Finding]]) -> Check:
        return Check(name, id, definition, run, severity, about, needs, black_box, word)

    return wrap


def missing_need(checker: Check, subject: Subject) -> str | None:
    """Why a check cannot run on a subject, in words, or None when it can."""
    if subject.black_box and not checker.black_box:
        return "the parser shows its deltas only"
    return next((WHY[need] for need in checker.needs if not _has(subject, need)), None)


def call_words(index: int, name: str | None) -> str:
    """How a call is called in a sentence."""
    return f"call {index} (`{name}`)" if name else f"call {index}"


def channel_words(channel: str, calls: Sequence[ToolCall]) -> str:
    """How a channel is called in a sentence: 'the content', 'the arguments of call 0 (`f`)'."""
    if not channel.startswith("tool_calls["):
        return {"calls": "the number of calls", "finish_reason": "the finish reason"}.get(channel, f"the {channel}")
    number, part = channel.removeprefix("tool_calls[").split("].")
    index = int(number)
    name = calls[index].name if index < len(calls) else None
    return f"the {'end' if part == 'complete' else part} of {call_words(index, name)}"


def span_of(place: Place, length: int = 1) -> Span | None:
    """A span of `length` characters from a place, where its offset is known."""
    return None if place.raw is None else Span(place.raw, place.raw + length)


def any_of(literals: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of some literals, the longest first; it finds nothing where there are none."""
    texts = sorted({text for text in literals if text}, key=len, reverse=True)
    return re.compile("|".join([re.escape(text) for text in texts]) or r"(?!)")


def chunking_of(trace: Trace) -> dict[str, Any]:
    """The chunking of a trace as a case holds it: without the cuts that follow from it."""
    given = trace.chunking
    return {key: value for key, value in given.items() if key != "cuts" or given.get("by") == "cuts"}


def counted(number: int, noun: str) -> str:
    """'1 step', '3 steps'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


LIMIT = 50

WHY: dict[Need, str] = {
    "tools": "the request declares no tools",
    "ids": "the parser gives no call ids, the server adds them",
    "compared": "no other chunking was replayed",
    "whole": "the output was not replayed whole",
    "counters": "the characters examined were not counted",
    "costs": "neither the characters examined nor a clock's time were taken",
    "finished": "the parser failed before the end",
    "token_ids": "the output has no token ids",
    "bytes": "the bytes of the tokens are not known, or the decoder makes another text of them",
    "end_tokens": "the tokens that end a turn are not known",
    "reasoning_markers": "the format has no markers of reasoning",
    "server_deltas": "no server's own log of the same output is at hand",
    "server_chunks": "a parser's deltas have the right shape by construction",
    "raw": "the raw output is unknown",
    "reference": "no built-in parser of the same format is laid beside this one",
    "bookkeeping": "no engine is at hand whose serving layer keeps lists beside the parser",
    "variants": "no changed output was replayed",
    "variants:truncated": "the output was not cut off at each place",
    "variants:followed": "no call could be appended",
    "variants:neighbour": "no text or call could be put beside the first call",
    "variants:escaped": "no string argument was found to plant anything in",
    "variants:padded": "no string argument was found to lengthen",
    "variants:start_state": "the prompt says where the output begins, or the output leaves no doubt",
    "variants:reused": "the parser was not used twice",
    "variants:no_tools": "the output was not replayed without its tools",
    "variants:no_calls": "the output was not replayed with tool_choice none",
    "variants:rerendered": "no chat template is at hand to write the calls again",
}


def _in_places(found: dict[str, Channel]) -> dict[str, Channel]:
    """The channels with calls numbered by their place among the calls: a server may skip numbers."""
    split = {name: name.removeprefix("tool_calls[").split("]") for name in found if name.startswith("tool_calls[")}
    places = {number: place for place, number in enumerate(sorted({int(parts[0]) for parts in split.values()}))}
    return {
        f"tool_calls[{places[int(split[name][0])]}]{split[name][1]}" if name in split else name: channel
        for name, channel in found.items()
    }


def _has_ids(subject: Subject) -> bool:
    return any(call.id for call in subject.trace.message.tool_calls)


def _has(subject: Subject, need: Need) -> bool:
    if need.startswith("variants"):
        kind = need.removeprefix("variants").removeprefix(":")
        return bool(subject.of_kind(kind) if kind else subject.variants)
    return bool(_HAS[need](subject))


_HAS: dict[str, Callable[[Subject], object]] = {
    "tools": lambda subject: subject.context.tools,
    "ids": lambda subject: not subject.black_box or subject.served or _has_ids(subject),
    "compared": lambda subject: subject.compared,
    "whole": lambda subject: subject.whole is not None,
    "counters": lambda subject: subject.counters is not None,
    "costs": lambda subject: subject.counters is not None or subject.timings is not None,
    "finished": lambda subject: subject.failed_at is None,
    "token_ids": lambda subject: any(piece.token_id is not None for piece in subject.pieces),
    "bytes": lambda subject: subject.spelled and subject.pieces and all(p.raw is not None for p in subject.pieces),
    "end_tokens": lambda subject: subject.end_tokens,
    "reasoning_markers": lambda subject: subject.closers,
    "server_deltas": lambda subject: subject.server is not None,
    "server_chunks": lambda subject: subject.served,
    "raw": lambda subject: subject.raw,
    "bookkeeping": lambda subject: subject.books is not None,
    "reference": lambda subject: subject.reference is not None and not subject.served,
}


# Variants: replays of a changed output, request or parser, for the checks that need more than the output itself.
#
# `parsers.search.variants` makes them; checks only read them. A check that needs variants of a kind names the kind
# among its needs, and is skipped where none were made.

VariantKind = Literal[
    "truncated",  # F2: the output cut at one character, finish reason length
    "mutated",  # E1: one marker deleted or doubled
    "followed",  # E2: a valid call appended
    "neighbour",  # M1: prose before or after, another call appended
    "escaped",  # M2: markers, braces and quotes planted into a string argument
    "padded",  # P3: a long string argument
    "start_state",  # R1: the other start state
    "reused",  # C4: the same parser instance again, and after a malformed output
    "no_tools",  # Y3, M3: without the declared tools
    "no_calls",  # M3: tool_choice none
    "rerendered",  # M4: calls rendered by the chat template and parsed again
]


@dataclass(slots=True)
class Variant:
    """One such replay. `label` says in words what was changed, `proof` in data; `facts` is what its check compares
    with, by kind (the planted value, the number of the call, the offset of the cut ...). `base` is the message of the
    unchanged output under the same chunking."""

    kind: VariantKind
    label: str
    proof: Proof
    text: str
    message: Message
    raised: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    base: Message = field(default_factory=Message)
