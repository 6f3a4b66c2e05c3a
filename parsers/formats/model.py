"""A format as data: the pydantic model of formats, the built-in ones, and the ids and guards of their rows.

A format is a table machine over literals and named codecs. It holds no regular expression and no callable, so it
can be edited in a browser, checked statically, drawn, and always runs in linear time.

Triggers of rows, besides the names of terminals:

=========  ====================================================================================
END        the output ended in this state
DONE       the state's codec has read a whole value
REJECT     the state's codec met text its grammar does not allow while the call was tentative
OTHER      text that is not whitespace, in a state or after a value where none is expected
=========  ====================================================================================

Codecs may declare further triggers of their own (`ArgumentParser.triggers`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from parsers.formats.extends import FILE_KEYS, expand, pointer_to
from parsers.vocabulary.types import FormatError

TextKind = Literal["content", "reasoning", "name", "header", "id", "structure", "marker", "noise"]
Emit = Literal["CallStart", "CallEnd", "NoCall", "ReasoningEnd", "Break"]
Blank = Literal["keep", "drop_blank", "strip"]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
# A lexer knows each beginning of a literal, which of a long one takes the square of its length; no marker is near it.
LONGEST_LITERAL = 1_000
LiteralText = Annotated[str, Field(min_length=1, max_length=LONGEST_LITERAL)]
Switch = Annotated[bool, Field(strict=True)]  # neither 1 nor "yes": what the schema refuses, no file may say
NOT_WRITTEN_OUT = (
    "`{key}` belongs in a format file only: here the format stands written out, as the editor's Write out gives it"
)
ENGINE_TRIGGERS = ("END", "DONE", "REJECT", "OTHER")
# Triggers of rows that no file has: see `parsers.formats.layers`.
LAYER_TRIGGERS = GIVEN_BACK, REPEATED, GUIDED_LIST, GUIDED_OBJECT = (
    "GIVEN_BACK",
    "REPEATED",
    "GUIDED_LIST",
    "GUIDED_OBJECT",
)


class Model(BaseModel):
    """Base of every edge model: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Policy(Model):
    """Contract differences between servers: each one an enum with a default, never a bug switch."""

    reasoning_tail: Literal["strip", "keep"] = Field(
        "strip", description="Whitespace at the end of reasoning: dropped, or kept as written."
    )
    content_before_calls: Blank = Field(
        "drop_blank",
        description="Content before the first call: kept, dropped when it is only whitespace, or stripped at its end.",
    )
    content_between_calls: Blank = Field(
        "drop_blank", description="Text between two calls: kept, dropped when only whitespace, or stripped."
    )
    content_after_calls: Blank = Field(
        "drop_blank", description="Text after the last call: kept, dropped when only whitespace, or stripped."
    )
    unknown_tool: Literal["keep", "drop", "text"] = Field(
        "keep",
        description="A call to a tool that was not declared, or is not the one that the request names: kept, dropped, "
        "or returned as content.",
    )
    invalid_call: Literal["lenient", "strict", "by_schema"] = Field(
        "lenient",
        description="A call whose arguments are not one JSON object: kept, or returned as content. By schema so is one "
        "that lacks arguments which its tool requires, or says one twice.",
    )
    truncated_call: Literal["as_streamed", "close", "text", "drop"] = Field(
        "as_streamed",
        description="A call the output cuts off: as streamed, closed by appending, returned as content, or dropped. "
        "The last two also take one whose arguments are whole and whose closing marker does not come.",
    )
    rejected_call: Literal["text", "drop"] = Field(
        "text",
        description="Markup that begins a call and turns out to be none, and what a section has instead of calls: "
        "content, or dropped.",
    )
    missing_arguments: Literal["empty", "text", "drop"] = Field(
        "empty",
        description="A call with a name and nothing for its arguments: one without arguments, returned as content, or "
        "dropped.",
    )
    malformed_call: Literal["read", "reject"] = Field(
        "read",
        description="A call with a name and arguments whose markup is not the format's, such as one that only the end "
        "of its section closes: read, or no call.",
    )
    undeclared_arguments: Literal["keep", "unwrap", "drop"] = Field(
        "keep",
        description="Arguments that the tool does not declare: kept; or a lone one that holds an object of declared "
        "ones gives way to them; or all are left out.",
    )
    unclosed_value: Literal["keep", "drop"] = Field(
        "keep",
        description="A tagged argument whose closing tag is missing where the next tag begins: its value ends there, "
        "or it is left out.",
    )
    reasoning_calls: Literal["read", "text"] = Field(
        "read", description="A call inside reasoning: read, which ends the reasoning, or part of the reasoning."
    )
    stray_reasoning_end: Literal["drop", "text"] = Field(
        "drop", description="A closing marker of reasoning that is not open: left out, or content."
    )
    json_values: Literal["by_schema", "as_written"] = Field(
        "by_schema",
        description="Values that the format itself writes with a type, such as a string in JSON: rewritten where the "
        "tool's schema wants another type, or as the model wrote them.",
    )
    recovery: Literal["content", "fail", "skip_call"] = Field(
        "content",
        description="After malformed structure: the rest is content, the rest is dropped, or the call is skipped.",
    )
    llama_content: Literal["structural", "seed_literal", "upstream_engine"] = Field(
        "structural", description="How text around llama JSON calls is joined; see the format's page."
    )
    mistral_version: Literal["auto", "pre_v11", "v11"] = Field(
        "auto", description="Grammar after [TOOL_CALLS]: a JSON array (pre_v11), name and object (v11), or looked at."
    )
    call_notation: Literal["any", "tags", "typed_tags", "json"] = Field(
        "any",
        description="How the request says that a call is written, where a format has several ways: as it comes, in "
        "tags without types, in tags that say the types, or as JSON. Another way is a fault of the call's markup.",
    )
    id_dialect: Literal["format", "chatcmpl_tool", "call_hex", "mistral9", "kimi"] = Field(
        "format", description="Shape of generated tool call ids; 'format' is the format's own."
    )
    entity_decoding: Literal["off", "on"] = Field(
        "off", description="HTML entities in tagged values: kept, or decoded."
    )


