"""Stages: policies on plain text between the machine and the events.

A stage gets text with its raw offset and passes it on, or keeps white space back until it is known what follows.
Everything it keeps back is either passed on later or dropped with a reason; the characters stay in order.

ReasoningStage   policy reasoning_tail
PlainContent     policies content_before_calls, content_between_calls, content_after_calls
llama_content    policy llama_content: the text around llama JSON calls becomes one content
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from parsers.machine.output import Writer
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.seen import Waits
from parsers.vocabulary.states import Part, Placed
from parsers.vocabulary.trace import HoldKind, Tail

_Pieces = Sequence[tuple[str, int]]
_REASONING_TAIL = "White space that may end the reasoning (reasoning_tail)."


class _PlainOutput(Protocol):
    """A stage puts here content that it passes on or leaves out."""

    def content(self, text: str, start: int) -> None:
        """Content, copied from the raw text at `start`."""

    def leave_out(self, start: int, end: int, reason: DropReason) -> None:
        """Characters that reach nobody."""


class Blank(Part):
    """Text kept back, in order. Markers may stand between its pieces, so each piece keeps its place."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces = Placed()

    def add(self, text: str, at: int) -> None:
        """Keep a piece; it follows the ones before."""
        if text:
            self.pieces.append((text, at))

    def take(self) -> list[tuple[str, int]]:
        """All that is kept, with its raw offsets; nothing is kept afterwards."""
        if not self.pieces:
            return []
        pieces, self.pieces = self.pieces, Placed()
        return pieces

    def hold(self, kind: HoldKind, reason: str) -> Waits | None:
        """Return what is kept."""
        if not self.pieces:
            return None
        text, at = self.pieces[-1]
        return kind, reason, self.pieces[0][1], at + len(text)


class ReasoningStage(Part):
    """Passes reasoning on; with reasoning_tail 'strip' its last white space is dropped."""

    APART: ClassVar[frozenset[str]] = frozenset({"_out", "_strips"})

    def __init__(self, out: Writer, policy: Mapping[str, str]) -> None:
        self._out = out
        self._strips = policy["reasoning_tail"] == "strip"
        self.blank = Blank()

    def text(self, text: str, at: int) -> None:
        """More reasoning text."""
        solid = len(text.rstrip()) if self._strips else len(text)
        if solid:
            for kept, start in self.blank.take():
                self._out.reasoning(kept, start)
            self._out.reasoning(text[:solid], at)
        self.blank.add(text[solid:], at + solid)

    def tail(self) -> Tail | None:
        """See ContentStage.tail."""
        return Tail(None if self._strips else "", _REASONING_TAIL)

    def end(self) -> None:
        """Reasoning is over."""
        for kept, start in self.blank.take():
            self._out.leave_out(start, start + len(kept), DropReason(Cause.REASONING_TAIL))

    def hold(self) -> Waits | None:
        """Return what is kept back."""
        return self.blank.hold("policy", _REASONING_TAIL)


class ContentStage(Part, ABC):
    """Base of what decides about content. `why` says why it keeps text back, `dropping` why it drops some."""

    APART: ClassVar[frozenset[str]] = frozenset({"_out"})
    why: ClassVar[str] = ""
    dropping: ClassVar[DropReason] = DropReason(Cause.SEPARATOR_AT_CALL)

    def __init__(self, out: _PlainOutput) -> None:
        self._out = out
        self.blank = Blank()
        self._called = False  # whether a call was committed
        self._solid = False  # whether text that is no blank has come since the last call

    @abstractmethod
    def text(self, text: str, at: int) -> None:
        """More content text."""

    @abstractmethod
    def call(self) -> None:
        """A call was committed after the text so far."""

    @abstractmethod
    def finish(self) -> None:
        """The output is over."""

    def tail(self) -> Tail | None:
        """Return what end of a text is kept back, where all before it is passed on as it comes; None where anything
        may be kept."""

    def lead(self) -> Tail | None:
        """Return of what characters text is kept back, all of it, until others come; None where they have come."""

    def hold(self) -> Waits | None:
        """Return what is kept back."""
        return self.blank.hold("policy", self.why)

    def _pass(self, pieces: _Pieces) -> None:
        for text, at in pieces:
            self._out.content(text, at)

    def _drop(self, pieces: _Pieces) -> None:
        for text, at in pieces:
            self._out.leave_out(at, at + len(text), self.dropping)

    def _pass_solid(self, text: str, at: int, solid: int) -> None:
        """Pass on what waited and `solid` characters of the text; the rest of it waits."""
        if solid:
            self._pass(self.blank.take())
            self._out.content(text[:solid], at)
        self.blank.add(text[solid:], at + solid)


