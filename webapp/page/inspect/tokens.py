"""What is known of single tokens: what the silent ones wait for, what a decode policy took, which are the same.

Everything about one token is found in constant time; `Repeats` is made once per output, in O(n).
"""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from parsers.cases.case import Case
from parsers.decoding import TokenFacts
from parsers.decoding.utf8 import Utf8Decoder
from parsers.formats.model import Format
from parsers.vocabulary.types import Piece, UsageError
from webapp.glyphs import count, hexed, shorten, show, spell
from webapp.page.inspect.index import Destination, RoleRun, TraceIndex, destinations, neighbours, runs
from webapp.page.inspect.window import Window
from webapp.runs.prepare import tokenizer_of
from webapp.runs.runner import Run
from webapp.tokenizers.adapter import TokenizerAdapter

KINDS = {"text": "ordinary", "special": "special", "added": "added, not special", "partial": "part of a character",
         "unknown": "not in the vocabulary"}  # fmt: skip
COLOURS = 8
_CURRENT = Markup(' aria-selected="true" tabindex="0" data-token')
_OTHER = Markup(' aria-selected="false" tabindex="-1" data-token')
LOOK = 64  # tokens to look ahead for the end of a character: it has four bytes, but unknown ids may stand between
LONGEST = 4  # bytes of a character
COMPARED = 2_000  # distinct ids looked at before a vocabulary is taken for that of stored tokens


@dataclass(slots=True, frozen=True)
class Chip:
    """Holds what stands for a token without text. `kind`: pending, lost, skipped, stopped, unknown or silent."""

    kind: str
    text: str
    words: str

    @property
    def html(self) -> Markup:
        """The text; what cannot be seen of a marker as glyphs."""
        return show(self.text) if self.kind in ("skipped", "stopped") else escape(self.text)

    @property
    def label(self) -> str:
        """Return what a screen reader says for it."""
        return f"{spell(self.text) if self.kind in ('skipped', 'stopped') else self.text}, {self.words}"


@dataclass(slots=True, frozen=True)
class _Row:
    """One line about the token under the cursor. `step` is where its link leads, where it has one."""

    name: str
    value: str
    note: str = ""
    step: int | None = None
    code: bool = False


class Repeats:
    """Which tokens are equal: the same id, or the same bytes where there are no ids."""

    __slots__ = ("_groups", "_numbers", "_places")

    def __init__(self, pieces: Sequence[Piece]) -> None:
        known: dict[Hashable, int] = {}
        different = {id(piece): piece for piece in pieces}
        groups = {one: known.setdefault(_key(piece), len(known)) for one, piece in different.items()}
        self._groups = array("i", map(groups.__getitem__, map(id, pieces)))
        self._places = [array("i") for _ in known]
        for at, group in enumerate(self._groups):
            self._places[group].append(at)
        numbers = itertools.count(1)
        self._numbers = [next(numbers) if len(places) > 1 else 0 for places in self._places]

    def number(self, at: int) -> int:
        """The number of the group of equal tokens that token `at` belongs to; 0 where it occurs only once."""
        return self._numbers[self._groups[at]]

    def place(self, at: int) -> tuple[int, int, int | None, int | None]:
        """Which occurrence token `at` is, of how many, and the ones before and after it."""
        places = self._places[self._groups[at]]
        return bisect_left(places, at) + 1, len(places), *neighbours(places, at)


