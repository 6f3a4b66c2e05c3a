"""A case: one model output, how it is to be parsed, and what should come out of it.

A case is a file (`*.case.json`, see `parsers.cases.io`), a permalink and a test fixture, and it is the same object in
all three. Ids and bytes are the truth and text is derived: a case that holds its tokens replays without a tokenizer.

Invariants: values are immutable; unknown keys are errors; where an input is given in several forms they agree; a
context does not contradict itself. Raises CaseError with the JSON pointer of the place (through
`parsers.cases.io.load_case`, which also rewords pydantic's own errors).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from parsers.cases.input import (
    CaseError,
    CaseId,
    ExpectedText,
    Input,
    Integer,
    Many,
    Natural,
    Notes,
    ShortText,
    Token,
    ToolObject,
    Word,
    each_once,
    to_piece,
    to_token,
)
from parsers.cases.jsontext import JsonError, read, same
from parsers.cases.message_events import EventKind
from parsers.compare.divergence import Rules
from parsers.decoding import Decode, Decoder
from parsers.formats.contracts import Contract
from parsers.formats.model import Format, Identifier, Model, Policy, Switch, load_format
from parsers.replays.chunking import Chunking
from parsers.vocabulary.types import Context, Mode, Piece, Tool

__all__ = ["Case", "CaseError"]

Verdict = Literal["required", "known_bug", "implementation_defined"]
_CHOICES = Literal["auto", "none", "required"] | dict[str, Any]
RECORDED_SOURCES = frozenset({"recorded", "token_ids"})


class Source(Model):
    """Says where the case comes from. Kinds `recorded` and `token_ids` say that the token ids are a server's own."""

    kind: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    link: str | None = None
    project: str | None = None
    engine: str | None = Field(None, description="Server and version, e.g. 'vllm 0.33.0'.")
    version: str | None = None
    commit: str | None = None
    model: str | None = None
    settings: str | None = Field(None, description="What shaped the deltas: speculative decoding, stream interval ...")
    minimized: Switch | None = None
    redacted: Switch | None = None
    licence: str | None = None
    note: str | None = None


class ParserRef(Model):
    """The parser under study: a name, policies, or a whole format of one's own; what another engine takes besides."""

    name: Word
    engine: Word | None = None
    options: dict[str, Any] = Field(default_factory=dict, description="What the engine takes besides; it checks them.")
    policy: dict[str, str] = Field(default_factory=dict)
    markers: tuple[Annotated[str, Field(min_length=1), AfterValidator(lambda text: _marker(text))], ...] = Field(
        (), description="The markers of a grammar that is not built in, where its parser shows only its deltas."
    )
    format: Annotated[Format | None, BeforeValidator(lambda data: _format(data))] = None

    @field_validator("name", mode="before")
    @classmethod
    def _named(cls, name: Any) -> Any:
        if name == "":
            words = "the name of the parser is empty; name one, or say auto for the one that reads the output"
            raise CaseError(words, "/parser/name")
        return name

    @model_validator(mode="after")
    def _agrees(self) -> ParserRef:
        if self.format is not None and self.format.name != self.name:
            raise CaseError(f"the inline format is called {self.format.name!r}, not {self.name!r}", "/parser/name")
        if self.engine is None:
            for key, value in self.policy.items():
                _check_policy(key, value)
        return self

    @property
    def words(self) -> str:
        """Engine and parser, as a title names them: "vllm deepseek_v3"."""
        return self.name if self.engine is None else f"{self.engine} {self.name}"


class TokenizerRef(Model):
    """The tokenizer the ids belong to. `vocab` maps each marker to its id, enough to replay without it.

    `decoder`: bytes of all tokens joined, or single bytes only where no token spells them (SentencePiece).
    """

    name: str | None = None
    revision: str | None = None
    fingerprint: str | None = None
    vocab: dict[str, Natural] | None = None
    decoder: Decoder = "byte_level"


class NamedTool(Model):
    """A tool_choice that names the tool to call."""

    name: Word


