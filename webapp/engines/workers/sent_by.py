"""Which line of a traced step put a text into what was sent, and which one returned it.

Somebody asks about one character of what a step sent in one channel: content, reasoning, or the name or arguments of a
call. `LineTrace` tells what every line left in its variables and what every call returned. The line that returned the
text is the first to return a message that has it in that channel. The line that put it there is the first after which
a variable had so much of it that the character is among it, of a variable that has all of it in the end.

A message is whatever says itself in which channel a text is: a mapping, or an object with such attributes. That a plain
text is equal to what was sent means little by itself, for what is fed is often sent as it is, and a single character
is often met: it counts where it was put together on the way to the message, and where it is returned to whoever feeds
the parser. A plain text that stands in what the parser was fed says least: a buffer that holds the output has put
nothing anywhere, and may hold what some line makes once more of what was right by then. Of those only the very object
counts that the message has, where it was first seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MemberDescriptorType
from typing import Any, NamedTuple, Protocol

MOST_SOUGHT = 100_000  # characters of a value that are looked through
MOST_ITEMS = 200  # of a list of messages or calls
MOST_DEPTH = 5  # of messages in lists, calls in messages
_TEXTS = {
    "content": ("content", "normal_text"),
    "reasoning": ("reasoning", "reasoning_content", "reasoning_text"),
    "name": ("name",),
    "arguments": ("arguments", "parameters"),
}
_CALLS = ("tool_calls", "calls", "function")
_OF_A_CALL = {"arguments", "index", "tool_index", "id"}  # what a share of a call has, and the declaration of a tool not
_FIELDS = tuple({*_CALLS, *_OF_A_CALL, *[name for names in _TEXTS.values() for name in names]})
LEAST_TEXT = 2  # characters of a plain text that is no accident in a variable
_PLAIN = (str, bytes, int, float, bool, type(None))
_LISTS = (dict, list, tuple)


class Sought(NamedTuple):
    """A text that the step sent: `channel` empty: in any one; `call`: of that index; `at`: the character of it that is
    asked about, None the last."""

    text: str
    channel: str = ""
    call: int | None = None
    at: int | None = None


class Call(Protocol):
    """A call that runs. `number`: that of its first event; `depth`: in how many others; `kind`: the class that it is a
    method of."""

    number: int
    depth: int
    kind: type | None

    def makes(self, value: Any) -> bool:
        """Whether it is a method of the value's own class."""


class Place(Protocol):
    """A line that ran: its number among all, and the call in which it did."""

    @property
    def number(self) -> int: ...

    @property
    def event(self) -> dict[str, Any]: ...

    @property
    def frame(self) -> Call: ...


class _Moment(NamedTuple):
    """When something was seen: a line is begun before the calls that it makes, and done after them."""

    clock: int
    place: Place


