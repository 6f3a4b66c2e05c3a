"""What a check is, what it needs, and what it answers.

A check is a pure function from a `Subject` (one traced replay, the replays it is compared with, and the request) to
findings; `@check` makes a `Check` of it and registers it. No check needs an expected result, none raises on any trace,
and every one is linear in the length of the output. A finding's topic says for a program, its message in one sentence
for people, what is wrong; severity error means the parser (or server) is at fault, warning and info that the output
deserves a look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from parsers.checks.known import Fact
from parsers.checks.subject import Subject, VariantKind
from parsers.compare.divergence import excerpt
from parsers.vocabulary.events import Severity
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import About, Finding, Proof, Topic, Trace
from parsers.vocabulary.types import Span

LIMIT = 50  # so many findings of one check are listed, and so many calls are looked at closely

_Test = Callable[[Subject], object]


MEASURES = ("work", "lines", "times")  # of how what a parser does grows: characters, lines of Python, microseconds


class Need(Enum):
    """Holds what a subject must have for a check to run: why the check is skipped without it, the test of it, and what
    is known wherever it is met.

    Those at the end need variants of one kind.
    """

    INSIGHT = "the parser shows its deltas only", lambda subject: not subject.black_box
    TOOLS = "the request declares no tools", lambda subject: subject.request.tools, Fact.TOOLS
    IDS = (
        "the parser gives no call ids, the server adds them, or the shape has none",
        lambda subject: (
            any(call.id for call in subject.calls)
            or not (subject.has_old_call or (subject.black_box and not subject.server.plays))
        ),
    )
    COMPARED = "no other chunking was replayed", lambda subject: subject.replays.compared, Fact.PARSER
    WHOLE = "the output was not replayed whole", lambda subject: subject.replays.whole, Fact.PARSER
    COSTS = (
        "neither the characters examined nor the lines executed nor a clock's time were taken",
        lambda subject: subject.costs.examined or subject.costs.lines or subject.costs.times,
    )
    FINISHED = "the parser failed before the end", lambda subject: subject.failed_at is None
    TOKEN_IDS = (
        "the output has no token ids",
        lambda subject: any(piece.token_id is not None for piece in subject.tokens.pieces),
        Fact.RAW,
    )
    BYTES = (
        "the bytes of the tokens are not known, or the decoder makes another text of them",
        lambda subject: subject.tokens.spelled and {piece.raw is not None for piece in subject.tokens.pieces} == {True},
        Fact.RAW,
    )
    REASONING_MARKERS = "the format has no markers of reasoning", lambda subject: subject.grammar.closers, Fact.GRAMMAR
    SERVER_DELTAS = (
        "no server's own log of the same output is at hand",
        lambda subject: subject.server.chunks is not None,
        Fact.STREAM,
    )
    SERVER_CHUNKS = (
        "a parser's deltas have the right shape by construction",
        lambda subject: subject.server.plays,
        Fact.STREAM,
    )
    RAW = "the raw output is unknown", lambda subject: subject.known.raw, Fact.RAW
    REFERENCE = (
        "no built-in parser of the same format is laid beside this one",
        lambda subject: subject.builtin.trace is not None and not subject.server.plays,
        Fact.RAW,
        Fact.GRAMMAR,
    )
    BOOKKEEPING = (
        "no engine is at hand whose serving layer keeps lists beside the parser",
        lambda subject: subject.server.told is not None,
    )
    VARIANTS = "no changed output was replayed", lambda subject: subject.variants, Fact.PARSER
    TRUNCATED = "the output was not cut off at each place", "truncated"
    FOLLOWED = "no call could be appended", "followed"
    NEIGHBOUR = "no text or call could be put beside the first call", "neighbour"
    ESCAPED = "no string argument was found to plant anything in", "escaped"
    PADDED = "no string argument was found to lengthen", "padded"
    MEASURED = (
        "what a longer argument takes was not measured",
        lambda subject: any(one.facts.get(cost) for one in subject.of_kind("padded") for cost in MEASURES),
    )
    START_STATE = "the prompt says where the output begins, or the output leaves no doubt", "start_state"
    REUSED = "the parser was not used twice", "reused"
    NO_TOOLS = "the output was not replayed without its tools", "no_tools"
    NO_CALLS = "the output was not replayed with tool_choice none", "no_calls"
    RERENDERED = "no chat template is at hand to write the calls again", "rerendered"

    words: str
    kind: VariantKind | None
    facts: tuple[Fact, ...]
    _test: _Test

    def __new__(cls, words: str, met: _Test | VariantKind, *facts: Fact) -> Need:
        """A need is known by its words, so that it can be sent to another process."""
        need = object.__new__(cls)
        need._value_ = need.words = words
        need.kind = None if callable(met) else met
        need.facts = facts if callable(met) else (Fact.PARSER,)
        need._test = met if callable(met) else lambda subject: subject.of_kind(met)
        return need

    @property
    def is_metamorphic(self) -> bool:
        """Return whether changed outputs have to be replayed for it."""
        return self is Need.VARIANTS or self.kind is not None

    def is_met(self, subject: Subject) -> bool:
        """Return whether a subject has it."""
        return subject.known.has(*self.facts) and bool(self._test(subject))


# What the findings of a check are about, by its number, unless they say otherwise.
_TOPICS: Mapping[str, Topic] = {
    "E1": Topic.FAILURE,
    **dict.fromkeys(("C1", "C2"), Topic.CHUNKS),
    **dict.fromkeys(("N1", "N2", "N4", "N5", "N6", "C3", "K1"), Topic.STREAM),
    **dict.fromkeys(("J1", "J2", "J3"), Topic.ARGUMENTS),
    **dict.fromkeys(("A1", "A2", "L6", "F1"), Topic.LOSS),
    **dict.fromkeys(("A3", "A4"), Topic.ADDITION),
    **dict.fromkeys(("L1", "L2", "L3", "L4", "L5", "L8", "K5"), Topic.LEAK),
    **dict.fromkeys(("Y2", "Y3", "Y4"), Topic.VALUE),
    **dict.fromkeys(("R2", "F4"), Topic.UNANSWERED),
    **dict.fromkeys(("A6", "N7"), Topic.CHANGE),
    **dict.fromkeys(("R3", "R4"), Topic.CHANNEL),
    "R1": Topic.START,
    "Y1": Topic.SCHEMA,
    "N3": Topic.UNKNOWN_TOOL,
    "K2": Topic.SERVER,
    "M4": Topic.TEMPLATE,
}


@dataclass(slots=True)
class CheckReport:
    """Holds what came out: findings, worst first; checks that ran without error or warning; checks that could not run,
    each with what it lacked."""

    findings: list[Finding]
    holding: list[str]
    skipped: list[tuple[str, Need]]


@dataclass(slots=True, frozen=True)
class Check:
    """A named invariant. `severity` and `about` are what its findings say unless they say otherwise.

    `needs` lists what the subject must have for the check to run. `word` is what production logs call the anomaly
    (names of Dynamo, pull request 10569).
    """

    name: str
    id: str
    definition: str
    run: Callable[[Subject], Iterable[Finding]]
    severity: Severity = "error"
    about: About = "parser"
    needs: tuple[Need, ...] = ()
    word: str = ""

    @property
    def facts(self) -> frozenset[Fact]:
        """What is known wherever it runs."""
        return frozenset([fact for need in self.needs for fact in need.facts])

    def __call__(self, subject: Subject) -> list[Finding]:
        """Run the check."""
        return list(self.run(subject))

    def finding(
        self,
        message: str,
        *,
        topic: Topic | None = None,
        severity: Severity | None = None,
        about: About | None = None,
        at: Place | None = None,
        length: int = 1,
        within: tuple[Trace, int, int] | None = None,
        step: int | None = None,
        span: Span | None = None,
        expected: str | None = None,
        actual: str | None = None,
        grade: str | None = None,
        policy: str | None = None,
        proof: Proof | None = None,
        sort: str = "",
    ) -> Finding:
        """A finding of this check; long texts are cut to an excerpt, and a contract is never more than a note.

        `at` gives step and span, the span being `length` characters; `within`, the characters [start, end) of a trace,
        gives the actual text too. Both give only what is not given.
        """
        if within is not None:
            trace, start, end = within
            at, length, actual = Place(start, trace.step_at(start)), end - start, actual or trace.text[start:end]
        expected, actual = (None if text is None else excerpt(text) for text in (expected, actual))
        return Finding(
            check=self.name,
            severity="info" if policy else severity or self.severity,
            about=about or self.about,
            message=message,
            step=at.step if at is not None and step is None else step,
            span=at.span(length) if at is not None and span is None else span,
            expected=expected,
            actual=actual,
            id=self.id,
            grade=grade,
            policy=policy,
            proof=proof,
            topic=topic or _TOPICS.get(self.id, Topic.RULE),
            sort=sort,
        )


REGISTERED: dict[str, Check] = {}


def check(
    id: str,
    definition: str,
    *,
    severity: Severity = "error",
    about: About = "parser",
    needs: tuple[Need, ...] = (),
    word: str = "",
) -> Callable[[Callable[[Subject], Iterable[Finding]]], Check]:
    """Make a function a `Check` of the function's name."""

    def wrap(run: Callable[[Subject], Iterable[Finding]]) -> Check:
        made = Check(run.__name__.strip("_"), id, definition, run, severity, about, needs, word)
        return REGISTERED.setdefault(made.name, made)

    return wrap


def any_of(literals: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of some literals, the longest first; it finds nothing where there are none."""
    texts = sorted({text for text in literals if text}, key=len, reverse=True)
    return re.compile("|".join([re.escape(text) for text in texts]) or r"(?!)")
