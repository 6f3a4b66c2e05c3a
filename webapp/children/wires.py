"""How messages travel to a child and back: as frames to a program of ours, as lines of JSON to anybody's.

Both give the same messages to `child`: one of `answer`, `progress`, `question` and `failed`, or GARBLED for what is
none of these. What a child says is bounded before it is read, and looked at before anybody believes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, Protocol

from webapp.children.worker import MARK, LargeError, frame, receive

GARBLED = {"failed": "panic", "message": "what it says is no message"}
_MOST_NOISE = 65_536  # bytes that an interpreter may print before it comes to its program
_MOST_WORDS = 2_000  # characters


class Wire(Protocol):
    """One kind of message. An object is for one process."""

    def written(self, message: Mapping[str, Any]) -> bytes:
        """A message as it travels to the child; b"" for one that this kind of child is not sent. Raises LargeError."""

    def heard(self, stream: BinaryIO, most: int) -> Any:
        """The next message; None at the end. Raises LargeError, OSError, ValueError and RecursionError."""


class Frames:
    """Frames of `worker.py`, after a mark up to which whatever the interpreter prints is passed over."""

    def __init__(self) -> None:
        self._marked = False

    def written(self, message: Mapping[str, Any]) -> bytes:
        return frame(message)

    def heard(self, stream: BinaryIO, most: int) -> Any:
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

    def heard(self, stream: BinaryIO, most: int) -> Any:
        line = stream.readline(most + 1)
        if len(line) > most:
            raise LargeError(len(line))
        if not line.endswith(b"\n"):
            return None
        message = json.loads(line)
        if not isinstance(message, dict):
            return GARBLED
        if "answer" in message:
            return {"answer": message["answer"], "rss": 0}
        if isinstance(message.get("failed"), str):
            return {"failed": "refused", "message": message["failed"][:_MOST_WORDS]}
        return {"progress": message["progress"]} if "progress" in message else GARBLED
