"""Stages: policies on plain text between the machine and the events.

A stage gets text with its raw offset and passes it on, or keeps white space back until it is known what follows.
Everything it keeps back is either passed on later or dropped with a reason; the characters stay in order.

ReasoningStage   policy reasoning_tail
PlainContent     policies content_before_calls, content_between_calls, content_after_calls
LlamaContent     policy llama_content: in module llama_content
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from parsers.trace import Hold


class TextOutput(Protocol):
    """Where a stage puts what it decided."""

    def content(self, text: str, start: int) -> None:
        """Content, copied from the raw text at `start`."""

    def joined(self, text: str, start: int, end: int) -> None:
        """Content that stands for the raw span (empty: for nothing)."""

    def reasoning(self, text: str, start: int) -> None:
        """Reasoning, copied from the raw text at `start`."""

    def dropped(self, start: int, end: int, reason: str) -> None:
        """Characters that reach nobody."""


class Blank:
    """White space kept back: contiguous pieces, in order."""

    __slots__ = ("parts", "start")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.start = 0

    def add(self, text: str, at: int) -> None:
        """Keep a piece; it follows the ones before."""
        if not self.parts:
            self.start = at
        if text:
            self.parts.append(text)

    def take(self) -> tuple[str, int]:
        """All that is kept, and where it began; nothing is kept afterwards."""
        text, self.parts = "".join(self.parts), []
        return text, self.start

    @property
    def end(self) -> int:
        """Raw offset after the last kept character."""
        return self.start + sum(map(len, self.parts))


class ContentStage(Protocol):
    """What the sink asks of a content stage."""

    def text(self, text: str, at: int) -> None:
        """More content text."""

    def call(self) -> None:
        """A call was committed after the text so far."""

    def finish(self) -> None:
        """The output is over."""

    def hold(self) -> Hold | None:
        """What is kept back."""


class ReasoningStage:
    """Passes reasoning on; with reasoning_tail 'strip' its last white space is dropped."""

    def __init__(self, out: TextOutput, policy: Mapping[str, str]) -> None:
        self._out = out
        self._strips = policy["reasoning_tail"] == "strip"
        self._blank = Blank()

    def text(self, text: str, at: int) -> None:
        """More reasoning text."""
        solid = len(text.rstrip()) if self._strips else len(text)
        if solid:
            kept, start = self._blank.take()
            if kept:
                self._out.reasoning(kept, start)
            self._out.reasoning(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def end(self) -> None:
        """Reasoning is over."""
        kept, start = self._blank.take()
        if kept:
            self._out.dropped(start, start + len(kept), "white space at the end of reasoning")

    def hold(self) -> Hold | None:
        """What is kept back."""
        if not self._blank.parts:
            return None
        return Hold(
            self._blank.start, self._blank.end, "policy", "White space that may end the reasoning (reasoning_tail)."
        )


class PlainContent:
    """Content with its white space before, between and after calls under three policies.

    White space that follows a call, or stands at the very start, waits for what comes next. `strip` also makes white
    space at the end of a run of text wait. Text after the last call that is not blank keeps or loses its leading
    white space by content_after_calls, because more calls cannot be foreseen.
    """

    def __init__(self, out: TextOutput, policy: Mapping[str, str]) -> None:
        self._out = out
        self._before = policy["content_before_calls"]
        self._between = policy["content_between_calls"]
        self._after = policy["content_after_calls"]
        self._blank = Blank()
        self._calls = 0
        self._solid = False

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if not self._solid:
            space = len(text) - len(text.lstrip())
            self._blank.add(text[:space], at)
            if space == len(text):
                return
            self._begin()
            text, at = text[space:], at + space
        solid = len(text.rstrip()) if self._strips() else len(text)
        if solid:
            kept, start = self._blank.take()
            if kept:
                self._out.content(kept, start)
            self._out.content(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def _strips(self) -> bool:
        return "strip" in ((self._between, self._after) if self._calls else (self._before,))

    def _begin(self) -> None:
        """The first character that is not white space has come."""
        kept, start = self._blank.take()
        if kept and self._calls and self._after == "strip":
            self._drop(start, start + len(kept))
        elif kept:
            self._out.content(kept, start)
        self._solid = True

    def _drop(self, start: int, end: int) -> None:
        if start < end:
            self._out.dropped(start, end, "white space around a call")

    def call(self) -> None:
        """See ContentStage.call."""
        self._settle(self._between if self._calls else self._before)
        self._calls += 1
        self._solid = False

    def finish(self) -> None:
        """See ContentStage.finish."""
        self._settle(self._after if self._calls else "keep")

    def _settle(self, policy: str) -> None:
        kept, start = self._blank.take()
        if not kept:
            return
        if policy == "keep" or (policy == "drop_blank" and self._solid):
            self._out.content(kept, start)
        else:
            self._drop(start, start + len(kept))

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        if not self._blank.parts:
            return None
        return Hold(
            self._blank.start, self._blank.end, "policy", "White space that is dropped if a call or the end follows."
        )
