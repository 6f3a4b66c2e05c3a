"""Regions to events: what a client gets of each field, with the place of every character.

reasoning, content   sent as it comes; white space at the edges is stripped where the template strips it
calls                held until the region is read, or sent as it comes where its arguments are plain text and its
                     name was captured (`calls.streamed_name`)
other fields         reach no client: dropped, with the field's name as the reason

A region that cannot be read becomes content at its place, delimiters included. What transformers would lose on the
way (an earlier region of the field, everything after an error) is kept, and a diagnostic says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from parsers.vocabulary.drops import Cause, DropReason, stated
from parsers.vocabulary.events import ContentText, Failure, ReasoningEnd, ReasoningText
from parsers.vocabulary.trace import Hold, RejectedCall, Transition
from webapp.engines.response_template.calls import NoCallError, Region, calls_in, in_string, part, streamed_name
from webapp.engines.response_template.emitter import Emitter
from webapp.engines.response_template.patterns import RegionTooLargeError
from webapp.engines.response_template.table import Table, role
from webapp.engines.response_template.watching import Closed, Delimiter


class _Run(NamedTuple):
    """A run of text and its offset. `kept` False: it is stripped."""

    text: str
    at: int
    kept: bool


class _Edge:
    """Takes a region's text piece by piece. White space at its end waits until something follows it."""

    __slots__ = ("_begun", "_strip", "_tail", "_tail_at", "_tail_end")

    def __init__(self, strip: bool) -> None:
        self._strip, self._begun = strip, False
        self._tail: list[str] = []
        self._tail_at = self._tail_end = 0

    @property
    def waiting(self) -> tuple[int, int] | None:
        """Return where the white space stands that waits."""
        return (self._tail_at, self._tail_end) if self._tail else None

    def add(self, text: str, at: int) -> list[_Run]:
        """More text."""
        if not self._strip:
            self._begun = True
            return [_Run(text, at, True)]
        parts = []
        if not self._begun and (lead := len(text) - len(text.lstrip())):
            parts.append(_Run(text[:lead], at, False))
            text, at = text[lead:], at + lead
        body = text.rstrip()
        if body:
            self._begun = True
            if self._tail:
                parts.append(_Run("".join(self._tail), self._tail_at, True))
                self._tail = []
            parts.append(_Run(body, at, True))
        if rest := text[len(body) :]:
            self._tail_at = self._tail_at if self._tail else at + len(body)
            self._tail.append(rest)
            self._tail_end = at + len(text)
        return parts

    def close(self) -> list[_Run]:
        """The region is over: what waited is stripped."""
        waiting, self._tail = "".join(self._tail), []
        return [_Run(waiting, self._tail_at, False)] if waiting else []


STRIPPED = DropReason(Cause.FIELD_EDGE)
REPEATS = 'Add "repeats": true and "join" to the field.'
NOWHERE = DropReason(Cause.NO_FIELD)


