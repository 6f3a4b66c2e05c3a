"""Classes of messages as a library has them: what they do while one is made is not the idea of a parser."""

from __future__ import annotations

from typing import Any


class Checked:
    """Looks at what is made."""

    content: str = ""

    @classmethod
    def made(cls, said: dict[str, Any]) -> Any:
        result = cls(said)
        return result

    def __init__(self, said: dict[str, Any]) -> None:
        self.content = said.get("content", "")

    def add(self, text: str) -> None:
        """More of it."""
        self.content += text


class Delta(Checked):
    """A message."""
