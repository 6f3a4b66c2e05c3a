"""The life of a call as a table: what may happen to it in each state, and where that leads.

What a state does not list cannot happen to its call, so it is passed over: the end of a call where none is open, a
second name, the beginning of a call after a failure. `Calls` asks this table and nothing else where a call stands; the
trace has the state of every step (`StateView.call_state`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from parsers.formats.model import Format, load_format


class CallState(Enum):
    """The states of the call that was begun last. `docs/design.md` says what becomes of its text in each."""

    NONE = "no call"
    MENTIONED = "a marker inside reasoning, which may begin a call"
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

    MENTION = "a row leads out of reasoning towards it"
    GIVE_BACK = "it was opened inside reasoning, and is none: it is reasoning again"
    SETTLE = "the rows led on without it: reasoning is over"
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
    CallState.NONE: {CallEvent.START: CallState.TENTATIVE, CallEvent.MENTION: CallState.MENTIONED},
    CallState.MENTIONED: {
        CallEvent.START: CallState.TENTATIVE,
        CallEvent.GIVE_BACK: CallState.NONE,
        CallEvent.SETTLE: CallState.NONE,
    },
    CallState.TENTATIVE: {
        CallEvent.GIVE_BACK: CallState.NONE,
        CallEvent.COMMIT: CallState.OPEN,
        CallEvent.NAME: CallState.NAMED,
        CallEvent.UNKNOWN_AS_TEXT: CallState.AS_TEXT,
        CallEvent.UNKNOWN_DROPPED: CallState.DROPPED,
        **_REFUSALS,
    },
    CallState.NAMED: {
        CallEvent.GIVE_BACK: CallState.NONE,
        CallEvent.COMMIT: CallState.OPEN,
        CallEvent.UNKNOWN_AS_TEXT: CallState.AS_TEXT,
        CallEvent.UNKNOWN_DROPPED: CallState.DROPPED,
        **_REFUSALS,
    },
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
