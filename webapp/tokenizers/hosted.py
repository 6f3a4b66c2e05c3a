"""A tokenizer that lives in a child process, behind the adapter interface.

Here are kept: its markers, and the entries of the ids that were asked for, fetched in batches. Text is cut in the
child, ids become text here, by the spelling of the vocabulary, so that every token has its exact bytes.

A vocabulary whose normalizer changes the text (NFKC, a blank in front) does not give it back. Then the pieces are the
text itself, cut where the tokens begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from types import MappingProxyType

from parsers.decoding.policy import Decoder
from parsers.decoding.utf8 import Utf8Decoder
from parsers.vocabulary.types import Piece, PieceKind
from webapp.tokenizers.base import (
    DecodePolicy,
    MarkerState,
    Realism,
    Token,
    TokenizerInfo,
    TokenStream,
    require_encodable,
)
from webapp.tokenizers.detokenize import UNKNOWN, Entry, entry, pieces_of, require_policy
from webapp.tokenizers.host import Host
from webapp.tokenizers.markers import MarkerTable
from webapp.tokenizers.vocabulary import Vocabulary
from webapp.vocabularies.spelling import Spelling

BATCH = 4_000
MOST_ENTRIES = 100_000
MAX_ID = 1 << 32

Open = Callable[[], AbstractContextManager[Host]]


class HostedTokenizer:
    """One loaded tokenizer with the markers of one family. They are looked up in it and never added to it."""

    def __init__(self, vocabulary: Vocabulary, open_host: Open, table: MarkerTable) -> None:
        self._vocabulary = vocabulary
        self._open = open_host
        self._spelling: Spelling = vocabulary.spelling
        self._entries = Entries(vocabulary, open_host)
        added = vocabulary.ids
        self._marker_ids = {text: added[text] for text, _ in table if text in added}

    @property
    def name(self) -> str:
        return self._vocabulary.name

    @property
    def label(self) -> str:
        return self._vocabulary.label

    @property
    def realism(self) -> Realism:
        return self._vocabulary.realism

    @property
    def decoder(self) -> Decoder:
        return self._spelling.decoder

    @property
    def vocab_size(self) -> int:
        return self._vocabulary.vocab_size

    @property
    def fingerprint(self) -> str:
        return self._vocabulary.fingerprint

    @property
    def marker_ids(self) -> Mapping[str, int]:
        return MappingProxyType(self._marker_ids)

    @property
    def info(self) -> TokenizerInfo:
        return self._vocabulary.info

    def encode(self, text: str) -> list[int]:
        return self._encoded(text, offsets=False)[0]

    def pieces(self, text: str) -> tuple[Piece, ...]:
        ids, _ = self._encoded(text, offsets=False)
        found = self.pieces_of(ids, recorded=False)
        if "".join([piece.text for piece in found]) == text:
            return found
        ids, starts = self._encoded(text, offsets=True)
        return cut(text, self.pieces_of(ids, recorded=False), starts)

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        found = pieces_of(self._entries.of(ids), ids, recorded)
        self._strip(found)
        return found

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        if skip_special:
            added = self._vocabulary.added
            ids = [i for i in ids if i not in added or added[i].kind != "special"]
        return "".join([piece.text for piece in self.pieces_of(ids)])

    def token(self, token_id: int) -> Token:
        known = self._entries.of([token_id]).get(token_id)
        return UNKNOWN if known is None else Token(known.string, known.raw, known.kind)

    def id_of(self, marker: str) -> int | None:
        state = self.marker_state(marker)
        return state.ids[0] if state.state == "one" else None

    def marker_state(self, text: str) -> MarkerState:
        known = self._vocabulary.ids.get(text)
        if known is not None:
            return MarkerState("one", (known,))
        ids = tuple(self.encode(text))
        if self.decode(ids) != text:
            return MarkerState("absent", ids)
        return MarkerState("one" if len(ids) == 1 else "several", ids)

    def stream(self, policy: DecodePolicy = "exact", skip_special: bool = False) -> TokenStream:
        require_policy(policy)
        return HostedStream(self._entries, self._spelling, skip_special)

    def _encoded(self, text: str, *, offsets: bool) -> tuple[list[int], list[int]]:
        require_encodable(text)
        with self._open() as host:
            answer = host.call("encode", text=text, offsets=offsets)
        return answer["ids"], answer["starts"] or []

    def _strip(self, pieces: Sequence[Piece]) -> None:
        """Take away the blanks that the vocabulary puts before a text."""
        lead = Lead(self._spelling)
        for piece in pieces:
            if not lead.count:
                return
            taken = lead.take(piece.text, piece.kind) if piece.raw else 0
            if taken:
                piece.text = piece.text[taken:]
                piece.raw = (piece.raw or b"")[taken:]


class Lead:
    """The blanks before an output that are not part of it. `count` says how many may still be taken."""

    def __init__(self, spelling: Spelling) -> None:
        self._all = spelling.first
        self.count = 1 if spelling.first else spelling.strip

    def take(self, text: str, kind: PieceKind) -> int:
        """How many characters at the start of the next token's text go. Only blanks before the first other thing do."""
        blanks = len(text) - len(text.lstrip(" ")) if kind == "text" else 0
        taken = blanks if self._all else min(blanks, self.count)
        self.count = self.count - taken if taken == len(text) and not self._all and kind == "text" else 0
        return taken


