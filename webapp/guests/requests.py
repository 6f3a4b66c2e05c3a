"""What is asked about a case, and what is answered: the same over a pipe and over HTTP (docs/pytest-plugin.md)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parsers.cases.tested import CaseOutcome
from parsers.replays.chunking import Chunking
from webapp.engines.wrong_values import first_wrong
from webapp.guests.answers import Known

MOST_OUTPUTS = 100
MOST_KNOWN = 10_000
Word = Annotated[str, Field(max_length=200)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_STRICT = ConfigDict(strict=True)  # what is asked: true is no number, as the schema of it has it


class CaseAsked(_Model):
    """A case as the text of its file, and who runs it: a guest by its card, an engine that is entered here, or who the
    case says. `known`: what the guest has said so far, where it cannot be asked. `seconds`: what a search may take,
    where whoever asks has less time than it may have here."""

    model_config = _STRICT

    case: str
    name: str = Field("a case", max_length=1_000)
    card: dict[str, Any] | None = None
    engine: Word | None = None
    chunking: Chunking | None = None
    seconds: float | None = Field(None, ge=0, allow_inf_nan=False)
    known: tuple[Known, ...] = Field((), max_length=MOST_KNOWN)


class OutputsAsked(_Model):
    """Outputs of a format by their numbers; with `case` the format that this case is in. Without `reasoning` they are
    for a parser of calls alone."""

    model_config = _STRICT

    format: Word | None = None
    case: str | None = None
    seed: int = Field(0, ge=0, lt=2**53)
    first: int = Field(0, ge=0, lt=2**53)
    count: int = Field(10, ge=1, le=MOST_OUTPUTS)
    reasoning: bool = True


def refused(error: ValidationError) -> str:
    """What is wrong with what was asked, where, and where it says what may be asked."""
    place, words = first_wrong(error, _Model.__subclasses__())
    return f"{place or '/'}: {words}; docs/pytest-plugin.md says what is asked"


class Different(_Model):
    """A field that is not as expected."""

    field: str
    expected: str
    actual: str


class ErrorFound(_Model):
    """What a check says."""

    check: str
    message: str
    step: int | None = None


class StepShown(_Model):
    """One step: what was fed, and what was sent, as a delta of a chat completion; `end`: the end of the output."""

    index: int
    fed: str
    end: bool = False
    sent: dict[str, Any] | None = None
    raised: str | None = None


class Shown(_Model):
    """The smallest chunking that shows what is wrong: its deltas around the step `at` where it does, of so many in
    all."""

    chunking: dict[str, Any]
    label: str
    command: str
    deltas: int
    at: int
    differences: tuple[Different, ...] = ()
    steps: tuple[StepShown, ...] = ()


class Checked(_Model):
    """What came of a case. `failing` of `replays` are not as expected; `late`: which other chunkings were not run, and
    why, in a sentence; `unsteady`: that the parser does not read it alike every time, in a sentence, and then what is
    shown is a replay as it was made; `why` it did not run. `expects`: it says something of what is right for who parsed
    it."""

    outcome: CaseOutcome
    why: str = ""
    replays: int = 0
    failing: int = 0
    late: str = ""
    unsteady: str = ""
    holds: int = 0
    expects: bool = True
    errors: tuple[ErrorFound, ...] = ()
    shown: Shown | None = None


class Smaller(_Model):
    """The smallest case that fails as the one that was given, as the text of its file; None: none was found.
    `signature`: the same for cases of one bug, as far as that can be told. `same`: its output is the one that was
    given. `late`: the time was over before it was as small as it gets, so that another run may give another one."""

    headline: str
    case: str | None = None
    signature: str = ""
    same: bool = False
    late: bool = False
    check: str = ""


class Outputs(_Model):
    """Generated cases of a format, as the texts of their files."""

    format: str
    cases: tuple[str, ...]


class WantedRun(_Model):
    """A `run` of the protocol that the guest has to answer, and what it is known by."""

    run: dict[str, Any]
    of: str


class WantedRuns(_Model):
    """What the guest has to answer before there is an answer; a few of them may turn out to be in vain."""

    wanted: tuple[WantedRun, ...]
