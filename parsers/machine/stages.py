"""Stages: policies on plain text between the machine and the events.

A stage gets text with its raw offset and passes it on, or keeps white space back until it is known what follows.
Everything it keeps back is either passed on later or dropped with a reason; the characters stay in order.

ReasoningStage   policy reasoning_tail
PlainContent     policies content_before_calls, content_between_calls, content_after_calls
LlamaContent     policy llama_content: in module llama_content
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.trace import Hold


class PlainOutput(Protocol):
    """Where a stage puts content that it passes on or leaves out."""

    def content(self, text: str, start: int) -> None:
        """Content, copied from the raw text at `start`."""

    def left_out(self, start: int, end: int, reason: DropReason) -> None:
        """Characters that reach nobody."""


class TextOutput(PlainOutput, Protocol):
    """Where a stage puts what it decided."""

    def joined(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        """Content that stands for the raw spans, in order (one empty span: for nothing)."""

    def reasoning(self, text: str, start: int) -> None:
        """Reasoning, copied from the raw text at `start`."""


class Blank:
    """Text kept back, in order. Markers may stand between its pieces, so each piece keeps its place."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: list[tuple[str, int]] = []

    def add(self, text: str, at: int) -> None:
        """Keep a piece; it follows the ones before."""
        if text:
            self.pieces.append((text, at))

    def take(self) -> list[tuple[str, int]]:
        """All that is kept, with its raw offsets; nothing is kept afterwards."""
        pieces, self.pieces = self.pieces, []
        return pieces

    @property
    def start(self) -> int:
        """Raw offset of the first character kept."""
        return self.pieces[0][1]

    @property
    def end(self) -> int:
        """Raw offset after the last character kept."""
        text, at = self.pieces[-1]
        return at + len(text)