class CodecRef(Model):
    """A codec by name, with the options that codec declares."""

    name: Identifier
    options: dict[str, Any] = Field(default_factory=dict)


class Row(Model):
    """In this state, on this trigger: go there, emit these events.

    `keep`: drop makes the terminal a marker; text hands its characters to the new state; again lets the new state
    look at them as if they were new.
    `when` limits the row to values of policies, e.g. {"mistral_version": ["v11"]}.
    """

    on: str
    to: Identifier
    emit: tuple[Emit, ...] = ()
    keep: Literal["drop", "text", "again"] = "drop"
    mention: Switch = Field(
        False, description="Reasoning may only mention the marker: what begins no call is reasoning."
    )
    when: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    diagnostic: str | None = None
    note: str = ""


class State(Model):
    """One state: what its text is, which codec reads it, and its rows.

    Text is `structure` where only white space is expected (other text is the trigger OTHER), and `marker` where all of
    it is structure, whatever it says. `noise` reaches nobody where more of a call's markup follows it in its paragraph.
    """

    text: TextKind | None = None
    unquote: Switch = Field(False, description="Quotes around a name, header or id are structure.")
    unescape: Switch = Field(False, description="In a name, header or id &quot; and &amp; mean what they stand for.")
    doubled: Switch = Field(False, description="A tool may be named twice with a dot between: f.f is f.")
    codec: CodecRef | None = None
    wrapper: Identifier | None = Field(
        None, description="The terminal that opens what is to be closed here: without it the call may end here as well."
    )
    rows: tuple[Row, ...] = ()
    inert: tuple[Identifier, ...] = Field((), description="Terminals recognised here and kept as text.")
    note: str = ""


class ModelHint(Model):
    """Evidence that selects this format: substrings of a model id, exact model types, markers in a vocabulary."""

    id_contains: tuple[str, ...] = ()
    id_excludes: tuple[str, ...] = ()
    model_type: tuple[str, ...] = ()
    tokens: tuple[str, ...] = Field((), description="Markers that must all be single tokens of the vocabulary.")
    text: tuple[str, ...] = Field((), description="Strings whose presence in an output points to this format.")