class RequestContext(Model):
    """Holds what the request said besides its tools. `reasoning_open`: whether the prompt left a reasoning block
    open; None where nobody says, which is read as that it did not."""

    tool_choice: Annotated[
        Literal["auto", "none", "required"] | NamedTool,
        BeforeValidator(lambda data: _choice(data), json_schema_input_type=_CHOICES),
    ] = "auto"
    reasoning_open: Switch | None = None
    prompt_tail: ShortText | None = None
    template_kwargs: dict[str, Any] = Field(default_factory=dict)
    strict: Switch | None = None
    finish_reason: Word | None = None
    model: str | None = None
    model_type: str | None = Field(None, description="The model_type of the model's config.json, for parser auto.")
    id_seed: Integer = 0


class ExpectedCall(Model):
    """A call that should come out. `arguments` compares as a JSON value; `raw` pins the exact text."""

    name: str
    arguments: dict[str, Any] | None = None
    raw: ShortText | None = None

    @model_validator(mode="after")
    def _says_something_once(self) -> ExpectedCall:
        if self.arguments is None and self.raw is None:
            raise PydanticCustomError("arguments", "give 'arguments' (an object), or 'raw' (their exact text)")
        if self.arguments is not None and self.raw is not None and not same(_value(self.raw), self.arguments):
            raise PydanticCustomError("raw", "'raw' is not JSON text of 'arguments': leave one of them out")
        return self


class ExpectedEvent(Model):
    """One of the parts that a message says in order: reasoning or text with its `text`, or a call as in `tool_calls`.

    Text that stands between two others is one part, however many deltas it came in.
    """

    kind: EventKind
    text: ShortText | None = None
    name: str | None = None
    arguments: dict[str, Any] | None = None
    raw: ShortText | None = None

    @model_validator(mode="after")
    def _says_what_its_kind_says(self) -> ExpectedEvent:
        of_call = (self.name, self.arguments, self.raw)
        if self.kind == "tool_call":
            if self.name is None or self.text is not None:
                raise PydanticCustomError("event", "a tool_call has a 'name', and 'arguments' or 'raw'")
            self.call  # noqa: B018 - raises where its arguments say nothing, or two things
        elif not self.text or any(one is not None for one in of_call):
            raise PydanticCustomError("event", "reasoning and text have a 'text' of at least one character")
        return self

    @property
    def call(self) -> ExpectedCall:
        """The call that a tool_call is."""
        return ExpectedCall(name=self.name or "", arguments=self.arguments, raw=self.raw)


class Expect(Model):
    """Holds what should come out. None: not checked. "" (null in a file): there must be no such text.

    `events` says in which order reasoning, text and calls come, which the others do not.
    """

    reasoning: ExpectedText = Field(None, json_schema_extra=lambda schema: _absent_is_not_null(schema))
    content: ExpectedText = Field(None, json_schema_extra=lambda schema: _absent_is_not_null(schema))
    tool_calls: Annotated[
        tuple[ExpectedCall, ...] | None, BeforeValidator(lambda data: () if data is None else data)
    ] = Field(None, json_schema_extra=lambda schema: _absent_is_not_null(schema))
    finish_reason: Word | None = None
    events: tuple[ExpectedEvent, ...] | None = None

    @property
    def is_of_parser(self) -> bool:
        """Return whether it says anything that a parser decides: the finish reason is a server's."""
        return any(told is not None for told in (self.reasoning, self.content, self.tool_calls, self.events))

    @property
    def in_fields(self) -> Expect:
        """Return the same with the texts and calls that `events` alone say, for whoever compares them without order."""
        if self.events is None:
            return self
        said = {
            kind: "".join([event.text or "" for event in self.events if event.kind == kind])
            for kind in ("reasoning", "text")
        }
        calls = tuple([event.call for event in self.events if event.kind == "tool_call"])
        fields = {"reasoning": said["reasoning"], "content": said["text"], "tool_calls": calls}
        return self.model_copy(update={name: told for name, told in fields.items() if getattr(self, name) is None})


