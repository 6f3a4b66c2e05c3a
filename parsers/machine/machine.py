"""The table machine: runs any Format over deltas, streaming and whole through the same code.

Strategy
    A Scanner turns a delta into text and (in ids mode) id terminals. Text goes into one buffer; what stands in it and
    was not consumed is new or held. In each state the literals in sight say where the next terminal stands (`Scope`,
    narrowed by the state's argument parser). Text before it goes to the argument parser, to a stage or to the name; the
    terminal fires the row of (state, terminal). A terminal without a row in the state is text of that state.

Rules
    1. Everything that moves the machine is a row: terminals, END, DONE, REJECT, OTHER and the triggers of the argument
       parsers. Everything that moves a call is an entry of the table in `calls`.
    2. Every character is consumed exactly once, in `_consume`, and given to exactly one event by then or later.
    3. Nothing raises on model output. "Need more" is simply a return.
    4. Work is linear: held text is bounded by the longest terminal, and no scope is searched twice over one text.

Events leave through `Calls`, which knows where the open call stands, and its stages (policies on white space).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from parsers.arguments.contract import OPEN, READ_ON, ArgumentParser
from parsers.formats.model import Format
from parsers.machine.calls import HEADS, Calls, CallState
from parsers.machine.lexer import IdTerminal, Match, Scanner, Scope, slices
from parsers.machine.open_text import OpenTextReader
from parsers.machine.program import END_TOKEN, CompiledRow, CompiledState, Program, literals
from parsers.machine.views import Views
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import ContentText, Event
from parsers.vocabulary.states import State, go_back, state_of
from parsers.vocabulary.trace import RejectedCall, StateView, Transition
from parsers.vocabulary.types import Context, Delta, Mode, UsageError

Programs = dict[tuple[frozenset[str], bool], Program]
_NO_ROW = CompiledRow("", "", (), "drop", None, "", None)
_REFUSALS = ("REJECT", "MALFORMED")
_MAX_FIRES = 8  # rows fired at one place without consuming text; a format that loops there is stopped


class Machine(OpenTextReader):
    """A StreamParser for a table format under the given policies, and a Resumable one.

    `programs` is what machines of one format and policy share: the format compiled, by what begin() depends on.
    """

    __slots__ = (
        "_cut",
        "_fired_at",
        "_found",
        "_marked",
        "_over",
        "_program",
        "_programs",
        "_raw",
        "_reads",
        "_scanner",
        "_skip",
        "_strayed",
        "_stuck",
        "_sub",
        "_turned",
        "_views",
        "_whole",
        "format",
        "name",
        "policy",
        "rejected",
    )
    APART: ClassVar[frozenset[str]] = frozenset({
        "name", "format", "policy", "transitions", "rejected", "examined", "passes_open_text", "_programs", "_program",
        "_scanner", "_by_text", "_raw", "_found", "_turned", "_sub", "_views", "_open_view",
    })  # fmt: skip

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
        by_id, skips_tools = self._scanner.by_id, context.tool_choice == "none"
        if (by_id, skips_tools) not in self._programs:
            self._programs[by_id, skips_tools] = Program(self.format, self.policy, by_id, skip_tools=skips_tools)
        self._program = self._programs[by_id, skips_tools]
        calls = Calls(self.format, self.policy, context)
        self.rejected = calls.rejected
        self._begin_text(self._program.initial(context), calls, by_text=mode == "text")
        self._found: dict[Scope, Match] = {}
        self._raw: list[str] = []
        self._marked: tuple[int, IdTerminal] | None = None  # a marker by its id that was text of a value, and where
        self._skip: CompiledState | None = None  # the state in which a call was rejected that is being skipped
        self._parser = self._new_parser(self._state)
        self._turned = self._strayed = self._cut = self._over = False
        self._whole: bool | None = None  # whether the arguments of the open call are whole, once they were read
        self._sub, self._stuck, self._fired_at = 0, 0, -1
        self._views = Views()
        self._reads = True

    def _new_parser(self, state: CompiledState) -> ArgumentParser | None:
        return None if state.make_parser is None else state.make_parser(self._calls)

    def _read_delta(self, delta: Delta, text: str) -> list[Event]:
        if not self._reads:
            raise UsageError("feed() needs begin() first, and none after finish()")
        self._sub = 0
        if not self._by_text or len(text) > self.stride:
            self._read(delta)
        elif text:
            self._append(text)
            self._run(final=False)
        if self._calls.defers:
            return []
        events = self._calls.take()
        if self._pos == len(self._buffer) and not (self._strayed or self._skip or self._marked):
            self._find_open_text()
        return events

    def feed_part(self, delta: Delta) -> list[Event]:
        """See Resumable."""
        self._end_open_text()
        self._read(delta)
        return self._calls.take()

    def _read(self, delta: Delta) -> None:
        """Read a delta, the text of a long one in slices that end at multiples of STRIDE of the output."""
        text = delta.text
        if not text:
            return
        for item in (text,) if self._by_text else self._scanner.scan(delta):
            if isinstance(item, IdTerminal):
                self._id_terminal(item)
            else:
                at = self._base + len(self._buffer)
                for part in (item,) if len(text) <= self.stride else slices(item, at, self.stride):
                    self._append(part)
                    self._run(final=False)

    def finish(self, reason: str | None = None) -> list[Event]:
        if not self._reads:
            raise UsageError("finish() needs begin() first, and is called once")
        self._end_open_text()
        self._sub = 0
        self._cut = reason == "length"
        self._end_value(cut=self._cut)
        self._run(final=True)
        self._reads, self._over = False, True
        if (row := self._state.rows.get("END")) is not None:
            self._fire(row, "END", self._at, self._at)
        else:
            self._leave(_NO_ROW, "END")
        if self._calls.state is not CallState.NONE:
            self._end_call(self._at, self._at)
        self._calls.finish("".join(self._raw))
        return self._calls.take()

    def _end_value(self, *, cut: bool) -> None:
        """Decide about text held in a tagged value when the output ends: a closing tag of the call ends the value too.

        Anything else, and all that a cut leaves, may be half of the value's own closing tag: it is no value.
        """
        parser, at, held = self._parser, self._at, self._buffer[self._pos :]
        if parser is None or parser.scope in (OPEN, None):
            return
        own = self._state.own(parser.scope).items()
        implied = next((name for text, name in own if name.startswith("IMPLIED") and text.startswith(held)), None)
        if implied is not None and held.strip() in self._state.by_text and not cut:
            self._literal(parser, implied, at, at)
        else:
            self._calls.drop(at, at + len(self._consume(len(self._buffer))), DropReason(Cause.CUT_TAG))

    # the text

    @property
    def _at(self) -> int:
        return self._base + self._pos

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
            mark = None
            if self._marked is not None and self._marked[0] >= self._at and not self._closed_to(self._marked[1]):
                mark = self._marked[0] - self._base  # the value that it was text of is over by now
                if mark == self._pos:
                    self._marker(self._marked[1])
                    continue
            start, name, stop = self._next(final)
            start = start if mark is None else min(start, mark)
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
        parser = self._parser
        if parser is None:
            scope = self._state.plain
        elif parser.scope is None:
            return len(self._buffer), None, len(self._buffer)
        else:
            scope = self._state.scopes[parser.scope]
        found = self._found.get(scope)
        if found is None or found[0] < self._pos or final:
            found = self._found[scope] = scope.find(self._buffer, self._pos, final=final)
            self.examined += found[0] - self._pos
        return found

    def _text(self, limit: int, *, final: bool) -> bool:
        """Give text up to `limit` to the state; it may stop early. False: it needs more text to go on at all."""
        before, self._turned, parser = self._pos, False, self._parser
        if parser is not None:
            self._pass(parser.text(self._buffer, before, limit, self._base, final=final))
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
        else:
            at = self._base + before
            self._calls.read(self._state.text or "content", self._consume(limit), at)
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
        elif name.startswith(END_TOKEN):
            self._end_token(stop)
        elif self._parser is not None and name not in self._state.inert:
            self._literal(self._parser, name, self._base + start, self._base + stop)
        else:
            self._opaque(stop)

    def _literal(self, parser: ArgumentParser, name: str, start: int, end: int) -> None:
        self._consume(parser.literal(name, start, end) - self._base)

    def _end_token(self, stop: int, item: IdTerminal | None = None) -> None:
        """A token that ends a turn is a marker; a special token that means nothing here is left out."""
        at = self._at
        self._calls.silent(at, at + stop - self._pos, ends=item is None or item.known)
        self._consume(stop)

    def _id_terminal(self, item: IdTerminal) -> None:
        """A marker by its id: what was held is text of the old state. In a value only a special token is more."""
        if self._closed_to(item):
            self._append(item.text)
            self._marked = (self._base + len(self._buffer) - len(item.text), item)
            self._run(final=False)
            return
        self._run(final=True)
        self._append(item.text)
        names = {} if self._skip is None else self._skip.by_text | self._state.by_text
        if self._skip is None or not self._goes_on(names.get(item.text), len(self._buffer)):
            self._marker(item)

    def _closed_to(self, item: IdTerminal) -> bool:
        """Return whether an argument parser reads something in which this marker is text."""
        parser = self._parser
        if parser is None or parser.scope == OPEN or item.special:
            return False
        return item.text not in self._state.own(parser.scope)

    def _marker(self, item: IdTerminal) -> None:
        """A marker by its id stands at the buffer's position. It may have to be looked at again in another state."""
        before, size = self._pos, len(item.text)
        for _ in range(_MAX_FIRES):
            parser = self._parser
            own = {} if parser is None else self._state.own(parser.scope)
            name = self._state.by_text.get(item.text)
            if name is not None:
                self._terminal(name, self._at, self._at + size)
            elif parser is not None and item.text in own:
                self._literal(parser, own[item.text], self._at, self._at + size)
            elif item.known and item.text not in self._program.end_tokens:
                break
            else:
                self._end_token(self._pos + size, item)
            if self._pos > before:
                return
        self._opaque(before + size)

    def _skipped(self, rejecting: CompiledState, final: bool) -> bool:
        """Policy recovery skip_call: pass over text up to a terminal of this state or of the one that gave up."""
        start, name, stop = self._state.joint(rejecting).find(self._buffer, self._pos, final=final)
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
        if row is not None:
            self._fire(row, trigger, self._at, self._at)
        elif trigger not in READ_ON:
            if trigger in _REFUSALS and self._calls.may_reject:
                self._reject(_NO_ROW)
            self._go_astray()

    def _terminal(self, name: str, start: int, end: int) -> None:
        """Fire (state, terminal) for the terminal that begins at the buffer's position."""
        row = self._state.rows[name]
        self._turned = True
        stop = self._pos + end - start
        if row.keep == "again" and self._circles(start):
            self._stray(stop)
            return
        continues = self._leave(row, name)
        early = "CallStart" in row.emit
        if early:
            self._emit(row, start, end)
        if row.keep == "drop":
            self._consume(stop)
            self._calls.marker(start, end, name)
        if not early:
            self._emit(row, start, end)
        self._move(row, name, start, end, continues)
        if row.keep == "text":
            self._opaque(stop)

    def _fire(self, row: CompiledRow, trigger: str, start: int, end: int) -> None:
        self._turned = True
        if self._circles(start) and self._pos < len(self._buffer):
            self._stray(self._pos + 1)
            return
        if trigger in _REFUSALS and self._calls.may_reject:
            self._reject(row)
            continues = False
        else:
            continues = self._leave(row, trigger)
        self._emit(row, start, end)
        self._move(row, trigger, start, end, continues)

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
            self._calls.end_head(self._state.text, over=trigger == "END", unquote=self._state.unquote)
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
                if self._calls.state is not CallState.NONE:
                    self._end_call(start, start)
                self._whole = None
                self._calls.start(start, end)
            elif emit == "CallEnd":
                self._end_call(start, end)
            elif emit == "Break":
                self._calls.line_break()
            else:
                self._calls.reasoning_end(start, end)

    def _end_call(self, start: int, end: int) -> None:
        whole = self._whole if self._parser is None else self._parser.complete
        self._calls.end(start, end, complete=not self._over if whole is None else whole, over=self._over)
        self._follow_call()

    def _follow_call(self) -> None:
        """A call that was rejected may have to be skipped."""
        if self._calls.state is CallState.SKIPPED and self._skip is None:
            self._skip = self._state

    def _move(self, row: CompiledRow, trigger: str, start: int, end: int, continues: bool) -> None:
        self._sub += 1
        old, new = self._state, self._target(row)
        if self.transitions is not None:
            moved = Transition(old.name, trigger, new.name, row.id, start, end, self._sub, row.note)
            self.transitions.append(moved)
        self._state, self._strayed = new, False
        if continues and self._parser is not None:
            self._parser.terminal(trigger, end)
            self._calls.flush()
        else:
            self._parser = self._new_parser(new)

    # the state

    def snapshot(self) -> State | None:
        """See Resumable. What is built on this class may know more than it; where everything waits, all is state."""
        if type(self) is not Machine or self._calls.defers:
            return None
        if self._kept:
            self._end_open_text()
        if self._disturbs is None:
            self._own, self._tail = "", None
            self._open_kind, self._open_call, self._open_at = ContentText, 0, 0
        else:
            self._tell_of_open_text()
            self._open_at = self._base
        self._buffer, self._base, self._pos = self._buffer[self._pos :], self._at, 0
        return state_of(self)

    def resume(self, state: State) -> None:
        go_back(state)
        self._open_view = None

    # the view

    def view(self) -> StateView:
        if self._kept:
            self._end_open_text()
        elif self._disturbs is not None:
            if self._open_view is not None:
                return self._open_view
            if self._parser is not None:
                self._parser.passed(self._base)
        held = "" if self._over else self._buffer[self._pos :]
        made = self._views.view(self._state, self._calls, self._parser, self._base + self._pos, held)
        self._open_view = made
        return made