class Regions:
    """Implements watching.Listener. `state` is the field of the open region, `transitions` None while nobody looks."""

    def __init__(self, spec: Any, table: Table, emitter: Emitter) -> None:
        self.rejected: list[RejectedCall] = []
        self.transitions: list[Transition] | None = None
        self.state: str | None = table.implicit
        self.call: int | None = None
        self.sub = 0
        self._fields, self._table, self._out = spec.fields, table, emitter
        self._region: Region | None = None
        self._edge = _Edge(False)
        self._raw: list[str] = []
        self._had: set[str] = set()
        self._joined = False
        self._opening = ""

    def holds(self, at: int) -> list[Hold]:
        """Return what of the open region waits, up to `at`, where the parser's own buffer begins."""
        region = self._region
        if region is None:
            return []
        name = region.field.name
        if (waiting := self._edge.waiting) and waiting[1] > 0:
            reason = f"White space at the end of {name} is stripped if nothing follows it."
            return [Hold(max(waiting[0], 0), waiting[1], "policy", reason)]
        start = max(region.start, 0)
        if not self._raw or at <= start:
            return []
        return [Hold(start, at, "tentative", f"{name} ({region.field.content}) is read when its region closes.")]

    def opened(self, field: str, at: int, marker: Delimiter | None, match: Any) -> None:
        """See Listener."""
        found = self._fields[field]
        region = self._region = Region(found, at if marker is None else marker.start, at, match)
        self._edge = _Edge(found.content == "text" and bool(found.content_args.get("strip", True)))
        self._joined = False
        if marker is None:
            return
        terminal = self._moved(marker, field)
        name = streamed_name(region, match.groupdict()) if role(field) == "calls" else None
        if name is not None:
            self.call = self._out.begin_call(marker.start, name, None)
            self._out.rest(marker.start, marker.end, [(name.start, name.end)], terminal)
        elif role(field) == "calls":
            self._raw.append(marker.text)
        else:
            self._out.marker(marker.start, marker.end, terminal)

    def text(self, field: str | None, text: str, at: int) -> None:
        """See Listener."""
        kind = role(field)
        if kind == "calls" and self.call is None:
            self._raw.append(text)
        elif kind == "other":
            code, why = "unread_text", NOWHERE
            if field is not None:
                code, why = "unknown_field", DropReason(Cause.FIELD, field)
            self._out.drop(at, at + len(text), why)
            what = why.words
            self._out.tell_once(code, at, at + len(text), f"{what[:1].upper()}{what[1:]}: no client gets it.", what)
        else:
            self._send(self._edge.add(text, at))

    def closed(self, region: Closed) -> None:
        """See Listener."""
        opened = cast(Region, self._region)
        end = opened.body + len(region.body) if region.marker is None else region.marker.end
        start, marker, kind = opened.start, region.marker, role(region.field)
        self._send(self._edge.close())
        self._join(end)
        terminal = self._moved(marker, self._table.implicit) if marker is not None else ""
        if kind == "calls" and self.call is None and end > 0:
            self._close_held(opened, region, end, terminal)
        elif marker is not None:
            self._out.marker(marker.start, marker.end, terminal)
        if self.call is not None:
            cut = region.error is not None or (region.over and opened.field.close_re is not None)
            self._out.end_call(self.call, end, complete=not cut)
        elif kind == "reasoning" and end > 0:
            self._out.add(ReasoningEnd(end, end))
        if end > 0 or region.error is not None:
            self._tell(opened, region, max(start, 0), end)
        if region.error is None:
            self._had.add(region.field)
        self._region, self.call, self._raw, self._edge = None, None, [], _Edge(False)

    def delimiter(self, marker: Delimiter) -> None:
        """See Listener."""
        self._out.marker(marker.start, marker.end, self._moved(marker, self._table.implicit))

    def over(self, at: int) -> None:
        """The output ended at `at`."""
        self._row("END", self._table.implicit, at, at)

    def give_up(self, at: int) -> None:
        """Nothing more will be read: what waits before `at` becomes content."""
        region = self._region
        if region is None:
            return
        self._send([_Run(run.text, run.at, True) for run in self._edge.close()])
        if self.call is not None:
            self._out.end_call(self.call, at, complete=False)
        if self._raw:
            self._reject(region, "".join(self._raw), DropReason(Cause.GAVE_UP))
        self._region, self.call, self._raw = None, None, []

    def _send(self, runs: Iterable[_Run]) -> None:
        for run in runs:
            end = run.at + len(run.text)
            if not run.kept:
                self._out.drop(run.at, end, STRIPPED)
            elif self.call is not None:
                self._out.arguments(self.call, part(run.text, (run.at, end)))
            else:
                self._join(run.at)
                self._out.text(self._channel(), run.text, run.at)

    def _channel(self) -> type[ReasoningText | ContentText]:
        return ReasoningText if role(cast(Region, self._region).field.name) == "reasoning" else ContentText

    def _join(self, at: int) -> None:
        """Send what the template puts between two regions of a field."""
        field = cast(Region, self._region).field
        if field.join is not None and not self._joined and role(field.name) in ("reasoning", "content"):
            self._joined = True
            if field.name in self._had:
                self._out.inserted(self._channel(), field.join, at)

    def _close_held(self, opened: Region, region: Closed, end: int, terminal: str) -> None:
        """A region of calls that was not sent as it came: its calls, or its text."""
        try:
            if region.error is not None:
                raise NoCallError(f"transformers raises {type(region.error).__name__}")
            calls = calls_in(opened, region)
        except NoCallError as problem:
            text = "".join(self._raw) + (region.marker.text if region.marker else "")
            self._reject(opened, text, stated(str(problem)))
            if region.error is None:
                words = f"{region.field}: {problem}. Its text is kept as content."
                self._out.tell("no_call", opened.start, end, words)
            return
        owned = [span for call in calls for span in call.spans]
        cut = region.over and opened.field.close_re is not None and opened.field.content != "json"
        for call in calls:
            self._out.whole_call(call, opened.start, end, complete=not cut)
        inside = opened.body + len(region.body)
        self._out.rest(opened.start, opened.body, owned, self._opening)
        self._out.rest(opened.body, inside, owned)
        self._out.rest(inside, end, owned, terminal)

    def _reject(self, region: Region, text: str, reason: DropReason) -> None:
        end = region.start + len(text)
        self._out.text(ContentText, text, region.start)
        if end > max(region.start, 0):
            self.rejected.append(RejectedCall(max(region.start, 0), end, None, reason))

    def _tell(self, opened: Region, region: Closed, start: int, end: int) -> None:
        field, name = opened.field, region.field
        if region.error is not None:
            if isinstance(region.error, RegionTooLargeError):
                words = f"{name} is not read: {region.error}. Its text is kept."
                self._out.tell("slow_region", start, end, words, "error")
            else:
                self._out.fail(start, end, _failure(region, _words(region.error)))
        elif region.previous and not field.repeats:
            again = "comes again" if region.value else "comes again with nothing but white space"
            words = f"{name} {again}. transformers keeps only its last region; here all are kept. {REPEATS}"
            self._out.tell("field_overwritten", start, end, words)
        elif role(name) in ("reasoning", "content") and not isinstance(region.value, str):
            words = f"The value of {name} is no text ({type(region.value).__name__}); its raw text is shown."
            self._out.tell("not_text", start, end, words)
        if role(name) == "calls" and region.error is None and region.over and field.close_re is not None:
            self._out.tell("unclosed_region", end, end, f"The output ended before {name} was closed.")

    def _moved(self, marker: Delimiter, field: str | None) -> str:
        """A delimiter led to another state; the delimiter's name."""
        terminal = self._table.terminal(marker)
        if marker.kind == "open":
            self._opening = terminal
        if marker.end > 0:
            self._row(terminal, field, max(marker.start, 0), marker.end)
        self.state = field
        return terminal

    def _row(self, trigger: str, field: str | None, start: int, end: int) -> None:
        before, after = self._table.states[self.state], self._table.states[field]
        self.state = field
        if self.transitions is not None:
            self.sub += 1
            row = self._table.rows[before, trigger]
            self.transitions.append(Transition(before, trigger, after, row, start, end, self.sub))


def _words(error: Exception) -> str:
    """The first line of an error, with its kind."""
    text = str(error.args[0]) if error.args else ""
    return f"{type(error).__name__}: {text.splitlines()[0].rstrip('.')}" if text else type(error).__name__


def _failure(region: Closed, words: str) -> Failure:
    kept = "The output ended inside it; its text is kept."
    if not region.over:
        kept = "It then stays in the region and loses what follows; here the text is kept."
        inside = "The closing delimiter stands inside a JSON string. "
        kept = (inside if in_string(region.body) else "") + kept
    return Failure(f"{region.field} cannot be read", f"transformers raises {words}. {kept}")
