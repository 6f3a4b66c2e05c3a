"""Content around llama JSON calls: how the text before, between and after calls becomes one content.

structural       streams. White space before prose stays, white space at the end of a run waits. Around calls, white
                 space and the separators between calls (`;`, `,`) are dropped; runs of prose are joined by one space.
seed_literal     holds everything to the end, then joins the stripped parts with one space, replaces every "; " by
                 " " and strips (the rule of vLLM's llama3_json parser since PR 27622).
upstream_engine  the text before the first call only; what follows a call is dropped (vLLM 0.33.0's engine).
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.stages import Blank, ContentStage, PlainContent, TextOutput
from parsers.trace import Hold

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
            self._begin()
        solid = len(text.rstrip(TRAILING))
        if solid:
            kept, start = self._blank.take()
            if kept:
                self._out.content(kept, start)
            self._out.content(text[:solid], at)
        self._blank.add(text[solid:], at + solid)

    def _begin(self) -> None:
        """Prose begins: at the start of the output with its white space, after a call joined by one space."""
        kept, start = self._blank.take()
        lead = len(kept) - len(kept.lstrip(TRAILING))
        if not self._calls:
            self._out.content(kept, start) if kept else None
        else:
            self._drop(start, start + lead)
            if self._any:
                self._out.joined(" ", start + lead, start + lead)
            if kept[lead:]:
                self._out.content(kept[lead:], start + lead)
        self._solid = self._any = True

    def _drop(self, start: int, end: int) -> None:
        if start < end:
            self._out.dropped(start, end, "white space or a separator around a call")

    def call(self) -> None:
        """See ContentStage.call."""
        kept, start = self._blank.take()
        self._drop(start, start + len(kept))
        self._calls += 1
        self._solid = False

    def finish(self) -> None:
        """See ContentStage.finish."""
        kept, start = self._blank.take()
        if self._calls:
            self._drop(start, start + len(kept))
        elif kept:
            self._out.content(kept, start)

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        if not self._blank.parts:
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
            text, at = self._segments[0].take()
            if text:
                self._out.content(text, at)
            return
        spans = [(segment.start, segment.end, segment.take()[0].strip()) for segment in self._segments if segment.parts]
        solid = [span for span in spans if span[2].strip(SEPARATORS)]
        pieces = dict(zip([span[0] for span in solid], self._literal([span[2] for span in solid]), strict=True))
        for start, end, _ in spans:
            if pieces.get(start):
                self._out.joined(pieces[start], start, end)
            else:
                self._out.dropped(start, end, "white space or a separator around a call")

    def _literal(self, parts: list[str]) -> list[str]:
        """What each part contributes to `" ".join(parts).replace("; ", " ").strip()`."""
        pieces = [f"{part} " for part in parts[:-1]] + parts[-1:]
        pieces = [piece.replace("; ", " ") for piece in pieces]
        for index, piece in enumerate(pieces):
            pieces[index] = piece.lstrip()
            if pieces[index]:
                break
        return [*pieces[:-1], *(piece.rstrip() for piece in pieces[-1:])]

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        kept = [segment for segment in self._segments if segment.parts]
        if not kept:
            return None
        reason = "llama_content is seed_literal: the text is joined at the end of the output."
        return Hold(kept[0].start, kept[-1].end, "policy", reason)


class PrefixOnly(PlainContent):
    """Content before the first call; everything after it is dropped."""

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if self._calls:
            self._out.dropped(at, at + len(text), "text after a call (llama_content is upstream_engine)")
        else:
            super().text(text, at)