class PlainContent(ContentStage):
    """Content with its white space before, between and after calls under three policies.

    White space that follows a call, or stands at the very start, waits for what comes next. `strip` also makes white
    space at the end of a run of text wait. Text after the last call that is not blank keeps or loses its leading
    white space by content_after_calls, because more calls cannot be foreseen.
    """

    APART: ClassVar[frozenset[str]] = frozenset({"_before", "_between", "_after"})
    why = "White space that is dropped if a call or the end follows."
    dropping = DropReason(Cause.BLANK_AT_CALL)

    def __init__(self, out: _PlainOutput, policy: Mapping[str, str]) -> None:
        super().__init__(out)
        self._before = policy["content_before_calls"]
        self._between = policy["content_between_calls"]
        self._after = policy["content_after_calls"]
        self._strips = self._before == "strip"

    def text(self, text: str, at: int) -> None:
        if not self._solid:
            space = len(text) - len(text.lstrip())
            self.blank.add(text[:space], at)
            if space == len(text):
                return
            self._begin()
            text, at = text[space:], at + space
        if self._strips:
            self._pass_solid(text, at, len(text.rstrip()))
        else:
            self._out.content(text, at)

    def tail(self) -> Tail | None:
        """See ContentStage.tail."""
        return Tail(None if self._strips else "", self.why) if self._solid else None

    def lead(self) -> Tail | None:
        """See ContentStage.lead."""
        return None if self._solid else Tail(None, self.why)

    def _begin(self) -> None:
        """The first character that is not white space has come."""
        kept = self.blank.take()
        if self._called and self._after == "strip":
            self._drop(kept)
        else:
            self._pass(kept)
        self._solid = True

    def call(self) -> None:
        self._settle(self._between if self._called else self._before)
        self._called = True
        self._solid = False
        self._strips = "strip" in (self._between, self._after)

    def finish(self) -> None:
        self._settle(self._after if self._called else "keep")

    def _settle(self, policy: str) -> None:
        kept = self.blank.take()
        if policy == "keep" or (policy == "drop_blank" and self._solid):
            self._pass(kept)
        else:
            self._drop(kept)


# Content around llama JSON calls: how the text before, between and after calls becomes one content.
#
# structural       streams. White space before prose stays, white space at the end of a run waits. Around calls, white
#                  space and the separators between calls (`;`, `,`) are dropped; runs of prose are joined by one space.
# seed_literal     holds everything to the end, then joins the stripped parts with one space, replaces every "; " by
#                  " " and strips (the rule of vLLM's llama3_json parser since PR 27622).
# upstream_engine  the text before the first call only; what follows a call is dropped (vLLM 0.33.0's engine).

_TRAILING = " \t\r\n\f\v;"
_SEPARATORS = _TRAILING + ","


def llama_content(out: Writer, policy: Mapping[str, str]) -> ContentStage:
    """The stage for the policy's value."""
    value = policy["llama_content"]
    if value == "seed_literal":
        return _SeedLiteral(out)
    return _PrefixOnly(out, policy) if value == "upstream_engine" else _Structural(out, policy)


