"""What the intake says of what was given: the outputs it found, and how sure each thing about them is.

A fact is exact, assumed, lossy or missing; a warning is a trap that the recording is in, named by a code; an ask is
what a person could add. Code looks at codes, certainties and what a fact is about, never at the sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from parsers.checks.closers import CLOSING_TAG, closers
from parsers.formats.model import builtin_formats
from parsers.search.markup import BODY, LEFT_OVER
from parsers.selection.claims import is_shown, telling_literals
from parsers.vocabulary.types import Recording, Request
from parsers.wire.endings import last_end
from parsers.wire.read import read_stream

Kind = Literal[
    "raw_text",  # model output as it stands
    "case",  # a case file: the caller loads it
    "corpus",  # many cases in one file: the caller loads the one that is meant
    "sse_log",  # server-sent events of a streaming API
    "json_response",  # one API answer, or a JSON array of such objects
    "ndjson_log",  # API or log objects one after the other
    "chunk_list",  # delta texts: a JSON array, a Python list, lines of a debug print
    "text_literal",  # one string as a program spells it: a Python repr or a JSON string
    "token_ids",  # token ids without their text, flat or by delta
    "replay_record",  # token ids with the prompt's and the length of each chunk, as vLLM's replay has them
    "code_block",  # raw text that other text quotes, in a code block as a rule
    "conversation",  # raw text that is the last turn of a conversation, with its prompt
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

WarnCode = Literal[
    # what was pasted or logged is damaged
    "bad_chunk", "bad_object", "broken_off", "curl_error", "cut_json", "cut_line", "error", "no_done", "no_finish",
    "other_lines", "prefixed", "lone_surrogate", "lossy_bytes", "lossy_text", "text_cut", "text_maybe_cut",
    "text_start_missing", "only_the_call", "unquoted", "rewritten", "closed_otherwise", "closed_short",
    "deltas_short", "events_missing", "blocks_apart", "block_unended",
    # whose chunks they are, and which were left out
    "ids_differ", "increments", "interleaved", "left_out",
    "no_id", "other_chunk", "other_recordings", "other_text", "several",
    "times_unusable",
    # token ids, special tokens, and what a parser left
    "chunk_lengths_missing", "chunk_lengths_wrong", "id_out_of_range", "ids_cut", "ids_swallowed",
    "ids_without_chunks", "lists_joined", "logprobs_partial", "not_an_id", "arguments_rewritten", "no_markers",
    "parsed", "special_tokens", "special_tokens_asked", "specials_missing",
    # the request, the case, the person
    "chunks_differ", "no_expectation", "request_file", "request_unread", "har_secrets", "secret", "skipped", "take_as",
    "column_lacking",
]  # fmt: skip
_BREAKS = 4  # line breaks that a marker of a format begins with, at most
_MENTIONS = 20  # so many markers of a text are looked at one by one
_NAME = 200  # characters of a marker and the name behind it, at most
# What a warning says of the raw text; what is missing for good outweighs what is assumed.
_DOUBTS: tuple[tuple[Certainty, frozenset[WarnCode]], ...] = (
    ("lossy", frozenset({
        "broken_off", "lone_surrogate", "lossy_text", "only_the_call", "specials_missing", "text_cut",
        "text_start_missing",
    })),
    ("assumed", frozenset({"special_tokens", "text_maybe_cut", "unquoted"})),
)  # fmt: skip
REPLAY = "Choose a parser and replay it."


@dataclass(slots=True, frozen=True)
class Fact:
    """One sentence on how sure one thing about the recording is.

    `about`: the raw text, the token ids, where deltas begin and end, what the server's parser sent, the tools, the
    state the output began in, why it ended. lossy: it is there, but something is missing from it for good.
    """

    about: About
    certainty: Certainty
    words: str


@dataclass(slots=True, frozen=True)
class Warn:
    """A trap that this recording is in. `code` is its name for programs, `words` one sentence."""

    code: WarnCode
    words: str


@dataclass(slots=True, frozen=True)
class Ask:
    """Something that is missing and that a person can give. `field` is its field in the form, such as tokenizer."""

    field: str
    words: str


@dataclass(slots=True, frozen=True)
class Capture:
    """One command that records the missing raw text from one server."""

    server: str
    words: str
    command: str


@dataclass(slots=True, frozen=True)
class Peeled:
    """A layer that came off: its name for programs, what it was, and on how many lines (0: of no text)."""

    name: str
    words: str
    lines: int

    @property
    def told(self) -> str:
        """What it was, and on how many lines."""
        return f"{self.words}, {number(self.lines, 'line')}" if self.lines else self.words


@dataclass(slots=True, frozen=True)
class Offer:
    """Layers that could come off one after the other, by name, and what would be read then."""

    names: tuple[str, ...]
    title: str


@dataclass(slots=True, frozen=True)
class Part:
    """A part of a bug report: what it is, in a word and in a few, and the line (from 1) on which it begins."""

    kind: Literal["request", "recording", "output", "other"]
    words: str
    line: int


@dataclass(slots=True, frozen=True)
class Reading:
    """Something else that the same bytes can be taken for."""

    kind: Kind
    title: str


class Skipped(NamedTuple):
    """A part of a suite that is not read: its line (from 1) and why, for behind a colon."""

    line: int
    why: str


def skipped_warnings(skipped: Iterable[Skipped], noun: str) -> tuple[Warn, ...]:
    """Warn of the parts of a suite that are not read; `noun`: what is counted, as a sentence begins with it."""
    return tuple([Warn("skipped", f"{noun} {one.line:,} is not read: {one.why}.") for one in skipped])


class NamedCases(dict[str, str]):
    """Cases by their names, to which others are added: one whose name is taken gets a number. What was tried in vain
    for a name is not tried again, so that many of one name cost no more than as many of others."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, int] = {}

    def add(self, name: str, case: str, number: int = 2) -> None:
        """Add a case, with the first free number from `number` on where its name is taken."""
        found, number = name, max(number, self._next.get(name, number))
        while found in self:
            found, number = f"{name} ({number})", number + 1
        self._next[name] = number
        self[found] = case


