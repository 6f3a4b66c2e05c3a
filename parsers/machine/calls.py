"""The life of a call as a table: what may happen to it in each state, and where that leads.

What a state does not list cannot happen to its call, so it is passed over: the end of a call where none is open, a
second name, the beginning of a call after a failure. `Calls` asks this table and nothing else where a call stands; the
trace has the state of every step (`StateView.call_state`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from itertools import pairwise
from typing import Any, ClassVar

from parsers.arguments.contract import is_quoted
from parsers.formats.model import Format, TextKind, load_format
from parsers.machine.output import NO_CALL_WAITS, Writer, call_id
from parsers.machine.stages import Blank, ContentStage, PlainContent, ReasoningStage, llama_content
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    Dropped,
    ReasoningEnd,
    Segment,
)
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.states import Pieces
from parsers.vocabulary.trace import Hold, RejectedCall, Tail
from parsers.vocabulary.types import Context


class CallState(Enum):
    """The states of the call that was begun last. `docs/design.md` says what becomes of its text in each."""

    NONE = "no call"
    TENTATIVE = "tentative"
    NAMED = "named, not judged yet"
    OPEN = "open"
    AS_TEXT = "not declared, read as text"
    DROPPED = "not declared, dropped"
    SKIPPED = "rejected, skipped"
    FAILED = "rejected, and all that follows"

    __hash__ = object.__hash__  # quicker, and each is equal to itself only


class CallEvent(Enum):
    """The events that may happen to a call."""

    START = "a row begins it"
    NAME = "its name is known, and it has to be judged yet"
    COMMIT = "it stands: it is named, or judged to be good"
    UNKNOWN_AS_TEXT = "its name is no declared tool's, and its text is wanted"
    UNKNOWN_DROPPED = "its name is no declared tool's, and its text is not wanted"
    REJECT = "it is no call; what follows is read as ever"
    SKIP = "it is no call; what follows is passed over"
    FAIL = "it is no call; nothing that follows is wanted"
    RESUME = "a marker shows where to read on"
    CLOSE = "a row ends it, or the output does"

    __hash__ = object.__hash__  # the same


_REFUSALS = {
    CallEvent.REJECT: CallState.NONE,
    CallEvent.SKIP: CallState.SKIPPED,
    CallEvent.FAIL: CallState.FAILED,
}
LIFE: Mapping[CallState, Mapping[CallEvent, CallState]] = {
    CallState.NONE: {CallEvent.START: CallState.TENTATIVE},
    CallState.TENTATIVE: {
        CallEvent.COMMIT: CallState.OPEN,
        CallEvent.NAME: CallState.NAMED,
        CallEvent.UNKNOWN_AS_TEXT: CallState.AS_TEXT,
        CallEvent.UNKNOWN_DROPPED: CallState.DROPPED,
        **_REFUSALS,
    },
    CallState.NAMED: {CallEvent.COMMIT: CallState.OPEN, **_REFUSALS},
    CallState.OPEN: {CallEvent.CLOSE: CallState.NONE},
    CallState.AS_TEXT: {CallEvent.CLOSE: CallState.NONE},
    CallState.DROPPED: {CallEvent.CLOSE: CallState.NONE},
    CallState.SKIPPED: {CallEvent.RESUME: CallState.NONE},
    CallState.FAILED: {},
}


def life_of_a_call() -> Format:
    """The table as a format, for what draws formats and lists their rows. (The machine never runs it.)"""
    states = {
        state.name: {
            "note": f"{state.value}.",
            "rows": [{"on": event.name, "to": to.name, "note": f"{event.value}."} for event, to in moves.items()],
        }
        for state, moves in LIFE.items()
    }
    return load_format({"schema": 1, "name": "call", "title": "Call", "initial": "NONE", "states": states})


# What a state means for text and events. In a state that is in none of these, all goes out as it comes.
_HELD = frozenset({CallState.TENTATIVE, CallState.NAMED})  # events wait, raw text is kept: all of it may be given back
_REJECTED = {CallState.SKIPPED: DropReason(Cause.SKIPPED), CallState.FAILED: DropReason(Cause.FOLLOWS_MALFORMED)}
_UNWANTED = frozenset({CallState.AS_TEXT, CallState.DROPPED, *_REJECTED})  # raw text goes where the policy says

_RECOVERIES = {"content": CallEvent.REJECT, "skip_call": CallEvent.SKIP, "fail": CallEvent.FAIL}
_UNKNOWN = {"text": CallEvent.UNKNOWN_AS_TEXT, "drop": CallEvent.UNKNOWN_DROPPED}
_SPACE = re.compile(r"\s")
HEADS: frozenset[TextKind | None] = frozenset({"name", "header", "id"})  # states whose text names the call


class Calls(Writer):
    """Implements arguments.Output: writes what is found in the state that the call is in.

    `keeps`: raw text that is read belongs to a call that does not stand, and has to be given to `keep`. `defers`:
    everything waits for the end of the output (llama_content seed_literal). `state_name`: None without a call.
    """

    __slots__ = (
        "_content",
        "_count",
        "_given_id",
        "_head",
        "_ids",
        "_judges",
        "_kept",
        "_kept_at",
        "_name",
        "_number",
        "_reasoning",
        "_recovery",
        "_refusal",
        "_seed",
        "_silent",
        "_start",
        "_tools",
        "closes",
        "defers",
        "keeps",
        "policy",
        "rejected",
        "schema",
        "state",
        "state_name",
    )
    APART: ClassVar[frozenset[str]] = frozenset(
        {"policy", "closes", "defers", "rejected", "_ids", "_seed", "_tools", "_judges", "_recovery"}
    )

    def __init__(self, fmt: Format, policy: Mapping[str, str], context: Context) -> None:
        super().__init__()
        self.policy = policy
        self.closes = policy["truncated_call"] == "close"
        self.defers = fmt.content == "llama" and policy["llama_content"] == "seed_literal"
        self.rejected: list[RejectedCall] = []
        self.state = CallState.NONE
        self.state_name: str | None = None
        self.keeps = False
        self._ids = fmt.ids
        self._seed = context.id_seed
        self._tools = {tool.name: tool for tool in context.tools}
        self._judges = policy["invalid_call"] == "strict" or policy["truncated_call"] in ("text", "drop")
        self._recovery = policy["recovery"] if "recovery" in fmt.policies else "content"
        self._reasoning = ReasoningStage(self, policy)
        make = llama_content if fmt.content == "llama" else PlainContent
        self._content: ContentStage = make(self, policy)
        self._head = Blank()
        self._number = self._count = 0  # of the call in this state; of those that stand
        self._forget(0)

    def _forget(self, start: int) -> None:
        self.schema: Mapping[str, Any] | None = None
        self._name = ""
        self._given_id: CallId | None = None
        self._start = self._kept_at = start
        self._kept = Pieces()
        self._silent: list[tuple[int, int, bool]] = []
        self._refusal: DropReason | None = None
        self.argued = False

    def _go(self, event: CallEvent) -> None:
        self.state = LIFE[self.state][event]
        self.state_name = None if self.state is CallState.NONE else self.state.name
        self.quiet = self.state in _UNWANTED
        self.keeps = self.quiet or self.state in _HELD
        self.call = None if self.quiet or self.state is CallState.NONE else self._number

    @property
    def may_reject(self) -> bool:
        """Return whether the call does not stand yet."""
        return self.state in _HELD

    def knows(self, name: str) -> bool:
        return not self._tools or name in self._tools

    # its beginning and its name

    def start(self, start: int, end: int) -> None:
        """A call may begin here."""
        if CallEvent.START not in LIFE[self.state]:
            return
        self.hold()
        self._forget(start)
        self._number = self._count
        self._go(CallEvent.START)
        self.add(CallStart(start, end, self._number))

    def call_id(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        if self._given_id is not None:
            self.leave_out(self._given_id.start, self._given_id.end, DropReason(Cause.ANOTHER_ID))
        self._given_id = CallId(start, end, text, segments, self._number)

    def name(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        if self.quiet:
            return
        if self.state is not CallState.TENTATIVE:
            self.leave_out(start, end, NO_CALL_WAITS)
            return
        tool = self._tools.get(text)
        self._name, self.schema = text, None if tool is None else tool.parameters
        unknown = None if self.knows(text) else _UNKNOWN.get(self.policy["unknown_tool"])
        if unknown is not None:
            self._refuse(unknown)
            return
        given = self._given_id
        if given is None:
            made = call_id(self.policy["id_dialect"], self._ids, self._seed, self._number, text)
            given = CallId(start, start, made, (Segment(made, start, start, "synthetic"),), self._number)
        self.after_start([given, CallName(start, end, text, segments, self._number)])
        if self._judges:
            self._go(CallEvent.NAME)
        else:
            self._commit()

    def _refuse(self, event: CallEvent) -> None:
        """The call is to a tool that was not declared."""
        at, reason = self._start, DropReason(Cause.UNDECLARED, self._name)
        self.rejected.append(RejectedCall(at, at, self._name, reason))
        self.release()
        self._go(event)
        self.diagnostic("unknown_tool", f"Not kept as a call: {reason.words}.", at, at)

    def _commit(self) -> None:
        """The call stands: what came before it is settled, then its events go out."""
        held = self.release()
        self._content.call()
        self.extend(held)
        self._kept = Pieces()
        self._count += 1
        self._go(CallEvent.COMMIT)

    # its end

    def end(self, start: int, end: int, *, complete: bool, over: bool) -> None:
        """A terminal at [start, end) ends the call, or the end of the output does (`over`). `complete`: its arguments
        are whole."""
        self.flush()
        if self.state in (CallState.NAMED, CallState.OPEN) and not self.argued and (complete or self.closes):
            self.arguments("{}", start, start, (Segment("{}", start, start, "synthetic"),))
        if self.state in _HELD:
            reason = self._judgement(complete=complete, over=over)
            if reason is not None:
                self.reject(reason, ended=start < end)
                return
            self._commit()
        if self.state is CallState.OPEN:
            self.add(CallEnd(start, end, self._number, complete))
            if not complete:
                code, what = "incomplete_call", "The end marker comes inside"
                if over:
                    code, what = "truncated_call", "The output ends inside"
                self.diagnostic(code, f"{what} the call to {self._name}; its arguments are not whole.", end, end)
        elif CallEvent.CLOSE in LIFE[self.state]:
            self.rejected[-1].end = end
        else:
            return
        self._go(CallEvent.CLOSE)

    def _judgement(self, *, complete: bool, over: bool) -> DropReason | None:
        """Return why the call that ends here is none; None for one that is good enough."""
        if self.state is CallState.TENTATIVE:
            return self._refusal or DropReason(Cause.NEVER_NAMED)
        if not complete and over and self.policy["truncated_call"] in ("text", "drop"):
            return DropReason(Cause.CUT_CALL)
        if self.policy["invalid_call"] == "strict" and not is_object(self.held_arguments()):
            return DropReason(Cause.NOT_ONE_OBJECT)
        return None

    def reject(self, reason: DropReason, *, ended: bool) -> None:
        """The call that is held is none: its text is content, or is dropped where a policy says so. `ended`: its end
        marker has been read, so that there is nothing left to skip."""
        text = "".join(self._kept)
        start, end = self._start, self._start + len(text)
        cut = self.state is CallState.NAMED and self.policy["truncated_call"] == "drop"
        self.rejected.append(RejectedCall(start, end, self._name or None, reason))
        self.release()
        self._head.take()
        self._kept = Pieces()
        self.diagnostic("rejected_call", f"Not kept as a call: {reason.words}.", start, end)
        skips = self._recovery == "skip_call" and not ended
        self._go(_RECOVERIES[self._recovery] if skips or self._recovery == "fail" else CallEvent.REJECT)
        if self._recovery != "content" or cut:
            decided = "truncated_call" if self._recovery == "content" else "recovery"
            self.add(Dropped(start, end, reason.within(Cause.REJECTED, by=decided)))
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

    def resume(self) -> None:
        """A marker shows that the call that was skipped is over."""
        self._go(CallEvent.RESUME)

    # raw text of a call that does not stand

    def keep(self, text: str, at: int) -> None:
        """Raw text of a call that may still be rejected waits; that of one that is not wanted goes where it belongs."""
        if not self._kept:
            self._kept_at = at
        self._kept.append(text)
        self.flush()

    def flush(self) -> None:
        """What was kept of a call that turns out not to be wanted goes where the policy says."""
        if not (self.quiet and self._kept):
            return
        text, at, self._kept = "".join(self._kept), self._kept_at, Pieces()
        if self.state is CallState.AS_TEXT:
            self._content.text(text, at)
        else:
            unknown = DropReason(Cause.CALL_TO_UNDECLARED, self._name)
            self.leave_out(at, at + len(text), _REJECTED.get(self.state, unknown))

    # text of states without an argument parser

    def read(self, kind: TextKind, text: str, at: int) -> None:
        """Text of a state of this kind."""
        if self.quiet:
            return
        if kind == "reasoning":
            self._reasoning.text(text, at)
        elif kind in HEADS:
            self._head.add(text, at)
        elif self.keeps:
            self.content(text, at)  # no stage may hold it: if the call is rejected, it is said again
        else:
            self._content.text(text, at)

    def tail(self, kind: TextKind) -> Tail | None:
        """See ContentStage.tail, for text of a state of this kind; None where the stage keeps text already, which may
        stand before a marker."""
        if self.keeps or kind not in ("content", "reasoning") or self.waits(kind):
            return None
        return self._reasoning.tail() if kind == "reasoning" else self._content.tail()

    def waits(self, kind: TextKind) -> bool:
        """Return whether the stage for text of this kind keeps any."""
        return (self._reasoning if kind == "reasoning" else self._content).hold() is not None

    def end_head(self, kind: TextKind | None, *, over: bool, unquote: bool) -> None:
        """The machine leaves a state of this kind: the call's name, header or id is whole now."""
        pieces = self._head.take()
        if self.quiet or not pieces:
            return
        raw, start = "".join([piece for piece, _ in pieces]), pieces[0][1]
        text, end = raw.strip(), start + len(raw)
        if any(at + len(piece) != follows for (piece, at), (_, follows) in pairwise(pieces)):
            self._refusal = DropReason(Cause.TURN_ENDS_IN_NAME)
            for piece, at in pieces:
                self.leave_out(at, at + len(piece), self._refusal)
        elif text and (over or self.state is not CallState.TENTATIVE):
            self.leave_out(start, end, CUT if over else NO_CALL_WAITS)
        else:
            lead = end - len(raw.lstrip())
            if unquote and is_quoted(text):
                text, lead = text[1:-1], lead + 1
            self.marker(start, lead)
            self._give_head(kind, text, lead)
            self.marker(lead + len(text), end)

    def _give_head(self, kind: TextKind | None, text: str, at: int) -> None:
        if kind == "name" and _SPACE.search(text):
            self._refusal = DropReason(Cause.SPACE_IN_NAME)
        elif kind == "name" and text:
            self.name(text, at, at + len(text))
        elif text:
            self.call_id(text, at, at + len(text))
            if kind == "header":
                start, end = split_header(text)
                self.name(text[start:end], at + start, at + end)

    def silent(self, start: int, end: int, *, ends: bool) -> None:
        """A token that ends a turn, or a special one that means nothing to the format."""
        if self.state in _HELD:
            self._silent.append((start, end, ends))
        if ends:
            self.marker(start, end, "end_token")
        else:
            self.drop(start, end, DropReason(Cause.UNKNOWN_SPECIAL))

    def reasoning_end(self, start: int, end: int) -> None:
        """Reasoning is over."""
        self._reasoning.end()
        self.add(ReasoningEnd(start, end))

    # the end of the output

    def finish(self, raw: str) -> None:
        """The output is over: whatever a stage keeps back is decided. `raw` is the output, if everything waited."""
        self._reasoning.end()
        self._content.finish()
        if self.defers:
            self.defers = False
            self._all_or_nothing(raw)

    def _all_or_nothing(self, raw: str) -> None:
        """Policy seed_literal: one call that is not whole and valid makes all of the output content."""
        events = self.take()
        arguments: dict[int, list[str]] = {event.call: [] for event in events if isinstance(event, CallStart)}
        for event in events:
            if isinstance(event, CallArguments):
                arguments[event.call].append(event.text)
        if all(is_object("".join(parts)) for parts in arguments.values()):
            self.extend(events)
            return
        reason = DropReason(Cause.NOT_ALL_VALID)
        self.rejected.append(RejectedCall(0, len(raw), None, reason))
        self.diagnostic("rejected_call", f"Not kept as a call: {reason.words}.", 0, len(raw))
        self.content(raw, 0)

    # what is held

    def holds(self, at: int) -> list[Hold]:
        """Return what the stages and a call that does not stand keep back of the text before `at`, in order."""
        if self.defers:
            why = "llama_content is seed_literal: everything waits for the end of the output."
            return [Hold(0, at, "policy", why)] if at else []
        found: list[Hold] = []
        if self._reasoning.blank.pieces or self._content.blank.pieces:
            found += filter(None, (self._reasoning.hold(), self._content.hold()))
        if self.state in _HELD:
            why = "A call whose name is not known yet."
            if self.state is CallState.NAMED:
                why = f"The call to {self._name} is judged when it is whole."
            found += [Hold(self._start, at, "tentative", why)] * (at > self._start)
        elif self._head.pieces:
            found += filter(None, (self._head.hold("codec", "A name or an id is sent whole."),))
        return found


# Call headers that are an id with the tool's name inside, such as Kimi K2's `functions.get_weather:0`.


def split_header(text: str) -> tuple[int, int]:
    """Return where the name stands in the header: after the last dot before the last colon, up to that colon.

    A header without dot or colon is all name. (Rule of vLLM 0.33.0's kimi_k2 parser.)
    """
    colon = text.rfind(":")
    end = colon if colon > 0 else len(text)
    start = text.rfind(".", 0, end) + 1
    return (start, end) if start < end else (0, end)
