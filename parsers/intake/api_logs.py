"""A log: frames of one API. Finding one, naming its damage, and rebuilding the raw output from chunks that hold it.

What is wrong with a log is told with its place; what is whole is used. Invariant: the text of a rebuilt recording is
the concatenation of its deltas, each as the server sent it. A chunk that cannot be read is left out and told; nothing
is guessed in its place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from parsers.intake.api_families import UNKNOWN, Family, RawChunk, family_of, is_failure, parsed_stream
from parsers.intake.content_blocks import in_one_message
from parsers.intake.envelopes import unwrapped
from parsers.intake.evidence import (
    REPLAY,
    Fact,
    Intake,
    LogKind,
    Payload,
    Warn,
    WarnCode,
    lost_text_warnings,
    number,
    only_closes_calls,
    text_facts,
)
from parsers.intake.json_frames import Frame, object_frames, read_event_lines
from parsers.intake.moments import arrivals, moment_of
from parsers.intake.plain_text import LONE_SURROGATE, has_lone_surrogate, without_lone_surrogates
from parsers.intake.vercel_lines import vercel_lines
from parsers.intake.written_values import object_of
from parsers.vocabulary.types import Piece, RecordedDelta, Recording

_LONGEST = 300  # characters of an error message that are quoted
NO_FINISH = Warn("no_finish", "It has no finish reason: the stream broke off, or the log was cut.")
UNFINISHED = Warn("no_finish", "It has no finish reason.")
_INCREMENTS = Warn("increments", "Its texts do not repeat each other, so each is taken for what is new.")
_REWRITTEN = Warn(
    "rewritten", "A text changed what an earlier one said, so only the last is used and the deltas are not known."
)


@dataclass(slots=True)
class Log:
    """Frames of one family.

    `ends`: after how many frames the stream's end sentinel was seen. `listed`: the frames stood in one array.
    `finishes`: they have a place for a finish reason. `over`: they are made of a log of another API, which had its own
    last event. `others` are the numbers of the lines that are no part of the
    log, `prefixed` of those after a log's prefix.
    """

    kind: LogKind
    family: Family
    frames: list[Frame]
    ends: list[int] = field(default_factory=list)
    listed: bool = False
    finishes: bool = True
    over: bool = False
    others: list[int] = field(default_factory=list)
    prefixed: list[int] = field(default_factory=list)

    @property
    def payloads(self) -> list[Payload]:
        """The payloads that could be read."""
        return [frame.payload for frame in self.frames if frame.payload is not None]

    @property
    def streamed(self) -> bool:
        """True where the frames are the steps of a stream, not one whole answer."""
        return (self.kind != "json_response" or self.listed) and not self.family.whole

    @property
    def ended(self) -> bool:
        """True where the end sentinel follows the last frame."""
        return self.ends[-1:] == [len(self.frames)]

    def sent_end(self, part: int) -> bool:
        """Return whether the stream's own end follows a part; of another API's log, whether it had its own."""
        if self.family.translate is not None:
            return self.over
        return self.kind == "sse_log" and part < len({end for end in self.ends if end})

    def place(self, frame: Frame) -> str:
        """Name the place of the frame, for a message."""
        return f"{'item' if self.listed else 'line'} {frame.line:,}"

    def parts(self) -> Iterator[list[Frame]]:
        """Yield the frames, parted where the stream's end sentinel stood."""
        start = 0
        for end in [*dict.fromkeys(self.ends), len(self.frames)]:
            if end > start:
                yield self.frames[start:end]
            start = end

    @property
    def shape(self) -> str:
        """Return how the payloads stand in the log, as a sentence of evidence."""
        if self.kind == "sse_log":
            return f"{number(len(self.frames), 'line')} with `data:`, as server-sent events have them."
        if self.kind == "ndjson_log":
            return f"{number(len(self.frames), 'JSON object')} one after the other."
        return "It is a JSON array of objects." if self.listed else "It is one JSON object."

    def damage(self) -> Iterator[Warn]:
        """Warn of all damage of the log itself, whatever its chunks hold."""
        bad = [frame for frame in self.frames if frame.payload is None and not is_failure(frame)]
        if bad and bad[-1] is self.frames[-1] and not self.ended:
            last = bad.pop()
            yield Warn("cut_line", f"The last chunk ({self.place(last)}) breaks off and was left out: the log was cut.")
        if bad:
            places = ", ".join([self.place(frame) for frame in bad[:3]])
            places += f" and {len(bad) - 3:,} more" if len(bad) > 3 else ""
            words = f"{number(len(bad), 'chunk')} cannot be read and {_was_or_were(bad)} skipped ({places})"
            yield Warn("bad_chunk", f"{words}: what it held is missing.")
        if short := [frame for frame in self.frames if frame.shortened]:
            words = f"{number(len(short), 'chunk')} {_was_or_were(short)} quoted with dots in place of a part"
            yield Warn("left_out", f"{words} ({self.place(short[0])}): what stood there is not known.")
        for frame in [frame for frame in self.frames if is_failure(frame)][:1]:
            yield Warn("error", f"The server sent an error ({self.place(frame)}): {_error_words(frame.payload or {})}")
        if self.others:
            verb = "is" if len(self.others) == 1 else "are"
            words = f"{number(len(self.others), 'line')} that {verb} no part of the log {_was_or_were(self.others)}"
            yield Warn("other_lines", f"{words} skipped (the first is line {self.others[0]:,}).")
        if self.prefixed:
            words = f"{number(len(self.prefixed), 'line')} had something before `data:`, which was cut off."
            yield Warn("prefixed", words)

    def intake(self, advice: str, outputs: Sequence[Recording] = (), **more: Any) -> Intake:
        """Return what a person is told of the log, with its worth: the outputs, and what `more` says of them."""
        name, count = self.family.title or self.family.name, len(self.frames)
        log = f"{name} SSE log" if self.kind == "sse_log" else ""
        if log:
            title = f"{log}, {number(count, 'chunk')}"
        elif self.kind == "ndjson_log":
            title = f"{name} log, {number(count, 'JSON object')}" + (" one after the other" if count > 1 else "")
        else:
            title = f"JSON array of {number(count, name + ' object')}" if self.listed else f"{name} JSON response"
        found = Intake(kind=self.kind, title=title, advice=advice, usable=len(outputs) > 0, log=log)
        return replace(found, outputs=tuple(outputs), **more)

    def missing_end(self) -> Iterator[Warn]:
        """Warn where an OpenAI stream lacks `data: [DONE]` after its last part."""
        if self.kind == "sse_log" and not self.ended:
            yield Warn("no_done", "The log has no `data: [DONE]` at its end: more may have come.")


