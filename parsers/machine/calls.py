"""Calls while they are read: what each holds, whether it stands, and where its text goes.

Where a call stands, `Calls` asks of its life (`call_life`) and of nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

from parsers.arguments.coerce import without_references
from parsers.arguments.contract import is_quoted
from parsers.arguments.entities import unescape_attribute
from parsers.formats.model import Format, State, TextKind
from parsers.machine.call_life import LIFE, CallEvent, CallState
from parsers.machine.judgement import Judgement
from parsers.machine.names import NamePart, name_patterns, split_header
from parsers.machine.output import NO_CALL_WAITS, Writer, call_id
from parsers.machine.stages import Blank, ContentStage, PlainContent, ReasoningStage, llama_content
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import (
    END_TOKEN,
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    Dropped,
    ReasoningEnd,
    Segment,
    Severity,
)
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.seen import Waits
from parsers.vocabulary.states import NOWHERE, Pieces
from parsers.vocabulary.trace import RejectedCall, Tail
from parsers.vocabulary.types import Context

# What a state means for text and events. In a state that is in none of these, all goes out as it comes.
# Held: events wait, and raw text is kept, all of which may be given back.
_HELD = frozenset({CallState.MENTIONED, CallState.TENTATIVE, CallState.NAMED})
_NONE_OPEN = frozenset({CallState.NONE, CallState.MENTIONED})
_REJECTED = {CallState.SKIPPED: DropReason(Cause.SKIPPED), CallState.FAILED: DropReason(Cause.FOLLOWS_MALFORMED)}
_UNWANTED = frozenset({CallState.AS_TEXT, CallState.DROPPED, *_REJECTED})  # raw text goes where the policy says

_RECOVERIES = {"content": CallEvent.REJECT, "skip_call": CallEvent.SKIP, "fail": CallEvent.FAIL}
_UNKNOWN = {"text": CallEvent.UNKNOWN_AS_TEXT, "drop": CallEvent.UNKNOWN_DROPPED}
_SPACE = re.compile(r"\s")
_SELF_CLOSED = re.compile(r"""(["'])[^"']*\1\s*/\Z""")  # what is left of <f name="x"/>
_TAG_ALONE = re.compile(r"(?:<[^<>\s][^<>]+>|\[[A-Z_]{4,}\])\s*\Z")
HEADS: frozenset[TextKind | None] = frozenset({"name", "header", "id"})  # states whose text names the call


class Calls(Writer):
    """Implements arguments.Output: writes what is found in the state that the call is in.

    `keeps`: raw text that is read belongs to a call that does not stand, and has to be given to `keep`. `defers`:
    everything waits for the end of the output (llama_content seed_literal). `state_name`: None without a call.
    """

    __slots__ = (
        "_content", "_count", "_given_id", "_head", "_ids", "_is_noise", "_judgement", "_kept", "_kept_at",
        "_malformed", "_marked", "_mention", "_name", "_name_text", "_named", "_number", "_reasoning",
        "_refusal", "_schemas", "_seed", "_silent", "_start", "_told_missing", "_tools", "_unknown", "closes",
        "defers", "keeps", "named_tool", "policy", "rejected", "schema", "state", "state_name",
    )  # fmt: skip
    APART: ClassVar[frozenset[str]] = frozenset(
        {"policy", "named_tool", "closes", "defers", "rejected"}
        | {"_ids", "_seed", "_judgement", "_tools", "_schemas", "_name_text"}
    )
    PLACES: ClassVar[frozenset[str]] = frozenset({"_start", "_kept_at", "_silent", "_mention"})
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"_number", "_count"})

    def __init__(self, fmt: Format, policy: Mapping[str, str], context: Context) -> None:
        super().__init__()
        self.policy = policy
        self.named_tool = context.named_tool if context.tool_choice == "named" else None
        self.closes = policy["truncated_call"] == "close"
        self.defers = fmt.content == "llama" and policy["llama_content"] == "seed_literal"
        self.rejected: list[RejectedCall] = []
        self.state = CallState.NONE
        self.state_name: str | None = None
        self.keeps = False
        self._ids = fmt.ids
        self._seed = context.id_seed
        self._tools = {tool.name: tool for tool in context.tools}
        self._schemas: dict[str, Mapping[str, Any] | None] = {}  # without references, of tools that were called
        self._judgement = Judgement(fmt, policy, context)
        self._reasoning = ReasoningStage(self, policy)
        make = llama_content if fmt.content == "llama" else PlainContent
        self._content: ContentStage = make(self, policy)
        self._head = Blank()
        self._number = self._count = 0  # of the call in this state; of those that stand
        self._mention: tuple[int, str] | None = None  # where a marker inside reasoning stands, and text before the call
        self._is_noise = False  # what waits as if it were one is text between markers, or content
        self._name_text: Mapping[NamePart, re.Pattern[str]] = {}  # made once somebody asks
        self._forget(NOWHERE)

    def _forget(self, start: int) -> None:
        self.schema: Mapping[str, Any] | None = None
        self._name = ""
        self._given_id: CallId | None = None
        self._start = self._kept_at = start
        self._kept = Pieces()
        self._silent: list[tuple[int, int, bool]] = []
        self._refusal: DropReason | None = None
        self._unknown: CallEvent | None = None  # what becomes of it by its name, which is no tool's
        self._malformed = self._told_missing = False
        self._named = False  # whether any of its name was read
        self._marked = True  # whether a marker began it; else it may have been plain text all along
        self.argued = self.written = False

    def _go(self, event: CallEvent) -> None:
        self.state = LIFE[self.state][event]
        self.state_name = None if self.state is CallState.NONE else self.state.name
        self.quiet = self.state in _UNWANTED
        self.keeps = self.quiet or self.state in _HELD
        self.call = None if self.quiet or self.state in _NONE_OPEN else self._number

    @property
    def count(self) -> int:
        """The number of calls that stand."""
        return self._count

    @property
    def may_reject(self) -> bool:
        """Return whether the call does not stand yet."""
        return self.state in (CallState.TENTATIVE, CallState.NAMED)

    @property
    def is_mentioned(self) -> bool:
        """Return whether what is open was opened inside reasoning and is not whole yet: it may only be mentioned."""
        return self._mention is not None

    @property
    def is_malformed(self) -> bool:
        """Return whether the markup of the call that is open and named is not the format's."""
        return self._malformed

    @property
    def only_mentions(self) -> bool:
        return self._mention is not None and not self.argued

    def knows(self, name: str) -> bool:
        return not self._tools or name in self._tools

    # inside reasoning it may only be mentioned

    def mention(self, start: int, *, is_noise: bool = False) -> None:
        """A marker inside reasoning may begin a call: all waits until that is whole. Or there is text that `is_noise`
        if a marker follows that shows it, and content if none does."""
        if CallEvent.MENTION not in LIFE[self.state]:
            return
        self.hold()
        self._forget(start)
        self._mention, self._is_noise = (start, ""), is_noise
        self._go(CallEvent.MENTION)

    def settle(self) -> None:
        """What the marker inside reasoning began is over: reasoning has ended there."""
        if self._mention is None:
            return
        held, self._mention = self.release(), None
        before = next((at for at, event in enumerate(held) if isinstance(event, CallStart)), len(held))
        self._silent = [one for one in self._silent if one[0] >= self._start]
        self._reasoning.end()
        self.extend(held[:before])
        if self.state is CallState.MENTIONED:
            self._kept = Pieces()
            self._go(CallEvent.SETTLE)
        else:
            self.hold()
            self.extend(held[before:])

    def give_back(self, reason: DropReason | None) -> None:
        """What was opened inside reasoning is no call, for a reason: all of it is reasoning. Without one, what might
        have been noise is content."""
        start, before = self._mention or (self._start, "")
        text = before + "".join(self._kept)
        self.release()
        self._head.take()
        self._mention, self._kept = None, Pieces()
        if reason is not None:
            message = f"A marker inside reasoning begins no call: {reason.words}."
            self.diagnostic("mentioned_marker", message, start, start + len(text), "info")
        self._go(CallEvent.GIVE_BACK)
        self._say_again(text, start, self._content if reason is None else self._reasoning)

    def name_fits(self, text: str) -> int:
        """Return how many characters of a text a name may go on with; all where no one asks."""
        if self._mention is None:
            return len(text)
        pieces = self._head.pieces
        if not self._named:
            return self._fitting(NamePart.BEGINS, text)
        return self._fitting(NamePart.IS_OVER if pieces and pieces[-1][0][-1].isspace() else NamePart.GOES_ON, text)

    def quoted_name_fits(self, text: str) -> int:
        return len(text) if self._mention is None else self._fitting(NamePart.QUOTED, text)

    def _fitting(self, part: NamePart, text: str) -> int:
        if not self._name_text:
            self._name_text = name_patterns(self._tools)
        found = self._name_text[part].match(text)
        return 0 if found is None else found.end()

    # its beginning and its name

    def start(self, start: int, end: int) -> None:
        """A call may begin here."""
        if CallEvent.START not in LIFE[self.state]:
            return
        silent: list[tuple[int, int, bool]] = []
        if self._mention is None:
            self.hold()
        else:
            self._mention, silent = (self._mention[0], "".join(self._kept)), self._silent
        self._forget(start)
        self._silent, self._marked = silent, end > start
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
        self._name, self.schema = text, self._schema_of(text)
        asked = self.knows(text) and text == (self.named_tool or text)
        self._unknown = None if asked else _UNKNOWN.get(self.policy["unknown_tool"])
        if self._unknown is not None and self._mention is None:
            self._refuse(self._unknown)
            return
        given = self._given_id
        if given is None:
            made = self.made_id(self._number, text)
            given = CallId(start, start, made, (Segment(made, start, start, "synthetic"),), self._number)
        self.after_start([given, CallName(start, end, text, segments, self._number)])
        if self._judgement.waits or self._mention is not None:
            self._go(CallEvent.NAME)
        else:
            self._commit()

    def _schema_of(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments, the same object every time."""
        if name not in self._tools or self._judgement.policy["json_values"] != "by_schema":
            return None
        if name not in self._schemas:
            self._schemas[name] = without_references(self._tools[name].parameters)
        return self._schemas[name]

    def made_id(self, number: int, name: str) -> str:
        """The id that a server would make up for a call."""
        return call_id(self.policy["id_dialect"], self._ids, self._seed, number, name)

    def bracketed(self) -> None:
        self.written = True

    def _refuse(self, event: CallEvent) -> None:
        """The call is to a tool that was not declared, or not to the one that the request names."""
        cause = Cause.NOT_NAMED if self.knows(self._name) else Cause.UNDECLARED
        at, reason = self._start, DropReason(cause, self._name)
        self.rejected.append(RejectedCall(at, at, self._name, reason))
        self.release()
        self._go(event)
        self.diagnostic("unknown_tool", f"Not kept as a call: {reason.words}.", at, at)

    def _commit(self) -> None:
        """The call stands: what came before it is settled, then its events go out."""
        held = self.release()
        self._content.call()
        self.extend(held)
        self._kept, self._given_id = Pieces(), None
        self._start = self._kept_at = NOWHERE
        self._count += 1
        self._go(CallEvent.COMMIT)

    # its end

    def end(self, start: int, end: int, *, complete: bool, over: bool, closed: bool, cut: bool = False) -> None:
        """A terminal at [start, end) ends the call, or the end of the output does (`over`), by the limit of its length
        (`cut`). `complete`: its arguments are whole. `closed`: so is what stands around them."""
        self.flush()
        missing = "its arguments are not whole"
        if complete and cut and not closed and self._mention is not None:
            complete, missing = False, "reasoning may have gone on behind it"
        self.settle()
        if self._unknown is not None and self.state is CallState.NAMED:
            self._refuse(self._unknown)
            self.flush()
        if self.state in (CallState.NAMED, CallState.OPEN) and not self.argued and (complete or self.closes):
            self.arguments("{}", start, start, (Segment("{}", start, start, "synthetic"),))
        if self.may_reject:
            self._leave_undeclared()
            reason = self._fault(cut=over and not (complete and closed))
            if reason is not None:
                self.reject(reason, ended=start < end, alone=over and self._is_marker_alone())
                return
            self._commit()
        if self.state is CallState.OPEN:
            if complete and self._judgement.misses and not (self.written or self._told_missing):
                self.diagnostic("missing_arguments", f"Nothing stands for the arguments of {self._name}.", start, end)
            self.add(CallEnd(start, end, self._number, complete))
            if not complete:
                code, what = "incomplete_call", "The end marker comes inside"
                if over:
                    code, what = "truncated_call", "The output ends inside"
                self.diagnostic(code, f"{what} the call to {self._name}; {missing}.", start, end)
        elif CallEvent.CLOSE in LIFE[self.state]:
            self.rejected[-1].end = end
        else:
            return
        self._go(CallEvent.CLOSE)

    def _fault(self, *, cut: bool) -> DropReason | None:
        """Return why the call that ends here is none; None for one that is good enough. `cut`: the output ends inside
        it."""
        if self.state is CallState.TENTATIVE:
            return self._refusal or DropReason(Cause.NEVER_NAMED)
        written, malformed = self.written, self._malformed
        return self._judgement.fault(self._name, self.held_arguments, cut=cut, written=written, malformed=malformed)

    def _leave_undeclared(self) -> None:
        """Policy undeclared_arguments: what is left of them stands for all."""
        left = self._judgement.declared(self._name, self.held_arguments) if self.state is CallState.NAMED else None
        if left is not None:
            self.rewrite_arguments(left)
            words = f"Arguments that {self._name} does not declare: left out, or taken for what they hold."
            super().diagnostic("undeclared_arguments", words, self._start, self._start)

    def diagnostic(self, code: str, message: str, start: int, end: int, severity: Severity = "warning") -> None:
        """Something the user should know. Where a call is open that has a name, its markup is not the format's."""
        self._malformed = self._malformed or self.state is CallState.NAMED
        self._told_missing = self._told_missing or code == "missing_arguments"
        super().diagnostic(code, message, start, end, severity)

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """Characters of a call that reach nobody. But for what is cut off, none is in the format's markup."""
        self._malformed = self._malformed or (self.state is CallState.NAMED and reason.policy is None and start < end)
        super().drop(start, end, reason)

    def _is_marker_alone(self) -> bool:
        """Return whether nothing but white space stands behind the tag that began the call."""
        return _TAG_ALONE.match("".join(self._kept)) is not None

    def reject(self, reason: DropReason, *, ended: bool, alone: bool = False) -> None:
        """The call that is held is none: its text is content, or is dropped where a policy says so. `ended`: its end
        marker has been read, so that there is nothing left to skip. `alone`: the output ends behind the marker that
        began it, which is nobody's text."""
        self.settle()
        text = "".join(self._kept)
        start, end = self._start, self._start + len(text)
        if alone and self.policy["truncated_call"] != "text":
            reason = DropReason(Cause.CUT_CALL)
        named = self.state is CallState.NAMED
        by = self._judgement.dropped_by(reason, marked=self._marked, alone=alone, named=named)
        if start == 0 and not self._marked and reason.cause is Cause.NEVER_NAMED:
            by = None  # no marker stands anywhere before it: this is what the model said
        self.rejected.append(RejectedCall(start, end, self._name or None, reason))
        self.release()
        self._head.take()
        self._kept = Pieces()
        self.diagnostic("rejected_call", f"Not kept as a call: {reason.words}.", start, end)
        recovery = self._judgement.recovery(reason, marked=self._marked)
        skips = recovery == "skip_call" and not ended
        self._go(_RECOVERIES[recovery] if skips or recovery == "fail" else CallEvent.REJECT)
        if by is not None or reason.cause is Cause.NUMBER_FOR_NAME:
            self.add(Dropped(start, end, reason.within(Cause.REJECTED, by=by)))
        else:
            self._say_again(text, start, self._content)

    def no_call(self) -> None:
        """What was held as the beginning of a call is markup, and no call."""
        if self.state is not CallState.TENTATIVE:
            self.settle()
            return
        held = self.release()
        self._kept = Pieces()
        self._go(CallEvent.REJECT)
        self.extend([event for event in held if not isinstance(event, CallStart)])

    def _say_again(self, text: str, start: int, stage: ContentStage | ReasoningStage) -> None:
        """Text of what is no call is that of a stage, but for the tokens in it that are nobody's text."""
        at = start
        for begin, end, ends in self._silent:
            stage.text(text[at - start : begin - start], at)
            self.silent(begin, end, ends=ends)
            at = end
        stage.text(text[at - start :], at)

    def kept_from(self, at: int) -> str:
        """Return the text of a call that is held, if that began at a raw offset and holds nothing but text; else ''."""
        return "".join(self._kept) if self.may_reject and self._start == at and not self._silent else ""

    def unread(self) -> None:
        """The text of the call that is held is read again, as something else."""
        self.release()
        self._head.take()
        self._kept = Pieces()
        self._go(CallEvent.REJECT)

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

    def unkeep(self, at: int) -> None:
        """What was kept from a raw offset on is read again."""
        self._kept = Pieces(["".join(self._kept)[: at - self._kept_at]] if self._kept else [])

    def flush(self) -> None:
        """What was kept of a call that turns out not to be wanted goes where the policy says."""
        if not (self.quiet and self._kept):
            return
        text, at, self._kept = "".join(self._kept), self._kept_at, Pieces()
        if self.state is CallState.AS_TEXT:
            self._content.text(text, at)
        else:
            reason = _REJECTED.get(self.state, DropReason(Cause.CALL_TO_UNDECLARED, self._name))
            if self.state is CallState.SKIPPED:
                reason = DropReason(Cause.SKIPPED, chosen_by=self._judgement.skips_by)
            self.leave_out(at, at + len(text), reason)

    # text of states without an argument parser

    def read(self, kind: TextKind, text: str, at: int) -> None:
        """Text of a state of this kind."""
        if self.quiet:
            return
        if kind == "reasoning":
            self._reasoning.text(text, at)
        elif kind in HEADS:
            self._named = self._named or bool(text.strip())
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

    def lead(self, kind: TextKind) -> Tail | None:
        """See ContentStage.lead, for text of a state of this kind."""
        return None if self.keeps or kind != "content" else self._content.lead()

    def waits(self, kind: TextKind) -> bool:
        """Return whether the stage for text of this kind keeps any."""
        return (self._reasoning if kind == "reasoning" else self._content).hold() is not None

    def end_head(self, state: State, *, over: bool) -> None:
        """The machine leaves a state whose text is the call's name, header or id, which is whole now."""
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
            if state.unquote and is_quoted(text):
                text, lead = text[1:-1], lead + 1
            elif state.unquote and _SELF_CLOSED.match(text):
                self._refusal = DropReason(Cause.NO_NAME)
                return
            self.marker(start, lead)
            if state.doubled:
                text = self._once(text)
            self._give_head(state.text, text, lead, unescape_attribute(text) if state.unescape else text)
            self.marker(lead + len(text), end)

    def _once(self, name: str) -> str:
        """A name that stands there twice with a dot between, if only that is a declared tool's, else as it is."""
        first, second = name[: len(name) // 2], name[len(name) // 2 :]
        return first if second == f".{first}" and self.knows(first) and not self.knows(name) else name

    def _give_head(self, kind: TextKind | None, text: str, at: int, said: str) -> None:
        if kind == "name" and _SPACE.search(text):
            self._refusal = DropReason(Cause.SPACE_IN_NAME)
        elif kind == "name" and text and text not in self._tools and not any(map(str.isalnum, text)):
            self._refusal = DropReason(Cause.NO_NAME)  # dots, a dash: what prose has in place of one
        elif kind == "name" and text:
            end = at + len(text)
            self.name(said, at, end, None if said == text else (Segment(said, at, end, "converted"),))
        elif text:
            self.call_id(text, at, at + len(text))
            if kind == "header":
                start, end = split_header(text, self._tools)
                if end == len(text) and text[start:end].rpartition(".")[2].isdecimal():
                    self._refusal = DropReason(Cause.NUMBER_FOR_NAME)
                else:
                    self.name(text[start:end], at + start, at + end)

    def silent(self, start: int, end: int, *, ends: bool) -> None:
        """A token that ends a turn, or a special one that means nothing to the format."""
        if self.state in _HELD:
            self._silent.append((start, end, ends))
        if ends:
            self.marker(start, end, END_TOKEN)
        else:
            self.drop(start, end, DropReason(Cause.UNKNOWN_SPECIAL))

    def reasoning_end(self, start: int, end: int) -> None:
        """Reasoning is over, unless this is only mentioned."""
        if self._mention is None:
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

    def waiting(self, at: int) -> tuple[Waits, ...]:
        """Return what the stages and a call that does not stand keep back of the text before `at`, in order."""
        if self.defers:
            why = "llama_content is seed_literal: everything waits for the end of the output."
            return (("policy", why, 0, at),) if at else ()
        found: tuple[Waits, ...] = ()
        if self._reasoning.blank.pieces or self._content.blank.pieces:
            found = tuple(filter(None, (self._reasoning.hold(), self._content.hold())))
        if self.keeps and self.state in _HELD:
            return found + self._held_before(at)
        if self._head.pieces:
            return (*found, *filter(None, (self._head.hold("codec", "A name or an id is sent whole."),)))
        return found

    def _held_before(self, at: int) -> tuple[Waits, ...]:
        """What a call that does not stand keeps back."""
        why, start = "A call whose name is not known yet.", self._start
        if self._mention is not None and self._is_noise:
            why = "Text inside a block of calls: it is content if that is not closed behind it."
        elif self._mention is not None:
            why, start = "A marker inside reasoning: it may begin a call, or is only mentioned.", self._mention[0]
        elif self.state is CallState.NAMED:
            why = f"The call to {self._name} is judged when it is whole."
        return (("tentative", why, start, at),) if at > start else ()
