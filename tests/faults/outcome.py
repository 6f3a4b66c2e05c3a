"""What came of a fault."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.faults.book import STORED, Book


class UntriedError(Exception):
    """A fault that this machine does not let us make, in a few words."""


@dataclass(frozen=True)
class Outcome:
    """A fault and what it did: what clients were told, acknowledged cases that are not there, seconds until the server
    worked again after the fault was over, and all that is wrong, in a few words each."""

    fault: str
    done: str
    book: Book = field(default_factory=Book)
    lost: int = 0
    back: float | None = None
    wrong: list[str] = field(default_factory=list)
    untried: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost and nothing went wrong."""
        return not self.lost and not self.wrong

    def cells(self) -> list[str]:
        """The row of it."""
        if self.untried:
            return [self.fault, f"not tried: {self.untried}", *["–"] * 5]
        good = [self.book.answers[str(status)] for status in STORED]
        others = {said: times for said, times in sorted(self.book.answers.items()) if not said.startswith("20")}
        refused = ", ".join([f"{times:,} × {said}" for said, times in others.items()]) or "–"
        back = "–" if self.back is None else f"{self.back:.1f}"
        return [self.fault, self.done, f"{sum(good):,}", refused, str(self.lost), back, "; ".join(self.wrong) or "–"]
