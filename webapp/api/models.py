"""The bodies of the API as pydantic models: what its OpenAPI description is generated from.

Answers are written by plain functions (`run_json` for one); the models say what those write, and tests hold every
answer to its model. A request body is a `parsers.cases.model.Case`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from parsers.cases.model import Case
from parsers.compare.divergence import Grade
from parsers.formats.model import Model
from parsers.replays.chunking import Chunking
from parsers.search.found import VerdictKind
from parsers.vocabulary.trace import About

Pair = Annotated[list[int], Field(min_length=2, max_length=2, description="Half-open range in code points.")]
Owner = Literal["content", "reasoning", "name", "id", "arguments", "marker", "dropped"]
Severity = Literal["error", "warning", "info"]
Run = Annotated[
    tuple[int, int, Owner, str | None], Field(description="Start, end, owner, and for dropped text the reason.")
]


class Health(Model):
    """The server answers."""

    status: Literal["ok"]
    version: str


class PolicyInfo(Model):
    """A contract difference between servers that a parser can be set to."""

    name: str
    default: str
    values: list[str]
    description: str


class ParserInfo(Model):
    """A parser that a case can name."""

    name: str
    title: str
    kind: Literal["table", "folder", "response_template"] = Field(
        description="table: a built-in format as data, run by the table machine; folder: one of the formats folder; "
        "response_template: an engine of that name, which runs the template a case brings."
    )
    aliases: list[str]
    policies: list[PolicyInfo]
    example: str = Field(description="An output of its grammar.")


class TokenizerRow(Model):
    """A tokenizer that a case can name."""

    name: str
    kind: str = Field(description="Where the vocabulary comes from.")
    vocab_size: int = Field(description="Number of tokens, without the markers of a format; 0 until it is read.")
    label: str = Field(description="Its name for people.")
    realism: Literal["demo", "real", "approximate", "none"] = Field(
        description="Whether a real model cuts text as this one does."
    )
    decoder: Literal["byte_level", "byte_fallback"] = Field(description="How its vocabulary spells bytes.")
    fingerprint: str = Field(description="SHA-256 of what decides its ids, empty until it is read.")


class TokenizerUpload(Model):
    """A form with the files of a tokenizer; the file itself may be the body too."""

    file: str = Field(description="tokenizer.json, tekken.json or a tiktoken file.")
    config: str | None = Field(None, description="tokenizer_config.json: special tokens and templates.")
    name: str | None = Field(None, description="The name in the list; else that of the file.")


class DeletedTokenizer(Model):
    """What was deleted."""

    deleted: str = Field(description="The fingerprint, or the beginning of it, as it was given.")


class Call(Model):
    """A tool call of a message; `arguments` is the exact JSON text."""

    id: str | None
    name: str
    arguments: str
    complete: bool


class MessageBody(Model):
    """An assembled message; absent text is null."""

    reasoning: str | None
    content: str | None
    tool_calls: list[Call]


class RejectedBody(Model):
    """A call that was begun and not kept."""

    span: Pair
    name: str | None
    reason: str


class ProofBody(Model):
    """What to change in the case to see a finding: chunking, characters of the output, keys of the context, parser."""

    chunking: dict[str, Any] | None
    edits: list[tuple[int, int, str]]
    context: dict[str, Any]
    parser: str | None = Field(description="The name of another parser, in the verdict that this one is wrong.")


class FindingBody(Model):
    """What a check found."""

    check: str
    id: str = Field(description="The number of the check.")
    severity: Severity
    about: About
    step: int | None
    span: Pair | None
    message: str
    expected: str | None
    actual: str | None
    grade: Grade | None = Field(description="Of checks that compare messages: what differs.")
    policy: str | None = Field(description="The policy (key=value) that makes this a contract and not a fault.")
    proof: ProofBody | None


class HoldBody(Model):
    """Text that a parser has seen and not let go, and why."""

    span: Pair
    kind: Literal["lexer", "policy", "codec", "tentative"]
    reason: str


class TransitionBody(Model):
    """A row of the format that fired."""

    model_config = ConfigDict(populate_by_name=True)

    from_state: str = Field(alias="from")
    trigger: str
    to: str
    row: str
    span: Pair
    note: str


class SegmentBody(Model):
    """A part of an event's text and the raw span it came from."""

    text: str
    span: Pair
    kind: Literal["copied", "converted", "synthetic"]