class ColumnTaken(NamedTuple):
    """A part of a case, and the column of a suite in rows that it is taken from; `guessed` where nobody named it."""

    key: str
    path: str
    guessed: bool


@dataclass(slots=True, kw_only=True)
class Intake:
    """All that was recognised. Readers make it; `recognise` adds what stood around and what follows from it.

    `title` names it in a few words, `advice` is what to do next. `usable` says whether there is something to replay
    now: `outputs` (one for each response and choice), or `cases`, their JSON text by name; that of a case file has the
    name "". `why` is the evidence, a sentence each; `facts` what is exact, assumed or missing (a reader gives those it
    knows better than what follows from the first output); `warnings` the traps; `asks` what a person can add;
    `captures` how to record what is missing; `readings` what else it can be taken for; `notes` the changes made.
    `request` is what was asked of the server, and `server` the one that the log shows signs of, as `captures` names it.
    `skipped` are samples of a suite that no case could be made of, `columns` what its rows were read by.
    `family` is what a suite calls the parser of its cases. `layers` came off before anything was recognised, `offers`
    could come off. `parts` are those of a bug report. `log` is what kind of log it is, without how much is in it.
    """

    kind: Kind
    title: str
    advice: str = REPLAY
    usable: bool = False
    outputs: tuple[Recording, ...] = ()
    cases: Mapping[str, str] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[Warn, ...] = ()
    asks: tuple[Ask, ...] = ()
    captures: tuple[Capture, ...] = ()
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    request: Request | None = None
    server: str | None = None
    skipped: tuple[Skipped, ...] = ()
    columns: tuple[ColumnTaken, ...] = ()
    family: str = ""
    layers: tuple[Peeled, ...] = ()
    offers: tuple[Offer, ...] = ()
    parts: tuple[Part, ...] = ()
    log: str = ""

    @property
    def at(self) -> int:
        """Return the number of the output that is meant where nobody chose: the first that says something, else the
        first."""
        several = enumerate(self.outputs if len(self.outputs) > 1 else ())
        return next((at for at, output in several if says_something(output)), 0)

    @property
    def recording(self) -> Recording | None:
        """The output that is meant where nobody chose, or None."""
        return self.outputs[self.at] if self.outputs else None

    @property
    def message(self) -> str:
        """One line: what it is, what was changed, what is wrong with it, what to do next."""
        off = [f"Taken off before it was read: {'; '.join([one.told for one in self.layers])}."] * bool(self.layers)
        words = [f"Recognised: {self.title}.", *off, *self.notes, *[warn.words for warn in self.warnings], self.advice]
        return " ".join(words).rstrip()


# Reads a body (HTTP, curl and log noise blanked, line numbers kept) as one shape, or says None. Never raises; linear.
Reader = Callable[[str], Intake | None]


