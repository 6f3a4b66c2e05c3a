"""What variants are made from: the output, its replays without any change, and the format's own reading of it.

The format's reading (`reference`) is a machine for the same grammar, whatever parser is under study. It says where
things stand in the output and in which state it ends; whether the parser is right is never taken from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from parsers.checks.metamorphic_output import made_up_call
from parsers.checks.subject import Variant, VariantKind
from parsers.compare.allowed import allowed_by, content_around
from parsers.formats.model import GUIDED_LIST, GUIDED_OBJECT
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.edits import Edit
from parsers.replays.replay import replay
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.found import Sample
from parsers.search.sweep import json_of
from parsers.vocabulary.trace import Proof, StateView, Trace
from parsers.vocabulary.types import Delta, Message, Piece
from parsers.wire.assemble import Assembler
from parsers.wrappers.fallback import Fallback

STREAMED = Chunking(by="char", size=5)
_JUDGED = ("truncated", "followed", "neighbour")  # kinds of which a contract says what may come of them


@dataclass(slots=True, frozen=True)
class Bounds:
    """Says how much is tried: characters parsed for all cuts together, those of them streamed as well, and mutants.

    All cuts of an output of 2,000 characters are two million characters. `every`: where the parser can resume, the
    output is cut everywhere, and what says something is replayed.
    """

    cut: int = 2_100_000
    streamed: int = 60_000
    mutants: int = 40
    every: bool = True


BOUNDS = Bounds()

CountLines = Callable[[Callable[[], object]], int | None]


@dataclass(slots=True, frozen=True)
class Meters:
    """Holds what measures what a parser does, where it does not count that itself.

    `clock` gives seconds. `lines` runs what it is given and returns how many lines of Python that executed, None where
    nobody can count them.
    """

    clock: Callable[[], float] | None = None
    lines: CountLines | None = None


UNCOUNTED = Meters()


@dataclass
class Ground:
    """A replayer and its traced replay, with what several kinds of variants need of them.

    `meters` tell what a parser does beside what it counts. `samples` are the kinds of which not all were tried. `memo`
    is for what several kinds work out alike.
    """

    replayer: Replayer
    trace: Trace
    meters: Meters = UNCOUNTED
    bounds: Bounds = BOUNDS
    samples: list[Sample] = field(default_factory=list)
    memo: dict[str, Any] = field(default_factory=dict)
    _bases: dict[Chunking, Message] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The output text."""
        return self.replayer.text

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The output's tokens; where ids mean nothing, all of it in one piece, which is cheaper to cut."""
        replayer = self.replayer
        by_token = replayer.mode == "ids" or replayer.black_box
        return replayer.pieces if by_token or not self.text else (Piece(self.text),)

    @property
    def streamed(self) -> Chunking:
        """A chunking that streams, of the kind the parser is made for."""
        return TRACED if self.replayer.mode == "ids" or self.replayer.black_box else STREAMED

    @property
    def chunkings(self) -> tuple[Chunking, Chunking]:
        """Both ways a changed output is read: whole and streamed."""
        return (WHOLE, self.streamed)

    @cached_property
    def markers(self) -> list[str]:
        """The format's markers that stand in the output, and its other recorded special tokens; sorted."""
        own = set(self.replayer.terminals.values())
        if self.replayer.format is not None:
            own |= set(self.replayer.format.end_tokens)
        own |= {piece.text for piece in self.replayer.pieces if piece.recorded and piece.kind == "special"}
        return sorted([marker for marker in own if marker.strip() and marker in self.text])

    def base(self, chunking: Chunking) -> Message:
        """The message of the unchanged output under a chunking."""
        if chunking not in self._bases:
            self._bases[chunking] = self.unchanged.outcome(chunking).message
        return self._bases[chunking]

    @cached_property
    def unchanged(self) -> Replayer:
        """The replayer of the output in these pieces."""
        return self.replayer.with_pieces(self.pieces)

    def run(
        self,
        kind: VariantKind,
        label: str,
        *,
        edits: Sequence[Edit] = (),
        context: Mapping[str, Any] | None = None,
        facts: Mapping[str, Any] | None = None,
        chunkings: Sequence[Chunking] | None = None,
        known: Outcome | None = None,
    ) -> Iterator[Variant]:
        """Replay a changed output under each chunking. `known`: the outcome under the first of them, where it is."""
        changed = self.unchanged.changed(edits, context)
        for chunking in chunkings or self.chunkings:
            outcome, known = known or changed.outcome(chunking), None
            said = json_of(chunking)
            proof = Proof(said, tuple(edits), dict(context or {}))
            yield Variant(
                kind,
                label,
                proof,
                changed.text,
                outcome.message,
                outcome.raised,
                {**(facts or {}), "policy": self.contract(kind), "allowed": self._allowed(kind, changed, outcome)},
                self.base(chunking),
            )

    def _allowed(self, kind: VariantKind, changed: Replayer, outcome: Outcome) -> str | None:
        """The keys of the contract that allow what a foreign parser makes of a changed output, where that is not what
        the format makes of it. Of one that is cut off it counts only where it makes up a call."""
        grammar, message = self._grammar, outcome.message
        if not self.replayer.black_box or kind not in _JUDGED or grammar is None or outcome.raised is not None:
            return None
        if kind == "truncated" and made_up_call(message, self.base(self.chunkings[0])) is None:
            return None
        parser = grammar.make()
        parser.begin(changed.context, mode=changed.mode, markers=changed.markers)
        events = [*parser.feed(Delta(1, changed.pieces)), *parser.finish(changed.context.finish_reason)]
        own = Assembler()
        own.absorb(events)
        around = content_around(events)
        said, contract = own.message(), self.replayer.contract
        return allowed_by(contract, said, message, text=changed.text, context=changed.context, around=around)

    def reference(self, pieces: tuple[Piece, ...], **context: Any) -> Trace | None:
        """The format's own reading of an output in one delta, or None where the format is not known."""
        replayer, grammar = self.replayer, self._grammar
        if grammar is None:
            return None
        request = replace(replayer.context, **context)
        deltas = [Delta(1, pieces)]
        return replay(grammar.make(), deltas, request, mode=replayer.mode, markers=replayer.markers)

    @cached_property
    def _grammar(self) -> Replayer | None:
        return self.replayer.by_format()

    @cached_property
    def bare(self) -> bool:
        """Return whether a call may begin without a marker, so that what stands before it may legitimately matter."""
        start = self.reference(())
        terminals = {} if self.replayer.format is None else self.replayer.format.terminals
        return start is not None and any(len(terminals.get(name, "   ")) < 3 for name in before_end(start).accepts)

    @cached_property
    def own(self) -> Trace | None:
        """The format's reading of the output itself."""
        return self.reference(self.pieces)

    @cached_property
    def guided(self) -> bool:
        """Return whether the output is guided JSON, which is read at the beginning of an answer only."""
        moves = [] if self.own is None else self.own.columns.moves()
        return any(move.trigger in (GUIDED_LIST, GUIDED_OBJECT) for _, move in moves)

    def contract(self, kind: VariantKind) -> str | None:
        """Return what makes another reading a contract and no fault: the wrapper that judges at the end, or a
        policy."""
        if self._wrapped:
            return "engine=fallback"
        fmt, policy = self.replayer.format, self.replayer.policy
        if fmt is None:
            return None
        if fmt.content == "llama" and policy.get("llama_content") == "seed_literal":
            return "llama_content=seed_literal"
        recovery = policy.get("recovery", "content")
        after = kind in ("followed", "neighbour") and "recovery" in fmt.policies
        return f"recovery={recovery}" if after and recovery != "content" else None

    @cached_property
    def _wrapped(self) -> bool:
        return isinstance(self.replayer.make(), Fallback)

    @cached_property
    def can_call(self) -> bool:
        """Return whether calls are looked for at all."""
        return self.replayer.context.tool_choice != "none"


def before_end(trace: Trace) -> StateView:
    """The state in which a reading stood when all text had come and the end had not."""
    return trace.steps[0].view


def stands_open(trace: Trace) -> bool:
    """Return whether a reading ended inside a call, a value, or text that may still become one."""
    view = before_end(trace)
    return view.call is not None or view.codec is not None or any(hold.kind != "policy" for hold in view.holds)
