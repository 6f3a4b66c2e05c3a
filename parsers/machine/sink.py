"""Collects events: merges adjacent text of one kind, and can hold the events of a tentative call back.

Merging keeps pieces in a list until the run ends, so a long value in one delta costs linear time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from parsers.arguments.contract import CUT, is_quoted
from parsers.formats.model import Format, TextKind
from parsers.machine.stages import Blank, ContentStage, PlainContent, ReasoningStage, llama_content
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningEnd,
    ReasoningText,
    Segment,
    Severity,
)
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.trace import Hold, RejectedCall
from parsers.vocabulary.types import Context, Tool

TextClass = type[ContentText] | type[ReasoningText] | type[CallArguments]


class Writer:
    """Events in order. Between hold() and release() or discard() they go to a list of their own."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._held: list[Event] | None = None
        self._kind: TextClass | None = None
        self._parts: list[str] = []
        self._segments: list[Segment] | None = None
        self._start = self._end = self._call = 0
        self._said: set[TextClass] = set()
        self._breaks: set[TextClass] = set()

    def text(
        self,
        kind: TextClass,
        text: str,
        start: int,
        end: int,
        segments: tuple[Segment, ...] | None = None,
        call: int = 0,
    ) -> None:
        """Add text of a kind; it joins the run before if it follows it directly."""
        if self._kind is not kind or self._end != start or self._call != call:
            self._flush()
            self._said.add(kind)
            self._kind, self._parts, self._segments = kind, [], None
            self._start, self._call = start, call
            if kind in self._breaks:
                self._breaks.remove(kind)
                self._parts, self._segments = ["\n"], [Segment("\n", start, start, "synthetic")]
        if segments is not None and self._segments is None:
            copied = "".join(self._parts)
            self._segments = [Segment(copied, self._start, start)] if copied else []
        if self._segments is not None:
            self._segments += segments or (Segment(text, start, end),)
        self._parts.append(text)
        self._end = end

    def line_break(self) -> None:
        """Content and reasoning that follow begin on a new line, where some came before."""
        self._flush()
        self._breaks = self._said - {CallArguments}

    def reasoning(self, text: str, start: int) -> None:
        """Add reasoning."""
        self.text(ReasoningText, text, start, start + len(text))

    def add(self, event: Event) -> None:
        """Add an event that is not merged."""
        self._flush()
        self._list().append(event)

    def marker(self, marker: Marker) -> None:
        """Add a marker; structure joins structure."""
        self._flush()
        target = self._list()
        last = target[-1] if target else None
        if isinstance(last, Marker) and last.terminal == marker.terminal == "structure" and last.end == marker.start:
            target[-1] = Marker(last.start, marker.end)
        else:
            target.append(marker)

    def extend(self, events: Sequence[Event]) -> None:
        """Add events that were held."""
        self._flush()
        self._list().extend(events)

    def after_start(self, events: Sequence[Event]) -> None:
        """Put events right after the held call's start, before anything that came early."""
        self._flush()
        self._list()[1:1] = events

    def hold(self) -> None:
        """From now on events are held."""
        self._flush()
        self._held = []

    def release(self) -> list[Event]:
        """Stop holding; returns what was held."""
        self._flush()
        held, self._held = self._held or [], None
        return held

    def discard(self) -> None:
        """Stop holding and forget what was held."""
        self.release()

    def held_arguments(self) -> str:
        """The arguments' text among the held events."""
        self._flush()
        return "".join([event.text for event in self._held or () if isinstance(event, CallArguments)])

    def take(self) -> list[Event]:
        """The events that are not held, since the last take."""
        if self._kind is not None:
            self._flush()
        events, self._events = self._events, []
        return events

    def _list(self) -> list[Event]:
        return self._events if self._held is None else self._held

    def _flush(self) -> None:
        if self._kind is None:
            return
        kind, self._kind = self._kind, None
        segments = None if self._segments is None else tuple(self._segments)
        parts, self._parts = self._parts, []
        text = parts[0] if len(parts) == 1 else "".join(parts)
        target = self._events if self._held is None else self._held
        if kind is CallArguments:
            target.append(CallArguments(self._start, self._end, text, segments, self._call))
        else:
            target.append(kind(self._start, self._end, text, segments))


