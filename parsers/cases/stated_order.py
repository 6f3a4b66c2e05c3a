"""The order of a message as far as the deltas of a foreign parser state it.

One delta may bring reasoning, content and calls at once, and says nothing of which came first. Whatever order they are
expected in is then as good as any other: the parts of such a delta are put in that order, where they can be, and stay
as they are where they cannot, so that what differs is told. Texts are parted by their lengths alone: what they say is
compared afterwards.

Each character is looked at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from parsers.vocabulary.events import CallArguments, CallId, CallName, ContentText, Event, ReasoningText
from parsers.vocabulary.trace import Trace

OF_CALLS = (CallId, CallName, CallArguments)
_TEXTS: dict[str, type[ContentText] | type[ReasoningText]] = {"reasoning": ReasoningText, "text": ContentText}

Wanted = Sequence[tuple[str, str]]  # the kind and the text of each part that is expected; of a call the text is ""


def as_stated(runs: Iterable[tuple[int, int, Event]], wanted: Wanted, *, soft: bool) -> Iterator[Event]:
    """The events of steps (first, last, event), those of one step that have no place in the output in the order that
    is wanted. `soft`: white space does not count."""
    cursor = _Cursor(wanted, soft=soft)
    for _, step in groupby(runs, key=lambda run: run[0]):
        yield from cursor.follow([event for _, _, event in step])


def states_order(trace: Trace) -> bool:
    """Return whether all deltas state it: in none of them several parts begin."""
    known: set[int] = set()
    for _, delta in trace.columns.sent():
        new = {part.index for part in delta.tool_calls} - known
        if sum(map(bool, (delta.reasoning, delta.content, new))) > 1:
            return False
        known |= new
    return True


class _Cursor:
    """Where in the wanted parts the message is: `left` characters of the present one are to come. `lost`: it says
    something else, or the order is known, so that nothing is put elsewhere."""

    def __init__(self, wanted: Wanted, *, soft: bool) -> None:
        sizes = [(kind, len("".join(text.split())) if soft else len(text)) for kind, text in wanted]
        self._parts = deque([(kind, size) for kind, size in sizes if size or kind == "tool_call"])
        self._left = 0
        self._begun: set[int] = set()
        self._lost = False
        self._soft = soft
        self._begin()

    def follow(self, events: list[Event]) -> list[Event]:
        """The events of one delta in the wanted order; as they are where they do not fit into it."""
        self._lost = self._lost or any(one.start < one.end for one in events)
        found = None if self._lost else self._placed(events)
        self._lost = found is None
        return events if found is None else found

    def _placed(self, events: list[Event]) -> list[Event] | None:
        found, calls, texts = self._of_delta(events)
        while calls or texts:
            kind = self._parts[0][0] if self._parts else ""
            if kind == "tool_call" and calls:
                found += calls.popleft()
                self._left = 0
            elif kind in texts:
                text, rest = self._parted(texts.pop(kind))
                found.append(_TEXTS[kind](events[0].start, events[0].start, text, ()))
                texts |= {kind: rest} if rest else {}
            elif self._soft and not calls and not "".join(texts.values()).strip():
                break  # it does not count
            else:
                return None
            if not self._left:
                self._parts.popleft()
                self._begin()
        return found

    def _begin(self) -> None:
        self._left = self._parts[0][1] if self._parts else 0

    def _of_delta(self, events: list[Event]) -> tuple[list[Event], deque[list[Event]], dict[str, str]]:
        """What belongs to calls before it, the calls that it begins, and its texts."""
        calls: dict[int, list[Event]] = {}
        for event in events:
            if isinstance(event, OF_CALLS):
                calls.setdefault(event.call, []).append(event)
        before = [event for call, told in calls.items() if call in self._begun for event in told]
        new = deque([told for call, told in calls.items() if call not in self._begun])
        self._begun |= calls.keys()
        texts = {
            kind: "".join([event.text for event in events if isinstance(event, made)]) for kind, made in _TEXTS.items()
        }
        return before, new, {kind: text for kind, text in texts.items() if text}

    def _parted(self, text: str) -> tuple[str, str]:
        """As much of a text as the present part has characters left, and the rest; white space that does not count
        goes with what is before it."""
        cut = 0
        while cut < len(text) and (self._left or (self._soft and text[cut].isspace())):
            self._left -= not (self._soft and text[cut].isspace())
            cut += 1
        return text[:cut], text[cut:]