class Compare(Model):
    """Says how results compare: calls in the order sent or by index; whitespace of text exactly or softly (as blanks).

    `calls` and `arguments`: how those of two replays compare; what is expected of a call says itself whether its
    arguments are a value or text. `cuts`: whether all chunkings are tried, or only those that a server can send for
    certain.
    """

    calls: Literal["order", "index"] = "order"
    arguments: Literal["text", "json"] = "text"
    whitespace: Literal["exact", "soft"] = "exact"
    cuts: Literal["all", "honest"] = "all"

    def rules(self) -> Rules:
        """Return what counts as a difference between two replays of the case."""
        return Rules(self.arguments, self.whitespace, calls=self.calls)


class EngineVerdict(Model):
    """Holds what is known of one engine on this case."""

    verdict: Verdict = "required"
    link: str | None = None
    notes: Notes = ()
    expect: Expect | None = None

    @property
    def expects(self) -> bool:
        """Return whether it says anything of what is right."""
        return self.expect is not None and bool(self.expect.model_fields_set)


class Case(Model):
    """A whole case. `schema_version` is spelled `schema` in JSON; field order is the order of keys in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, title="Toolcall Inspector case")

    schema_link: str | None = Field(None, alias="$schema")
    schema_version: Literal[1] = Field(alias="schema")
    title: str | None = None
    notes: Notes = ()
    flags: tuple[Word, ...] = ()
    verdict: Verdict = "required"
    source: Source | None = None
    parent: CaseId | None = None
    parser: ParserRef
    contract: Annotated[
        Word | Contract | None, Field(description="What the server promises: a name, or the whole.")
    ] = None
    input: Input
    tokenizer: TokenizerRef | None = None
    decode: Decode | None = Field(None, description="How the server made text of the tokens; absent: exactly.")
    tools: Many[ToolObject] = ()
    context: RequestContext = RequestContext()
    replay: tuple[Chunking, ...] = ()
    expect: Expect | None = None
    compare: Compare = Compare()
    checks: tuple[Identifier, ...] | None = None
    engines: dict[str, EngineVerdict] = Field(default_factory=dict)

    @property
    def engine_name(self) -> str:
        """The name under which `engines` speaks of who parses it."""
        return self.parser.engine or "builtin"

    @property
    def known(self) -> EngineVerdict:
        """What is known of who parses it: what `engines` says of ENGINE:PARSER or ENGINE, else what holds for all."""
        name = self.engine_name
        said = self.engines.get(f"{name}:{self.parser.name}") or self.engines.get(name)
        if said is None:
            return EngineVerdict(verdict=self.verdict, expect=self.expect)
        return said.model_copy(update={"expect": said.expect or self.expect})

    @model_validator(mode="after")
    def _named_tool_is_declared(self) -> Case:
        choice = self.context.tool_choice
        if isinstance(choice, NamedTool) and choice.name not in [_function(tool)["name"] for tool in self.tools]:
            raise CaseError(f"no tool called {choice.name!r} is declared in 'tools'", "/context/tool_choice")
        return self

    def text(self) -> str:
        """The output text: the exact decode with special tokens kept; "" where only a server's stream is known."""
        texts = self.input.texts()
        return texts[0][1] if texts else ""

    @property
    def has_raw(self) -> bool:
        """Return whether the raw output is known, and not only the stream that a server's parser made of it."""
        return bool(self.input.texts())

    def mode(self) -> Mode:
        """Return whether markers are recognised by id. This is the one place that decides it.

        "ids" where the case holds tokens with ids and its source says that a server or a token list gave them
        (`source.kind` recorded or token_ids). Ids our own tokenizer made are assumed: "text".
        """
        recorded = self.source is not None and self.source.kind in RECORDED_SOURCES
        has_ids = any(token.id is not None for token in self.input.tokens or ())
        return "ids" if recorded and has_ids else "text"

    def pieces(self) -> tuple[Piece, ...] | None:
        """The stored tokens as pieces, or None where a tokenizer has to make them."""
        if self.input.tokens is None:
            return None
        recorded = self.mode() == "ids"
        vocab = self._vocab()
        return tuple(each_once(lambda token: to_piece(token, vocab, recorded=recorded), self.input.tokens))

    @property
    def decoder(self) -> Decoder:
        """Return how the vocabulary spells bytes."""
        return self.tokenizer.decoder if self.tokenizer else "byte_level"

    def markers(self) -> dict[str, int] | None:
        """Ids of markers by text: the tokenizer's vocab, and stored tokens that say they are markers."""
        marked = {t.text: t.id for t in self.input.tokens or () if t.kind in ("special", "added") and t.id is not None}
        return {**marked, **self._vocab()} or None

    def to_context(self) -> Context:
        """The request as parsers take it."""
        c, choice = self.context, self.context.tool_choice
        named = choice.name if isinstance(choice, NamedTool) else None
        return Context(
            tools=tuple([_declared(tool) for tool in self.tools]),
            tool_choice="named" if isinstance(choice, NamedTool) else choice,
            named_tool=named,
            reasoning_open=bool(c.reasoning_open),
            prompt_tail=c.prompt_tail,
            template_kwargs=dict(c.template_kwargs),
            strict=c.strict,
            finish_reason=c.finish_reason,
            model=c.model,
            id_seed=c.id_seed,
            model_type=c.model_type,
        )

    def with_pieces(self, pieces: Iterable[Piece]) -> Case:
        """The case with these pieces stored as its tokens, in the same marker mode.

        Ids our tokenizer made for a case whose source is recorded are left out: stored, they would pass for the
        server's. A case of a stream only stays what it is. Raises CaseError where the pieces do not spell the text.
        """
        if not self.has_raw:
            return self
        assumed = self.source is not None and self.source.kind in RECORDED_SOURCES
        vocab = self._vocab()

        def stored(piece: Piece) -> Token:
            return to_token(piece, vocab, keep_id=piece.recorded or not assumed)

        tokens = tuple(each_once(stored, [*pieces]))
        return self.model_copy(update={"input": Input.model_validate({**dict(self.input), "tokens": tokens})})

    def _vocab(self) -> dict[str, int]:
        return (self.tokenizer.vocab if self.tokenizer else None) or {}