# Tool call ids that a server would make up, here from a seed so that a replay always gives the same.
#
# Shapes: chatcmpl_tool `chatcmpl-tool-` and 32 hex digits (vLLM), call_hex `call_` and 16 hex digits (vllm.rs),
# call_hex12 and call_hex24 the same with 12 and 24 (candle-vllm's stream state and its parsers), mistral9 nine letters
# or digits (mistral-common checks this), kimi `functions.NAME:INDEX` (Kimi K2's own form).

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
HEX_DIGITS = {"call_hex12": 12, "call_hex": 16, "call_hex24": 24}


def call_id(dialect: str, format_dialect: str, seed: int, index: int, name: str) -> str:
    """The id of call `index`, in the policy's dialect or the format's own."""
    chosen = format_dialect if dialect == "format" else dialect
    if chosen == "kimi":
        return f"functions.{name}:{index}"
    digest = hashlib.sha256(f"tool call id {seed} {index}".encode()).digest()
    if chosen == "mistral9":
        return "".join(ALPHANUMERIC[byte % len(ALPHANUMERIC)] for byte in digest[:9])
    if chosen in HEX_DIGITS:
        return f"call_{digest.hex()[: HEX_DIGITS[chosen]]}"
    return f"chatcmpl-tool-{digest.hex()[:32]}"


# Call headers that are an id with the tool's name inside, such as Kimi K2's `functions.get_weather:0`.


def split_header(text: str) -> tuple[int, int]:
    """Where the name stands in the header: after the last dot before the last colon, up to that colon.

    A header without dot or colon is all name. (Rule of vLLM 0.33.0's kimi_k2 parser.)
    """
    colon = text.rfind(":")
    end = colon if colon > 0 else len(text)
    start = text.rfind(".", 0, end) + 1
    return (start, end) if start < end else (0, end)


# Where the machine and its codecs put what they found, and where it becomes events.
#
# A call is tentative until it is committed: its events wait in `_pending`. Commitment is normally the call's name;
# policies that judge a whole call (invalid_call strict, truncated_call text or drop) wait for its end. A rejected call
# becomes text at the same place, and nothing that was committed is ever taken back. A muted call (unknown_tool drop or
# text) has been named but is not wanted: its raw text goes where the policy says until it ends.
#
# Adjacent text of one kind is one event per delta. Empty spans and empty text give no event.

Muted = Literal["", "text", "drop", "fail", "skip"]


RECOVERIES: dict[str, Muted] = {"content": "", "fail": "fail", "skip_call": "skip"}
SPACE = re.compile(r"\s")
OUTSIDE = "it belongs to a call, and none is open that waits for it"
REASONS = {
    "fail": "it follows malformed structure (recovery is fail)",
    "skip": "it belongs to a call that is skipped (recovery is skip_call)",
}