def response_log(value: Any, *, framed: bool = False) -> Log | None:
    """Return a log of the one JSON object, or of the objects of a JSON array, that an API sent."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    items = in_one_message(list(map(unwrapped, items)))
    found = [family_of(item, framed=framed) for item in items]
    if None in found:
        return None
    frames = [Frame(at, item) for at, item in enumerate(items, 1)]
    return Log("json_response", _leading_family(found), frames, listed=isinstance(value, list))


def object_log(text: str) -> Log | None:
    """Return a log of objects one after the other, with nothing else between, or each on its own line."""
    lines = vercel_lines(text)
    read = (lines, []) if lines else object_frames(text)
    if read is None:
        return None
    frames, others = [replace(one, payload=one.payload and unwrapped(one.payload)) for one in read[0]], read[1]
    found = [family_of(frame.payload, framed=True) for frame in frames if frame.payload is not None]
    known = [family for family in found if family]
    strict = family_of(frames[0].payload) is not None if frames[0].payload else bool(known)
    # At most a third may be unknown: a list of calls, or prose about a log, is model output.
    if not strict or (len(found) - len(known) + len(others)) * 3 > len(known):
        return None
    return Log("ndjson_log", _leading_family(found), frames, others=others)


def event_log(text: str) -> Log | None:
    """Return a log of server-sent events."""
    events = read_event_lines(text)
    # At least half of the lines must belong to an event stream.
    if events is None or not events.fields or len(events.others) > events.fields:
        return None
    found = [family_of(frame.payload, framed=True) for frame in events.frames if frame.payload is not None]
    if not events.ends and not any(found):
        return None
    family = _leading_family(found)
    return Log("sse_log", family, events.frames, events.ends, others=events.others, prefixed=events.prefixed)


def _leading_family(found: list[Family | None]) -> Family:
    """Return the surest family, the first of equals: a log of chat chunks stays one if an error follows."""
    return max([family for family in found if family], key=lambda one: (not one.error, not one.framed), default=UNKNOWN)


def _was_or_were(things: Sequence[object]) -> str:
    return "was" if len(things) == 1 else "were"


def _error_words(payload: Payload) -> str:
    error = payload.get("error", payload)
    message = error.get("message", error) if isinstance(error, dict) else error
    line = " ".join((message if isinstance(message, str) else json.dumps(message)).split()) or "it says nothing"
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def several_outputs_warning(count: int) -> list[Warn]:
    """Warn where one log holds more than one output."""
    return [Warn("several", f"It holds {number(count, 'output')}: choose the one to look at.")] if count > 1 else []


def tokens_counted(payloads: Sequence[Payload]) -> int | None:
    """Return how many tokens the server counted, as the last payload with a usage says."""
    counts = [object_of(payload.get("usage")).get("completion_tokens") for payload in payloads]
    return next((count for count in reversed(counts) if type(count) is int), None)


class OutputKey(NamedTuple):
    """One output: its part of the log (between end sentinels), whose response, the choice, the how-manieth."""

    part: int
    request: str | None
    choice: int
    round: int = 0


def output_labels(keys: Sequence[OutputKey]) -> list[str]:
    """Name each output: "" for the only one, "choice 2", "response 1", "response 2, choice 1"."""
    if len(keys) < 2:
        return [""] * len(keys)
    responses = {place: at for at, place in enumerate(dict.fromkeys([key._replace(choice=0) for key in keys]), 1)}
    choices = {key.choice for key in keys}
    names = [(f"response {responses[key._replace(choice=0)]}", f"choice {key.choice + 1}") for key in keys]
    return [", ".join(name[len(responses) < 2 : 1 + (len(choices) > 1)]) for name in names]


def raw_intake(log: Log) -> Intake:
    """Rebuild the outputs of a log whose family has a reader: one for each response and choice."""
    groups, warnings = _chunks_by_output(log)
    outputs: list[Recording] = []
    for label, chunks in zip(output_labels(list(groups)), groups.values(), strict=True):
        output, doubts = _recording(log, label, chunks)
        outputs.append(output)
        warnings += [*doubts, *[warn for chunk in chunks for warn in chunk.warnings]]
    failed = log.frames[-1].payload if log.frames and is_failure(log.frames[-1]) else None
    if failed is not None and outputs and outputs[-1].stream:
        outputs[-1].stream += (failed,)
    first: dict[WarnCode, Warn] = {}
    for warn in warnings:
        first.setdefault(warn.code, warn)  # one of each code is enough: the first place tells the rest
    warnings = list(first.values())
    lost = lost_text_warnings(outputs)
    caveats = [Warn("special_tokens_asked" if log.family.skips else "special_tokens", log.family.caveat)]
    caveats = caveats if log.family.caveat and any(output.text is not None for output in outputs) else []
    facts = text_facts([*warnings, *lost]) or tuple([Fact("text", "assumed", warn.words) for warn in caveats])
    said = (*caveats, *log.damage(), *warnings, *_doubts(log, outputs), *lost)
    if not outputs:
        advice = "None of its chunks holds any output. Paste the whole log, or the raw output itself."
    elif outputs[0].text is not None:
        advice = f"Its raw output was rebuilt, {number(len(outputs[0].text), 'character')}. {REPLAY}"
    else:
        advice = advice_for(outputs[0])
    return log.intake(advice, outputs, facts=facts, warnings=said)


def _chunks_by_output(log: Log) -> tuple[dict[OutputKey, list[RawChunk]], list[Warn]]:
    """Sort the chunks by output. After a chunk that is its output's last, another output begins."""
    groups: dict[OutputKey, list[RawChunk]] = {}
    rounds: Counter[OutputKey] = Counter()
    warnings: list[Warn] = []
    for part, frames in enumerate(log.parts()):
        for frame in frames:
            found = log.family.read(frame.payload) if log.family.read and frame.payload is not None else []
            if found is None and not is_failure(frame):
                words = f"The chunk at {log.place(frame)} holds no raw output and was left out."
                warnings.append(Warn("other_chunk", words))
            for chunk in found or []:
                chunk.moment = frame.moment or moment_of(frame.payload or {})
                base = OutputKey(part, chunk.request, chunk.index)
                groups.setdefault(base._replace(round=rounds[base]), []).append(chunk)
                rounds[base] += chunk.last
    return groups, warnings


