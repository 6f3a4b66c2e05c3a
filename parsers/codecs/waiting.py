"""Text that waits, with the places it came from: a token that was left out in between makes a gap."""

from __future__ import annotations

from parsers.events import Segment


class Waiting:
    """Texts in the order of their places in the output."""

    __slots__ = ("_reached", "_runs")

    def __init__(self) -> None:
        self._runs: list[tuple[int, list[str]]] = []
        self._reached = 0

    def __bool__(self) -> bool:
        return bool(self._runs)

    def add(self, text: str, at: int) -> None:
        """More text, which stands at `at` in the output."""
        if not text:
            return
        if not self._runs or at != self._reached:
            self._runs.append((at, []))
        self._runs[-1][1].append(text)
        self._reached = at + len(text)

    def text(self) -> str:
        """All of it."""
        return "".join([run.text for run in self.runs()])

    def runs(self) -> list[Segment]:
        """What stands together, one segment each. Joined once: a long text is not copied again."""
        for _, texts in self._runs:
            texts[:] = ["".join(texts)]
        return [Segment(text, at, at + len(text)) for at, (text,) in self._runs]

    def spelled(self, text: str) -> tuple[Segment, ...] | None:
        """The segments of an event that sends it as `text`; None where that is the text itself, all in one place."""
        runs = self.runs()
        if text == self.text():
            return tuple(runs) if len(runs) > 1 else None
        first = (text, *[""] * len(runs))
        return tuple([Segment(said, run.start, run.end, "converted") for said, run in zip(first, runs, strict=False)])
