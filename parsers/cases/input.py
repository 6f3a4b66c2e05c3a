"""The field types of the case model: what a file may spell in more than one way, and how it is written back.

Inside the model a text is one string. A file may give it as a string or as a list of lines that are concatenated
with nothing between; it is written as a list of lines, so that a change of one line is a change of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializationInfo,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from parsers.formats.model import Model, Switch
from parsers.vocabulary.types import Piece, PieceKind, UsageError

Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(fail_fast=True)]  # to look for all faults of a long list takes long
Made = TypeVar("Made")

WHOLE = "whole"  # the context of a dump in which no text is cut into lines


class CaseError(UsageError):
    """A case that cannot be used. `pointer` is the JSON pointer (RFC 6901) of the place, "" for the whole file."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)
        self.message = message
        self.pointer = pointer


def _lines(text: str) -> list[str]:
    """The text cut after each newline; one empty item for an empty text."""
    *ended, last = text.split("\n")
    cut = [f"{part}\n" for part in ended]
    return [*cut, last] if last or not cut else cut


def _line_or_lines(text: str) -> str | list[str]:
    """A text as a string where it is one line, as a list of lines otherwise."""
    cut = _lines(text)
    return cut[0] if len(cut) == 1 else cut


def _lines_unless_whole(text: str, info: SerializationInfo) -> str | list[str]:
    """The lines of a text, or all of it as one string where the context of the dump is WHOLE."""
    return text if info.context == WHOLE else _lines(text)


def _joined(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise PydanticCustomError("text_item", "item {index} of this text is not a string", {"index": index})
    return "".join(value)


def _empty_for_null(value: Any) -> Any:
    return "" if value is None else _joined(value)


def _expected(text: str | None) -> str | list[str] | None:
    return _line_or_lines(text) if text else None


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _hex(value: str) -> str:
    try:
        return bytes.fromhex(value).hex()
    except ValueError:
        raise PydanticCustomError("hex", "bytes are written as pairs of hexadecimal digits") from None


def _tool(value: dict[str, Any]) -> dict[str, Any]:
    function = value["function"] if isinstance(value.get("function"), dict) else value
    if not isinstance(function.get("name"), str) or not function["name"]:
        raise PydanticCustomError(
            "tool_name", 'a tool needs a name: {"type": "function", "function": {"name": ...}} or {"name": ...}'
        )
    if not isinstance(function.get("parameters", {}), dict | None):
        raise PydanticCustomError("tool_parameters", "'parameters' of a tool must be a JSON Schema object")
    if not isinstance(function.get("strict"), bool | None):
        raise PydanticCustomError("tool_strict", "'strict' of a tool must be true or false")
    return value


_SPELLINGS = str | list[str]

Text = Annotated[str, BeforeValidator(_joined, json_schema_input_type=_SPELLINGS), PlainSerializer(_lines_unless_whole)]
ShortText = Annotated[str, BeforeValidator(_joined, json_schema_input_type=_SPELLINGS), PlainSerializer(_line_or_lines)]
ExpectedText = Annotated[
    str | None,
    BeforeValidator(_empty_for_null, json_schema_input_type=_SPELLINGS | None),
    PlainSerializer(_expected),
]
Notes = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=_SPELLINGS)]
Hex = Annotated[str, AfterValidator(_hex), Field(pattern="^([0-9A-Fa-f]{2})*$")]
Integer = Annotated[int, Field(strict=True)]
Natural = Annotated[int, Field(strict=True, ge=0)]
Milliseconds = Natural | Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Word = Annotated[str, Field(min_length=1)]
ToolObject = Annotated[dict[str, Any], AfterValidator(_tool)]
CaseId = Annotated[str, Field(pattern="^[0-9a-hjkmnp-tv-z]{16}$")]


# The model output of a case: text, tokens, deltas or a stream, and tokens as pieces and back.


class Token(Model):
    """One token, written `[id, text]` or `[id, text, {"hex": ..., "kind": ...}]`.

    The id is null where it is not known. `hex` gives the bytes where they are not the UTF-8 of the text; `kind` the
    piece's kind where it is not "text" (or, for a marker of the tokenizer's vocab, "added").
    """

    id: Natural | None
    text: str
    hex: Hex | None = None
    kind: PieceKind | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, data: Any) -> Any:
        if not isinstance(data, list | tuple):
            return data
        if len(data) not in (2, 3) or (len(data) == 3 and not isinstance(data[2], dict)):
            raise _no_token()
        extra = data[2] if len(data) == 3 else {}
        if not extra.keys() <= {"hex", "kind"}:
            raise PydanticCustomError("token_keys", "the third item of a token knows only 'hex' and 'kind'")
        return {"id": data[0], "text": data[1], **extra}

    @model_serializer
    def _to_list(self) -> list[Any]:
        extra = _extra(self.hex, self.kind)
        return [self.id, self.text, extra] if extra else [self.id, self.text]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """The list form; the model's own properties describe its items."""
        item = handler.resolve_ref_schema(handler(core_schema))
        inner = item["properties"]
        extra = {"hex": inner["hex"], "kind": inner["kind"]}
        third = {"type": "object", "properties": extra, "additionalProperties": False}
        return {
            "description": item["description"],
            "type": "array",
            "prefixItems": [inner["id"], inner["text"], third],
            "minItems": 2,
            "maxItems": 3,
        }


class InputDelta(Model):
    """One delta as a server sent it."""

    text: str
    ids: Many[Natural] | None = None


