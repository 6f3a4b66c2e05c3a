"""A parser class whose lines are looked at. Standard library alone."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any


class Sender:
    """What stands before `<` is sent, the rest at the end."""

    def begin(self, request: dict[str, Any]) -> None:
        self.buffer = ""
        self.odd = Odd()

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        if "!" in text:
            raise ValueError("no\n!")
        if "<" in self.buffer:
            return self.before()
        out, self.buffer = self.buffer, ""
        return {"content": out}

    def before(self) -> Any:
        at = self.buffer.index("<")
        out = self.buffer[:at]
        self.buffer = self.buffer[at:]
        return {"content": out} if out else None

    def finish(self, reason: str | None) -> Any:
        for _ in range(5_000 if self.buffer.endswith("?") else 1):
            rest = self.buffer
        return {"content": rest} if rest else None


class Passing:
    """What it is fed it sends; a helper has it in its hands before."""

    def begin(self, request: dict[str, Any]) -> None:
        self.prompt = request

    def feed(self, text: str, ids: list[int]) -> Any:
        kept, _ = self.both(text, ids)
        return {"content": kept}

    def both(self, text: str, ids: list[int]) -> Any:
        return text, ids

    def finish(self, reason: str | None) -> Any:
        return None


class Odd:
    """A value that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


class Stepped:
    """Its method stands still at each of its three yields, so that its frame can be looked at there."""

    def __init__(self) -> None:
        self.kept = ""

    def feed(self, text: str, times: int = 1) -> Generator[Any, None, None]:
        for _ in range(times):
            yield "first"
        self.kept += text
        yield "second"
        out = {"content": self.kept}
        yield out
