"""How messages travel to a child and back: as frames to a program of ours, as lines of JSON to anybody's.

Both give the same messages to `child`: one of `answer`, `progress`, `question` and `failed`, or GARBLED for what is
none of these. What a child says is bounded before it is read, and looked at before anybody believes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, Protocol

from parsers.vocabulary.words import quoted
from webapp.children.worker import MARK, LargeError, frame, receive

GARBLED = {"failed": "panic", "message": "what it says is no message"}
_SAID = ("answer", "failed", "progress")  # keys of a line, which has one of them
_MOST_NOISE = 65_536  # bytes that an interpreter may print before it comes to its program
_MOST_WORDS = 2_000  # characters
_MOST_QUOTED = 200  # bytes of what is no message


FREE_CONTAINERS = 1_000_000  # objects and lists of a line, whatever was asked; to make them takes a fifth of a second
_OF_STEP = 12  # more for each step of the replays that were asked for
_VALUES = 6  # in each of them
_QUOTES = 2


class Wire(Protocol):
    """One kind of message. An object is for one process."""

    def written(self, message: Mapping[str, Any]) -> bytes:
        """A message as it travels to the child; b"" for one that this kind of child is not sent. Raises LargeError."""

    def heard(self, stream: BinaryIO, most: int, steps: int = 0) -> Any:
        """The next message, of at most so many bytes, to replays that have so many steps; None at the end. Raises
        LargeError, OSError, ValueError and RecursionError."""


class Frames:
    """Frames of `worker.py`, after a mark up to which whatever the interpreter prints is passed over."""

    def __init__(self) -> None:
        self._marked = False

    def written(self, message: Mapping[str, Any]) -> bytes:
        return frame(message)

    def heard(self, stream: BinaryIO, most: int, steps: int = 0) -> Any:
        if not self._marked:
            self._read_noise(stream)
        return receive(stream, most)

    def _read_noise(self, stream: BinaryIO) -> None:
        """Read on up to the mark. Raises ValueError where it does not come."""
        data = bytearray(stream.read(len(MARK)))
        while not data.endswith(MARK) and (char := stream.read(1)):
            data += char
            if len(data) > _MOST_NOISE:
                raise ValueError
        self._marked = True


class Lines:
    """A JSON object a line: {TASK: request} to the child; {answer}, {progress} and {failed: sentence} from it."""

    def written(self, message: Mapping[str, Any]) -> bytes:
        if "task" not in message:
            return b""
        return json.dumps({message["task"]: message["request"]}).encode("ascii") + b"\n"

    def heard(self, stream: BinaryIO, most: int, steps: int = 0) -> Any:
        line = stream.readline(most + 1)
        if len(line) > most:
            raise LargeError(len(line))
        if not line.endswith(b"\n"):
            return None
        if is_crowded(line, bound := FREE_CONTAINERS + _OF_STEP * steps):
            words = f"it says more than {bound:,} objects and lists, or {_VALUES} times as many values, in one line"
            return {**GARBLED, "message": f"{words}: {_begins(line)}"}
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return _garbled(line)
        message = said if isinstance(said, dict) else {}
        if len(several := [key for key in _SAID if key in message]) > 1:
            return {**GARBLED, "message": f"it says {' and '.join(several)} in one line: {_begins(line)}"}
        if isinstance(message.get("answer"), dict):
            return {"answer": message["answer"], "rss": 0}
        if isinstance(message.get("failed"), str):
            return {"failed": "refused", "message": message["failed"][:_MOST_WORDS]}
        known = isinstance(message.get("progress"), dict)
        return {"progress": message["progress"]} if known else _garbled(line)


def is_crowded(line: bytes, most: int) -> bool:
    """Return whether a line of JSON has more than so many objects and lists, or too many values in them, before any of
    them is made: a byte of a list of lists takes a hundred times the time and memory of one of text. What stands inside
    strings is none. Linear, at the speed of a copy."""
    if not _is_over(line, most):
        return False
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    return bare.count(b'"') > _QUOTES * most or _is_over(b"".join(bare.split(b'"')[::2]), most)


def _is_over(text: bytes, most: int) -> bool:
    return text.count(b"[") + text.count(b"{") > most or text.count(b",") > _VALUES * most


def unasked(said: bytes) -> dict[str, str]:
    """What came before anything was asked, as a message that is none."""
    return {**GARBLED, "message": f"it says what it was not asked for: {_begins(said)}"}


def _garbled(line: bytes) -> dict[str, str]:
    """A line that is none of these messages."""
    return {**GARBLED, "message": f"{GARBLED['message']}: {_begins(line)}"}


def _begins(said: bytes) -> str:
    """How it begins: whoever wrote the program finds it by that."""
    first = said.strip().split(b"\n", 1)[0][:_MOST_QUOTED].decode("utf-8", "replace")
    return quoted(first) if first else "an empty line"