class Provenance(Model):
    """Says where a fact of this format comes from."""

    project: str
    source: str
    version: str = ""
    fact: str


class MarkerToken(Model):
    """Says how a marker stands in the real vocabulary: its special flag, where known its id, and which strings stand in
    the outputs of models whose vocabulary lacks it."""

    special: Switch = False
    id: Annotated[int, Field(strict=True)] | None = None
    absent_with: tuple[Annotated[str, Field(min_length=1)], ...] = ()


class Splits(Model):
    """Says how the models' tokenizer cuts markup that is not one token; `markup` has the tokens of each piece of it."""

    tokenizer: str
    source: str
    version: str = ""
    markup: tuple[Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=2)], ...]


class Format(Model):
    """A whole format. `schema_version` is spelled `schema` in JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_written_out(cls, data: Any) -> Any:
        if isinstance(data, dict) and (found := next((key for key in FILE_KEYS if key in data), None)):
            raise PydanticCustomError("not_written_out", NOT_WRITTEN_OUT, {"key": found})
        return data

    schema_version: Literal[1] = Field(alias="schema")
    name: Identifier
    title: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    initial: Identifier
    initial_when_reasoning_open: Identifier | None = None
    terminals: dict[Identifier, LiteralText] = Field(default_factory=dict)
    tokens: dict[str, MarkerToken] = Field(
        default_factory=dict, description="Terminals (by text) that are single tokens of the models' vocabulary."
    )
    splits: Splits | None = Field(
        None, description="How the models' tokenizer cuts markup that is not one token, and who says so."
    )
    end_tokens: tuple[LiteralText, ...] = Field(
        (), description="Tokens that end a turn: markers wherever a terminal could stand; they move nothing."
    )
    states: dict[Identifier, State]
    ids: Literal["chatcmpl_tool", "call_hex", "mistral9", "kimi"] = "chatcmpl_tool"
    content: Literal["plain", "llama"] = "plain"
    policy: Policy = Field(default_factory=Policy)
    policies: tuple[str, ...] = Field((), description="The policies that make a difference for this format.")
    models: ModelHint = Field(default_factory=ModelHint)
    provenance: tuple[Provenance, ...] = ()
    example: str = ""


def load_format(data: Any) -> Format:
    """Validate the decoded JSON of an expanded format.

    Raises FormatError with the pointer of the first place that is wrong.
    """
    try:
        return Format.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise FormatError(first["msg"], pointer_to(*first["loc"])) from error


@cache
def builtin_sources() -> dict[str, Any]:
    """The files of the built-in formats by name, in name order: decoded, with `extends` and `reasoning` as written."""
    folder = resources.files("parsers.formats") / "data"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return {f.name.removesuffix(".json"): json.loads(f.read_text(encoding="utf-8")) for f in files}


@cache
def builtin_formats() -> dict[str, Format]:
    """The built-in formats by name, expanded, in name order."""
    sources = builtin_sources()
    return {name: load_format(expand(data, sources.get).data) for name, data in sources.items()}


def row_ids(fmt: Format) -> dict[tuple[str, int], str]:
    """The id of every row: (state, index of the row in its state) -> r0, r1, r2 ...

    The machine, the trace, the diagram and the transition table name a row by this id. It follows from the format
    alone: rows are counted in the order of the states, then of the rows, those that layers add last. A guard never
    changes an id.
    """
    places = [
        (name, index, row.on in LAYER_TRIGGERS)
        for name, state in fmt.states.items()
        for index, row in enumerate(state.rows)
    ]
    ordered = sorted(places, key=lambda place: place[2])
    return {(name, index): f"r{number}" for number, (name, index, _) in enumerate(ordered)}


def guard_holds(row: Row, policy: Mapping[str, str]) -> bool:
    """Say whether the row is in force under these policy values. A policy that is not given satisfies no guard."""
    return all(policy.get(name) in values for name, values in row.when.items())


@cache
def policy_values() -> dict[str, tuple[str, ...]]:
    """Every policy with the values it may take, in the order of the model."""
    return {name: get_args(field.annotation) for name, field in Policy.model_fields.items()}
