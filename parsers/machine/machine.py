"""The text of a machine: what has come, what has been consumed, and which literals may match next.

The buffer holds what has not been consumed: new text plus whatever the lexer or a codec holds. Every character is
consumed exactly once, in `_consume`, and no scope is searched twice over one text.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.arguments import OPEN, Codec
from parsers.arguments.json_span import skip_space
from parsers.formats.model import Format
from parsers.machine.lexer import IdTerminal, Match, Scanner, Scope
from parsers.machine.program import END_TOKEN, CompiledRow, CompiledState, Program, literals
from parsers.machine.sink import Sink
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import Hold, RejectedCall, StateView, Transition
from parsers.vocabulary.types import Context, Delta, Mode, UsageError

NO_VIEW = StateView("")


class Reader:
    """Base of the machine. `_parts` is the text of the call that is open, while it can still be rejected."""

    _sink: Sink
    _state: CompiledState
    _codec: Codec | None

    def _reset(self) -> None:
        self.examined = 0
        self._buffer, self._pos, self._base = "", 0, 0
        self._found: dict[Scope, Match] = {}
        self._view = NO_VIEW
        self._parts: list[str] = []
        self._parts_at = 0
        self._raw: list[str] = []
        self._over = False

    @property
    def _at(self) -> int:
        """Raw offset of the first character not consumed."""
        return self._base + self._pos

    @property
    def _scope(self) -> Scope | None:
        """The literals in force; None where nothing can match."""
        return self._state.plain if self._codec is None else self._state.scope(self._codec.scope)

    def _append(self, text: str) -> None:
        if self._sink.defers:
            self._raw.append(text)
        self._base += self._pos
        self._buffer = self._buffer[self._pos :] + text
        self._pos = 0
        self._found = {}

    def _next(self, final: bool) -> tuple[int, str | None, int]:
        """The next terminal the scope in force can see; each scope looks at the text once."""
        scope = self._scope
        if scope is None:
            return len(self._buffer), None, len(self._buffer)
        found = self._found.get(scope)
        if found is None or found[0] < self._pos or final:
            found = self._found[scope] = scope.find(self._buffer, self._pos, final=final)
            self.examined += found[0] - self._pos
        return found

    def _consume(self, stop: int) -> str:
        """Take characters from the buffer; remember them while the call they may belong to can still be rejected."""
        text = self._buffer[self._pos : stop]
        self.examined += stop - self._pos
        if self._sink.tentative or self._sink.muted:
            self._parts.append(text)
        self._pos = stop
        self._mute()
        return text

    def _mute(self) -> None:
        """What was held for a call that turns out not to be wanted goes where the policy says."""
        if self._sink.muted and self._parts:
            text, self._parts = "".join(self._parts), []
            self._sink.muted_text(text, self._at - len(text))

    def view(self) -> StateView:
        """See StreamParser.view."""
        held = self._buffer[self._pos :]
        codec = None if self._codec is None else self._codec.describe()
        holds = self._sink.holds(self._parts_at, self._at)
        candidates: tuple[str, ...] = ()
        if self._codec is not None and (hold := self._codec.hold()) is not None:
            holds.append(hold)
        last, call = self._view, self._sink.open_call
        if not (held or holds) and last.state == self._state.name and (last.codec, last.call) == (codec, call):
            return last
        if held and not self._over:
            candidates, why = self._state.may_become(held, self._scope)
            holds.append(Hold(self._at, self._at + len(held), "lexer", why))
        view = StateView(self._state.name, tuple(holds), candidates, self._state.accepts, call, codec)
        self._view = NO_VIEW if holds else view
        return view


# The table machine: runs any Format over deltas, streaming and whole through the same code.
#
# Strategy
#     The buffer holds what has not been consumed: new text plus whatever the lexer or a codec holds. The loop asks the
#     scope in force for the next terminal, gives the text before it to the state (or its codec), then fires the row
#     (state, terminal). A terminal without a row in the state is text of that state.
#
# Rules
#     1. Everything that moves the machine is a row: terminals, END, DONE, REJECT, OTHER and the codecs' own triggers.
#     2. Every character is consumed exactly once, in `_consume`, and given to exactly one event by then or later.
#     3. Nothing raises on model output. "Need more" is simply a return.
#     4. Work is linear: held text is bounded by the longest terminal, and no scope is searched twice over one text.
#
# Events leave through the Sink (calls, tentative or not) and the stages (whitespace and content policies).

NO_ROW = CompiledRow("", "", (), "drop", None, "")
Programs = dict[tuple[frozenset[str], bool], Program]
MAX_FIRES = 8  # rows fired at one place without consuming text; a format that loops there is stopped


class Machine(Reader):
    """A StreamParser for a table format under the given policies.

    `programs` is what machines of one format and policy share: the format compiled, by what begin() depends on.
    """

    def __init__(self, fmt: Format, policy: Mapping[str, str], programs: Programs | None = None) -> None:
        self.name = fmt.name
        self.format = fmt
        self.policy = dict(policy)
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self._programs = {} if programs is None else programs
        self._begun = False

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """See StreamParser.begin."""
        self._scanner = Scanner(mode, literals(self.format), markers, drops=bool(self.format.terminals))
        self._program = self._compiled(self._scanner.by_id, context.tool_choice == "none")
        self._sink = Sink(self.format, self.policy, context)
        self.rejected = self._sink.rejected
        self._reset()
        self._sub = 0
        self._turned = self._strayed = self._cut = False
        self._marked: tuple[int, IdTerminal] | None = None
        self._skip: CompiledState | None = None
        self._complete: bool | None = None  # whether the arguments of the open call are whole, once they were read
        self._stuck, self._fired_at = 0, -1
        self._state = self._program.initial(context)
        self._codec = self._state.open(self._sink)
        self._begun = True

    def _compiled(self, by_id: frozenset[str], skip_tools: bool) -> Program:
        found = self._programs.get((by_id, skip_tools))
        if found is None:
            found = Program(self.format, self.policy, by_id, skip_tools=skip_tools)
            self._programs[by_id, skip_tools] = found
        return found

    def feed(self, delta: Delta) -> list[Event]:
        """See StreamParser.feed."""
        if not self._begun or self._over:
            raise UsageError("feed() needs begin() first, and none after finish()")
        self._sub = 0
        for item in self._scanner.scan(delta):
            if isinstance(item, IdTerminal):
                self._id_terminal(item)
            else:
                self._append(item)
                self._run(final=False)
        return self._sink.take()

    def finish(self, reason: str | None = None) -> list[Event]:
        """See StreamParser.finish."""
        if not self._begun or self._over:
            raise UsageError("finish() needs begin() first, and is called once")
        self._sub = 0
        self._cut = reason == "length"
        self._end_value(cut=self._cut)
        self._run(final=True)
        self._over = True
        if (row := self._state.rows.get("END")) is not None:
            self._fire(row, "END", self._at, self._at)
        else:
            self._leave(NO_ROW, "END")
        if self._sink.opened:
            self._end_call(self._at, self._at)
        self._sink.finish("".join(self._raw))
        return self._sink.take()

    def _end_value(self, *, cut: bool) -> None:
        """What is held inside a tagged value when the output ends: a closing tag of the call ends the value too.

        Anything else, and all that a cut leaves, may be half of the value's own closing tag: it is no value.
        """
        codec, at, held = self._codec, self._at, self._buffer[self._pos :]
        if codec is None or codec.scope in (OPEN, None):
            return
        own = self._state.own(codec.scope).items()
        implied = next((name for text, name in own if name.startswith("IMPLIED") and text.startswith(held)), None)
        if implied is not None and held.strip() in self._state.by_text and not cut:
            self._literal(codec, implied, at, at)
        else:
            self._sink.dropped(at, at + len(self._consume(len(self._buffer))), "cut off: it may begin a closing tag")

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
        if self._skip is not None and self._goes_on(names.get(item.text), len(self._buffer)):
            return
        self._marker(item)

    def _closed_to(self, item: IdTerminal) -> bool:
        """Whether a codec reads something in which this marker is text."""
        codec = self._codec
        if codec is None or codec.scope == OPEN or item.special:
            return False
        return item.text not in self._state.own(codec.scope)

    def _marker_ahead(self) -> int | None:
        """Where in the buffer a marker by its id stands that was text of a value, and is read again without it."""
        if self._marked is None or self._marked[0] < self._at or self._closed_to(self._marked[1]):
            return None
        return self._marked[0] - self._base

    def _marker(self, item: IdTerminal) -> None:
        """A marker by its id stands at the buffer's position. It may have to be looked at again in another state."""
        before, size = self._pos, len(item.text)
        for _ in range(MAX_FIRES):
            codec = self._codec
            own = {} if codec is None else self._state.own(codec.scope)
            name = self._state.by_text.get(item.text)
            if name is not None:
                self._terminal(name, self._at, self._at + size)
            elif codec is not None and item.text in own:
                self._literal(codec, own[item.text], self._at, self._at + size)
            elif item.known and item.text not in self._program.end_tokens:
                break
            else:
                self._end_token(self._pos + size, item)
            if self._pos > before:
                return
        self._opaque(before + size)

    def _literal(self, codec: Codec, name: str, start: int, end: int) -> None:
        """One of the codec's own literals."""
        self._consume(codec.literal(name, start, end) - self._base)

    def _end_token(self, stop: int, item: IdTerminal | None = None) -> None:
        """A token that ends a turn is a marker; a special token that means nothing here is left out."""
        at = self._at
        self._sink.silent(at, at + stop - self._pos, ends=item is None or item.known)
        self._consume(stop)

    def _opaque(self, end: int) -> None:
        """Text in which no terminal may be found."""
        while self._pos < end:
            if not self._text(end, final=True):
                self._stray(end)

    def _run(self, *, final: bool) -> None:
        """Consume the buffer as far as it can be decided."""
        while self._pos < len(self._buffer):
            if self._skip is not None and not self._skipped(self._skip, final):
                return
            mark = self._marker_ahead()
            if mark == self._pos and self._marked is not None:
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
            elif name in self._state.rows:
                self._terminal(name, self._base + start, self._base + stop)
            elif name.startswith(END_TOKEN):
                self._end_token(stop)
            elif self._codec is not None and name not in self._state.inert:
                self._literal(self._codec, name, self._base + start, self._base + stop)
            else:
                self._opaque(stop)

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
            self._skip, self._sink.muted = None, ""
        return passes

    def _text(self, limit: int, *, final: bool) -> bool:
        """Give text up to `limit` to the state; it may stop early. False: it needs more text to go on at all."""
        before, self._turned = self._pos, False
        if self._strayed:
            self._stray(limit)
        elif self._codec is not None:
            codec = self._codec
            self._consume(codec.text(self._buffer, self._pos, limit, self._base, final=final))
            waits = not codec.queue
            while codec.queue and self._codec is codec:
                self._trigger(codec.queue.pop(0), limit)
            if self._pos == before and not (waits or self._turned):
                self._stray(limit)  # the format has no row for what the codec found
        elif self._state.text == "structure":
            self._consume(skip_space(self._sink, self._buffer, self._pos, limit, self._base))
            if self._pos < limit:
                self._trigger("OTHER", limit)
        elif self._state.text == "marker":
            at = self._at
            self._sink.marker(at, at + len(self._consume(limit)))
        else:
            at = self._at
            self._sink.text(self._state.text or "content", self._consume(limit), at)
        return self._pos > before or self._turned

    def _trigger(self, trigger: str, limit: int) -> None:
        """Fire the row for a trigger that is not text; without one, text that fits nowhere is stray."""
        row = self._state.rows.get(trigger)
        if row is not None:
            self._fire(row, trigger, self._at, self._at)
        elif trigger in ("OTHER", "REJECT", "MALFORMED"):
            self._stray(limit)

    def _stray(self, limit: int) -> None:
        """Text where the format has no place for it is content until the state is left, with one diagnostic."""
        at = self._at
        if not self._strayed:
            self._sink.diagnostic("stray_text", f"There is text where {self._state.name} expects none.", at, at)
        self._strayed = self._turned = True
        self._sink.text("content", self._consume(limit), at)

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
            self._sink.marker(start, end, name)
        if not early:
            self._emit(row, start, end)
        self._move(row, name, start, end, continues)
        if row.keep == "text":
            self._opaque(stop)

    def _fire(self, row: CompiledRow, trigger: str, start: int, end: int) -> None:
        """Fire a row whose trigger is not text."""
        self._turned = True
        if self._circles(start) and self._pos < len(self._buffer):
            self._stray(self._pos + 1)
            return
        if trigger in ("REJECT", "MALFORMED") and self._sink.tentative:
            self._codec = None
            self._reject(row.note.rstrip(".") or "it is not a call", ended=False)
            continues = False
        else:
            continues = self._leave(row, trigger)
        self._emit(row, start, end)
        self._move(row, trigger, start, end, continues)

    def _circles(self, at: int) -> bool:
        """Whether so many rows fired here that the format must be turning in a circle."""
        self._stuck = self._stuck + 1 if self._fired_at == at else 0
        self._fired_at = at
        return self._stuck > MAX_FIRES

    def _leave(self, row: CompiledRow, trigger: str) -> bool:
        """Finish what the old state was reading. Returns whether its codec goes on in the new state."""
        if self._codec is not None:
            if self._codec.spans_states and trigger != "END" and self._stays(row):
                if "CallEnd" in row.emit:
                    self._codec.finish(self._at)
                return True
            self._codec.over, self._codec.cut = trigger == "END", self._cut
            self._codec.finish(self._at)
            self._mute()
            self._complete = self._codec.complete
            self._codec = None
        self._sink.leave(self._state.text, self._at, over=trigger == "END", unquote=self._state.unquote)
        self._mute()
        return False

    def _stays(self, row: CompiledRow) -> bool:
        return self._program.state(row.to).codec == self._state.codec

    def _emit(self, row: CompiledRow, start: int, end: int) -> None:
        if row.diagnostic is not None:
            self._sink.diagnostic(row.diagnostic, row.note, start, end, "info")
        for emit in row.emit:
            if emit == "CallStart":
                if self._sink.opened:
                    self._end_call(start, start)
                self._parts, self._parts_at, self._complete = [], start, None
                self._sink.call_start(start, end)
            elif emit == "CallEnd":
                self._end_call(start, end)
            elif emit == "Break":
                self._sink.line_break()
            else:
                self._sink.reasoning_end(start, end)

    def _end_call(self, start: int, end: int) -> None:
        read = self._complete if self._codec is None else self._codec.complete
        complete = not self._over if read is None else read
        self._sink.fill(start, complete=complete)
        if self._sink.tentative and not self._sink.settle(complete=complete, over=self._over):
            self._reject(self._sink.refusal or "the call was never named", ended=start < end)
        self._sink.call_end(start, end, complete=complete, over=self._over)

    def _reject(self, reason: str, *, ended: bool) -> None:
        """What was held for the call is text after all, at the same place. `ended`: its end marker has been read."""
        text, self._parts = "".join(self._parts), []
        self._sink.reject(text, self._parts_at, reason)
        if self._sink.muted == "skip":
            self._skip = None if ended else self._state
            self._sink.muted = "" if ended else "skip"

    def _move(self, row: CompiledRow, trigger: str, start: int, end: int, continues: bool) -> None:
        """Go to the row's state."""
        self._sub += 1
        old, new = self._state, self._program.state(row.to)
        if self.transitions is not None:
            moved = Transition(old.name, trigger, new.name, row.id, start, end, self._sub, row.note)
            self.transitions.append(moved)
        self._state, self._strayed = new, False
        if continues and self._codec is not None:
            self._codec.terminal(trigger, end)
            self._mute()
        else:
            self._codec = new.open(self._sink)
