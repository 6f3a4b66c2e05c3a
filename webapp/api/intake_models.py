"""The bodies of POST /api/v1/intake."""

from __future__ import annotations

from pydantic import Field

from parsers.cases.model import Case
from parsers.formats.model import Model
from parsers.intake.evidence import About, Certainty, Kind


class IntakeRequest(Model):
    """What to recognise. The same bytes as a body of another type do as well, with the rest in the query."""

    text: str
    filename: str | None = Field(
        None, description="The name of the file it was in; *.case.json says that it is a case, *.cases.json a corpus."
    )
    take_as: Kind | None = Field(None, description="What to take it for, in place of the first guess.")
    output: int | None = Field(None, ge=0, description="Of several outputs this one alone, from 0.")
    tokenizer: str | None = Field(None, description="The tokenizer that gives recorded ids their text.")


class FactBody(Model):
    """How sure one thing about the recording is."""

    about: About
    certainty: Certainty
    words: str


class WarnBody(Model):
    """A trap that this recording is in."""

    code: str
    words: str


class AskBody(Model):
    """Something that is missing; `field` names the field of the page's form that takes it."""

    field: str
    words: str


class CaptureBody(Model):
    """A command that records the raw output."""

    server: str
    words: str
    command: str


class ReadingBody(Model):
    """Something else that it can be taken for."""

    kind: Kind
    title: str


class OutputBody(Model):
    """One output, or one case of a corpus: how much of it there is, and where its case is."""

    label: str
    characters: int | None = Field(description="Of the raw text; null: it was not recorded as text.")
    token_ids: int | None
    chunks: int | None = Field(description="That the server's own parser sent.")
    finish_reason: str | None
    case: int | None = Field(description="The place of its case in `cases`; null: it cannot be replayed yet.")
    problem: str | None = Field(description="Why it cannot be replayed yet.")
    field: str | None = Field(description="The field of the page's form that completes it.")
    notes: list[str] = Field(description="What was done for its case.")


class IntakeResult(Model):
    """What was recognised, and the cases that came of it."""

    kind: Kind
    title: str
    message: str
    usable: bool = Field(description="Whether there is a case to replay now.")
    why: list[str]
    facts: list[FactBody]
    warnings: list[WarnBody]
    asks: list[AskBody]
    captures: list[CaptureBody]
    readings: list[ReadingBody]
    notes: list[str]
    outputs: list[OutputBody]
    cases: list[Case]