class Entries:
    """The entries of a vocabulary, fetched from the child when they are first asked for."""

    def __init__(self, vocabulary: Vocabulary, open_host: Open) -> None:
        self._vocabulary = vocabulary
        self._open = open_host
        self._known: Mapping[int, Entry] = vocabulary.added

    def of(self, ids: Sequence[int]) -> Mapping[int, Entry]:
        """Entries by id, at least those of `ids`. What was given is never changed, so threads may share it."""
        known = self._known
        missing = [i for i in dict.fromkeys(ids) if i not in known and 0 <= i < MAX_ID]
        if missing:
            kept = known if len(known) < MOST_ENTRIES else self._vocabulary.added
            # Threads that fetch at once overwrite each other's table: then some entries are fetched again.
            self._known = known = {**kept, **dict(self._fetched([i for i in dict.fromkeys(ids) if i not in kept]))}
        return known

    def _fetched(self, ids: Sequence[int]) -> Iterator[tuple[int, Entry]]:
        with self._open() as host:
            for start in range(0, len(ids), BATCH):
                batch = [i for i in ids[start : start + BATCH] if 0 <= i < MAX_ID]
                for token_id, string in zip(batch, host.call("strings", ids=batch)["strings"], strict=True):
                    if string is not None:
                        yield token_id, entry(string, self._vocabulary.spelling.raw(string))


class HostedStream:
    """The decode policy `exact` over a vocabulary that is fetched token by token."""

    def __init__(self, entries: Entries, spelling: Spelling, skip_special: bool) -> None:
        self._entries = entries
        self._skip_special = skip_special
        self._decoder = Utf8Decoder()
        self._lead = Lead(spelling)

    @property
    def pending(self) -> bytes:
        return self._decoder.pending

    def push(self, token_id: int) -> str:
        known = self._entries.of([token_id]).get(token_id)
        if known is None or (self._skip_special and known.kind == "special"):
            return ""
        text = self._decoder.feed(known.raw)
        return text[self._lead.take(text, known.kind) :] if self._lead.count and known.raw else text

    def finish(self) -> str:
        return self._decoder.finish()


def cut(text: str, pieces: Sequence[Piece], starts: Sequence[int]) -> tuple[Piece, ...]:
    """The text cut where the tokens begin. A character of several tokens belongs to the last of them."""
    edges = [0]
    for start in starts[1:]:
        edges.append(max(edges[-1], start))
    found = []
    for piece, (begin, stop) in zip(pieces, pairwise([*edges, len(text)]), strict=True):
        part = text[begin:stop]
        kind = piece.kind if part == piece.text or not part else "text"
        found.append(Piece(part, piece.token_id, part.encode(), kind, piece.recorded))
    return tuple(found)
