"""What a search found, as plain values: nothing here holds a trace, so a result can be kept and sent elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from parsers.checks.check import Need
from parsers.checks.known import Fact
from parsers.compare.divergence import Divergence, Grade
from parsers.replays.chunking import Chunking
from parsers.replays.cut_grades import CutGrade
from parsers.vocabulary.events import Failure, Severity
from parsers.vocabulary.trace import About, Finding, Proof
from parsers.vocabulary.types import Context, Message, Piece, Span, joined

Stage = Literal["replay", "sweep", "variants", "shrink", "done"]
VerdictKind = Literal[
    "all_hold",
    "parser_failed",
    "chunk_boundary",
    "text_lost",
    "text_added",
    "marker_leak",
    "wrong_channel",
    "text_changed",
    "broken_arguments",
    "broken_stream",
    "parser_flawed",
    "server_departs",
    "server_unparsed",
    "server_failed",
    "template_departs",
    "wrong_parser",
    "no_complete_call",
    "call_cut_off",
    "prompt_state_unknown",
    "types_changed",
    "output_flawed",
    "recording_cut",
    "no_output",
    "perhaps_no_output",
    "nothing_to_parse",
    "no_answer",
]


class Why(Enum):
    """The rule by which a verdict was reached. Several of them may come to verdicts of one kind."""

    ERROR = auto()  # the server says that it failed
    NO_OUTPUT = auto()  # what was given is no output of a model
    CHANCE = auto()  # the same replay gave two messages
    FAILURE = auto()  # the parser raised
    OTHER_FORMAT = auto()  # another format reads the output
    CHUNKINGS = auto()  # chunkings give different messages
    FAULT = auto()  # a check blames the parser for an error
    START = auto()  # it is not known where reasoning begins
    NO_CALL = auto()  # no format finds a whole call
    UNPARSED = auto()  # the server sent the output as it is
    SERVER = auto()  # the server sent something else
    LEFT = auto()  # the server left markup in a text
    CUT = auto()  # what was recorded ends early
    ASSUMED = auto()  # chunkings give different messages if the tokens are as assumed
    LESSER_FAULT = auto()  # a check blames the parser for a warning
    MISSED_CALLS = auto()  # only the built-in parser finds calls
    TEMPLATE = auto()  # the chat template writes other calls
    OUTPUT = auto()  # the model, or the request, is to blame
    UNENDED = auto()  # what was recorded may be all of the output, but nothing says so
    MENDED = auto()  # the output leaves its grammar, and nothing came of that
    UNANSWERED = auto()  # only reasoning came, or not the call that was asked for, and nobody is to blame
    STRAY = auto()  # markers of another format stay in the content
    UNFINISHED = auto()  # the answer is JSON that is not whole
    CUT_CALL = auto()  # the output ends inside a call, behind whole ones
    TORN = auto()  # parts of what was recorded are missing, and nothing came of that
    DOUBTFUL = auto()  # what was given may be no output of a model
    UNMARKED = auto()  # nothing in the text is for a parser, and nothing else is known of it
    NOTHING = auto()  # all checks hold


@dataclass(slots=True)
class Progress:
    """Says how far a search is: `done` of about `total` replays of this stage, and what was found until now."""

    stage: Stage
    done: int
    total: int
    replays: int
    outcomes: int = 1


@dataclass(slots=True)
class Group:
    """A row of the matrix: chunkings of one kind ("every cut in two"), and how many gave each outcome.

    `grade`: how far a server can send these. `counts` is by outcome number.
    """

    name: str
    label: str
    grade: CutGrade
    counts: dict[int, int] = field(default_factory=dict)
    examples: dict[int, Chunking] = field(default_factory=dict)

    @property
    def honest(self) -> bool:
        """Return whether a server can send these for certain."""
        return self.grade is CutGrade.HONEST


@dataclass(slots=True, frozen=True)
class Sample:
    """Says that not all of a kind were tried, but `tried` of `of`."""

    name: str
    label: str
    tried: int
    of: int

    @property
    def words(self) -> str:
        """As a part of a sentence: "cut in two between tokens (200 of 5,044)"."""
        return f"{self.label} ({self.tried:,} of {self.of:,})"


@dataclass(slots=True)
class OutcomeClass:
    """All chunkings that gave one message. Number 0 is the traced replay's own.

    `honest`, `assumed` and `hostile` count them by how far a server can send them. `smallest`: the chunking with the
    fewest cuts that gives it, honest ones first. `divergence` and `grade`: how it differs from number 0, None for
    number 0 itself. `allowed`: the keys of the contract that allow both messages. `parted`: any of the chunkings cuts
    the output. `one_shot`: the parser's second code path, for whole outputs, gives it too, which is no chunking and not
    counted.
    """

    number: int
    message: Message
    finish_reason: str
    count: int
    honest: int
    smallest: Chunking
    label: str
    grade: Grade | None = None
    divergence: Divergence | None = None
    raised: Failure | None = None
    assumed: int = 0
    hostile: int = 0
    allowed: str | None = None
    parted: bool = True
    one_shot: bool = False

    @property
    def cuts(self) -> CutGrade:
        """The grade of the surest way in which it comes: a code path for whole outputs has no cuts."""
        return CutGrade.HONEST if self.one_shot else self.streamed or CutGrade.HOSTILE

    @property
    def streamed(self) -> CutGrade | None:
        """The grade of the surest cuts of a stream that gives it; None where no stream does."""
        counts = (self.honest, self.assumed, self.count - self.honest - self.assumed)
        return next((grade for grade, count in zip(CutGrade, counts, strict=True) if count), None)


@dataclass(slots=True)
class Minimized:
    """The smallest output and chunking that still give the finding named `check`.

    `beside`: chunkings that give another message, for findings that compare. `right`: that message, where it stands as
    the right one. `never_read`: under no chunking that a server can send does the parser give what the format itself
    reads, or what the contract allows in its place. `read_as_allowed`: it gives only the latter.
    `read_unchanged`: it does so of the output before the change that the finding is about, made small alike. `gives` is
    what comes of it, and `meant` what should, which the format itself reads or `beside` gives. `of_changed`: it is a
    form of a changed output, of which the verdict does not speak. `soft`: a chunking beside gives what is right but for
    white space of the text, which is no matter of this fault. `unsure`: that `meant` is right nobody knows.
    """

    check: str
    finding: Finding
    pieces: tuple[Piece, ...]
    chunking: Chunking
    context: Context
    replays: int
    beside: tuple[Chunking, ...] = ()
    right: Message | None = None
    never_read: bool = False
    read_as_allowed: bool = False
    read_unchanged: bool = False
    gives: Message | None = None
    meant: Message | None = None
    of_changed: bool = False
    soft: bool = False
    unsure: bool = False

    @property
    def text(self) -> str:
        """The output text."""
        return joined(self.pieces)


@dataclass(slots=True, frozen=True)
class Leave:
    """Says where an output leaves a grammar: at character `at`, where `missing` is due, if that is known.

    `misspelled`: it stands there and is spelled wrongly, as `missing` says. `instead`: what stands there, as a clause
    that says what is missing too. `misnamed`: the call is all there, under a name that no tool can have.
    """

    at: int
    missing: str | None = None
    misspelled: bool = False
    instead: str = ""
    misnamed: bool = False

    @property
    def clause(self) -> str:
        """Return what is wrong there, as a clause."""
        if self.instead:
            return self.instead
        missing = self.missing or "something"
        return missing if self.misspelled else f"{missing} is missing"


@dataclass(slots=True)
class Guess:
    """Says how well one format fits an output. `score` orders guesses; `evidence` are sentences.

    `leaves`: where the output first leaves the grammar, None where it never does. `good` calls are complete, with an
    object of arguments and a name that is known; `same` names other formats that read the same calls.
    """

    name: str
    title: str
    score: int
    calls: int
    complete: int
    evidence: tuple[str, ...] = ()
    leaves: Leave | None = None
    good: int = 0
    same: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Detail:
    """A sentence beside a verdict's headline; `finding` is the number of the finding whose message it is.

    `facts` are what must be known of the output to say it.
    """

    words: str
    finding: int | None = None
    facts: frozenset[Fact] = frozenset()


@dataclass(slots=True)
class Verdict:
    """One sentence about the whole, and what proves it: numbers of findings, or a proof of its own.

    `span` is the place in the output that it names, where it names one.
    `cause` is the headline without the kind of fault, where it says what brings it about: a sentence of its own.
    `right` is the chunking that reads it rightly, or best, where the verdict lays that of `proof` beside it.
    `facts` are what must be known of the output to say the headline. `offer`: an output that can be put together from
    what was given, for the parser of `proof` to read.
    """

    kind: VerdictKind
    severity: Severity | Literal["pass"]
    about: About | None
    headline: str
    details: tuple[Detail, ...] = ()
    findings: tuple[int, ...] = ()
    proof: Proof | None = None
    guesses: tuple[Guess, ...] = ()
    why: Why = Why.NOTHING
    facts: frozenset[Fact] = frozenset()
    offer: str | None = None
    span: Span | None = None
    cause: str = ""
    right: Chunking | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The details in words."""
        return tuple([detail.words for detail in self.details])


@dataclass(slots=True)
class Found:
    """Everything a search found. `cuts[i]` is the number of the outcome of the output cut in two after character i + 1,
    -1 where that was not tried.

    `findings` are what the output itself shows, `robustness` what only changed outputs do: it never leads.
    `replays`: how many were run, be it only beside the cuts. `complete`: false where the caller stopped it or the
    budget ran out; `samples` are the kinds of which not all were tried then. `variants`: how many of each were run.
    """

    text: str
    findings: list[Finding]
    holding: list[str]
    skipped: list[tuple[str, Need]]
    outcomes: list[OutcomeClass]
    groups: list[Group]
    cuts: list[int]
    verdict: Verdict
    minimized: Minimized | None = None
    replays: int = 0
    complete: bool = True
    variants: Mapping[str, int] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    robustness: list[Finding] = field(default_factory=list)

    @property
    def judged(self) -> bool:
        """Return whether there was an output to judge: what is none passes no check, and fails none."""
        return self.verdict.kind != "no_output"
