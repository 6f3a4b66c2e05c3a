"""The first stage of a sweep: an output is replayed in one piece and under a few other chunkings, and judged.

Most outputs of a corpus ask for little: what a parser is made of is kept for all outputs of one request, the replay in
one piece is not traced, and checks run only where something may be wrong (`plain`). They are those that need no changed
outputs. Equal outputs of equal requests give equal findings, whoever asks and in whatever order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES, Choice, Engine, choose
from parsers.cases.input import Input
from parsers.cases.run import replayer_of
from parsers.checks import run_checks
from parsers.checks.causes import by_cause
from parsers.checks.subject import subject_of
from parsers.compare.beside import compare_chunking
from parsers.compare.divergence import EXACT, same_message
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replay import REFUSALS
from parsers.replays.replayer import Replayer, Replays
from parsers.search.weighed import weigh_by_contract
from parsers.sweeps.plain import Plain, Read
from parsers.sweeps.signature import Signature, signature_of
from parsers.vocabulary.types import Delta, Message, Piece
from parsers.wire.assemble import Assembler

# Of an output in the open a server sends a few tokens at a time; the whole output is replayed besides.
CHUNKINGS = (Chunking(by="random", seed=0, unit="char", max=64),)


@dataclass(slots=True, frozen=True)
class Looked:
    """What the first stage says of an output: by which parser it was read, what is wrong with it, and whether its last
    call was cut off."""

    parser: str
    signatures: tuple[Signature, ...] = ()
    cut: bool = False


class Bases:
    """Replayers by their parser: what they are made of is made once, whatever tools a request declares.

    `chunkings` are those that outputs are replayed under besides the whole one.
    """

    def __init__(self, chunkings: Sequence[Chunking] = CHUNKINGS, engines: Mapping[str, Engine] = ENGINES) -> None:
        self.chunkings = tuple(chunkings)
        self.engines = engines
        self._known: dict[str, Replayer] = {}

    def replayer(self, case: Case, choice: Choice) -> Replayer:
        """A replayer of any output of the request of a case."""
        said = case.context.model_dump(mode="json", exclude={*_OF_REQUEST})
        key = json.dumps([choice.selection.name, case.parser.model_dump(mode="json"), said, _named(case.contract)])
        base = self._known.get(key)
        if base is None:
            base = self._known[key] = replayer_of(case, choice, (Piece("."),))
        return replace(base, make=choice.make, context=case.to_context(), reasons=())


_OF_REQUEST = frozenset(("finish_reason", "tool_choice", "model", "model_type"))  # what parsers are not made of


def _named(contract: object) -> str:
    return contract if isinstance(contract, str) else repr(contract)


class Request:
    """Outputs of one request: everything but the text is the same. `case` has any text."""

    def __init__(self, case: Case, made: Bases | None = None) -> None:
        self._case = case
        self._made = made or Bases()
        self._bases: dict[str, tuple[Choice, Replayer, Plain]] = {}
        self._named: str | None = None

    def looked(self, text: str) -> Looked:
        """Look at one output. Raises UsageError where it cannot be replayed."""
        choice, base, plain = self._base(text)
        replayer = self._replayer(base, text)
        cut = None if choice.black_box else self._plainly_read(text, replayer, plain)
        if cut is not None:
            return Looked(choice.selection.name)
        return self._judged(choice, replayer)

    def case_of(self, text: str) -> Case:
        """The case of one output."""
        return self._case.model_copy(update={"input": Input.model_construct(text=text)})

    def _base(self, text: str) -> tuple[Choice, Replayer, Plain]:
        """What outputs that are read by the parser of this one have in common."""
        if self._named is not None:
            return self._bases[self._named]
        case = self.case_of(text)
        choice = choose(case, None, self._made.engines)
        name = choice.selection.name
        if name not in self._bases:
            base = self._made.replayer(case, choice)
            self._bases[name] = choice, base, Plain(choice.format, base.context)
        if case.parser.name != "auto" or case.parser.format is not None:
            self._named = name
        return self._bases[name]

    def _replayer(self, base: Replayer, text: str) -> Replayer:
        return replace(base, pieces=(Piece(text),) if text else (), known=Replays())

    def _plainly_read(self, text: str, replayer: Replayer, plain: Plain) -> Message | None:
        """The message of an output with which nothing is wrong; None where something may be."""
        try:
            read = _read(text, replayer)
        except REFUSALS:
            raise
        except Exception:
            return None
        if not plain.holds(text, read):
            return None
        outcomes = [replayer.outcome(chunking) for chunking in self._made.chunkings]
        alike = all(one.raised is None and same_message(one.message, read.message, EXACT) for one in outcomes)
        return read.message if alike else None

    def _judged(self, choice: Choice, replayer: Replayer) -> Looked:
        """The checks on an output, as far as they need no changed outputs."""
        rules = self._case.compare.rules()
        replayer.foresee([WHOLE, *self._made.chunkings])
        trace = replayer.trace(WHOLE)
        ended = trace.failure is not None and trace.failure.ended
        chunkings = () if ended else self._made.chunkings
        beside = [compare_chunking(replayer, chunking, trace, rules) for chunking in chunkings]
        subject = subject_of(replayer, trace, trace, beside, rules=rules, counted=False)
        report = run_checks(subject, self._case.checks)
        weigh_by_contract(report, subject)
        found = [one for one in by_cause(report.findings) if one.severity != "info"]
        signatures = dict.fromkeys([signature_of(one, trace, replayer.terminals) for one in found])
        cut = bool(trace.message.tool_calls) and not trace.message.tool_calls[-1].complete
        return Looked(choice.selection.name, tuple(signatures), cut)


def _read(text: str, replayer: Replayer) -> Read:
    """The output in one piece through a new parser, with all that it says."""
    parser = replayer.make()
    parser.transitions = None
    parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
    events = parser.feed(Delta(1, (Piece(text),))) if text else []
    events = [*events, *parser.finish(replayer.context.finish_reason)]
    assembler = Assembler()
    assembler.absorb(events)
    return Read(assembler.message(), events, parser.rejected)
