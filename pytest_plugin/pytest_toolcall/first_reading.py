"""The first replay that was made of a parser in this process.

One that gives something else later keeps something between replays: a test may fail for what those before it left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class FirstReading:
    """That of one class of parsers. `test`: which test made it."""

    def __init__(self) -> None:
        self.test = ""
        self._run: dict[str, Any] = {}
        self._said: Any = None

    def note(self, test: str, run: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """A run was made; of the first one the first replay is kept, unless it hung."""
        if not self._run and answer["replays"] and not _hung(answer):
            self.test, self._run, self._said = test, {**run, "replays": run["replays"][:1]}, _said(answer)

    def is_other_now(self, play: Callable[[dict[str, Any]], Mapping[str, Any]]) -> bool:
        """Make it once more; whether it gives something else. What hangs now tells nothing."""
        answer = play(self._run) if self._run else {"replays": []}
        return bool(answer["replays"]) and not _hung(answer) and _said(answer) != self._said


def _hung(answer: Mapping[str, Any]) -> bool:
    raised = answer["replays"][0].get("raised")
    return bool(raised and raised.get("slow"))


def _said(answer: Mapping[str, Any]) -> Any:
    """What was sent, without ids, which servers make up, and the type of an exception."""
    first = answer["replays"][0]
    return _without_ids(first["sent"]), (first.get("raised") or {}).get("kind")


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_ids(one) for key, one in value.items() if key != "id"}
    return [*map(_without_ids, value)] if isinstance(value, (list, tuple)) else value
