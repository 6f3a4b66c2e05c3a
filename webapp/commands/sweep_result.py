"""What came of a sweep by one parser, as commands tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, frozen=True)
class SweepResult:
    """A sweep by one parser: its label, "" where there is only one, and its report. Beside another sweep also the
    report of that, and what changed."""

    label: str
    report: Mapping[str, Any]
    before: Mapping[str, Any] | None = None
    changes: Mapping[str, Any] | None = None

    @property
    def fails(self) -> bool:
        """Return whether anything is wrong, or new beside another sweep."""
        return bool(self.report["wrong"] if self.changes is None else self.changes["new"])

    @property
    def folder(self) -> str:
        """The name of its folder in that of the sweep."""
        return self.label.replace("/", "_")

    def ids(self, kind: str) -> frozenset[str]:
        """The ids of signatures that are `new` or `gone` beside another sweep."""
        rows = () if self.changes is None else self.changes[kind]
        return frozenset([one for row in rows for one in row["ids"]])

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {**self.report, **({} if self.changes is None else {"changes": self.changes})}
