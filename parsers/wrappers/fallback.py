"""The fallback wrapper: a parser behind a gate that holds what looks like a call until it is judged.

Strategy
    Text goes through a parser that may see no calls, so that reasoning and end tokens are read as ever. A start
    marker at the beginning of a line, outside reasoning and code blocks, opens a buffer; from there on a fresh
    parser reads, and its events are held. An end marker that this parser takes for structure has the buffer decided
    (`Chain`); one inside an open call is only a candidate. Where a format has no start marker, all of its output is
    one buffer.

Rules
    1. Every decision falls at a place of the output, never at the end of a delta: chunking changes nothing.
    2. What was sent is never taken back, and no text is dropped: what is no call is content where it stands.
    3. A start marker where no call may begin has the text held to the end, while there is no call: only then it is
       read again, and if that gives calls they are meant.
    4. Guided output (see formats.layers) opens a buffer too: the bracket that is the first character of an answer to
       a request that forces a call.
    5. Each buffer is read a bounded number of times. The budget counts characters; nothing here has a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from parsers.formats.model import Format, Model
from parsers.selection.registry import policies
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import CallStart, ContentText, Dropped, Event, Marker, ReasoningEnd
from parsers.vocabulary.trace import CodecState, Hold, RejectedCall, StateView, Transition
from parsers.vocabulary.types import Context, Delta, Mode, UsageError
from parsers.wrappers.attempt import calls_as_text, read_whole, shift_events, with_end_marker, without_spans
from parsers.wrappers.chain import NO_READING, Chain, Outcome
from parsers.wrappers.gate import Gate
from parsers.wrappers.held import Held, Item, MarkerScan, Markup, Readers, leaves_line_blank
from parsers.wrappers.table import FENCE, FENCE_TEXT, Markers, Trail, is_special, markers_of, wrapper_format

_BUDGET = 200_000


class FallbackOptions(Model):
    """Options of the fallback wrapper."""

    budget: Annotated[int, Field(strict=True, ge=0)] = Field(
        _BUDGET,
        description="Characters that may be held without a decision; beyond, they are released as text. 0: no limit.",
    )
    line_start: Annotated[bool, Field(strict=True)] = Field(
        True,
        description="A typed start marker such as <tool_call> counts only at the beginning of its line, spaces aside.",
    )


_KEEP = {"content_before_calls": "keep", "content_between_calls": "keep", "content_after_calls": "keep"}
_DEFAULTS = FallbackOptions()


class Fallback:
    """A StreamParser around the parser of a format. `format` is the wrapper's own table.

    `strict` drops calls that are not valid; without it the policy invalid_call decides, and then the request.
    """

    def __init__(
        self, fmt: Format, policy: Mapping[str, str] | None = None, options: FallbackOptions = _DEFAULTS
    ) -> None:
        self.name = fmt.name
        self.rejected: list[RejectedCall] = []
        self.examined = 0
        self._inner = fmt
        self._policy = policies(fmt, policy)
        self._markers = markers_of(fmt, self._policy)
        self._options = options
        self._opens = frozenset() if self._markers is None else frozenset(self._markers.start)
        self.format = wrapper_format(fmt, self._markers)
        self._trail = Trail(self.format)
        lenient = {**(policy or {}), "invalid_call": "lenient"}
        self._overrides = lenient if self._markers is None else {**lenient, **_KEEP}
        self._begun = False

    @property
    def transitions(self) -> list[Transition] | None:
        """See StreamParser."""
        return self._trail.log

    @transitions.setter
    def transitions(self, log: list[Transition] | None) -> None:
        self._trail.log = log

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """See StreamParser.begin."""
        off = context.tool_choice == "none" or self._markers is None
        self._names = Markers({}, {}) if off or self._markers is None else self._markers
        fence = {} if off or FENCE_TEXT in self._names.start.values() else {FENCE: FENCE_TEXT}
        self._scan = MarkerScan(self._inner, {**self._names.start, **self._names.end, **fence}, mode, markers)
        strict = self._policy["invalid_call"] == "strict" or bool(context.strict)
        stage = {**self._policy, **({} if self._markers is not None else _KEEP)}
        self._gate = Gate(self._inner, stage, context, strict=strict)
        self.rejected = self._gate.rejected
        self._readers = Readers(self._inner, self._overrides, self._markers is None, context, mode, markers)
        self._chain = Chain(self._inner, self._readers, self._policy, self._names.end)
        self._at = self._fed = self._examined = self.examined = 0
        self._blank, self._fenced, self._over = True, False, False
        self._markup: Markup | None = None
        self._gave_up = False
        self._held: Held | None = None
        self._plain = self._readers.plain(self._at, first=True)
        self._unplaced: list[tuple[int, Item]] = []
        self._trail.restart("REASONING" if self._reasons() and not off else "NORMAL")
        if self._markers is None and context.tool_choice != "none":
            self._trail.restart("BUFFERING")
            self._held = self._readers.held(self._at, "", "")
        self._begun = True
        typed = [text for name, text in self._scan.typed.items() if mode == "ids" and name in self._names.start]
        if typed:
            words = f"No single token of this vocabulary, so recognised by their text: {', '.join(typed)}."
            self._gate.send([self._gate.diagnostic("marker_by_text", words, 0)])

    # deltas

    def feed(self, delta: Delta) -> list[Event]:
        """See StreamParser.feed."""
        if not self._begun or self._over:
            raise UsageError("feed() needs begin() first, and none after finish()")
        self._trail.step = 0
        self._fed += len(delta.text)
        for item in self._scan.feed(delta):
            self._item(item)
        return self._sent()

    def finish(self, reason: str | None = None) -> list[Event]:
        """See StreamParser.finish."""
        if not self._begun or self._over:
            raise UsageError("finish() needs begin() first, and is called once")
        self._trail.step = 0
        for item in self._scan.finish():
            self._item(item)
        self._over = True
        if self._held is None:
            self._pass(shift_events(self._plain.parser.finish(reason), self._plain.at))
        else:
            self._finish_held(self._held, reason)
        if self._markup is not None:
            self._read_again(self._markup)
        self._trail.move("END", self._at, self._at)
        self._gate.finish(self._at)
        return self._sent()

    def _sent(self) -> list[Event]:
        """Return what leaves in this step. Readings of the chain are bounded for each buffer, and not counted."""
        held = 0 if self._held is None else self._held.parser.examined
        self.examined = self._examined + self._plain.parser.examined + held + self._at
        return self._gate.take()

    def _item(self, item: Item) -> None:
        if self._held is not None:
            self._hold(self._held, item)
        elif item.name is None:
            self._text(item)
        elif item.name == FENCE:
            if self._line_starts() and not self._reasons():
                self._fenced = not self._fenced
                self._trail.move(FENCE, self._at, self._at + len(item.text))
            self._text(item)
        elif item.name in self._names.start:
            self._start(item)
        else:
            self._end_without_start(item)

    # text

    def _text(self, item: Item) -> None:
        """Text, and markers that are text here."""
        if self._markup is not None and 0 < self._options.budget < self._markup.size + len(item.text):
            head, item = item.cut(self._options.budget - self._markup.size)
            if head is not None:
                self._text(head)
            self._release("More text with tool markup than may be held: released.", self._at)
            self._gave_up = True
        if self._markup is not None:
            self._markup.parts.append(item.text)
            self._markup.size += len(item.text)
        plain = self._plain
        if plain.forced:
            self._unplaced.append((self._at, item))
        self._at += len(item.text)
        events = shift_events(plain.parser.feed(Delta(1, (item.piece,))), plain.at)
        calls = next((index for index, event in enumerate(events) if isinstance(event, CallStart)), None)
        self._pass(events[:calls])
        for moved in plain.moves():
            if moved.trigger in self._opens:  # by itself it opens no buffer here
                continue
            self._trail.move(moved.trigger, moved.start + plain.at, moved.end + plain.at, moved.note)
            self._fenced = self._fenced and self._trail.state != "REASONING"
            if self._trail.state == "BUFFERING":
                break
        if calls is not None:
            self._hold_guided(events[calls].start)
        elif not plain.holds():
            self._unplaced = []

    def _hold_guided(self, at: int) -> None:
        """Guided output begins at a raw offset. The parser of plain text may have read on: that is read again."""
        self._examined += self._plain.parser.examined
        self._plain = self._readers.plain(at)
        self._at, again, self._unplaced = at, self._unplaced, []
        self._held = self._readers.held(at, "", "")
        for start, item in again:
            if start + len(item.text) > at:
                text = item.text[max(at - start, 0) :]
                self._item(replace(item, piece=replace(item.piece, text=text)))

    def _pass(self, events: list[Event]) -> None:
        """Events of text: held where there is markup, else sent. The end of reasoning lets its markup go."""
        for event in events:
            self._blank = leaves_line_blank(event, self._blank)
            if self._markup is None:
                self._gate.send([event])
                continue
            self._markup.events.append(event)
            if isinstance(event, ReasoningEnd) and self._markup.reasoning:
                self._release("The reasoning it stands in is over.", event.end)

    def _release(self, note: str, at: int) -> None:
        if self._markup is not None:
            held, self._markup = self._markup, None
            self._gate.send(held.events)
            self._trail.move("RELEASED", held.at, at, note)
            if self._fenced:
                self._trail.move(FENCE, at, at)

    def _line_starts(self) -> bool:
        return self._blank and not any(hold.kind == "lexer" for hold in self._plain.parser.view().holds)

    def _reasons(self) -> bool:
        state = self._inner.states.get(self._plain.parser.view().state)
        return state is not None and state.text == "reasoning"

    def _start(self, item: Item) -> None:
        """A start marker opens a buffer where a call may begin; elsewhere it is text, and may have to be read again."""
        reasons = self._reasons()
        anywhere = item.by_id or is_special(item.text) or not self._options.line_start
        misplaced = not anywhere and not self._line_starts()
        if self._fenced and not reasons:
            self._text(item)
        elif reasons or misplaced:
            if self._markup is None and not self._gate.calls and not self._gave_up:
                self._trail.move("MARKUP", self._at, self._at + len(item.text))
                self._markup = Markup(self._at, item.text, item.name or "", reasons)
            self._text(item)
        else:
            self._end_plain()
            self._held = self._readers.held(self._at, item.text, item.name or "")
            self._trail.move(item.name or "", self._at, self._at + len(item.text))
            self._take(self._held, item)

    def _end_plain(self) -> None:
        """The parser of plain text has read all it is to read; another one goes on behind the buffer."""
        self._pass(shift_events(self._plain.parser.finish(), self._plain.at))
        self._examined += self._plain.parser.examined
        self._plain = self._readers.plain(self._at)

    def _end_without_start(self, item: Item) -> None:
        """After a call a further end marker is structure; before the first one it is text."""
        if not self._gate.calls or self._fenced or self._reasons():
            self._text(item)
            return
        self._end_plain()
        stop = self._at + len(item.text)
        words = "An end marker stands where no call is open."
        self._pass([Marker(self._at, stop, item.name or ""), self._gate.diagnostic("orphan_call_end", words, stop)])
        self._at = stop
        self._plain = self._readers.plain(self._at)

    # what is held

    def _take(self, held: Held, item: Item) -> None:
        held.parts.append(item.text)
        held.size += len(item.text)
        self._at += len(item.text)
        held.events += shift_events(held.parser.feed(Delta(1, (item.piece,))), held.at)

    def _hold(self, held: Held, item: Item) -> None:
        if 0 < self._options.budget < held.size + len(item.text):
            head, item = item.cut(self._options.budget - held.size)
            if head is not None:
                self._take(held, head)
            self._give_up(held)
            self._item(item)
            return
        start = self._at
        self._take(held, item)
        if item.name in self._names.start:
            self._trail.move(item.name or "", start, self._at)
            words = "A start marker stands inside what is held; it opens nothing."
            held.said.append(self._gate.diagnostic("nested_start", words, start))
        elif item.name in self._names.end:
            self._trail.move(item.name or "", start, self._at, "By its id." if item.by_id else "By its text.")
            self._end(held, item)

    def _end(self, held: Held, item: Item) -> None:
        """An end marker: a candidate inside an open call, else the buffer is decided."""
        if held.open(self._inner):
            held.candidates.append(self._at)
            words = "The end marker stands inside the call; it may be part of a value."
            self._trail.move("CANDIDATE", self._at, self._at, words)
            held.said.append(self._gate.diagnostic("candidate_end", words, self._at))
            return
        outcome = self._decided(held)
        if outcome.steps[-1].trigger == "CANDIDATE":
            held.again = True
            return
        if outcome.calls:
            marker = Marker(self._at - len(item.text), self._at, item.name or "")
            outcome.events = with_end_marker(outcome.events, marker)
        self._settle(held, outcome)

    def _decided(self, held: Held) -> Outcome:
        held.over = self._over
        outcome = self._chain.decide(held)
        for tried in outcome.steps:
            self._trail.move(tried.trigger, self._at, self._at, tried.words)
            if tried.trigger != "SKIPPED":
                code = "fallback_" + tried.trigger.lower()
                words = f"{tried.step.lower()}: {tried.words}."
                held.said.append(self._gate.diagnostic(code, words, self._at))
        return outcome

    def _settle(self, held: Held, outcome: Outcome) -> None:
        if not self._over:
            tail = shift_events(held.parser.finish(), held.at)
            outcome.events = [*outcome.events, *tail] if outcome.streamed else outcome.events
        self._examined += held.parser.examined
        self._held = None
        if outcome.calls:
            self._release("A call follows.", self._at)
            self._gate.send([*held.said, *outcome.events])
            self._blank = True
        else:
            self._let_go(held, [*held.said, *outcome.events], NO_READING)
        self._plain = self._readers.plain(self._at)

    def _let_go(self, held: Held, events: list[Event], reason: DropReason) -> None:
        self._gate.rejected += held.refused(reason)
        for event in events:
            self._blank = leaves_line_blank(event, self._blank)
        if self._markup is not None:
            self._markup.parts.append(held.text)
            self._markup.size += len(held.text)
            self._markup.events += events
            self._trail.move("MARKUP", self._markup.at, self._at)
        else:
            self._gate.send(events)

    def _give_up(self, held: Held) -> None:
        reason = DropReason(Cause.OVER_BUDGET, str(self._options.budget))
        held.events += shift_events(held.parser.finish(), held.at)
        self._examined += held.parser.examined
        self._held = None
        self._trail.move("BUDGET", self._at, self._at)
        said = self._gate.diagnostic("fallback_budget", f"Released as text: {reason.words}.", self._at, "warning")
        bare = held.text.strip() == held.opener != ""  # a marker alone is nobody's text only where the output ends
        whole: list[Event] = [ContentText(held.at, held.at + len(held.text), held.text)]
        text = whole if bare else calls_as_text(held.events, held.text, held.at)
        self._let_go(held, [*held.said, said, *text], reason)
        self._plain = self._readers.plain(self._at)

    # the end

    def _finish_held(self, held: Held, reason: str | None) -> None:
        held.events += shift_events(held.parser.finish(reason), held.at)
        self._trail.move("END", self._at, self._at)
        if held.opener and held.text.strip() == held.opener:
            stop = held.at + len(held.opener)
            words = "Nothing follows the start marker."
            said = self._gate.diagnostic("bare_start", words, stop)
            left = without_spans(held.events, [(held.at, stop)])
            space = held.text[len(held.opener) :]  # dropped with the marker, it is content without it
            rest = [
                ContentText(event.start, event.end, space[event.start - stop :])
                if isinstance(event, Dropped)
                else event
                for event in left
                if isinstance(event, ContentText | Dropped | Marker)
            ]
            self._trail.move("BARE", self._at, self._at, words)
            self._pass([Marker(held.at, stop, held.name), said, *rest])
            self._examined += held.parser.examined
            self._held = None
            return
        if held.text:
            self._settle(held, self._decided(held))

    def _read_again(self, markup: Markup) -> None:
        """The output ended without a call: read again what was held from the first markup on."""
        self._trail.move("END", self._at, self._at)
        held = Held(self._plain.parser, markup.at, markup.opener, markup.name, markup.parts)
        held.events = read_whole(self._readers.build, self._readers.calling, held.text, markup.at)
        outcome = self._decided(held)
        self._markup = None
        if not outcome.calls:
            self._gate.send([*markup.events, *held.said])
            return
        self._gate.send(markup.before())
        if markup.reasoning:
            self._gate.send([ReasoningEnd(markup.at, markup.at)])
        self._gate.send([*held.said, *outcome.events])

    def view(self) -> StateView:
        """See StreamParser.view."""
        state, codec = self._trail.state, None
        holds: list[Hold] = []
        if (blank := self._gate.hold()) is not None:
            holds.append(blank)
        if self._markup is not None:
            reason = "There is tool markup where no call may begin: it is read again if the output has no call."
            holds.append(Hold(self._markup.start, self._fed, "policy", reason))
        elif self._held is not None:
            inner = self._held.parser.view()
            codec = CodecState(": ".join(filter(None, (f"{self.name} in {inner.state}", str(inner.codec or "")))))
            if self._held.at < self._fed:
                reason = "Held until an end marker, or the end of the output, has it judged."
                holds.append(Hold(self._held.at, self._fed, "policy", reason))
        elif not self._over:
            holds += self._plain.holds()
            if self._scan.held:
                holds.append(Hold(self._at, self._fed, "lexer", "May begin a marker."))
        candidates = self._scan.candidates() if self._scan.held else ()
        accepts = tuple([row.on for row in self.format.states[state].rows if row.on in self.format.terminals])
        return StateView(state, tuple(holds), candidates, accepts, None, codec)
