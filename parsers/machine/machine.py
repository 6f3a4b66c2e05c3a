"""The table machine: runs any Format over deltas, streaming and whole through the same code.

Strategy
    A Scanner turns a delta into text and (in ids mode) id terminals. Text goes into one buffer; what stands in it and
    was not consumed is new or held. In each state the literals in sight say where the next terminal stands (`Scope`,
    narrowed by the state's argument parser). Text before it goes to the argument parser, to a stage or to the name; the
    terminal fires the row of (state, terminal). A terminal without a row in the state is text of that state.

Rules
    1. Everything that moves the machine is a row: terminals, END, DONE, REJECT, OTHER and the triggers of the argument
       parsers. Everything that moves a call is an entry of the table in `call_life`.
    2. Every character is consumed exactly once, in `_consume`, and given to exactly one event by then or later.
    3. Nothing raises on model output. "Need more" is simply a return.
    4. Work is linear: held text is bounded by the longest terminal, and no scope is searched twice over one text.

Events leave through `Calls`, which knows where the open call stands, and its stages (policies on white space).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from parsers.arguments.contract import OPEN, READ_ON, STRAY, ArgumentParser
from parsers.formats.layers import TOPMOST, layered
from parsers.formats.model import REPEATED, Format
from parsers.machine.call_life import CallState
from parsers.machine.calls import HEADS, Calls
from parsers.machine.drafts import UndoneError
from parsers.machine.layer_reader import NO_ROW, REFUSALS
from parsers.machine.lexer import IdTerminal, Match, Scanner
from parsers.machine.program import END_TOKEN, CompiledRow, CompiledState, Program, literals
from parsers.machine.views import Viewer
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import ContentText, Event
from parsers.vocabulary.states import NOWHERE, State, go_back, state_of
from parsers.vocabulary.trace import RejectedCall, Transition
from parsers.vocabulary.types import Context, Delta, Mode, UsageError

Programs = dict[tuple[object, ...], Program]
_MOST_PROGRAMS = 32  # that are kept of one format and policy: vocabularies may differ from request to request
_MAX_FIRES = 8  # rows fired at one place without consuming text; a format that loops there is stopped


class Machine(Viewer):
    """A StreamParser for a table format under the given policies, and a Resumable one.

    `programs` is what machines of one format and policy share: the format compiled, by what begin() depends on.
    """

    __slots__ = (
        *("_cut", "_fired_at", "_programs", "_raw", "_reads"),
        *("_skip", "_stopped", "_strayed", "_stuck", "_sub"),
        *("format", "name", "policy", "rejected"),
    )
    APART: ClassVar[frozenset[str]] = frozenset({
        "name", "format", "policy", "transitions", "rejected", "examined", "passes_open_text", "_programs", "_program",
        "_by_text", "_most", "_raw", "_found", "_turned", "_sub",
    })  # fmt: skip
    PLACES: ClassVar[frozenset[str]] = frozenset({"_fired_at"})

    def __init__(self, fmt: Format, policy: Mapping[str, str], programs: Programs | None = None) -> None:
        super().__init__()
        self.name = fmt.name
        self.format = fmt
        self.policy = dict(policy)
        self.rejected: list[RejectedCall] = []
        self._programs = {} if programs is None else programs
        self._reads = False  # begun and not finished

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        self._scanner = Scanner(mode, literals(self.format), markers, drops=bool(self.format.terminals))
        skips_tools = context.tool_choice == "none"
        by_id, parts = self._scanner.by_id, self._scanner.parts
        key = by_id, parts, context.tool_choice, context.named_tool is None
        program = self._programs.get(key)
        if program is None:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            fmt = layered(self.format, context)
            program = self._programs[key] = Program(fmt, self.policy, by_id, parts, skip_tools=skips_tools)
        self._program = program
        calls = Calls(self.format, self.policy, context)
        self.rejected = calls.rejected
        self._begin_text(self._program.initial(context), calls, by_text=mode == "text")
        self._begin_layers(opened=self._state.name == self.format.initial_when_reasoning_open)
        self._begin_drafts()
        self._raw: list[str] = []
        self._skip: CompiledState | None = None  # the state in which a call was rejected that is being skipped
        self._parser = self._new_parser(self._state)
        self._strayed = self._cut = self._stopped = False
        self._sub, self._stuck, self._fired_at = 0, 0, NOWHERE
        self._begin_views()
        self._reads = True

    def _new_parser(self, state: CompiledState) -> ArgumentParser | None:
        return None if state.make_parser is None else state.make_parser(self._calls)

    def _read_delta(self, delta: Delta, text: str) -> list[Event]:
        if not self._reads:
            raise UsageError("feed() needs begin() first, and none after finish()")
        self._sub = 0
        if not self._by_text or len(text) > self.stride or self._draft is not None:
            self._read(delta)
        elif text:
            self._append(text)
            try:
                self._run(final=False)
            except UndoneError:
                self._undo()
        if self._calls.defers:
            return []
        events = self._calls.take()
        if self._pos == len(self._buffer) and not (
            self._strayed or self._skip or self._marked or self._ends or self._reopened or self._fresh
        ):
            self._find_open_text()
        return events

    def feed_part(self, delta: Delta) -> list[Event]:
        """See Resumable."""
        self._end_open_text()
        self._read(delta)
        return [] if self._calls.defers else self._calls.take()

    def finish(self, reason: str | None = None) -> list[Event]:
        if not self._reads:
            raise UsageError("finish() needs begin() first, and is called once")
        self._end_open_text()
        self._sub = 0
        try:
            self._end(reason)
        except UndoneError:
            self._undo()
            self._end(reason)
        self._calls.finish("".join(self._raw))
        return self._calls.take()

    def _end(self, reason: str | None) -> None:
        """The output ends, with this finish reason."""
        self._cut, self._stopped = reason == "length", reason in ("stop", "tool_calls")
        if not self._cut:
            self._read_again()
        self._end_value(cut=self._cut)
        self._run(final=True)
        if self._ends:
            self._take_ends()
        self._reads, self._over = False, True
        if self.transitions is not None:  # somebody asks for the view
            self._end_views()
        if (row := self._state.rows.get("END")) is not None:
            self._fire(row, "END", self._at, self._at)
        else:
            self._leave(NO_ROW, "END")
        if self._calls.state is not CallState.NONE:
            self._end_call(self._at, self._at)

    def _end_value(self, *, cut: bool) -> None:
        """Decide about text held in a tagged value when the output ends: a closing tag of the call ends the value too.

        Anything else, and all that a cut leaves, may be half of the value's own closing tag: it is no value.
        """
        parser, at, held = self._parser, self._at, self._buffer[self._pos :]
        if parser is None or parser.scope is None or (parser.scope == OPEN and not parser.closing):
            return
        own = self._state.own(parser.scope).items()
        implied = next((name for text, name in own if name.startswith("IMPLIED") and text.startswith(held)), None)
        if implied is not None and held.strip() in self._state.by_text and not cut:
            self._literal(parser, implied, at, at)
        else:
            self._calls.drop(at, at + len(self._consume(len(self._buffer))), DropReason(Cause.CUT_TAG))

    def _read_again(self) -> None:
        """Text that waited for what would say where a value ends, and stands behind its end, is looked at anew."""
        text = "" if self._parser is None or self._calls.quiet else self._parser.unread()
        if text:
            at = self._at - len(text)
            self._calls.unkeep(at)
            self._buffer, self._base, self._pos, self._found = text + self._buffer[self._pos :], at, 0, {}

    # the text

    def _append(self, text: str) -> None:
        if self._calls.defers:
            self._raw.append(text)
        self._base += self._pos
        self._buffer = self._buffer[self._pos :] + text
        self._pos = 0
        self._found = {}

    def _consume(self, stop: int) -> str:
        """Take characters from the buffer."""
        text = self._buffer[self._pos : stop]
        self._pass(stop)
        return text

    def _pass(self, stop: int) -> None:
        """Go on to `stop` of the buffer. Text of a call that does not stand is kept, or goes where it says."""
        if self._calls.keeps:
            self._calls.keep(self._buffer[self._pos : stop], self._base + self._pos)
        self.examined += stop - self._pos
        self._pos = stop

    def _run(self, *, final: bool) -> None:
        """Consume the buffer as far as it can be decided."""
        while self._pos < len(self._buffer):
            if self._skip is not None and not self._skipped(self._skip, final):
                return
            start, name, stop = self._next(final)
            if self._marked is not None and (marked := self._mark()) is not None:
                mark, item = marked
                if mark == self._pos and (name is None or start > mark) and (final or start > mark):
                    self._marker(item)
                    continue
                start = min(start, mark)
            if start > self._pos:
                if not self._text(start, final=final):
                    if not final:
                        return
                    self._stray(start)
            elif name is None:
                return
            else:
                self._found_literal(name, start, stop)

    def _next(self, final: bool) -> Match:
        """The next terminal the scope in force can see; each scope looks at the text once."""
        scope = self._state.plain if self._parser is None else self._state.scopes.get(self._parser.scope or "")
        if self._origin is not None:
            scope = self._beside_ends_of_origin()
        if scope is None:
            return len(self._buffer), None, len(self._buffer)
        found = self._found.get(scope)
        if found is None or found[0] < self._pos or final:
            found = self._found[scope] = scope.find(self._buffer, self._pos, final=final, given=self._is_part)
            self.examined += found[0] - self._pos
        return found

    def _text(self, limit: int, *, final: bool) -> bool:
        """Give text up to `limit` to the state; it may stop early. False: it needs more text to go on at all."""
        before, self._turned, parser = self._pos, False, self._parser
        if parser is not None:
            scope = parser.scope
            self._pass(parser.text(self._buffer, before, limit, self._base, final=final))
            if self._draft is not None and scope != OPEN and "\n" in self._buffer[before : self._pos]:
                raise UndoneError
            self._turned = parser.scope not in (scope, OPEN, None)  # it looks for other literals in the same text
            while parser.queue and self._parser is parser:
                self._trigger(parser.queue.pop(0))
        elif self._strayed:
            self._stray(limit)
        elif self._state.text == "structure":
            self._consume(self._calls.skip_space(self._buffer, self._pos, limit, self._base))
            if self._pos < limit:
                self._trigger("OTHER")
        elif self._state.text == "marker":
            at = self._at
            self._calls.marker(at, at + len(self._consume(limit)))
        elif self._state.text == "noise":
            self._noise(limit)
        elif self._state.text in HEADS and (fits := self._calls.name_fits(self._buffer[before:limit])) < limit - before:
            kind, at = self._state.text or "name", self._base + before
            self._calls.read(kind, self._consume(before + fits), at)
            self._back_to_reasoning(Cause.NO_NAME)
        elif self._fresh and (begins := self._guided_at(limit)) is not None:
            self._read_as_guided(begins)
        else:
            text, at = self._consume(limit), self._base + before
            self._reopened = self._reopened and not text.strip()
            self._calls.read(self._state.text or "content", text, at)
        return self._pos > before or self._turned

    def _go_astray(self) -> None:
        """From here on text has no place in the format: it is content until the state is left, with one diagnostic.

        The argument parser is done: it does not know that nobody went on with it, and would look for what it waits for
        at other places under other chunkings.
        """
        at, parser = self._at, self._parser
        self._calls.diagnostic("stray_text", f"There is text where {self._state.name} expects none.", at, at)
        self._strayed = self._turned = True
        if parser is not None:
            parser.finish(at)
            self._whole, self._parser = parser.complete, None

    def _stray(self, limit: int) -> None:
        """Text up to `limit` has no place in the format."""
        if not self._strayed:
            self._go_astray()
        at = self._at
        self._calls.read("content", self._consume(limit), at)

    def _opaque(self, end: int) -> None:
        """Text in which no terminal may be found."""
        while self._pos < end:
            if not self._text(end, final=True):
                self._stray(end)

    # literals and markers

    def _found_literal(self, name: str, start: int, stop: int) -> None:
        if name in self._state.rows:
            self._terminal(name, self._base + start, self._base + stop)
        elif self._reopened and name in self._state.inert and REPEATED in self._state.rows:
            self._repeat(name, stop)
        elif name.startswith(END_TOKEN):
            self._end_token(stop)
        elif self._origin is not None and self._is_end_of_origin(self._buffer[start:stop]):
            self._reasoning_ends_first(stop)
        elif self._buffer[start:stop] in self._state.prose_texts:
            self._trigger("OTHER")
        elif self._parser is not None and name not in self._state.inert:
            self._literal(self._parser, name, self._base + start, self._base + stop)
        else:
            self._opaque(stop)

    def _literal(self, parser: ArgumentParser, name: str, start: int, end: int) -> None:
        self._consume(parser.literal(name, start, end) - self._base)
        if parser.doubts and self._at == start:
            self._read_again()

    def _end_token(self, stop: int, item: IdTerminal | None = None) -> None:
        """A token that ends a turn is a marker; a special token that means nothing here is left out."""
        at = self._at
        if self._parser is not None:
            self._parser.settle()
        self._calls.silent(at, at + stop - self._pos, ends=item is None or item.known)
        self._consume(stop)

    def _read_marker(self, item: IdTerminal) -> None:
        names = {} if self._skip is None else self._skip.by_text | self._state.by_text
        if self._skip is None or not self._goes_on(names.get(item.text), len(self._buffer)):
            self._marker(item)

    def _marker(self, item: IdTerminal) -> None:
        """A marker by its id stands at the buffer's position. It may have to be looked at again in another state."""
        before, size = self._pos, len(item.text)
        for _ in range(_MAX_FIRES):
            parser = self._parser
            own = {} if parser is None else self._state.own(parser.scope)
            name = self._state.by_text.get(item.text)
            if parser is not None and item.text in own and (name is None or parser.scope != OPEN):
                self._literal(parser, own[item.text], self._at, self._at + size)
                parser.settle()
            elif name is not None:
                if parser is not None:
                    parser.closed(self._at)
                self._terminal(name, self._at, self._at + size)
            elif self._origin is not None and self._is_end_of_origin(item.text):
                self._reasoning_ends_first(self._pos + size)
            elif item.text in self._state.prose_texts:
                self._trigger("OTHER")
            elif self._reopened and item.text in self._state.inert_texts and REPEATED in self._state.rows:
                self._repeat(self._state.inert_texts[item.text], self._pos + size)
            elif not item.known or item.text in self._program.end_tokens:
                self._end_token(self._pos + size, item)
            else:
                self._text(before + size, final=True)
            if self._pos > before:
                break
        self._opaque(before + size)

    def _skipped(self, rejecting: CompiledState, final: bool) -> bool:
        """Policy recovery skip_call: pass over text up to a terminal of this state or of the one that gave up."""
        start, name, stop = self._state.joint(rejecting).find(self._buffer, self._pos, final=final, given=self._is_part)
        self._consume(start)
        if name is None:
            return False
        self._goes_on(name, stop)
        return True

    def _goes_on(self, name: str | None, stop: int) -> bool:
        """Stop skipping at a terminal (None: any other marker). True: it is skipped too, having no row here."""
        passes = name not in self._state.rows
        if passes:
            self._consume(stop)
        if name is not None:
            self._skip = None
            self._calls.resume()
        return passes

    # rows

    def _trigger(self, trigger: str) -> None:
        """Fire the row for a trigger that is not text. Without one the parser reads on after what is whole, and text is
        stray after all else."""
        row = self._state.rows.get(trigger)
        if trigger in STRAY and self._origin is not None and self._leads_nowhere(trigger, row):
            self._back_to_reasoning(Cause.NO_NAME)
        elif row is not None:
            self._fire(row, trigger, self._at, self._at)
        elif trigger not in READ_ON:
            if trigger in REFUSALS and self._calls.may_reject:
                self._reject(NO_ROW)
            self._go_astray()

    def _terminal(self, name: str, start: int, end: int) -> None:
        """Fire (state, terminal) for the terminal that begins at the buffer's position."""
        row = self._state.rows[name]
        self._turned = True
        stop = self._pos + end - start
        if row.keep == "again" and self._circles(start):
            self._stray(stop)
            return
        if row.opens:
            self._calls.mention(start)
            self._origin = self._state
        elif self._fresh and "CallStart" in row.emit and row.keep == "text":
            self._claimed = start
        continues = self._leave(row, name)
        if self._origin is not None and not row.opens and self._leads_nowhere(name, row):
            self._back_to_reasoning(Cause.NO_NAME)
            return
        early = "CallStart" in row.emit
        if early:
            self._emit(row, start, end)
        if row.keep == "drop":
            self._consume(stop)
            self._calls.marker(start, end, name)
        if not early:
            self._emit(row, start, end)
        self._move(row, name, start, end, continues=continues)
        if row.keep == "text":
            self._opaque(stop)

    def _fire(self, row: CompiledRow, trigger: str, start: int, end: int) -> None:
        self._turned = True
        if self._circles(start) and self._pos < len(self._buffer):
            self._stray(self._pos + 1)
            return
        if trigger in REFUSALS and self._calls.may_reject:
            if self._claimed != NOWHERE and self._unread_for_guided(row, trigger):
                return
            self._reject(row)
            continues = False
        else:
            continues = self._leave(row, trigger)
        self._emit(row, start, end)
        self._move(row, trigger, start, end, continues=continues)

    def _reject(self, row: CompiledRow) -> None:
        """The call that is open is none."""
        self._parser = None
        self._calls.reject(row.refusal, ended=False)
        self._follow_call()

    def _circles(self, at: int) -> bool:
        """Return whether so many rows fired here that the format must be turning in a circle."""
        self._stuck = self._stuck + 1 if self._fired_at == at else 0
        self._fired_at = at
        return self._stuck > _MAX_FIRES

    def _leave(self, row: CompiledRow, trigger: str) -> bool:
        """Finish what the old state was reading. Returns whether its argument parser goes on in the new state."""
        parser = self._parser
        if parser is not None:
            if parser.spans_states and trigger != "END" and self._target(row).codec == self._state.codec:
                if "CallEnd" in row.emit:
                    parser.finish(self._at)
                return True
            parser.over, parser.cut = trigger == "END", self._cut
            parser.finish(self._at)
            self._whole = parser.complete
            self._parser = None
        if self._state.text in HEADS:
            none = row.keep == "again" and "CallEnd" in row.emit  # what follows it shows that it was no name
            self._calls.end_head(self._state.declared, over=none or trigger == "END")
        elif self._calls.state is CallState.MENTIONED and self._state.text == "noise" and "NoCall" not in row.emit:
            self._calls.give_back(None)
        if self._calls.quiet:
            self._calls.flush()
        return False

    def _target(self, row: CompiledRow) -> CompiledState:
        """The state a row leads to. Raises FormatError where the format has none of that name."""
        return row.target or self._program.state(row.to)

    def _emit(self, row: CompiledRow, start: int, end: int) -> None:
        if row.diagnostic is not None:
            self._calls.diagnostic(row.diagnostic, row.note, start, end, "info")
        for emit in row.emit:
            if emit == "CallStart":
                if self._calls.state not in (CallState.NONE, CallState.MENTIONED):
                    self._end_call(start, start)
                self._whole = None
                self._calls.start(start, end)
            elif emit == "CallEnd":
                self._end_call(start, end)
            elif emit == "NoCall":
                self._calls.no_call()
            elif emit == "Break":
                self._calls.line_break()
            else:
                self._calls.reasoning_end(start, end)

    def _end_call(self, start: int, end: int) -> None:
        whole = self._whole if self._parser is None else self._parser.complete
        complete = not self._over if whole is None else whole
        inside = self._wrapped or self._state.declared.wrapper is None
        closed = not (self._over and self._state.closes_call and inside) or (self._stopped and self._state.stops)
        if self._draft is not None:
            self._judge_draft(whole=complete)
        self._calls.end(start, end, complete=complete, over=self._over, closed=closed, cut=self._cut)
        self._follow_call()

    def _follow_call(self) -> None:
        """A call that was rejected may have to be skipped."""
        if self._calls.state is CallState.SKIPPED and self._skip is None:
            self._skip = self._state

    def _move(
        self,
        row: CompiledRow,
        trigger: str,
        start: int,
        end: int,
        *,
        continues: bool = False,
        target: CompiledState | None = None,
    ) -> None:
        self._sub += 1
        old, new = self._state, target or self._target(row)
        if self.transitions is not None:
            moved = Transition(old.name, trigger, new.name, row.id, start, end, self._sub, row.note)
            self.transitions.append(moved)
        self._state, self._strayed, self._breaks = new, False, 0
        self._wrapped = new.text not in TOPMOST and (self._wrapped or trigger in self._program.wrappers)
        self._reopened = self._reopened and trigger == "OTHER"
        if "ReasoningEnd" in row.emit or "CallStart" in row.emit:
            self._fresh = self._program.guides and "CallStart" not in row.emit
        if continues and self._parser is not None:
            self._parser.terminal(trigger, end)
            self._calls.flush()
        else:
            self._parser = self._new_parser(new)

    # the state

    def snapshot(self, *, exact: bool = False) -> State | None:
        """See Resumable. What is built on this class may know more than it; where everything waits, all is state.

        `exact`: see state_of.
        """
        if type(self) is not Machine or self._calls.defers or self._draft is not None:
            return None
        if self._kept:
            self._end_open_text()
        if self._disturbs is None:
            self._own, self._tail, self._leads = "", None, False
            self._open_kind, self._open_call, self._open_at = ContentText, NOWHERE, NOWHERE
        else:
            self._tell_of_open_text()
            self._open_at = self._base
        self._buffer, self._base, self._pos = self._buffer[self._pos :], self._at, 0
        self._forget_parts()
        self._forget_mark()
        if self._fired_at != self._base:
            self._fired_at, self._stuck = NOWHERE, 0
        self._calls.joins = not exact
        return state_of(self, exact=exact)

    def resume(self, state: State) -> None:
        go_back(state)
        self._open_view = self._draft = None
        self._forget_growth()

    @property
    def can_be_learnt(self) -> bool:
        """Return whether what it makes of a delta follows from its state and the text alone. What is built on this
        class may know more."""
        return type(self) is Machine and self.passes_open_text

    @property
    def _is_busy(self) -> bool:
        return self._parser is not None or self._skip is not None
