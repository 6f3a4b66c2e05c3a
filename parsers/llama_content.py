"""Content around llama JSON calls: how the text before, between and after calls becomes one content.

structural       streams. White space before prose stays, white space at the end of a run waits. Around calls, white
                 space and the separators between calls (`;`, `,`) are dropped; runs of prose are joined by one space.
seed_literal     holds everything to the end, then joins the stripped parts with one space, replaces every "; " by
                 " " and strips (the rule of vLLM's llama3_json parser since PR 27622).
upstream_engine  the text before the first call only; what follows a call is dropped (vLLM 0.33.0's engine).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
            self._out.left_out(at, at + len(text), "white space or a separator around a call")

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
                self._out.left_out(at, at + len(piece), "white space or a separator around a call")

    def _literal(self, parts: list[str]) -> list[str]:
        """What each part contributes to `" ".join(parts).replace("; ", " ").strip()`."""
        pieces = [f"{part} " for part in parts[:-1]] + parts[-1:]
        pieces = [piece.replace("; ", " ") for piece in pieces]
        pieces[:1] = [piece.lstrip() for piece in pieces[:1]]
        return [*pieces[:-1], *(piece.rstrip() for piece in pieces[-1:])]

    def hold(self) -> Hold | None:
        """See ContentStage.hold."""
        return None  # the sink defers everything and says so


class PrefixOnly(PlainContent):
    """Content before the first call; everything after it is dropped."""

    def text(self, text: str, at: int) -> None:
        """See ContentStage.text."""
        if self._calls:
            self._out.left_out(at, at + len(text), "text after a call (llama_content is upstream_engine)")
        else:
            super().text(text, at)
