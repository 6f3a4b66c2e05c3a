"""What the rest of the application may expect of a tokenizer, and the markers that one is asked for with.

Ids and bytes are the truth, text is derived from them. An adapter is frozen once it is built: it can be shared by
threads, and nothing that is asked of it changes what it answers next.

Only the chosen family's markers are ever in a vocabulary. With all of them, a Llama run would see `<tool_call>` as
one id, which no Llama can write.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypedDict

from parsers.decoding.policy import Decoder
from parsers.formats.model import Format
from parsers.vocabulary.types import Piece, PieceKind, UsageError
from webapp.vocabularies.losses import Loss

Origin = Literal["embedded", "none", "package", "folder", "upload", "hub", "case"]
Realism = Literal["demo", "real", "approximate", "lossy", "none"]
MarkerTable = tuple[tuple[str, bool], ...]  # sorted by text, so that two spellings of one table are one tokenizer
Splits = tuple[tuple[str, ...], ...]  # the tokens of each piece of markup that is not one token

# The largest real family has a few dozen markers of at most some thirty characters; tables come from users too.
_MAX_MARKERS = 256
_MAX_MARKER_CHARS = 128


class Token(NamedTuple):
    """One entry of a vocabulary.

    `string` is its spelling in the vocabulary (`Ġthe`), `raw` the bytes it stands for, `text` what these are as text:
    None for a partial one, whose bytes alone are no whole characters. `kind` is special or added for markers, unknown
    for an id outside the vocabulary.
    """

    string: str
    raw: bytes
    kind: PieceKind
    text: str | None = None


class TokenizerInfo(TypedDict):
    """One row of `GET /api/v1/tokenizers`; `kind` says where the vocabulary comes from.

    What is only known once a file has been read is 0 or '' until then. `fingerprint` is the SHA-256 (hex) of everything
    that decides the ids: the model and the marker table. `decoder` is how the vocabulary spells bytes; `loses` is what
    the ids do not keep of a text.
    """

    name: str
    kind: Origin
    vocab_size: int
    label: str
    realism: Realism
    decoder: Decoder
    fingerprint: str
    loses: list[Loss]


class MarkerState(NamedTuple):
    """Says how a vocabulary writes a marker: as `one` token, as `several`, or not at all (`absent`: no ids of it
    decode to the marker's text). `ids` are what encoding gives."""

    state: Literal["one", "several", "absent"]
    ids: tuple[int, ...]


class TooManyTokensError(UsageError):
    """A text has more than `most` tokens; `count` where all were counted."""

    def __init__(self, count: int | None, most: int) -> None:
        super().__init__(f"the text has {'many' if count is None else f'{count:,}'} tokens; at most {most:,} are taken")
        self.count = count


class TokenizerAdapter(ABC):
    """A tokenizer, and the only way the application talks to one.

    `info` is its row in the list of tokenizers. `marker_ids` holds the markers that are single tokens here whatever
    stands beside them.
    """

    def __init__(self, info: TokenizerInfo, marker_ids: Mapping[str, int]) -> None:
        self.info = info
        self.marker_ids = MappingProxyType(dict(marker_ids))

    @property
    def name(self) -> str:
        """The name it is chosen by."""
        return self.info["name"]

    @property
    def label(self) -> str:
        """Its name for the page, with the size of its vocabulary."""
        return self.info["label"]

    @property
    def realism(self) -> Realism:
        """Return how far it cuts text as a real model does."""
        return self.info["realism"]

    @property
    def decoder(self) -> Decoder:
        """Return how its vocabulary spells bytes."""
        return self.info["decoder"]

    @property
    def fingerprint(self) -> str:
        """The same for tokenizers that cut and number alike."""
        return self.info["fingerprint"]

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of `text`, nothing added. Raises UsageError on lone surrogates."""

    @abstractmethod
    def pieces(self, text: str, most: int | None = None) -> tuple[Piece, ...]:
        """`text` as pieces with *assumed* ids; their texts joined are `text`. Raises UsageError as encode does.

        Raises TooManyTokensError where there are more than `most`, which costs less than to make them all.
        """

    @abstractmethod
    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        """One piece per id; an unknown one has no text."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids."""
        return "".join([piece.text for piece in self.pieces_of(ids)])

    @abstractmethod
    def token(self, token_id: int) -> Token:
        """The vocabulary's entry for an id; its kind is unknown when there is none."""

    @abstractmethod
    def marker_state(self, text: str) -> MarkerState:
        """Return whether a marker is one token here, several, or cannot be written."""


def require_few(count: int, most: int | None, *, all_counted: bool = True) -> None:
    """Raise TooManyTokensError where there are more tokens than `most`."""
    if most is not None and count > most:
        raise TooManyTokensError(count if all_counted else None, most)


def require_encodable(text: str) -> None:
    """Refuse text that no model can write: lone surrogates have no bytes in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the text has a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}; "
            "it has no UTF-8 bytes: remove it or replace it with U+FFFD"
        ) from None


def markers_of(fmt: Format) -> dict[str, bool]:
    """The markers of a format that are single tokens, with their special flags.

    A format that says nothing of its tokens is one that somebody is just writing: its terminals are markers, but for
    single characters, which any vocabulary has, and texts too long for one token.
    """
    if "tokens" in fmt.model_fields_set:
        return {text: token.special for text, token in fmt.tokens.items()}
    texts = [text for text in fmt.terminals.values() if 1 < len(text) <= _MAX_MARKER_CHARS]
    return dict.fromkeys(texts[:_MAX_MARKERS], False)


def marker_table(markers: Mapping[str, bool]) -> MarkerTable:
    """`markers` checked and in their one order. Raises UsageError for a marker no vocabulary could hold."""
    if len(markers) > _MAX_MARKERS:
        raise UsageError(f"{len(markers)} markers are too many for one vocabulary: at most {_MAX_MARKERS}")
    for text in markers:
        if not text:
            raise UsageError("a marker is empty: remove it from the format's tokens")
        if len(text) > _MAX_MARKER_CHARS:
            raise UsageError(f"the marker {text[:20]!r}... has {len(text)} characters: at most {_MAX_MARKER_CHARS}")
        require_encodable(text)
    return tuple(sorted(markers.items()))
