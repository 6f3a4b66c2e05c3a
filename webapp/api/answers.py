"""What the API answers, as types: its OpenAPI description is made from them, and tests hold every answer to them.

Most answers are dataclasses of `parsers` as `run_json` and `find_json` write them: `_object` says in what their JSON
departs from the dataclass. The request body is a `parsers.cases.case.Case`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, get_type_hints

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from parsers.cases.case import Case
from parsers.cases.case import Verdict as KnownVerdict
from parsers.cases.expect import Difference
from parsers.compare.divergence import Divergence, Grade
from parsers.intake import Intake
from parsers.intake.evidence import Ask, Capture, Fact, Offer, Part, Peeled, Reading, Warn
from parsers.search.found import Found, Group, Guess, OutcomeClass, Sample, Verdict
from parsers.vocabulary.events import Segment, Severity
from parsers.vocabulary.observed import Attribute
from parsers.vocabulary.trace import Finding, Hold, Proof, RejectedCall, Step, Trace, Transition
from parsers.vocabulary.types import Message, Owner, ToolCall
from webapp.tokenizers import TokenizerInfo


def _said(hint: Any, words: str) -> Any:
    """The type with a description."""
    return Annotated[hint, Field(description=words)]


_PAIR = Annotated[list[int], Field(min_length=2, max_length=2, description="Half-open range in code points.")]
# The types of fields as they are written, by the name of the type that a dataclass gives them.
_WRITTEN: dict[str, Any] = {
    "Span": _PAIR,
    "MessageDelta": _said(dict[str, JsonValue], "The delta of an OpenAI chat completion chunk."),
    "Ownership": _said(tuple[int, int, Owner, str | None], "Start, end, owner, and for dropped text the reason."),
    **dict.fromkeys(("Channel", "Detail", "DropReason", "Failure", "Origin", "WarnCode"), str),
}


def _object(name: str, words: str, source: type | None = None, without: str = "", /, **fields: Any) -> Any:
    """The type of a JSON object, described by `words`: the fields of `source`, its start and end as one span.

    The fields `without` are not in it. `fields` are those that it has in another type or alone; a string describes a
    field that is as the source has it. Where another source has a field of type `source`, it is written as this.
    """
    hints = get_type_hints(source, localns=_WRITTEN, include_extras=True) if source else {}
    if {"start", "end"} <= hints.keys():
        without, hints = f"{without} start end", {**hints, "span": _PAIR}
    hints = {key: hint for key, hint in hints.items() if key not in without.split()}
    hints |= {key: _said(hints[key], given) if isinstance(given, str) else given for key, given in fields.items()}
    made: Any = TypedDict(name, hints)  # type: ignore[misc]
    made.__doc__ = words
    _WRITTEN[source.__name__ if source else name] = made
    return with_config(ConfigDict(extra="forbid"))(made)


def _many(item: Any) -> Any:
    """The type of a list."""
    return list[item]


Health = _object("Health", "The server answers.", status=Literal["ok"], version=str)
Ready = _object("Ready", "The server can do its work.", status=Literal["ready"], version=str)
ParserInfo = _object(
    "ParserInfo",
    "A parser that a case can name.",
    name=str,
    title=str,
    kind=_said(
        Literal["table", "folder", "response_template", "engine"],
        "table: a built-in format as data, run by the table machine; folder: one of the formats folder; "
        "response_template: an engine of that name, which runs the template a case brings; engine: a parser of an "
        "entered engine, named ENGINE:PARSER here and by `engine` and `name` of a case's parser.",
    ),
    aliases=list[str],
    policies=_many(
        _object(
            "PolicyInfo",
            "A contract difference between servers that a parser can be set to.",
            **{"name": str, "default": str, "values": list[str], "description": str},
        )
    ),
    example=_said(str, "An output of its grammar; empty for an entered engine."),
)
EngineInfo = _object(
    "EngineInfo",
    "An engine that was entered, as it said of itself last; where it was not asked yet, little is known.",
    name=_said(str, "What the operator calls it: `engine` of a case's parser."),
    title=_said(str, "The engine with its version."),
    version=str,
    parsers=_said(list[str], "Its parsers for tool calls."),
    reasoning_parsers=list[str],
    contract=_said(str, "The contract that its server keeps; empty: none of its own."),
    wants=_said(Literal["text", "ids"] | None, "Whether its parsers read token ids."),
    streams=_said(bool | None, "False: it knows whole outputs only."),
)
TokenizerRow = _object(
    "TokenizerRow",
    "A tokenizer that a case can name.",
    TokenizerInfo,
    kind="Where the vocabulary comes from.",
    vocab_size="Number of tokens, without the markers of a format; 0 until it is read.",
    label="Its name for people.",
    realism="Whether a real model cuts text as this one does.",
    decoder="How its vocabulary spells bytes.",
    fingerprint="SHA-256 of what decides its ids, empty until it is read.",
    loses="What its ids do not keep of a text.",
)
UploadedTokenizer = _object(
    "UploadedTokenizer",
    "A tokenizer that was uploaded, and the key that deletes it, which is told once.",
    TokenizerRow,
    delete_key=_said(str, "Deletes it, in the header Delete-Key; where others uploaded it too, for them it stays."),
)
TokenizerUpload = _object(
    "TokenizerUpload",
    "A form with the files of a tokenizer; the file itself may be the body too.",
    file=_said(str, "tokenizer.json, tekken.json or a tiktoken file."),
    config=NotRequired[_said(str, "tokenizer_config.json: special tokens and templates.")],
    name=NotRequired[_said(str, "The name in the list; else that of the file.")],
)
DeletedTokenizer = _object(
    "DeletedTokenizer",
    "What was deleted.",
    deleted=_said(str, "The fingerprint, or the beginning of it, as it was given."),
)
DeletedCase = _object(
    "DeletedCase",
    "A share that was withdrawn.",
    deleted=_said(str, "The id of the case."),
    stays=_said(bool, "Whether others share the case, so that it stays for them; else its text is gone."),
)
SavedCase = _object(
    "SavedCase",
    "A stored case. `listed`: the library has it; `ran` false: its engine is not entered here; `delete_key` withdraws"
    " this share, and is told once; `expires`: when this share ends.",
    **{"id": str, "url": str, "listed": bool, "ran": bool, "delete_key": NotRequired[str], "expires": str | None},
)
RedactResult = _object(
    "RedactResult",
    "A case without what it says, and whether it shows the same.",
    case=Case,
    replaced=_said(int, "How many words, numbers and names are others now."),
    stays=_many(_object("StayingWord", "What was not replaced, and why.", **{"text": str, "why": str})),
    same=_said(bool, "Whether the same findings stay, at the same places and under the same chunkings."),
    runs=_said(int, "How often the case was run for that."),
)
LibraryCases = _object(
    "LibraryCases",
    "A page of the library: its listed cases, newest first.",
    total=_said(int, "How many there are, exactly up to 1,000; 1,001 stands for more."),
    more=_said(int | None, "What `before` is on the next page; null where this is the last."),
    cases=_many(
        _object(
            "LibraryCase",
            "A listed case, as it was when it was saved.",
            **{"id": str, **dict.fromkeys(("title", "parser", "engine", "verdict", "severity", "created"), str)},
            tags=list[str],
        )
    ),
)
LibraryImport = _object(
    "LibraryImport",
    "What came of an import.",
    stored=_said(int, "Cases that are new."),
    known=_said(int, "Cases that were stored already; they stay as they are, listed where that was asked for."),
    failed=_said(
        _many(_object("FailedImport", "A case that was not stored, and why.", name=str, why=str)), "The rest."
    ),
    left=_said(int, "Cases for which no time was left: the same request with `?skip=` goes on with them."),
    cases=_said(
        _many(
            _object(
                "ImportedCase",
                "A case that is new, or that this listed; `delete_key` withdraws that, and is told once.",
                **{"name": str, "id": str, "delete_key": NotRequired[str]},
            )
        ),
        "Those that are new, or that this listed.",
    ),
)
ErrorBody = _object(
    "ErrorBody",
    "Every answer with a status of 400 and above.",
    error=_object(
        "ErrorDetail",
        "What is wrong. `field` is the JSON pointer of the place in the request body, where there is one.",
        **{"code": str, "message": str, "field": str | None},
    ),
    known=NotRequired[dict[str, Any]],
)


# A run: each object before those that hold it


_object("Call", "A tool call of a message; `arguments` is the exact JSON text.", ToolCall)
_MESSAGE = _object("Message", "An assembled message; absent text is null.", Message, "order")
_object(
    "Proof",
    "What to change in the case to see a finding: chunking, characters of the output, keys of the context, parser.",
    Proof,
    parser="The name of another parser, in the verdict that this one is wrong.",
    wrong="The chunking of the message that is wrong, where `chunking` gives the other one.",
)
_FINDING: dict[str, Any] = {
    "id": "The number of the check.",
    "grade": _said(Grade | None, "Of checks that compare messages: what differs."),
    "policy": "The policy (key=value) that makes this a contract and not a fault.",
}
_object("FollowingFinding", "A finding that follows from another one.", Finding, "topic follows sort", **_FINDING)
FindingAnswer = _object(
    "Finding", "What a check found.", Finding, "topic sort", follows="Findings that follow from this one.", **_FINDING
)
_object("RejectedCall", "A call that was begun and not kept.", RejectedCall)
_object("Hold", "Text that a parser has seen and not let go, and why.", Hold)
_object(
    "Transition",
    "A row of the format that fired.",
    Transition,
    "sub from_state to_state",
    **{"from": str, "to": str},
)
_of_some: dict[str, Any] = {
    **dict.fromkeys(("text", "terminal", "reason", "code", "message"), str),
    "call": int,
    "complete": bool,
    "segments": _many(_object("Segment", "A part of an event's text and the raw span it came from.", Segment)),
    "severity": Severity,
}
_object(
    "Event",
    "An event; besides type and span it has what its type carries.",
    **{"type": str, "span": _PAIR, **{key: NotRequired[hint] for key, hint in _of_some.items()}},
)
_object("Attribute", "An attribute that a step changed; `grown` is what was added at the end of a text.", Attribute)
_object(
    "ObservedStep",
    "What the parser of an entered engine showed of itself at a step.",
    micros=_said(int | None, "How long it took, in microseconds."),
    changed=_many(_WRITTEN["Attribute"]),
)
_object(
    "Difference",
    "A field that is not as the case expects; it is named like a channel: content, tool_calls[0].arguments ...",
    Difference,
)
_object(
    "Departs",
    "That what came out is not what the case expects: an error, but where it leaves that to the engine.",
    severity=Severity,
    headline=_said(str, "The first difference, in a sentence."),
)
_KNOWN = _object(
    "KnownOfCase",
    "What the case knows of who parsed it: what its `engines` says of that one, else what holds for all.",
    engine=str,
    verdict=KnownVerdict,
    link=_said(str | None, "Where more is said of it."),
    notes=list[str],
    expects=_said(bool, "Whether it says what should come out."),
    departs=_said(_WRITTEN["Departs"] | None, "That something else came out than it expects; null where it did not."),
    differences=_said(_many(_WRITTEN["Difference"]), "What came out otherwise than it expects."),
)
StepAnswer = _object(
    "Step",
    "One delta's worth of parsing; the last step is the end of the output.",
    Step,
    "view end reasoning_length content_length calls",
    text=str,
    held=_said(str | None, "The text held after the step, at most 512 characters of it."),
    observed=NotRequired[_WRITTEN["ObservedStep"]],
)
ReplayResult = _object(
    "ReplayResult",
    "A whole run: the object that `toolcall-inspector replay --json` prints.",
    Trace,
    "text examined observed _channels _streamed",
    known=_KNOWN,
    chunking="The chunking that was traced, with its resolved cuts.",
    whole=_said(_MESSAGE, "The message of the whole output in one delta."),
    partition="Who owns each character; the runs cover the output.",
    deltas=_said(_many(_WRITTEN["MessageDelta"] | None), "One for each step; null where the step sent nothing."),
)
ReplayPart = _object(
    "ReplayPart",
    "What of a run `steps` and `fields` of the query asked for.",
    **{key: NotRequired[hint] for key, hint in ReplayResult.__annotations__.items()},
)


# A search


DivergenceAnswer = _object(
    "Divergence",
    "The first place where a message parts from outcome 0. `raw` is an offset in the output.",
    Divergence,
    channel="content, reasoning, calls, finish_reason, or a part of tool_calls[i].",
)
OutcomeAnswer = _object(
    "Outcome",
    "All chunkings that gave one message; the first outcome is the traced replay's.",
    OutcomeClass,
    "number label parted",
    count="Replays that gave it.",
    honest="Those of them that a server can send for certain.",
    assumed="Those that it can send if the model's tokens are as a stand-in for its tokenizer supposes.",
    hostile="Those that no server sends: cut inside a token.",
    allowed="The keys of the contract that allow this message beside the first one.",
    smallest="The chunking with the fewest cuts that gives it, honest ones first.",
    grade="How far it differs from the first outcome; null for the first.",
    raised="What the parser raised, where it did.",
)
GroupAnswer = _object(
    "Group",
    "Chunkings of one kind and grade.",
    Group,
    "examples",
    honest=_said(bool, "Whether a server can send them for certain."),
    counts=_said(list[tuple[int, int]], "Number of an outcome, and how many chunkings gave it."),
)
_object(
    "Guess",
    "How well a built-in format fits the output.",
    Guess,
    "leaves",
    leaves_at=_said(int | None, "Where the output leaves its grammar."),
    missing=_said(str | None, "What the grammar waits for there."),
    same="Other formats that read the same calls.",
)
_object("Sample", "A kind of which `tried` were tried and `of` could have been.", Sample)
VerdictAnswer = _object(
    "Verdict",
    "One sentence about the whole.",
    Verdict,
    "why facts",
    findings="The findings it speaks of, by their place in the list.",
    offer="An output put together from what a server left in its texts, for the parser of `proof` to read.",
)
SkippedCheck = _object("SkippedCheck", "A check that did not run.", check=str, reason=str)
FindResult = _object(
    "FindResult",
    "What a search found: the object that `toolcall-inspector find --json` prints.",
    Found,
    "text cuts",
    known=_said(_KNOWN, "Of the first outcome."),
    minimized=_said(Case | None, "The smallest case that still shows the worst finding."),
    complete="False where the time or the budget ran out.",
    holding="Checks that ran and found nothing.",
    skipped=_many(SkippedCheck),
    variants="Changed outputs that were run, by kind.",
    robustness="What only changed outputs show: it is never in the verdict.",
    samples="Kinds of chunkings and changed outputs of which not all were tried; none where the search is complete.",
)


# A search between two parsers


_object(
    "Sent",
    "What a parser sent at a step.",
    delta=_WRITTEN["MessageDelta"] | None,
    raised=_said(str | None, "What it raised, where it did."),
    state=_said(str, "The state it was in after the step."),
)
_object(
    "PartedSide",
    "What one parser made of the output; `there`: the step at which its message parts from the other one.",
    message=_MESSAGE,
    finish_reason=str,
    raised=str | None,
    there=_object(
        "SentAt", "A step by its number.", **{**get_type_hints(_WRITTEN["Sent"], include_extras=True), "index": int}
    )
    | None,
)
_object(
    "Parted",
    "One output under one chunking, by both parsers.",
    text=str,
    chunking=dict[str, JsonValue],
    grade=_said(str, "How far a server can send it cut so."),
    same=bool,
    change=_said(str | None, "What was changed of the output that was given."),
    sides=_many(_WRITTEN["PartedSide"]),
    step=_object(
        "PartedStep",
        "The first step at which they do not send the same.",
        index=int,
        fed=str,
        end=bool,
        sent=_many(_WRITTEN["Sent"]),
    )
    | None,
    parting=DivergenceAnswer | None,
)
BetweenResult = _object(
    "BetweenResult",
    "What a search between two parsers found, as `toolcall-inspector find --json` prints it of a pair.",
    differ=bool,
    found=_said(_WRITTEN["Parted"] | None, "The first difference."),
    smallest=_said(_WRITTEN["Parted"] | None, "The smallest output that shows one."),
    case=_said(Case | None, "The smallest output as a case of the first parser."),
    replays=int,
    changed=_said(int, "Changed outputs that were tried."),
    allowed=_said(int, "Differences that the contract of an engine allows; they are passed over."),
    complete=_said(bool, "False where the time or the budget ran out, or a difference was found before all was tried."),
    given_up=_said(str, "What a parser in a process of its own did until it was asked no more; '' where all were."),
    samples=_many(_WRITTEN["Sample"]),
)


# A recording


for source, words in (
    (Fact, "How sure one thing about the recording is."),
    (Warn, "A trap that this recording is in."),
    (Ask, "Something that is missing; `field` names the field of the page's form that takes it."),
    (Capture, "A command that records the raw output."),
    (Reading, "Something else that it can be taken for."),
    (Peeled, "A layer that came off before it was recognised, and on how many lines it was."),
    (Offer, "Layers that could come off, and what would be read then."),
    (Part, "A part of a bug report, and the line on which it begins."),
):
    _object(source.__name__, words, source)
IntakeOutput = _object(
    "IntakeOutput",
    "One output, or one case of a corpus: how much of it there is, and where its case is.",
    label=str,
    characters=_said(int | None, "Of the raw text; null: it was not recorded as text."),
    token_ids=int | None,
    chunks=_said(int | None, "That the server's own parser sent."),
    finish_reason=str | None,
    case=_said(int | None, "The place of its case in `cases`; null: it cannot be replayed yet."),
    problem=_said(str | None, "Why it cannot be replayed yet."),
    field=_said(str | None, "The field of the page's form that completes it."),
    notes=_said(list[str], "What was done for its case."),
)
IntakeResult = _object(
    "IntakeResult",
    "What was recognised, and the cases that came of it.",
    Intake,
    "advice request server skipped columns family",
    message=str,
    usable="Whether there is a case to replay now.",
    outputs=_many(IntakeOutput),
    cases=list[Case],
)
