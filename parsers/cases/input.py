"""The model output of a case: text, tokens, deltas or a stream, and tokens as pieces and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from parsers.cases.fields import CaseError, Hex, Natural, Text
from parsers.formats.model import Model
from parsers.types import Piece, PieceKind


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
        extra = {key: value for key, value in (("hex", self.hex), ("kind", self.kind)) if value is not None}
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
    ids: tuple[Natural, ...] | None = None


def _no_token() -> PydanticCustomError:
    return PydanticCustomError("token", 'a token is [id, text] or [id, text, {{"hex": ..., "kind": ...}}]')


def _written_as_list(data: Any) -> Any:
    if not isinstance(data, list | tuple | Token):
        raise _no_token()
    return data


class Input(Model):
    """The model output, in at least one form; several forms must agree. `stream` is kept as data."""

    text: Text | None = None
    tokens: tuple[Annotated[Token, BeforeValidator(_written_as_list)], ...] | None = None
    deltas: tuple[InputDelta, ...] | None = None
    stream: tuple[dict[str, Any], ...] | None = None

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
        return self

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
    token_id = piece.token_id if keep_id else None
    raw = None if piece.raw is None or piece.raw == piece.text.encode() else piece.raw.hex()
    kind = None if piece.kind == _default_kind(token_id, piece.text, vocab) else piece.kind
    return Token(id=token_id, text=piece.text, hex=raw, kind=kind)


def _default_kind(token_id: int | None, text: str, vocab: Mapping[str, int]) -> PieceKind:
    """A token whose text and id are a marker's is that marker; the same characters under other ids are text."""
    return "added" if token_id is not None and vocab.get(text) == token_id else "text"