class ContentStage(Protocol):
    """What `Calls` asks of a content stage."""

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
            for kept, start in self._blank.take():
                self._out.reasoning(kept, start)
            self._out.reasoning(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def end(self) -> None:
        """Reasoning is over."""
        for kept, start in self._blank.take():
            self._out.left_out(start, start + len(kept), DropReason(Cause.REASONING_TAIL))

    def hold(self) -> Hold | None:
        """What is kept back."""
        if not self._blank.pieces:
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

    def __init__(self, out: PlainOutput, policy: Mapping[str, str]) -> None:
        self._out = out
        self._before = policy["content_before_calls"]
        self._between = policy["content_between_calls"]
        self._after = policy["content_after_calls"]
        self._blank = Blank()
        self._calls = 0
        self._solid = False
        self._strips = self._before == "strip"

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if not self._solid:
            space = len(text) - len(text.lstrip())
            self._blank.add(text[:space], at)
            if space == len(text):
                return
            self._begin()
            text, at = text[space:], at + space
        if not self._strips:
            self._out.content(text, at)
            return
        solid = len(text.rstrip())
        if solid:
            self._pass(self._blank.take())
            self._out.content(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def _begin(self) -> None:
        """The first character that is not white space has come."""
        kept = self._blank.take()
        if self._calls and self._after == "strip":
            self._drop(kept)
        else:
            self._pass(kept)
        self._solid = True

    def _pass(self, pieces: Sequence[tuple[str, int]]) -> None:
        for text, at in pieces:
            self._out.content(text, at)

    def _drop(self, pieces: Sequence[tuple[str, int]]) -> None:
        for text, at in pieces:
            self._out.left_out(at, at + len(text), DropReason(Cause.BLANK_AT_CALL))

    def call(self) -> None:
        """See ContentStage.call."""
        self._settle(self._between if self._calls else self._before)
        self._calls += 1
        self._solid = False
        self._strips = "strip" in (self._between, self._after)

    def finish(self) -> None:
        """See ContentStage.finish."""
        self._settle(self._after if self._calls else "keep")

    def _settle(self, policy: str) -> None:
        kept = self._blank.take()
        if policy == "keep" or (policy == "drop_blank" and self._solid):
            self._pass(kept)
        else:
            self._drop(kept)

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        if not self._blank.pieces:
            return None
        return Hold(
            self._blank.start, self._blank.end, "policy", "White space that is dropped if a call or the end follows."
        )


# Content around llama JSON calls: how the text before, between and after calls becomes one content.
#
# structural       streams. White space before prose stays, white space at the end of a run waits. Around calls, white
#                  space and the separators between calls (`;`, `,`) are dropped; runs of prose are joined by one space.
# seed_literal     holds everything to the end, then joins the stripped parts with one space, replaces every "; " by
#                  " " and strips (the rule of vLLM's llama3_json parser since PR 27622).
# upstream_engine  the text before the first call only; what follows a call is dropped (vLLM 0.33.0's engine).

TRAILING = " \t\r\n\f\v;"
SEPARATORS = TRAILING + ","


def llama_content(out: TextOutput, policy: Mapping[str, str]) -> ContentStage:
    """The stage for the policy's value."""
    value = policy["llama_content"]
    if value == "seed_literal":
        return SeedLiteral(out)
    return PrefixOnly(out, policy) if value == "upstream_engine" else Structural(out)


class Structural:
    """Drops separators at calls, joins runs of prose with one space. Nothing inside a run of prose changes."""

    def __init__(self, out: TextOutput) -> None:
        self._out = out
        self._blank = Blank()
        self._calls = 0
        self._solid = self._any = False

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if not self._solid:
            lead = len(text) - len(text.lstrip(SEPARATORS if self._calls else TRAILING))
            self._blank.add(text[:lead], at)
            if lead == len(text):
                return
            text, at = text[lead:], at + lead
            self._begin(at)
        solid = len(text.rstrip(TRAILING))
        if solid:
            self._pass(self._blank.take())
            self._out.content(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def _begin(self, at: int) -> None:
        """Prose begins at `at`: after a call it drops what separates them, and is joined to prose by one space."""
        kept = self._blank.take()
        lead = self._lead(kept) if self._calls else 0
        self._drop(kept[:lead])
        kept = kept[lead:]
        if self._calls and kept:
            text, start = kept[0]
            solid = text.lstrip(TRAILING)
            at = start + len(text) - len(solid)
            self._drop([(text[: at - start], start)])
            kept[0] = (solid, at)
        if self._calls and self._any:
            self._out.joined(" ", [(at, at)])
        self._pass(kept)
        self._solid = self._any = True

    def _lead(self, pieces: Sequence[tuple[str, int]]) -> int:
        """How many pieces come before the first that is more than white space and semicolons."""
        return next((n for n, (text, _) in enumerate(pieces) if text.strip(TRAILING)), len(pieces))

    def _pass(self, pieces: Sequence[tuple[str, int]]) -> None:
        for text, at in pieces:
            self._out.content(text, at)

    def _drop(self, pieces: Sequence[tuple[str, int]]) -> None:
        for text, at in pieces:
            self._out.left_out(at, at + len(text), DropReason(Cause.SEPARATOR_AT_CALL))

    def call(self) -> None:
        """See ContentStage.call."""
        self._drop(self._blank.take())
        self._calls += 1
        self._solid = False

    def finish(self) -> None:
        """See ContentStage.finish."""
        settle = self._drop if self._calls else self._pass
        settle(self._blank.take())

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        if not self._blank.pieces:
            return None
        return Hold(self._blank.start, self._blank.end, "policy", "White space or separators that a call would drop.")


class SeedLiteral:
    """Keeps all text to the end and applies the literal rule; without a call the output is the content as it is."""

    def __init__(self, out: TextOutput) -> None:
        self._out = out
        self._segments: list[Blank] = [Blank()]

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        self._segments[-1].add(text, at)

    def call(self) -> None:
        """See ContentStage.call."""
        self._segments.append(Blank())

    def finish(self) -> None:
        """See ContentStage.finish."""
        if len(self._segments) == 1:
            for text, at in self._segments[0].take():
                self._out.content(text, at)
            return
        runs = [segment.take() for segment in self._segments if segment.pieces]
        texts = ["".join([text for text, _ in run]).strip() for run in runs]
        written = iter(self._literal([text for text in texts if text.strip(SEPARATORS)]))
        for run, text in zip(runs, texts, strict=True):
            made = next(written) if text.strip(SEPARATORS) else ""
            if made:
                self._out.joined(made, [(at, at + len(piece)) for piece, at in run])
                continue
            for piece, at in run:
                self._out.left_out(at, at + len(piece), DropReason(Cause.SEPARATOR_AT_CALL))

    def _literal(self, parts: list[str]) -> list[str]:
        """What each part contributes to `" ".join(parts).replace("; ", " ").strip()`."""
        pieces = [f"{part} " for part in parts[:-1]] + parts[-1:]
        pieces = [piece.replace("; ", " ") for piece in pieces]
        pieces[:1] = [piece.lstrip() for piece in pieces[:1]]
        return [*pieces[:-1], *(piece.rstrip() for piece in pieces[-1:])]

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        return None  # everything waits, and `Calls` says so


class PrefixOnly(PlainContent):
    """Content before the first call; everything after it is dropped."""

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if self._calls:
            self._out.left_out(at, at + len(text), DropReason(Cause.AFTER_CALL))
        else:
            super().text(text, at)