def _recording(log: Log, label: str, chunks: list[RawChunk]) -> tuple[Recording, list[Warn]]:
    texts, ids, warnings = _steps(log, chunks)
    known = [part for part in ids if part is not None]
    whole = len(known) > 0 and all(part is not None or not text for part, text in zip(ids, texts, strict=True))
    text = None if None in texts else "".join([part or "" for part in texts])
    if text is not None and log.family.parsed and only_closes_calls(text):  # nothing shows that no parser was at work
        text = None
    if text is not None and has_lone_surrogate(text):
        warnings.append(LONE_SURROGATE)
        texts = [without_lone_surrogates(part or "") for part in texts]
        text = "".join([part or "" for part in texts])
    deltas = tuple([RecordedDelta(part or "", one) for part, one in zip(texts, ids, strict=True)])
    parsed = log.family.parsed or any(chunk.text is None for chunk in chunks)
    recording = Recording(
        text=text,
        kind=log.kind,
        label=label,
        pieces=_pieces(chunks, text),
        ids=tuple([one for part in known for one in part]) if whole else None,
        counts=tuple([len(part or ()) for part in ids]) if whole and log.streamed else None,
        deltas=deltas if log.streamed and text is not None else None,
        stream=(tuple(parsed_stream(chunks)) or None) if parsed else None,
        times=arrivals([chunk.moment for chunk in chunks if chunk.delta is not None]) if parsed else None,
        request=next((chunk.asked for chunk in reversed(chunks) if chunk.asked is not None), None),
        prompt_ids=next((chunk.prompt_ids for chunk in chunks if chunk.prompt_ids is not None), None),
        prompt_text=next((chunk.prompt_text for chunk in chunks if chunk.prompt_text is not None), None),
        finish_reason=next((chunk.finish for chunk in reversed(chunks) if chunk.finish), None),
        stop_reason=next((chunk.stop for chunk in reversed(chunks) if chunk.stop is not None), None),
    )
    return recording, warnings


