"""What the rest of the application may expect of a tokenizer.

Ids and bytes are the truth, text is derived from them. An adapter is frozen once it is built: it can be shared by
threads, and nothing that is asked of it changes what it answers next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypedDict

from parsers.decoding.policy import Decoder
from parsers.vocabulary.types import Piece, PieceKind, UsageError

Origin = Literal["embedded", "none", "package", "folder", "upload", "hub", "case"]
Realism = Literal["demo", "real", "approximate", "none"]
DecodePolicy = Literal["exact"]


class Token(NamedTuple):
    """One entry of a vocabulary.

    `string` is its spelling in the vocabulary (`Ġthe`), `raw` the bytes it stands for. `kind` is special or added
    for markers, partial when the bytes alone are no whole characters, unknown for an id outside the vocabulary.
    """

    string: str
    raw: bytes
    kind: PieceKind


class TokenizerInfo(TypedDict):
    """One row of `GET /api/v1/tokenizers`; `kind` says where the vocabulary comes from.

    What is only known once a file has been read is 0 or '' until then.
    """

    name: str
    kind: Origin
    vocab_size: int
    label: str
    realism: Realism
    decoder: Decoder
    fingerprint: str


class MarkerState(NamedTuple):
    """How a vocabulary writes a marker: as `one` token, as `several`, or not at all (`absent`: no ids of it decode to
    the marker's text). `ids` are what encoding gives."""

    state: Literal["one", "several", "absent"]
    ids: tuple[int, ...]


class TokenStream(Protocol):
    """Decodes one token per step, as a server does while the model writes."""

    @property
    def pending(self) -> bytes:
        """The bytes of a character that has begun and is not whole yet."""

    def push(self, token_id: int) -> str:
        """The text that this token makes final; '' for a silent one."""

    def finish(self) -> str:
        """What the end makes final: U+FFFD for a character that was cut off, else ''."""


class TokenizerAdapter(Protocol):
    """A tokenizer, and the only way the application talks to one."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""

    @property
    def label(self) -> str:
        """Its name for the page, with the size of its vocabulary."""

    @property
    def realism(self) -> Realism:
        """Whether a real model cuts text as this one does."""

    @property
    def decoder(self) -> Decoder:
        """How its vocabulary spells bytes."""

    @property
    def vocab_size(self) -> int:
        """How many ids it has, markers included."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of everything that decides its ids: the model and the marker table."""

    @property
    def marker_ids(self) -> Mapping[str, int]:
        """The markers that are single tokens here whatever stands beside them, with their ids."""

    @property
    def info(self) -> TokenizerInfo:
        """Its row in the list of tokenizers."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, nothing added. Raises UsageError on lone surrogates."""

    def pieces(self, text: str) -> tuple[Piece, ...]:
        """`text` as pieces with *assumed* ids; their texts joined are `text`. Raises UsageError as encode does."""

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        """One piece per id; their texts joined are `decode(ids)`."""

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        """The text of `ids`. Unknown ids have none; `skip_special` leaves special=true tokens out."""

    def token(self, token_id: int) -> Token:
        """The vocabulary's entry for an id; its kind is unknown when there is none."""

    def id_of(self, marker: str) -> int | None:
        """The id of a marker that is a single token, else None."""

    def marker_state(self, text: str) -> MarkerState:
        """Whether a marker is one token here, several, or cannot be written."""

    def stream(self, policy: DecodePolicy = "exact", skip_special: bool = False) -> TokenStream:
        """A fresh stream that decodes token by token."""


def info_of(adapter: TokenizerAdapter, kind: Origin) -> TokenizerInfo:
    """The row of a tokenizer that is loaded."""
    return TokenizerInfo(
        name=adapter.name,
        kind=kind,
        vocab_size=adapter.vocab_size,
        label=adapter.label,
        realism=adapter.realism,
        decoder=adapter.decoder,
        fingerprint=adapter.fingerprint,
    )


def require_encodable(text: str) -> None:
    """Refuse text that no model can write: lone surrogates have no bytes in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the text has a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}; "
            "it has no UTF-8 bytes: remove it or replace it with U+FFFD"
        ) from None
