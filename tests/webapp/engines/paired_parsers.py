"""Two versions of one parser class, and one of the same. Standard library alone."""

from __future__ import annotations

from typing import Any


class Old:
    """What comes between `<` and `>` is left out, and all after a `<` that is never closed."""

    version = "1"

    def begin(self, request: dict[str, Any]) -> None:
        self.buffer = ""
        self.open = False

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        return self.sent()

    def sent(self) -> Any:
        out = ""
        while self.buffer:
            char, self.buffer = self.buffer[0], self.buffer[1:]
            self.open = (self.open or char == "<") and char != ">"
            out += "" if self.open or char == ">" else char
        return {"content": out} if out else None

    def finish(self, reason: str | None) -> Any:
        return None


class Same(Old):
    """The same."""


class Cut(Old):
    """A delta that is one line end is lost."""

    version = "2"

    def feed(self, text: str, ids: list[int]) -> Any:
        return None if text == "\n" else super().feed(text, ids)


class Open(Old):
    """It says so where the output ends inside."""

    version = "2"

    def finish(self, reason: str | None) -> Any:
        return {"content": "?"} if self.open else None


class Late(Old):
    """It sends all of it at the end."""

    version = "2"

    def begin(self, request: dict[str, Any]) -> None:
        super().begin(request)
        self.late = ""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.late += (super().feed(text, ids) or {}).get("content", "")

    def finish(self, reason: str | None) -> Any:
        return {"content": self.late}