def _format(data: Any) -> Format | None:
    if data is None or isinstance(data, Format):
        return data
    return load_format(data)


def _marker(text: str) -> str:
    if len(text) == 1 and (text.isalnum() or text.isspace()):
        raise PydanticCustomError("marker", "a marker of one character is a sign, no letter, digit or white space")
    return text


def _check_policy(key: str, value: str) -> None:
    field = Policy.model_fields.get(key)
    if field is None:
        known = ", ".join(Policy.model_fields)
        raise CaseError(f"unknown policy; known are {known}", f"/parser/policy/{key}")
    values = get_args(field.annotation)
    if value not in values:
        raise CaseError(f"{value!r} is no value of this policy; use {', '.join(values)}", f"/parser/policy/{key}")


def _choice(data: Any) -> Any:
    if isinstance(data, NamedTool) or data in ("auto", "none", "required"):
        return data
    if isinstance(data, dict):
        named = data.get("function") if data.keys() == {"type", "function"} else data
        if isinstance(named, dict) and named.keys() == {"name"} and isinstance(named["name"], str) and named["name"]:
            return NamedTool(name=named["name"])
    raise PydanticCustomError("tool_choice", 'use "auto", "none", "required" or {"name": a tool\'s name}')


def _absent_is_not_null(schema: dict[str, Any]) -> None:
    """An absent key is not checked, a null one is: so null is no default."""
    schema.pop("default")


def _value(raw: str) -> Any:
    try:
        return read(raw)
    except JsonError:
        return None


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    inner = tool.get("function")
    return inner if isinstance(inner, dict) else tool


def _declared(tool: dict[str, Any]) -> Tool:
    function = _function(tool)
    return Tool(function["name"], function.get("parameters"), function.get("strict"))