class SentBy:
    """Hears of all values of a step in their order. `fed` is what the step was fed, `before` what the others were;
    `made` (FirstMade) hears of the same, and knows where the character was first to be seen."""

    def __init__(self, sought: Sought, fed: str, before: str = "", made: Any = None) -> None:
        self._text = sought.text if len(sought.text) <= MOST_SOUGHT else ""
        self._at = len(self._text) - 1 if sought.at is None else min(max(sought.at, 0), len(self._text) - 1)
        self._channels = [sought.channel] if sought.channel in _TEXTS else [*_TEXTS]
        self._call = sought.call
        self._passed_on = sought.text == fed or len(sought.text) < LEAST_TEXT
        self._fed = bool(self._text) and self._text in before + fed
        self._objects: dict[int, tuple[str, _Moment | None]] = {}  # texts like it, where each was seen first
        self._sent: list[str] = []  # those that the message has
        self._grown: dict[Any, _Growth] = {}
        self._values: dict[int, Any] = {}  # kept, so that no other one has its id
        # How well a returned value fits, where it was returned, and the classes that it is of.
        self._best: tuple[int, _Moment | None, tuple[type, ...]] = (0, None, ())
        self._helped: list[_Moment] = []  # calls that returned the plain text
        self._first_made = made
        self._clock = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is sought."""
        return not self._text

    def had(self, frame: Any, name: str, value: Any, caller: Place | None = None) -> None:
        """A variable as a call found it, which was made at a line of `caller`."""
        self._seen(value, caller)
        self._heard(value, None if name.startswith("self.") else caller)
        for key, said in self._said(frame, name, value):
            self._grown.setdefault(key, _Growth(said))

    def changed(self, place: Place, name: str, value: Any) -> None:
        """A variable after a line; it may be as it was."""
        if place.frame.makes(value):
            return
        self._seen(value, place)
        self._heard(value, place)
        for key, said in self._said(place.frame, name, value):
            growth = self._grown.setdefault(key, _Growth(""))
            growth.is_now(said, self._text, self._at, self._now(place))

    def returned(self, place: Place, value: Any) -> None:
        """What a call returned."""
        if not self._text or value is None or place.frame.makes(value):
            return
        fits, now = self._fit(place, value), self._now(place)
        self._seen(value, place)
        self._heard(value, place)
        if fits > self._best[0]:
            self._best = fits, now, type(value).__mro__
            self._sent = [text for text in self._texts_of(value) if text == self._text]
        if isinstance(value, str) and value == self._text and not self._passed_on:
            self._helped.append(now)

    @property
    def sender(self) -> Place | None:
        """Where it was returned."""
        sender = self._best[1]
        return None if sender is None else sender.place

    @property
    def put(self) -> Place | None:
        """Where it was put into what was sent, or returned, whichever is first; None where that is not to be told."""
        known = [one for key, growth in self._grown.items() if (one := growth.whole) and self._counts(key, one)]
        known += self._made if self._fed else [one for one in self._helped if self._on_the_way(one)]
        known += [*self._first, *([self._best[1]] if self._best[1] is not None else [])]
        return min(known, key=lambda one: one.clock).place if known else None

    @property
    def _made(self) -> list[_Moment]:
        """Where the texts of the message were first seen, as far as that was at a line."""
        seen = [self._objects.get(id(text), ("", None))[1] for text in self._sent if not self._passed_on]
        return [one for one in seen if one is not None and one.place.frame.kind not in self._best[2]]

    @property
    def _first(self) -> list[_Moment]:
        """Where the character was first to be seen, if some line of the step made it."""
        found = [] if self._first_made is None else self._first_made.moments
        own = [one for one in found if one is None or one.place.frame.kind not in self._best[2]]
        return [one for one in own[:1] if one is not None]

    def _heard(self, value: Any, place: Place | None) -> None:
        """Of a value that is no message: what that says is known by its channels."""
        if self._first_made is None or self._first_made.is_done:
            return
        if isinstance(value, str) or (isinstance(value, _LISTS) and not _is_message(value)):
            self._first_made.seen(value, None if place is None else self._now(place))

    def _seen(self, value: Any, place: Place | None) -> None:
        """A text that the parser was also fed; kept, so that no other one has its id."""
        if self._fed and isinstance(value, str) and value == self._text and id(value) not in self._objects:
            self._objects[id(value)] = value, None if place is None else self._now(place)

    def _texts_of(self, value: Any) -> list[str]:
        """The texts of a returned value in the channels that are looked at."""
        if isinstance(value, str):
            return [value]
        return [text for channel in self._channels for text in _texts(value, channel, self._call, MOST_DEPTH)]

    def _now(self, place: Place) -> _Moment:
        self._clock += 1
        return _Moment(self._clock, place)

    def _counts(self, key: Any, seen: _Moment) -> bool:
        """A message counts wherever it is, a plain text where it is on its way to one."""
        return key[0] != "text" or (not (self._passed_on or self._fed) and self._on_the_way(seen))

    def _on_the_way(self, seen: _Moment) -> bool:
        """Whether a line ran in the call that returned the message, or in one that this made; but for those that the
        class of the message made itself."""
        _, sender, classes = self._best
        if sender is None or seen.place.frame.kind in classes:
            return False
        return sender.place.frame.number <= seen.place.number and seen.clock <= sender.clock

    def _fit(self, place: Place, value: Any) -> int:
        if isinstance(value, str):
            if value == self._text:
                return 4 if place.frame.depth == 0 else 0 if self._passed_on else 3
            return int(self._text in value) if not self._passed_on else 0
        texts = [said for channel in self._channels for said in [_joined(value, channel, self._call)] if said]
        if self._text in texts:
            return 4
        if any(said.endswith(self._text) or _has(self._text, said, self._at) for said in texts):
            return 2
        shown = _shown(value)
        return int(repr(self._text) in shown or self._text in shown)

    def _said(self, frame: Any, name: str, value: Any) -> Iterator[tuple[Any, str]]:
        """The texts of a variable, each with what it is known by: a value that many call theirs is one."""
        if isinstance(value, str):
            if len(value) <= MOST_SOUGHT:
                yield ("text", frame, name), value
            return
        if isinstance(value, _PLAIN):
            return
        for channel in self._channels:
            said = _joined(value, channel, self._call)
            if said is not None:
                self._values[id(value)] = value
                yield ("value", id(value), channel), said
                yield ("named", frame, name, channel), said


class _Growth:
    """A text that grows: whether it becomes what is sought, and after which line it had the character in question."""

    def __init__(self, before: str) -> None:
        self.whole: _Moment | None = None
        self._before = self._now = before
        self._covering: _Moment | None = None

    def is_now(self, said: str, sought: str, at: int, seen: _Moment) -> None:
        """It was looked at after a line."""
        if said == self._now:
            return
        self._now = said
        if self.whole is not None:
            return
        before = self._before
        grown = said[len(before) :] if said.startswith(before) else said
        part = next((one for one in (said, grown) if sought.startswith(one)), "")
        if not part:
            self._covering = None
            return
        had = len(before) if part is said and said.startswith(before) else 0
        if had <= at < len(part):
            self._covering = self._covering or seen
        if len(part) == len(sought):
            self.whole = self._covering


def _joined(value: Any, channel: str, call: int | None) -> str | None:
    """What a value says in a channel; None where it says nothing of that channel."""
    found = [*_texts(value, channel, call, MOST_DEPTH)]
    if len(found) < 2:
        return found[0] if found and len(found[0]) <= MOST_SOUGHT else None
    return "".join(found) if sum(map(len, found)) <= MOST_SOUGHT else None


def _texts(value: Any, channel: str, call: int | None, depth: int, *, in_call: bool = False) -> Iterator[str]:
    if depth == 0 or isinstance(value, _PLAIN):
        return
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        if isinstance(value, tuple) or not value or not isinstance(value[0], _PLAIN):  # else a list of ids, or lines
            for one in value[:MOST_ITEMS]:
                yield from _texts(one, channel, call, depth - 1, in_call=in_call)
        return
    fields = _fields(value)
    if channel in ("name", "arguments"):
        index = fields.get("index", fields.get("tool_index"))
        if call is not None and isinstance(index, int) and index != call:
            return
        in_call = in_call or not _OF_A_CALL.isdisjoint(fields)
        for name in _CALLS:
            inner = in_call or name != "function"  # a declared tool has a function, too
            yield from _texts(fields.get(name), channel, call, depth - 1, in_call=inner)
        if not in_call:
            return
    own = next((text for name in _TEXTS[channel] if isinstance(text := fields.get(name), str)), None)
    if own is not None:
        yield own


def _fields(value: Any) -> Mapping[str, Any]:
    """The attributes of an object, without running any of its code; a mapping is one already."""
    if isinstance(value, dict):
        return value
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        return own
    kind = type(value)
    plain = isinstance(value, tuple)
    known = [name for name in _FIELDS if plain or isinstance(getattr(kind, name, None), MemberDescriptorType)]
    return {name: getattr(value, name) for name in known if hasattr(value, name)}


def said_in(value: Any, sought: Sought) -> str:
    """What a message says in the channel of what is sought."""
    return _joined(value, sought.channel, sought.call) or "" if sought.channel in _TEXTS else ""


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(_FIELDS)


def _has(text: str, part: str, at: int) -> bool:
    """Whether a part of a text has the character at a place of it."""
    found = text.find(part, max(0, at - len(part) + 1))
    return bool(part) and 0 <= found <= at


def _shown(value: Any) -> str:
    try:
        return repr(value)[:MOST_SOUGHT]
    except Exception:
        return ""