def _key(piece: Piece) -> Hashable:
    return piece.token_id if piece.token_id is not None else (piece.raw or piece.text.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class Tokens:
    """The tokens of an output, what a decode policy made of them, and the vocabulary they are of, where it is known.

    `exact`: the tokens as the model gave them, before a decode policy.
    """

    pieces: Sequence[Piece]
    fates: Sequence[TokenFacts] | None = None
    vocabulary: TokenizerAdapter | None = None
    repeats: Repeats | None = None
    exact: Sequence[Piece] = ()
    piece: str = "token"  # what one is called

    def pending(self, at: int) -> bytes:
        """The bytes that wait after token `at` for the rest of their character."""
        if self.fates is not None:
            return self.fates[at].pending
        decoder = Utf8Decoder()
        for piece in self.pieces[max(0, at + 1 - LONGEST) : at + 1]:
            decoder.feed(piece.raw or b"")
        return decoder.pending

    def completion(self, at: int) -> int | None:
        """The next token that has text: where the character that token `at` is a part of comes out."""
        ahead = range(at + 1, min(len(self.pieces), at + 1 + LOOK))
        return next((later for later in ahead if self.pieces[later].text), None)

    def chip(self, at: int) -> Chip | None:
        """Return what stands for token `at`, where it gives no text of its own or loses some of it."""
        piece, fate = self.pieces[at], self.fates[at] if self.fates is not None else None
        if fate is not None and fate.skipped:
            return Chip("skipped", _spelled(piece), "id only, no text")
        if fate is not None and fate.stopped and not piece.text:
            return Chip("stopped", _spelled(piece), "no text: at or after the stop string")
        if fate is not None and fate.lost:
            return Chip("lost", hexed(fate.lost), "lost by server policy")
        pending = self.pending(at) if not piece.text or piece.kind == "partial" else b""
        if piece.text and not pending:
            return None
        if not piece.raw:
            return _without_bytes(piece)
        return Chip("pending", f"{hexed(pending or piece.raw)} …", f"no text yet, {self._completes(at)}")

    def _completes(self, at: int) -> str:
        done = self.completion(at)
        return "nothing completes it" if done is None else f"completes at token {done + 1:,}"

    def rows(self, at: int) -> list[_Row]:
        """Everything about token `at`, a line each."""
        piece = self.pieces[at]
        rows = [_Row(self.piece.capitalize(), f"{at + 1:,}", f"of {len(self.pieces):,}"), _id(piece)]
        if (string := self._string(piece)) is not None:
            rows.append(_Row("String", string, code=True))
        raw = piece.raw if piece.raw is not None else piece.text.encode("utf-8", "surrogatepass")
        rows += [_Row("Bytes", hexed(raw, 24) or "none", code=bool(raw)), _Row("Kind", KINDS[piece.kind])]
        return [*rows, *self._waiting(at), *self._fate(at)]

    def _string(self, piece: Piece) -> str | None:
        if self.vocabulary is None or piece.token_id is None:
            return None
        try:
            return shorten(self.vocabulary.token(piece.token_id).string, 80) or None
        except UsageError:  # the tokenizer is gone, or took too long
            return None

    def _waiting(self, at: int) -> list[_Row]:
        pending = self.pending(at)
        if not pending:
            return []
        return [_Row("Pending", hexed(pending), self._completes(at), code=True)]

    def _fate(self, at: int) -> list[_Row]:
        if self.fates is None:
            return []
        fate, rows = self.fates[at], []
        if fate.skipped:
            rows.append(_Row("Text", "none", "id only: left out by the decode options"))
        if fate.stopped:
            rows.append(_Row("Text", "none", "at or after the stop string"))
        if fate.lost:
            rows.append(_Row("Lost", hexed(fate.lost, 24), "by server policy", code=True))
        if fate.late:
            rows.append(_Row("Late", count(fate.late, "token"), "its text comes out so much later"))
        if fate.revised:
            rows.append(_Row("Revised", "the decoder took back what it had made of these bytes"))
        return rows


def _without_bytes(piece: Piece) -> Chip:
    if piece.kind == "unknown":
        return Chip("unknown", f"id {piece.token_id}", "no text, not in the vocabulary")
    return Chip("silent", "no text", "no text of its own")


def _id(piece: Piece) -> _Row:
    if piece.token_id is None:
        return _Row("Id", "none")
    return _Row("Id", str(piece.token_id), "recorded" if piece.recorded else "assumed", code=True)


def _spelled(piece: Piece) -> str:
    return (piece.raw or b"").decode("utf-8", "replace") or piece.text or "no text"


def known_tokens(run: Run) -> Tokens:
    """The tokens of a run with all that the strip says of them."""
    return run.beside.get("tokens", lambda: _known(run), size=lambda known: 16 * len(known.pieces) + 50_000)


def _known(run: Run) -> Tokens:
    exact, fates = _decoded(run)
    vocabulary = _vocabulary_of(run.case, run.format, exact)
    return Tokens(run.pieces, fates, vocabulary, Repeats(run.pieces), exact, run.piece)


def _decoded(run: Run) -> tuple[Sequence[Piece], Sequence[TokenFacts] | None]:
    if run.case.decode is None or run.decoded is None or len(run.stored) != len(run.pieces):
        return run.pieces, None
    return run.stored, run.decoded.tokens


def _vocabulary_of(case: Case, fmt: Format, pieces: Sequence[Piece]) -> TokenizerAdapter | None:
    """The vocabulary the tokens are of: the one that made them, or the one a case names, if their bytes agree."""
    stored = case.input.tokens is not None or case.input.deltas is not None or case.input.stream is not None
    if stored and (case.tokenizer is None or case.tokenizer.name is None):
        return None
    try:
        adapter = tokenizer_of(case, fmt)
        return adapter if not stored or _agrees(adapter, case, pieces) else None
    except UsageError:
        return None


def _agrees(adapter: TokenizerAdapter, case: Case, pieces: Sequence[Piece]) -> bool:
    if case.tokenizer is not None and case.tokenizer.fingerprint == adapter.fingerprint:
        return True
    spelled = {piece.token_id: piece.raw for piece in pieces if piece.token_id is not None and piece.raw}
    ids = list(spelled)[1 : COMPARED + 1]  # the first may have lost the blank that SentencePiece puts before a text
    adapter.pieces_of(ids)  # all at once: a tokenizer in a process of its own is asked but once
    known = ((adapter.token(token_id), spelled[token_id]) for token_id in ids)
    return bool(spelled) and all(token.kind == "unknown" or token.raw == raw for token, raw in known)


# The token strip: the tokens of the window, each as a link to the step that fed it.

ROW = 8  # bytes in a row of the Bytes tab
_BYTES_SHOWN = 4096


@dataclass(slots=True)
class _Token:
    """One token. `number` counts from 1; `chip` stands for a token that yields no text of its own; `same` is the number
    of its group of equal tokens, 0 where it occurs only once."""

    number: int
    step: int
    runs: list[RoleRun]
    label: str
    chip: Chip | None
    badge: str
    breaks: bool
    future: bool
    current: bool
    same: int
    revised: bool
    ends_step: bool

    @property
    def classes(self) -> str:
        """The CSS classes of this token."""
        flags = {"even": self.number % 2 == 0, "future": self.future, self.badge: bool(self.badge)}
        flags |= {f"same-{self.same % COLOURS}": bool(self.same), "revised": self.revised}
        flags |= {"ends-step": self.ends_step}
        return " ".join(["token", *[name for name, on in flags.items() if on]])

    @property
    def attributes(self) -> Markup:
        """Return what the list box says of this option."""
        same = f' data-same="{self.same}"' if self.same else ""
        return (_CURRENT if self.current else _OTHER) + Markup(same)  # noqa: S704 - of numbers alone


@dataclass(slots=True)
class _Facts:
    """Holds what is known about the input of one step. `tokens`, `raw` and `span` in words; `rows`: of its one token.

    `equal`: which of the equal tokens it is, and the steps of the ones before and after it.
    """

    step: int
    tokens: str
    raw: str
    span: str
    becomes: list[Destination]
    rows: list[_Row] = field(default_factory=list)
    equal: str = ""
    nearest: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class _Bytes:
    """Bytes in one row of the hexadecimal view that have one owner and came with one step."""

    raw: bytes
    role: str
    step: int

    @property
    def hex(self) -> str:
        """Two digits a byte, in groups."""
        return self.raw.hex(" ").upper()

    @property
    def ascii(self) -> str:
        """A character a byte."""
        return "".join([chr(byte) if 32 <= byte < 127 else "." for byte in self.raw])


@dataclass(slots=True)
class Strip:
    """The tokens of the window, and how many there are outside it. `hex_rows`: where each begins, and its bytes."""

    tokens: list[_Token]
    before: int
    after: int
    facts: list[_Facts]
    note: str
    hex_rows: list[tuple[int, list[_Bytes]]]


def strip(index: TraceIndex, pieces: Sequence[Piece], window: Window, step: int, known: Tokens | None = None) -> Strip:
    """The strip of `window` with the cursor on `step`; `known` is what else is known of the tokens."""
    known = known or Tokens(pieces)
    edges = _hold_edges(index, window)
    tokens = [_token(index, known, at, step, edges) for at in range(window.token_first, window.token_last)]
    by_step: dict[int, list[int]] = {}
    for token in tokens:
        by_step.setdefault(token.step, []).append(token.number - 1)
    return Strip(
        tokens=tokens,
        before=window.token_first,
        after=len(pieces) - window.token_last,
        facts=[
            _facts(index, known, number, by_step.get(number, [])) for number in range(window.first, window.last + 1)
        ],
        note=f"{count(len(index.trace.text), 'character')}, {count(len(pieces), 'token')}",
        hex_rows=_hex_rows(index, [(run, token.step) for token in tokens for run in token.runs]),
    )


def _hold_edges(index: TraceIndex, window: Window) -> set[int]:
    """Return where held text begins or ends at any step of the window: tokens are split there, so that the cue can
    move."""
    steps = map(index.step, range(window.first, window.last + 1))
    return {edge for step in steps for hold in step.holds for edge in (hold.start, hold.end)}


def _token(index: TraceIndex, known: Tokens, at: int, step: int, edges: set[int]) -> _Token:
    piece, end = known.pieces[at], index.piece_ends[at]
    start = end - len(piece.text)
    own = index.step_of_piece(at)
    cuts = [edge for edge in edges if start < edge < end] if edges else []
    parts = runs(index, start, end, index.step(step).holds, cuts)
    chip = known.chip(at)
    revised = known.fates is not None and known.fates[at].revised
    why = dict.fromkeys([f", {part.title}" for part in parts if part.title] + [", taken back by the decoder"] * revised)
    return _Token(
        number=at + 1,
        step=own,
        runs=parts,
        label=_label(piece, at + 1, chip) + "".join(why),
        chip=chip,
        badge=piece.kind if piece.kind in {"special", "added", "unknown"} else "",
        breaks=piece.text.endswith("\n"),
        future=own > step,
        current=own == step,
        same=known.repeats.number(at) if known.repeats else 0,
        revised=revised,
        ends_step=at + 1 == len(known.pieces) or index.step_of_piece(at + 1) != own,
    )


def _label(piece: Piece, number: int, chip: Chip | None) -> str:
    ident = "" if piece.token_id is None else f", id {piece.token_id}"
    words = [spell(shorten(piece.text, 200))] if piece.text else []
    words += [] if chip is None else [chip.label]
    words += [KINDS[piece.kind]] if piece.kind != "text" and not (chip and chip.kind == "unknown") else []
    return f"{number}{ident}, {', '.join(words)}"


def _facts(index: TraceIndex, known: Tokens, number: int, own: list[int]) -> _Facts:
    pieces, step = known.pieces, index.step(number)
    span = step.span
    raw = b"".join(pieces[at].raw or pieces[at].text.encode("utf-8", "surrogatepass") for at in own)
    facts = _Facts(
        step=number,
        tokens=_tokens_in_words(pieces, own) or "none: the output ended" * step.end or "a part of one",
        raw=hexed(raw, 24),
        span=f"{span.start:,}–{span.end:,}",
        becomes=destinations(index, span.start, span.end),
    )
    part = bisect_right(index.piece_ends, span.start)
    one = own or ([part] if span.end > span.start and part < len(pieces) else [])
    if len(one) == 1:
        facts.rows = known.rows(one[0])
        _say_equal(index, known, one[0], facts)
        if not own:
            facts.rows[0] = _Row("Part of", facts.rows[0].value, facts.rows[0].note)
    return facts


def _say_equal(index: TraceIndex, known: Tokens, at: int, facts: _Facts) -> None:
    if known.repeats is None or not known.repeats.number(at):
        return
    rank, size, before, after = known.repeats.place(at)
    facts.equal = f"{rank:,} of {size:,} equal tokens"
    places = (("previous", before), ("next", after))
    facts.nearest = [(word, index.step_of_piece(place)) for word, place in places if place is not None]


def _tokens_in_words(pieces: Sequence[Piece], own: list[int]) -> str:
    if len(own) > 3:
        return f"{own[0] + 1:,} to {own[-1] + 1:,}"
    words = []
    for at in own:
        ident = "no id" if pieces[at].token_id is None else f"id {pieces[at].token_id}"
        words.append(f"{at + 1:,}, {ident}, {KINDS[pieces[at].kind]}")
    return "; ".join(words)


def _hex_rows(index: TraceIndex, parts: Sequence[tuple[RoleRun, int]]) -> list[tuple[int, list[_Bytes]]]:
    """The first bytes of the window in rows; `parts` are its runs, each with the step that fed it."""
    base = len(index.trace.text[: parts[0][0].start].encode("utf-8", "surrogatepass")) if parts else 0
    rows: list[tuple[int, list[_Bytes]]] = []
    at = 0
    for run, step in parts:
        raw = run.text.encode("utf-8", "surrogatepass")
        while raw and at < _BYTES_SHOWN:
            if at % ROW == 0:
                rows.append((base + at, []))
            room = ROW - at % ROW
            rows[-1][1].append(_Bytes(raw[:room], run.role, step))
            at, raw = at + len(raw[:room]), raw[room:]
    return rows