class Sink:
    """Implements codecs.Output and stages.TextOutput; `take` hands over the events since the last take."""

    def __init__(self, fmt: Format, policy: Mapping[str, str], context: Context) -> None:
        self.policy = policy
        self.closes = policy["truncated_call"] == "close"
        self.rejected: list[RejectedCall] = []
        self.tentative = self.named = False
        self.muted: Muted = ""
        self.refusal = ""
        self._format = fmt
        self._context = context
        self._tools = {tool.name: tool for tool in context.tools}
        self._writer = Writer()
        self._reasoning = ReasoningStage(self, policy)
        make = llama_content if fmt.content == "llama" else PlainContent
        self._content: ContentStage = make(self, policy)
        self._head = Blank()
        self._waits = policy["invalid_call"] == "strict" or policy["truncated_call"] in ("text", "drop")
        self._calls = 0
        self.opened = False
        self._name = ""
        self._given_id: CallId | None = None
        self._start_at = 0
        self._tool: Tool | None = None
        self._silent: list[tuple[int, int, bool]] = []
        self._wrote = False
        self.defers = fmt.content == "llama" and policy["llama_content"] == "seed_literal"

    # what the machine asks

    @property
    def open_call(self) -> int | None:
        """Index of the open call."""
        return self._calls - (not self.tentative) if self.opened and not self.muted else None

    def take(self) -> list[Event]:
        """The events since the last take; those of a tentative call stay."""
        return [] if self.defers else self._writer.take()

    def text(self, kind: TextKind, text: str, at: int) -> None:
        """Text of a state without a codec."""
        if self.muted:
            return
        if kind == "content" and self.tentative:
            self.content(text, at)  # no stage may keep it: if the call is rejected, it is said again
        elif kind == "content":
            self._content.text(text, at)
        elif kind == "reasoning":
            self._reasoning.text(text, at)
        else:
            self._head.add(text, at)

    def leave(self, kind: TextKind | None, at: int, *, over: bool, unquote: bool = False) -> None:
        """The machine leaves a state of this kind: a name, header or id is whole now."""
        if kind not in ("name", "header", "id"):
            return
        pieces = self._head.take()
        if self.muted or not pieces:
            return
        if any(at + len(piece) != follows for (piece, at), (_, follows) in pairwise(pieces)):
            self.refusal = "a token that ends the turn stands in its name"
            for piece, at in pieces:
                self.left_out(at, at + len(piece), self.refusal)
            return
        raw, start = "".join([piece for piece, _ in pieces]), pieces[0][1]
        text, end = raw.strip(), start + len(raw)
        if text and (over or self.named or not self.tentative):
            self.left_out(start, end, CUT if over else OUTSIDE)
            return
        lead = end - len(raw.lstrip())
        if unquote and is_quoted(text):
            text, lead = text[1:-1], lead + 1
        self.marker(start, lead)
        if not text:
            return
        if kind == "name" and not SPACE.search(text):
            self.name(text, lead, lead + len(text))
        elif kind == "name":
            self.refusal = "a name has no white space inside"
        elif kind == "id":
            self.call_id(text, lead, lead + len(text))
        else:
            self._header(text, lead)
        self.marker(lead + len(text), end)

    def _header(self, text: str, at: int) -> None:
        """The model's own id, with the tool's name inside it."""
        start, end = split_header(text)
        self.call_id(text, at, at + len(text))
        self.name(text[start:end], at + start, at + end)

    def line_break(self) -> None:
        """What follows is another message of the model: its text begins on a line of its own."""
        self._writer.line_break()

    def silent(self, start: int, end: int, *, ends: bool) -> None:
        """A token that ends a turn, or a special one that means nothing to the format."""
        if self.tentative:
            self._silent.append((start, end, ends))
        if ends:
            self.marker(start, end, "end_token")
        else:
            self.dropped(start, end, "special token that the format does not use")

    def reasoning_end(self, start: int, end: int) -> None:
        """Reasoning is over."""
        self._reasoning.end()
        self._writer.add(ReasoningEnd(start, end))

    def call_start(self, start: int, end: int) -> None:
        """A call may begin here."""
        if self.muted:
            return
        self._writer.hold()
        self.tentative = self.opened = True
        self.named, self._name, self._given_id, self._tool = False, "", None, None
        self._start_at, self.refusal, self._silent, self._wrote = start, "", [], False
        self._writer.add(CallStart(start, end, self._calls))

    def fill(self, at: int, *, complete: bool) -> None:
        """A whole call without arguments has an empty object; so has one that is to be closed where it was cut off."""
        if self.opened and self.named and not self._wrote and (complete or self.closes):
            self.arguments("{}", at, at, (Segment("{}", at, at, "synthetic"),))

    def settle(self, *, complete: bool, over: bool) -> bool:
        """The call ends while tentative: commit it now if it is good enough. False: it is to be rejected."""
        if not self.named:
            return False
        if not complete and over and self.policy["truncated_call"] in ("text", "drop"):
            self.refusal = "the output cuts the call off"
            return False
        if self.policy["invalid_call"] == "strict" and not is_object(self._writer.held_arguments()):
            self.refusal = "the arguments are not one JSON object"
            return False
        self._commit()
        return True

    def call_end(self, start: int, end: int, *, complete: bool, over: bool) -> None:
        """The open call ends. After a rejection there is none."""
        if self.muted in REASONS:
            return
        if self.muted:
            self.rejected[-1].end = end
        elif self.opened and not self.tentative:
            self._writer.add(CallEnd(start, end, self._calls - 1, complete))
            if not complete:
                self._incomplete(end, over)
        self.opened, self.muted = False, ""

    def _incomplete(self, at: int, over: bool) -> None:
        code, what = (
            ("truncated_call", "The output ends inside") if over else ("incomplete_call", "The end marker comes inside")
        )
        self.diagnostic(code, f"{what} the call to {self._name}; its arguments are not whole.", at, at)

    def reject(self, text: str, start: int, reason: str) -> None:
        """The tentative call is none: its text goes to content, or is dropped where a policy says so."""
        end = start + len(text)
        self.rejected.append(RejectedCall(start, end, self._name or None, reason))
        self._writer.discard()
        self.tentative = self.opened = False
        self._head.take()
        recovery = self.policy["recovery"] if "recovery" in self._format.policies else "content"
        drops = recovery != "content" or (self.named and self.policy["truncated_call"] == "drop")
        self.diagnostic("rejected_call", f"Not kept as a call: {reason}.", start, end)
        self.muted = RECOVERIES[recovery]
        if drops:
            self._writer.add(Dropped(start, end, f"rejected call: {reason}"))
        else:
            self._give_back(text, start)

    def _give_back(self, text: str, start: int) -> None:
        """Text of a rejected call is content, but for the tokens in it that are nobody's text."""
        at = start
        for begin, end, ends in self._silent:
            self._content.text(text[at - start : begin - start], at)
            self.silent(begin, end, ends=ends)
            at = end
        self._content.text(text[at - start :], at)

    def muted_text(self, text: str, at: int) -> None:
        """Raw text of a call that is named but not wanted."""
        if self.muted in REASONS:
            self._writer.add(Dropped(at, at + len(text), REASONS[self.muted]))
        elif self.muted == "drop":
            self._writer.add(Dropped(at, at + len(text), f"call to {self._name}, which is not a declared tool"))
        else:
            self._content.text(text, at)

    def finish(self, raw: str) -> None:
        """The output is over: whatever a stage keeps back is decided. `raw` is the output, if the sink defers."""
        self._reasoning.end()
        self._content.finish()
        if self.defers:
            self.defers = False
            self._all_or_nothing(raw)

    def _all_or_nothing(self, raw: str) -> None:
        """Policy seed_literal: one call that is not whole and valid makes all of the output content."""
        events = self._writer.take()
        arguments: dict[int, list[str]] = {event.call: [] for event in events if isinstance(event, CallStart)}
        for event in events:
            if isinstance(event, CallArguments):
                arguments[event.call].append(event.text)
        if all(is_object("".join(parts)) for parts in arguments.values()):
            self._writer.extend(events)
            return
        reason = "a call is malformed and llama_content is seed_literal"
        self.rejected.append(RejectedCall(0, len(raw), None, reason))
        self.diagnostic("rejected_call", f"Not kept as a call: {reason}.", 0, len(raw))
        self.content(raw, 0)

    def holds(self, tentative_at: int, at: int) -> list[Hold]:
        """What the stages and a tentative call keep back, in order."""
        if self.defers:
            return (
                [Hold(0, at, "policy", "llama_content is seed_literal: everything waits for the end of the output.")]
                if at
                else []
            )
        found = [self._reasoning.hold(), self._content.hold()]
        if self._head.pieces and not self.tentative:
            found.append(Hold(self._head.start, self._head.end, "codec", "A name or an id is sent whole."))
        if self.tentative and at > tentative_at:
            why = (
                f"The call to {self._name} is judged when it is whole."
                if self.named
                else "A call whose name is not known yet."
            )
            found.append(Hold(tentative_at, at, "tentative", why))
        return [hold for hold in found if hold is not None]

    # codecs.Output

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """See codecs.Output."""
        return None if self._tool is None else self._tool.parameters

    def knows(self, name: str) -> bool:
        """See codecs.Output."""
        return not self._tools or name in self._tools

    def marker(self, start: int, end: int, terminal: str = "structure") -> None:
        """See codecs.Output."""
        if start < end and not self.muted:
            self._writer.marker(Marker(start, end, terminal))

    def dropped(self, start: int, end: int, reason: str) -> None:
        """See codecs.Output."""
        if not self.muted:
            self.left_out(start, end, reason)

    def diagnostic(self, code: str, message: str, start: int, end: int, severity: Severity = "warning") -> None:
        """See codecs.Output."""
        self._writer.add(Diagnostic(start, end, code, severity, message))

    def call_id(self, text: str, start: int, end: int) -> None:
        """See codecs.Output."""
        if self._given_id is not None:
            self.left_out(self._given_id.start, self._given_id.end, "another call id follows")
        self._given_id = CallId(start, end, text, None, self._calls)

    def name(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """See codecs.Output."""
        if self.muted:
            return
        if self.named or not self.tentative:
            self.left_out(start, end, OUTSIDE)
            return
        self.named, self._name, self._tool = True, text, self._tools.get(text)
        if not self.knows(text) and self.policy["unknown_tool"] != "keep":
            self._mute()
            return
        given = self._given_id
        if given is None:
            made = call_id(self.policy["id_dialect"], self._format.ids, self._context.id_seed, self._calls, text)
            given = CallId(start, start, made, (Segment(made, start, start, "synthetic"),), self._calls)
        self._writer.after_start([given, CallName(start, end, text, segments, self._calls)])
        if not self._waits:
            self._commit()

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """See codecs.Output."""
        if text and not self.muted and not self.opened:
            self.left_out(start, end, OUTSIDE)
        elif text and not self.muted:
            call = self._calls if self.tentative else self._calls - 1
            self._wrote = True
            self._writer.text(CallArguments, text, start, end, segments, call)

    def _mute(self) -> None:
        self.muted = "drop" if self.policy["unknown_tool"] == "drop" else "text"
        reason = f"{self._name} is not a declared tool"
        self.rejected.append(RejectedCall(self._start_at, self._start_at, self._name, reason))
        self._writer.discard()
        self.tentative = False
        self._writer.add(
            Diagnostic(self._start_at, self._start_at, "unknown_tool", "warning", f"Not kept as a call: {reason}.")
        )

    def _commit(self) -> None:
        """The call stands: what came before it is settled, then its events go out."""
        self.tentative = False
        held = self._writer.release()
        self._content.call()
        self._writer.extend(held)
        self._calls += 1

    # stages.TextOutput

    def content(self, text: str, start: int) -> None:
        """See stages.TextOutput."""
        self._writer.text(ContentText, text, start, start + len(text))

    def joined(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        """See stages.TextOutput."""
        start, end = spans[0][0], spans[-1][1]
        kind: Literal["synthetic", "converted"] = "synthetic" if start == end else "converted"
        texts = [text] + [""] * (len(spans) - 1)
        parts = tuple([Segment(part, *span, kind) for part, span in zip(texts, spans, strict=True)])
        self._writer.text(ContentText, text, start, end, parts)

    def left_out(self, start: int, end: int, reason: str) -> None:
        """See stages.TextOutput."""
        if start < end:
            self._writer.add(Dropped(start, end, reason))

    def reasoning(self, text: str, start: int) -> None:
        """See stages.TextOutput."""
        self._writer.reasoning(text, start)
