"""The first stage of a sweep: an output is replayed in one piece and under a few other chunkings, and judged.

Most outputs of a corpus ask for little: what a parser is made of is kept for all outputs of one request, the replay in
one piece is not traced, and checks run only where something may be wrong (`plain`). They are those that need no changed
outputs. Equal outputs of equal requests give equal findings, whoever asks and in whatever order.

A parser of an engine shows nothing but its deltas, so that all checks run on each of its outputs. It is fed tokens, for
what it makes of them may depend on how they come: that is what such a sweep is for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES, Choice, Engine, choose
from parsers.cases.input import Input
from parsers.cases.run import characters, replayer_of
from parsers.checks import run_checks
from parsers.checks.causes import by_cause
from parsers.checks.subject import subject_of
from parsers.compare.beside import compare_chunking
from parsers.compare.divergence import EXACT, same_message
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.replay import REFUSALS
from parsers.replays.replayer import Replayer, Replays
from parsers.search.weighed import weigh_by_contract, weigh_by_cuts
from parsers.sweeps.plain import Plain, Read
from parsers.sweeps.signature import Signature, signature_of
from parsers.vocabulary.trace import Transition
from parsers.vocabulary.types import Delta, Piece
from parsers.wire.assemble import Assembler

# Of an output in the open a server sends a few tokens at a time; the whole output is replayed besides.
CHUNKINGS = (Chunking(by="random", seed=0, unit="char", max=64),)
# An engine is fed token by token, as most servers do, and a few at a time.
OF_ENGINES = (TRACED, Chunking(by="random", seed=0, unit="token", max=8))

Tokens = Callable[[Case, Format], Sequence[Piece]]  # of an output, by the tokenizer that its case names


@dataclass(slots=True, frozen=True)
class Means:
    """What the parsers of a sweep need: the engines that there are, and the tokens of an output for those that are not
    ours. Without `tokens` these are fed characters."""

    engines: Mapping[str, Engine] = field(default_factory=lambda: ENGINES)
    tokens: Tokens | None = None

    def tokens_of(self, case: Case, choice: Choice) -> Sequence[Piece]:
        """The tokens of an output."""
        return characters(case.text()) if self.tokens is None else self.tokens(case, choice.cut_by)


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

    def __init__(self, chunkings: Sequence[Chunking] = CHUNKINGS, means: Means | None = None) -> None:
        self.chunkings = tuple(chunkings)
        self.means = means or Means()
        self._known: dict[str, Replayer] = {}

    def replayer(self, case: Case, choice: Choice) -> Replayer:
        """A replayer of any output of the request of a case."""
        said = case.context.model_dump(mode="json", exclude={*_OF_REQUEST})
        key = json.dumps([choice.selection.name, case.parser.model_dump(mode="json"), said, _named(case.contract)])
        base = self._known.get(key)
        if base is None:
            base = self._known[key] = replayer_of(case, choice, (Piece("."),))
        return replace(base, make=choice.make, context=case.to_context(), reasons=())


# What outputs of one parser have in common: how it is made, its replayer, and how to tell that nothing is wrong.
_Base = tuple[Choice, Replayer, Plain | None]
_OF_REQUEST = frozenset(("finish_reason", "tool_choice", "model", "model_type"))  # what parsers are not made of


def _named(contract: object) -> str:
    return contract if isinstance(contract, str) else repr(contract)


class Request:
    """Outputs of one request: everything but the text is the same. `case` has any text."""

    def __init__(self, case: Case, made: Bases | None = None) -> None:
        self._case = case
        self._made = made or Bases()
        self._bases: dict[str, _Base] = {}
        self._named: str | None = None

    def looked(self, text: str) -> Looked:
        """Look at one output. Raises UsageError where it cannot be replayed."""
        choice, replayer, plain = self._ready(text)
        if plain is not None and self._is_plain(text, replayer, plain):
            return Looked(choice.selection.name)
        return self._judged(choice, replayer)

    def replayer(self, text: str) -> tuple[Choice, Replayer]:
        """The parser of one output, and what replays that. Raises UsageError where it cannot be replayed."""
        return self._ready(text)[:2]

    def case_of(self, text: str) -> Case:
        """The case of one output."""
        return self._case.model_copy(update={"input": Input.model_construct(text=text)})

    def _base(self, text: str) -> _Base:
        """What outputs that are read by the parser of this one have in common.

        An engine is told which markers stand in an output, so that each has one of its own.
        """
        if self._named is not None:
            return self._bases[self._named]
        case, means = self.case_of(text), self._made.means
        choice = choose(case, None, means.engines)
        if choice.replays is not None:
            return choice, replace(replayer_of(case, choice, means.tokens_of(case, choice)), known=Replays()), None
        name = choice.selection.name
        if name not in self._bases:
            base = self._made.replayer(case, choice)
            self._bases[name] = choice, base, None if choice.black_box else Plain(choice.format, base.context)
        if case.parser.name != "auto" or case.parser.format is not None:
            self._named = name
        return self._bases[name]

    def _ready(self, text: str) -> _Base:
        """What `looked` takes: the replayer is that of this output."""
        choice, replayer, plain = self._base(text)
        if choice.replays is None:
            replayer = replace(replayer, pieces=(Piece(text),) if text else (), known=Replays())
        return choice, replayer, plain

    def _is_plain(self, text: str, replayer: Replayer, plain: Plain) -> bool:
        """Return whether nothing can be wrong with an output."""
        try:
            read = read_whole(text, replayer)[0]
        except REFUSALS:
            raise
        except Exception:
            return False
        if not plain.holds(text, read):
            return False
        outcomes = [replayer.outcome(chunking) for chunking in self._made.chunkings]
        return all(one.raised is None and same_message(one.message, read.message, EXACT) for one in outcomes)

    def _judged(self, choice: Choice, replayer: Replayer) -> Looked:
        """The checks on an output, as far as they need no changed outputs."""
        rules, foreign = self._case.compare.rules(), choice.replays is not None
        first, *others = [*self._made.chunkings, WHOLE] if foreign else [WHOLE, *self._made.chunkings]
        replayer.foresee([first, *others])
        trace = replayer.trace(first)
        ended = trace.failure is not None and trace.failure.ended
        whole = replayer.trace(WHOLE) if foreign and not ended else trace
        beside = [compare_chunking(replayer, chunking, trace, rules) for chunking in ([] if ended else others)]
        subject = subject_of(replayer, trace, whole, beside, rules=rules, counted=False)
        report = run_checks(subject, self._case.checks)
        weigh_by_contract(report, subject)
        if foreign and not ended:
            weigh_by_cuts(report, subject, replayer)
        found = [one for one in by_cause(report.findings) if one.severity != "info"]
        signatures = dict.fromkeys([signature_of(one, trace, replayer.terminals) for one in found])
        cut = bool(trace.message.tool_calls) and not trace.message.tool_calls[-1].complete
        return Looked(choice.selection.name, tuple(signatures), cut)


def read_whole(text: str, replayer: Replayer, *, traced: bool = False) -> tuple[Read, list[Transition]]:
    """The output in one piece through a new parser, with all that it says, and with its transitions where it is
    `traced`."""
    parser = replayer.make()
    parser.transitions = [] if traced else None
    parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
    events = parser.feed(Delta(1, (Piece(text),))) if text else []
    events = [*events, *parser.finish(replayer.context.finish_reason)]
    assembler = Assembler()
    assembler.absorb(events)
    return Read(assembler.message(), events, parser.rejected), parser.transitions or []
