"""The band of an output: what became of it, in a picture 18 high, as tiles of the gallery and rows of the library have.

Its roles are those of text and of the parts of a call; what is neither is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

_ROLES = {"reasoning": "reasoning", "content": "content", "name": "name", "id": "name", "arguments": "arguments"}
_PLACES = {"content": (13, 4), "arguments": (9, 8)}  # top and height
_HIGHEST = (5, 12)  # those of any other role


@dataclass(slots=True, frozen=True)
class BandBar:
    """A stretch of one role, in percent of the width; `lost` is what an answer lacks or has in another place."""

    role: str
    x: float
    width: float

    @property
    def y(self) -> int:
        """Its top."""
        return _PLACES.get(self.role, _HIGHEST)[0]

    @property
    def height(self) -> int:
        """How high it is."""
        return _PLACES.get(self.role, _HIGHEST)[1]


def role_of(owner: str) -> str:
    """The role of what an owner has of an output; "" for a gap."""
    return _ROLES.get(owner, "")
