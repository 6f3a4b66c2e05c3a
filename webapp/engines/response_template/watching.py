"""ResponseParser with its eyes open: a mixin for it that tells a listener of every piece of text and every delimiter.

Offsets are those of the output; what the prompt prefix wrote has negative ones. What it changes inside is only what
would make work grow with the square of the output: the buffer is cut off behind the position, a region's text is
collected in pieces, and long deltas are fed in slices. After a region that cannot be read it goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from parsers.formats.extends import pointer_to
from parsers.vocabulary.types import FormatError, UsageError
from webapp.engines.response_template.patterns import Budget, OverBudgetError, Watched, rehearse

SLICE = 1_024
KEPT = 256  # characters behind the position that a lookbehind may still see
MOST_HELD = 16_384
USED = (
    "_accumulate",
    "_close_current",
    "_consume_prefix",
    "_open_explicit",
    "_reset_to_implicit",
    "_scan",
    "_watchlist",
)
PARSER: Any = object  # stands for ResponseParser, which is behind this class in a class made at run time
Rehearse = Callable[[str, Any], None]


class StuckError(Exception):
    """The template would never read on, or holds more and more."""


@dataclass(slots=True)
class Delimiter:
    """A delimiter that matched: which field's, its text, where."""

    field: str
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Closed:
    """A region that is over. `marker` None: it ended with the output, or because another one opened.

    `error` is what transformers raises for it; `previous` whether the field had a value to lose before.
    """

    field: str
    body: str
    captures: dict[str, str]
    value: Any
    error: Exception | None
    previous: bool
    marker: Delimiter | None
    over: bool


class _Listener(Protocol):
    """Who is told. Texts come in order and without gaps, delimiters between them."""

    def opened(self, field: str, at: int, marker: Delimiter | None, match: Any) -> None:
        """A region opened whose text begins at `at`: by a delimiter, or because text came that belongs to no other."""

    def text(self, field: str | None, text: str, at: int) -> None:
        """Text of the open region; None: no field takes it."""

    def closed(self, region: Closed) -> None:
        """A region closed."""

    def delimiter(self, marker: Delimiter) -> None:
        """A closing delimiter of the implicit field, where no region was open."""


class _Watching(PARSER):  # type: ignore[misc]
    """Holds what stands before ResponseParser. `rehearse` raises where a region's own patterns would take too long."""

    _buffer: str
    _pos: int
    _current: str | None
    _opened: bool

    def __init__(
        self, spec: Any, prefix: str, tools: Sequence[dict[str, Any]], listener: _Listener, rehearse: Rehearse
    ) -> None:
        self.listener, self.rehearse = listener, rehearse
        self._shift, self._ready = 0, False
        self._matched: Any = None
        self._parts: list[str] = []
        self._had: set[str] = set()
        self._turns, self._turned_at = 0, 0
        self.anchored = True
        super().__init__(spec, prefix="", tools=list(tools))
        if prefix:
            self.anchored = self._spec.start_anchor_re.search(prefix) is not None
            self._consume_prefix(prefix)
        self._shift, self._ready = -len(self._buffer), True

    @property
    def at(self) -> int:
        """Offset of what has not been taken yet."""
        return self._offset(self._pos)

    @property
    def held(self) -> str:
        """Return what has not been taken yet: it may begin a delimiter."""
        return str(self._buffer[self._pos :])

    def watching(self) -> list[tuple[str, Any]]:
        """The delimiters waited for: ("open" or "close", field)."""
        return list(self._watchlist())

    def push(self, text: str) -> None:
        """Read on. Raises OverBudgetError or StuckError, after which there is no going on."""
        end = self._offset(len(self._buffer))
        while text:
            size = SLICE - max(end, 0) % SLICE
            if self._pos > SLICE:
                cut = self._pos - KEPT
                self._buffer, self._pos, self._shift = self._buffer[cut:], KEPT, self._shift + cut
            self.feed(text[:size])
            end, text = end + len(text[:size]), text[size:]
            if end % SLICE == 0 and len(self._buffer) - self._pos > MOST_HELD:
                raise StuckError(f"more than {MOST_HELD:,} characters are held because a delimiter may begin there")

    def _offset(self, index: int) -> int:
        return index + self._shift if self._ready else index - len(self._buffer)

    def _scan(self, watch: Any, eos: bool) -> Any:
        best, hold = super()._scan(watch, eos)
        self._matched = best
        if best is not None:
            end = self._offset(best[2].end())
            self._turns = self._turns + 1 if end == self._turned_at else 0
            self._turned_at = end
            if self._turns > 2 * len(self._spec.fields) + 2:
                raise StuckError("its delimiters match the empty text here again and again")
        return best, hold

    def _accumulate(self, events: list[dict[str, Any]], text: str) -> None:
        at, field = self._offset(self._pos), self._current
        if field is not None and not self._opened:
            self._opened = True
            self.listener.opened(field, at, None, None)
        if field is not None:
            self._parts.append(text)
        self.listener.text(field, text, at)

    def _open_explicit(self, events: list[dict[str, Any]], field: Any, m: Any) -> None:
        super()._open_explicit(events, field, m)
        self._parts = []
        marker = self._delimiter("open", field, m)
        self.listener.opened(field.name, marker.end, marker, m)

    def _close_current(self, events: list[dict[str, Any]]) -> None:
        kind, field, m = self._matched or ("", None, None)
        marker = self._delimiter("close", field, m) if kind == "close" else None
        if self._current is None or not self._opened:
            super()._close_current(events)
            if marker is not None:
                self.listener.delimiter(marker)
            return
        name, body, captures = self._current, "".join(self._parts), self._captures
        previous, error, value = name in self._had and bool(self._output.get(name)), None, None
        self._body = body
        try:
            self.rehearse(body, self._spec.fields[name])
            super()._close_current(events)
            value = events[-1]["value"]
            self._had.add(name)
        except OverBudgetError:
            raise
        except Exception as raised:
            error = raised
            self._reset_to_implicit()
        over = self._matched is None
        self.listener.closed(Closed(name, body, captures, value, error, previous, marker, over))

    def _reset_to_implicit(self) -> None:
        super()._reset_to_implicit()
        self._parts = []

    def _delimiter(self, kind: str, field: Any, m: Any) -> Delimiter:
        return Delimiter(field.name, kind, m.group(), self._offset(m.start()), self._offset(m.end()))