def _pieces(chunks: list[RawChunk], text: str | None) -> tuple[Piece, ...] | None:
    """Return the tokens if they spell the text: those of all chunks, or of a last one that repeats all."""
    each = [piece for chunk in chunks for piece in chunk.pieces or ()]
    for pieces in (each, chunks[-1].pieces):
        if pieces and "".join([piece.text for piece in pieces]) == text:
            return tuple(pieces)
    return None


def _steps(log: Log, chunks: list[RawChunk]) -> tuple[list[str | None], list[tuple[int, ...] | None], list[Warn]]:
    """Return the text and ids that each chunk adds: its own, or what is new where each repeats the others."""
    texts = [chunk.text for chunk in chunks]
    ids = [chunk.ids for chunk in chunks]
    if not log.family.cumulative or None in texts:
        return texts, ids, []
    so_far = [text or "" for text in texts]
    new = increments(so_far)
    if new is not None:
        new_ids = increments([one or () for one in ids])
        return [*new], ids if new_ids is None or None in ids else [*new_ids], []
    pairs = list(pairwise(so_far))
    if sum(later.startswith(earlier) for earlier, later in pairs) * 2 < len(pairs):
        return texts, ids, [_INCREMENTS]
    return texts[-1:], ids[-1:], [_REWRITTEN]


_Part = TypeVar("_Part", str, tuple[int, ...])


def increments(parts: list[_Part]) -> list[_Part] | None:
    """Return what each part adds to the one before; None where one does not repeat the one before."""
    found: list[_Part] = []
    before = parts[0][:0]
    for part in parts:
        if part[: len(before)] != before:
            return None
        found.append(part[len(before) :])
        before = part
    return found


def _doubts(log: Log, outputs: Sequence[Recording]) -> Iterator[Warn]:
    """Warn of all that the end of the log should say and does not, or says otherwise."""
    if log.family.ends_done or any("choices" in payload for payload in log.payloads):
        yield from log.missing_end()
    yield from several_outputs_warning(len(outputs))
    for output in [output for output in outputs if output.finish_reason is None][:3]:
        yield Warn("no_finish", (f"{output.label}: " if output.label else "") + NO_FINISH.words)
    ids = outputs[0].ids if len(outputs) == 1 else None
    used = tokens_counted(log.payloads)
    if ids is not None and used is not None and used > len(ids):
        words = f"The server counted {number(used, 'token')}, but only {len(ids):,} token ids are recorded."
        yield Warn("ids_swallowed", words)


def advice_for(output: Recording) -> str:
    """Say what to do next: replay the text, complete the ids, or take the server's deltas."""
    if output.text is not None:
        return REPLAY
    if output.ids is not None:
        return "Choose the model's tokenizer: it turns the token ids into text."
    return "The raw output is not in it. What the server's parser sent is replayed and checked."