def _no_token() -> PydanticCustomError:
    return PydanticCustomError("token", 'a token is [id, text] or [id, text, {"hex": ..., "kind": ...}]')


def _written_as_list(data: Any) -> Any:
    if not isinstance(data, list | tuple | Token):
        raise _no_token()
    return data


def _alike_as_one(tokens: Any) -> Any:
    """Tokens in which those that are written alike are one object: an output has few that differ. What is wrong stays
    as it is."""
    known: dict[str, Any] = {}
    items = tokens if isinstance(tokens, list) and all(type(item) is list for item in tokens) else ()
    for written, item in zip(map(repr, items), items, strict=True):
        if written not in known:
            try:
                known[written] = Token.model_validate(item)
            except ValidationError:
                return tokens
    return [known[written] for written in map(repr, items)] if items else tokens


def each_once(make: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """What `make` makes of each item: of items that are one object it makes one."""
    places = [*map(id, items)]
    made = {place: make(item) for place, item in dict(zip(places, items, strict=True)).items()}
    return [made[place] for place in places]


_Tokens = Annotated[
    Many[Annotated[Token, BeforeValidator(_written_as_list)]],
    BeforeValidator(_alike_as_one),
]


class Input(Model):
    """The model output, in at least one form; several forms must agree. `stream` is kept as data.

    `done`: the end of the stream itself, `[DONE]`, was recorded behind it. `gaps`: chunks of it are missing. `times`:
    when each chunk of the stream came, in milliseconds since the first whose time is known; null where it is not.
    """

    text: Text | None = None
    tokens: _Tokens | None = None
    deltas: Many[InputDelta] | None = None
    stream: Many[dict[str, Any]] | None = None
    done: Switch = False
    gaps: Switch = False
    times: tuple[Milliseconds | None, ...] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Input:
        if all(form is None for form in (self.text, self.tokens, self.deltas, self.stream)):
            raise CaseError("give the output as 'text', 'tokens', 'deltas' or 'stream'", "/input")
        (first, text), *others = self.texts() or [("", "")]
        for name, other in others:
            if other != text:
                raise CaseError(f"the text of '{name}' is not that of '{first}'", f"/input/{name}")
        if self.tokens is not None and self.deltas is not None and not _same_ids(self.tokens, self.deltas):
            raise CaseError("the ids of 'deltas' are not those of 'tokens'", "/input/deltas")
        if self.times is not None:
            self._check_times(self.times)
        return self

    def _check_times(self, times: Iterable[float | None]) -> None:
        known = [time for time in times if time is not None]
        if len(self.stream or ()) != len(self.times or ()):
            raise CaseError("give a time, or null, for every chunk of 'stream'", "/input/times")
        if any(later < earlier for earlier, later in pairwise(known)):
            raise CaseError("chunks come one after the other: no time is before an earlier one", "/input/times")

    def texts(self) -> list[tuple[str, str]]:
        """The output text by each form that gives it."""
        found = [] if self.text is None else [("text", self.text)]
        for name in ("tokens", "deltas"):
            parts: tuple[Token | InputDelta, ...] | None = getattr(self, name)
            if parts is not None:
                found.append((name, "".join([part.text for part in parts])))
        return found


def _same_ids(tokens: Iterable[Token], deltas: Iterable[InputDelta]) -> bool:
    """False only where both sides give every id and they differ."""
    known = [token.id for token in tokens]
    sent = [delta.ids for delta in deltas]
    if None in known or None in sent:
        return True
    return known == [one for ids in sent for one in ids or ()]


def to_piece(token: Token, vocab: Mapping[str, int], *, recorded: bool) -> Piece:
    """The piece a stored token stands for. `recorded`: whether ids of this case are a server's own."""
    raw = token.text.encode() if token.hex is None else bytes.fromhex(token.hex)
    kind = token.kind or _default_kind(token.id, token.text, vocab)
    return Piece(token.text, token.id, raw, kind, recorded and token.id is not None)


def to_token(piece: Piece, vocab: Mapping[str, int], *, keep_id: bool) -> Token:
    """The token that stores a piece; bytes and kind only where they do not follow from the rest."""
    token_id, text, extra = _stored(piece, vocab, keep_id=keep_id)
    return Token(id=token_id, text=text, **extra)


def token_data(piece: Piece, vocab: Mapping[str, int], *, keep_id: bool) -> list[Any]:
    """The same as a case has it in JSON."""
    token_id, text, extra = _stored(piece, vocab, keep_id=keep_id)
    return [token_id, text, extra] if extra else [token_id, text]


def _stored(piece: Piece, vocab: Mapping[str, int], *, keep_id: bool) -> tuple[int | None, str, dict[str, Any]]:
    token_id = piece.token_id if keep_id else None
    raw = None if piece.raw is None or piece.raw == piece.text.encode() else piece.raw.hex()
    kind = None if piece.kind == _default_kind(token_id, piece.text, vocab) else piece.kind
    return token_id, piece.text, _extra(raw, kind)


def _extra(raw: str | None, kind: PieceKind | None) -> dict[str, Any]:
    """The third item of a token in a case, empty where it has none."""
    if raw is None and kind is None:
        return {}
    return {key: value for key, value in (("hex", raw), ("kind", kind)) if value is not None}


def _default_kind(token_id: int | None, text: str, vocab: Mapping[str, int]) -> PieceKind:
    """A token whose text and id are a marker's is that marker; the same characters under other ids are text."""
    return "added" if token_id is not None and vocab.get(text) == token_id else "text"