# What makes a ResponseParser of it


@cache
def library() -> Any:
    """The module of ResponseParser. Raises UsageError where it is not installed or is not what it was."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        found = import_module("transformers.utils.chat_parsing.response_parser")
    except ImportError as error:
        raise UsageError(f"the engine response_template needs transformers 5.13 or later: {error}") from error
    return checked(found)


def checked(found: Any) -> Any:
    """The module, if ResponseParser has the parts that are watched here."""
    missing = [name for name in USED if not hasattr(found.ResponseParser, name)]
    if missing:
        version = import_module("transformers").__version__
        raise UsageError(
            f"the ResponseParser of transformers {version} has no {', '.join(missing)}: the engine response_template"
            " was written for 5.23"
        )
    return found


def _engine() -> Any:
    """The module that ResponseParser matches with: `regex`."""
    return import_module("transformers.utils.chat_parsing.content_parsers").re


def load(template: dict[str, Any]) -> Any:
    """The template as transformers loads it. Raises FormatError with transformers' own words."""
    try:
        return library().load_response_template(template)
    except RecursionError as error:
        raise FormatError("a pattern is nested too deeply") from error
    except ValueError as error:
        words, place = str(error), ""
        for name in template["fields"]:
            if words.startswith(f"Field '{name}': "):
                words = words.removeprefix(f"Field '{name}': ")
                place = pointer_to("fields", name)
        raise FormatError(words, place) from error


def _watched(spec: Any, budget: Budget) -> Any:
    """The loaded template with patterns that are watched."""

    def over(pattern: Any) -> Any:
        return None if pattern is None else Watched(pattern, budget)

    fields = {
        name: replace(field, open_re=over(field.open_re), close_re=over(field.close_re))
        for name, field in spec.fields.items()
    }
    return replace(spec, fields=fields, start_anchor_re=over(spec.start_anchor_re))


def observe(spec: Any, prefix: str, tools: Sequence[dict[str, Any]], listener: _Listener, budget: Budget) -> Any:
    """A new parser for a loaded template. Raises StuckError or OverBudgetError where the prefix is too much for it."""

    def tried(text: str, field: Any) -> None:
        rehearse(text, field.content, field.content_args, budget, _engine())

    return _observed()(_watched(spec, budget), prefix, tools, listener, tried)


@cache
def _observed() -> Any:
    return type("Observed", (_Watching, library().ResponseParser), {})