class EventBody(Model):
    """An event; besides type and span it has what its type carries."""

    type: str
    span: Pair
    call: int | None = None
    text: str | None = None
    segments: list[SegmentBody] | None = None
    complete: bool | None = None
    terminal: str | None = None
    reason: str | None = None
    code: str | None = None
    severity: Severity | None = None
    message: str | None = None


Delta = Annotated[dict[str, JsonValue], Field(description="The delta of an OpenAI chat completion chunk.")]


class StepBody(Model):
    """One delta's worth of parsing; the last step is the end of the output."""

    index: int
    span: Pair
    text: str
    ids: list[int]
    state: str
    held: str | None = Field(description="The text held after the step, at most 512 characters of it.")
    holds: list[HoldBody]
    transitions: list[TransitionBody]
    events: list[EventBody]
    delta: Delta | None


class ReplayResult(Model):
    """A whole run: the object that `toolcall-inspector replay --json` prints."""

    parser: str
    reasons: list[str]
    mode: Literal["text", "ids"]
    chunking: dict[str, Any] = Field(description="The chunking that was traced, with its resolved cuts.")
    message: MessageBody
    finish_reason: str
    whole: MessageBody = Field(description="The message of the whole output in one delta.")
    rejected_calls: list[RejectedBody]
    partition: list[Run] = Field(description="Who owns each character; the runs cover the output.")
    deltas: list[Delta | None] = Field(description="One for each step; null where the step sent nothing.")
    findings: list[FindingBody]
    steps: list[StepBody]


class DivergenceBody(Model):
    """The first place where a message parts from outcome 0. `raw` is an offset in the output."""

    channel: str = Field(description="content, reasoning, calls, finish_reason, or a part of tool_calls[i].")
    offset: int
    raw: int | None
    step_a: int | None
    step_b: int | None
    expected: str
    actual: str


class OutcomeBody(Model):
    """All chunkings that gave one message; the first outcome is the traced replay's."""

    message: MessageBody
    finish_reason: str
    count: int = Field(description="Replays that gave it.")
    honest: int = Field(description="Those of them that a server could send: cut between tokens.")
    smallest: Chunking = Field(description="The chunking with the fewest cuts that gives it, honest ones first.")
    grade: Grade | None = Field(description="How far it differs from the first outcome; null for the first.")
    divergence: DivergenceBody | None
    raised: str | None = Field(description="What the parser raised, where it did.")


class GroupBody(Model):
    """Chunkings of one kind."""

    name: str
    label: str
    honest: bool
    counts: list[tuple[int, int]] = Field(description="Number of an outcome, and how many chunkings gave it.")


class GuessBody(Model):
    """How well a built-in format fits the output."""

    name: str
    title: str
    score: int
    calls: int
    complete: int
    evidence: list[str]
    leaves_at: int | None = Field(description="Where the output leaves its grammar.")
    missing: str | None = Field(description="What the grammar waits for there.")
    good: int
    same: list[str] = Field(description="Other formats that read the same calls.")


class VerdictBody(Model):
    """One sentence about the whole."""

    kind: VerdictKind
    severity: Literal["error", "warning", "info", "pass"]
    about: About | None
    headline: str
    details: list[str]
    findings: list[int] = Field(description="The findings it speaks of, by their place in the list.")
    proof: ProofBody | None
    guesses: list[GuessBody]


class SkippedBody(Model):
    """A check that did not run."""

    check: str
    reason: str


class FindResult(Model):
    """What a search found: the object that `toolcall-inspector find --json` prints."""

    findings: list[FindingBody]
    outcomes: list[OutcomeBody]
    minimized: Case | None = Field(description="The smallest case that still shows the worst finding.")
    replays: int
    complete: bool = Field(description="False where the time or the budget ran out.")
    verdict: VerdictBody
    groups: list[GroupBody]
    holding: list[str] = Field(description="Checks that ran and found nothing.")
    skipped: list[SkippedBody]
    variants: dict[str, int] = Field(description="Changed outputs that were run, by kind.")


class SavedCase(Model):
    """A stored case. `delete_key` is told once, to whoever created it."""

    id: str
    url: str
    delete_key: str | None = None


class ErrorDetail(Model):
    """What is wrong. `field` is the JSON pointer of the place in the request body, where there is one."""

    code: str
    message: str
    field: str | None


class ErrorBody(Model):
    """Every answer with a status of 400 and above."""

    error: ErrorDetail