def number(count: int, noun: str) -> str:
    """Return a count with its noun: `1 chunk`, `2,048 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def intake_of(
    kind: Kind,
    title: str,
    outputs: Iterable[Recording],
    *,
    why: str,
    advice: str = REPLAY,
    facts: Iterable[Fact] = (),
    warnings: Iterable[Warn] = (),
    server: str | None = None,
) -> Intake:
    """Return an Intake of outputs that can be replayed, or completed by a tokenizer; each warning once."""
    return Intake(
        kind=kind,
        title=title,
        advice=advice,
        usable=True,
        outputs=tuple(outputs),
        why=(why,),
        facts=tuple(facts),
        warnings=tuple(dict.fromkeys(warnings)),
        server=server,
    )


def says_something(output: Recording) -> bool:
    """Return whether an output has any text, token or call: a stream that only begins and ends has none."""
    if output.text or output.ids or output.pieces or any(delta.text or delta.ids for delta in output.deltas or ()):
        return True
    return any(chunk.delta is not None or chunk.error is not None for chunk in read_stream(output.stream or ()))


def label_outputs(outputs: Sequence[Recording], noun: str) -> None:
    """Call several outputs `noun 1`, `noun 2` ...; the only one needs no label."""
    for place, output in enumerate(outputs, 1):
        output.label = f"{noun} {place}" if len(outputs) > 1 else ""


def make_labels_differ(outputs: Sequence[Recording]) -> None:
    """Number the labels that several outputs share."""
    used: set[str] = set()
    counts: Counter[str] = Counter()
    for output in outputs:
        label = output.label
        while output.label in used:
            counts[label] += 1
            output.label = f"{label} ({counts[label] + 1})"
        used.add(output.label)


def text_facts(warnings: Sequence[Warn]) -> tuple[Fact, ...]:
    """Return the fact about the raw text that the gravest of the warnings gives, or none."""
    doubts = [Fact("text", sure, warn.words) for sure, codes in _DOUBTS for warn in warnings if warn.code in codes]
    return tuple(doubts[:1])


def lost_text_warnings(outputs: Iterable[Recording]) -> list[Warn]:
    """Warn that characters were lost, where the text of an output shows it."""
    return [LOST_TEXT] if any("\ufffd" in (output.text or "") for output in outputs) else []


_LONGEST_MARKER = 80  # characters, with room
LOST_TEXT = Warn(
    "lossy_text", "The text holds U+FFFD: bytes of a character were lost before it was written. Only ids bring it back."
)


@cache
def _markers() -> re.Pattern[str]:
    words = {word for fmt in builtin_formats().values() for word in telling_literals(fmt)}
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def holds_markers(text: str) -> bool:
    """Return True where a marker of a built-in format, or what looks like one, is in the text."""
    return any(pattern.search(text) for pattern in (_markers(), LEFT_OVER, BODY))


def ends_with_marker(text: str) -> bool:
    """Return True where a text ends with a marker of a built-in format."""
    tail = text[-_LONGEST_MARKER:]
    return any(found.end() == len(tail) for found in _markers().finditer(tail))


@cache
def _fenced_calls() -> re.Pattern[str]:
    fenced = [fmt for fmt in builtin_formats().values() if any(one.startswith("```") for one in fmt.terminals.values())]
    words = sorted({word for fmt in fenced for word in telling_literals(fmt)}, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, words))})[\w.-]*$")


def is_fence_of_call(text: str, at: int) -> bool:
    """Return True where the code fence whose contents begin at offset `at` is a format's own: the line before it ends
    with a marker of a format that writes arguments in fences, or with that and the name of a call."""
    fence = text.rfind("\n", 0, max(0, at - 1))
    return fence > 0 and _fenced_calls().search(text[max(0, fence - _NAME) : fence]) is not None


def means_markers(text: str) -> bool:
    """Return True where one of those is in the text, and not only in code that its words are about."""
    return any(True for _ in _meant(text))


def only_closes_calls(text: str) -> bool:
    """Return True where each of the markers that are meant closes a call, or arguments: a parser took what stood
    before."""
    return all(_closes(text, at) for at in _meant(text))


def _closes(text: str, at: int) -> bool:
    """Return whether a marker closes something. Some formats have the line break before it in their marker."""
    at += len(text[at : at + _BREAKS]) - len(text[at : at + _BREAKS].lstrip())
    return text.startswith(closers(), at) or CLOSING_TAG.match(text, at) is not None


def _meant(text: str) -> Iterator[int]:
    """Where the first markers stand that are not only shown."""
    places = chain.from_iterable(pattern.finditer(text) for pattern in (_markers(), LEFT_OVER, BODY))
    return (match.start() for match in islice(places, _MENTIONS) if not is_shown(text, match.start()))


def facts_about(recording: Recording, given: Iterable[Fact] = ()) -> tuple[Fact, ...]:
    """Return all seven facts: those `given`, and for the rest what the recording and its request show."""
    told = {fact.about: fact for fact in given}
    known = _known(recording)
    for about, (certainty, words) in _UNKNOWN.items():
        if about == "text" and recording.ids is not None:
            words = "The raw text takes the model's tokenizer: its ids are here, its text is not."
        derived = Fact(about, "exact", known[about]) if about in known else Fact(about, certainty, words)
        told.setdefault(about, derived)
    return tuple([told[about] for about in _UNKNOWN])


def missing_inputs(recording: Recording) -> tuple[Ask, ...]:
    """Ask for what is missing and can be given, the most important first."""
    request = recording.request or Request()
    found: list[Ask] = []
    if recording.text is None and recording.ids is not None:
        found.append(Ask("tokenizer", "Choose or upload the model's tokenizer: it turns the token ids into text."))
    elif recording.text is None:
        found.append(Ask("text", "Give the raw output if you can record it; without it only the chunks are checked."))
    if request.tools is None and recording.kind != "raw_text":
        found.append(Ask("tools", "Give the tools of the request: argument types and unknown names depend on them."))
    if "start" not in _known(recording) and recording.kind != "raw_text":
        found.append(Ask("reasoning_open", "Say whether the prompt ended inside a reasoning block such as `<think>`."))
    return tuple(found)


# Every thing a fact is about, with what is said of it where nothing is known.
_UNKNOWN: dict[About, tuple[Certainty, str]] = {
    "text": ("missing", "The raw text is not in it: the server's parser has already taken it apart."),
    "ids": ("missing", "No token ids: how the text was split into tokens is assumed."),
    "deltas": ("missing", "Where one delta ended and the next began is not known; a chunking is assumed."),
    "server": ("missing", "Nothing shows what the server's own parser made of it."),
    "tools": ("missing", "The tools of the request are not known: every name and type is accepted."),
    "start": ("assumed", "The end of the prompt is not known; assumed that no reasoning block was open."),
    "finish": ("missing", "Why the output ended is not recorded."),
}


def _known(recording: Recording) -> dict[About, str]:
    """Return a sentence on each thing that the recording or its request shows exactly."""
    request, known = recording.request or Request(), dict[About, str]()
    ids = ids_of_recording(recording)
    steps = recording.deltas if recording.deltas is not None else recording.counts
    if recording.text is not None:
        how = "was rebuilt from its bytes" if recording.pieces else "is there, character for character"
        known["text"] = f"The raw text {how}."
    if ids is not None:
        known["ids"] = f"{number(len(ids), 'token id')} recorded."
    if steps is not None:
        known["deltas"] = f"The output came in {number(len(steps), 'delta')}; where each ends is known."
    if recording.stream is not None:
        came = "when each came is not recorded" if recording.times is None else "with their times"
        known["server"] = f"{number(len(recording.stream), 'chunk')} as the server sent them, {came}."
        if len(recording.stream) == 1 and steps is None:
            known["server"] = "The answer is as the server sent it, in one piece."
    if request.tools is not None:
        known["tools"] = f"{number(len(request.tools), 'tool')} taken from the request."
    if recording.prompt_text is not None or request.prompt_tail is not None:
        known["start"] = "The end of the prompt is known, and with it the state that the output began in."
    elif request.reasoning_open is not None:
        known["start"] = "It is known whether the prompt left a reasoning block open."
    elif recording.prompt_ids is not None:
        known["start"] = "The prompt's token ids are known; the model's tokenizer shows how the prompt ended."
    if recording.finish_reason is not None:
        end = last_end(recording.stream or ())
        ended = f"gave the finish reason {recording.finish_reason}" if end is None else f"ended with {end.word}"
        known["finish"] = f"The server {ended}."
    return known


def ids_of_recording(recording: Recording) -> Sequence[int] | None:
    """Return all token ids of an output, wherever they were recorded; None where one is missing."""
    if recording.ids is not None:
        return recording.ids
    if recording.pieces:
        found = [piece.token_id for piece in recording.pieces if piece.token_id is not None]
        return found if len(found) == len(recording.pieces) else None
    parts = [delta.ids for delta in recording.deltas or () if delta.text or delta.ids]
    return [one for part in parts for one in part or ()] if parts and None not in parts else None
