"""How an object begins, where only that tells a call from text: a brace, then a key or the end."""

from __future__ import annotations

from typing import ClassVar

from parsers.arguments.json_value import WHITESPACE
from parsers.vocabulary.states import NOWHERE, Part, Pieces


class Lead(Part):
    """Reads the brace and what shows that an object begins with it. It keeps no more than that and white space."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"_at"})

    def __init__(self) -> None:
        self._text = Pieces()
        self._at = NOWHERE

    def __bool__(self) -> bool:
        """Return whether the brace was read."""
        return bool(self._text)

    def taken(self) -> tuple[str, int]:
        """What was read, and where; where that was is of no matter afterwards."""
        at, self._at = self._at, NOWHERE
        return "".join(self._text), at

    def read(self, buffer: str, pos: int, end: int, base: int) -> tuple[int, bool | None]:
        """Read on in buffer[pos:end], which is not empty at first. Returns where reading stopped, and whether an object
        begins: None while that is open."""
        if not self._text:
            if buffer[pos] != "{":
                return pos, False
            self._at = base + pos
            self._text.append("{")
            pos += 1
        space = WHITESPACE.match(buffer, pos, end)
        if space is not None:
            self._text.append(space.group())
            pos = space.end()
        return pos, buffer[pos] in '"}' if pos < end else None