class _Structural(ContentStage):
    """Drops separators at calls, joins runs of prose with one space. Nothing inside a run of prose changes. What stands
    before the first call is kept with content_before_calls keep."""

    APART: ClassVar[frozenset[str]] = frozenset({"_joins", "_keeps"})
    why = "White space or separators that a call would drop."

    def __init__(self, out: Writer, policy: Mapping[str, str]) -> None:
        super().__init__(out)
        self._joins = out.join
        self._keeps = policy["content_before_calls"] == "keep"
        self._any = False

    def text(self, text: str, at: int) -> None:
        if not self._solid:
            lead = len(text) - len(text.lstrip(_SEPARATORS if self._called else _TRAILING))
            self.blank.add(text[:lead], at)
            if lead == len(text):
                return
            text, at = text[lead:], at + lead
            self._begin(at)
        self._pass_solid(text, at, len(text.rstrip(_TRAILING)))

    def tail(self) -> Tail | None:
        return Tail(_TRAILING, self.why) if self._solid else None

    def lead(self) -> Tail | None:
        return None if self._solid else Tail(_SEPARATORS if self._called else _TRAILING, self.why)

    def _begin(self, at: int) -> None:
        """Prose begins at `at`: after a call it drops what separates them, and is joined to prose by one space."""
        kept = self.blank.take()
        if self._called:
            kept, at = self._after_separators(kept, at)
        if self._called and self._any:
            self._joins(" ", [(at, at)])
        self._pass(kept)
        self._solid = self._any = True

    def _after_separators(self, kept: list[tuple[str, int]], at: int) -> tuple[list[tuple[str, int]], int]:
        """Drop the white space and semicolons that the pieces begin with; the rest, and where it begins."""
        lead = next((n for n, (text, _) in enumerate(kept) if text.strip(_TRAILING)), len(kept))
        self._drop(kept[:lead])
        kept = kept[lead:]
        if kept:
            text, start = kept[0]
            at = start + len(text) - len(text.lstrip(_TRAILING))
            self._drop([(text[: at - start], start)])
            kept[0] = (text[at - start :], at)
        return kept, at

    def call(self) -> None:
        keeps = self._keeps and not self._called
        (self._pass if keeps else self._drop)(self.blank.take())
        self._called = True
        self._solid = False

    def finish(self) -> None:
        settle = self._drop if self._called else self._pass
        settle(self.blank.take())


class _SeedLiteral(ContentStage):
    """Keeps all text to the end and applies the literal rule; without a call the output is the content as it is."""

    def __init__(self, out: Writer) -> None:
        super().__init__(out)
        self._joins = out.join
        self._runs: list[Blank] = [Blank()]

    def text(self, text: str, at: int) -> None:
        self._runs[-1].add(text, at)

    def call(self) -> None:
        self._runs.append(Blank())

    def finish(self) -> None:
        runs = [run.take() for run in self._runs if run.pieces]
        if len(self._runs) == 1:
            for run in runs:
                self._pass(run)
            return
        texts = ["".join([text for text, _ in run]).strip() for run in runs]
        written = iter(_literal([text for text in texts if text.strip(_SEPARATORS)]))
        for run, text in zip(runs, texts, strict=True):
            made = next(written) if text.strip(_SEPARATORS) else ""
            if made:
                self._joins(made, [(at, at + len(piece)) for piece, at in run])
            else:
                self._drop(run)


def _literal(parts: list[str]) -> list[str]:
    """Return what each part contributes to `" ".join(parts).replace("; ", " ").strip()`."""
    pieces = [f"{part} " for part in parts[:-1]] + parts[-1:]
    pieces = [piece.replace("; ", " ") for piece in pieces]
    pieces[:1] = [piece.lstrip() for piece in pieces[:1]]
    return [*pieces[:-1], *(piece.rstrip() for piece in pieces[-1:])]


class _PrefixOnly(PlainContent):
    """Content before the first call; everything after it is dropped."""

    def text(self, text: str, at: int) -> None:
        if self._called:
            self._out.leave_out(at, at + len(text), DropReason(Cause.AFTER_CALL))
        else:
            super().text(text, at)

    def tail(self) -> Tail | None:
        return None if self._called else super().tail()

    def lead(self) -> Tail | None:
        return None if self._called else super().lead()
