"""The token strip: the tokens of the window, each as a link to the step that fed it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from parsers.vocabulary.types import Piece
from webapp.page.glyphs import count, shorten, spell
from webapp.page.index import TraceIndex
from webapp.page.roles import Destination, Run, destinations, runs
from webapp.page.tokens import COLOURS, KINDS, Chip, Row, Tokens, hexed
from webapp.page.window import Window

ROW = 8  # bytes in a row of the Bytes tab


@dataclass(slots=True)
class Token:
    """One token. `number` counts from 1; `chip` stands for a token that yields no text of its own; `same` is the number
    of its group of equal tokens, 0 where it occurs only once."""

    number: int
    step: int
    runs: list[Run]
    label: str
    chip: Chip | None
    badge: str
    breaks: bool
    future: bool
    current: bool
    same: int
    revised: bool

    @property
    def classes(self) -> str:
        """The CSS classes of this token."""
        flags = {"even": self.number % 2 == 0, "future": self.future, self.badge: bool(self.badge)}
        flags |= {f"same-{self.same % COLOURS}": bool(self.same), "revised": self.revised}
        return " ".join(["token", *[name for name, on in flags.items() if on]])

    @property
    def attributes(self) -> Markup:
        """What the list box says of this option."""
        selected = "true" if self.current else "false"
        said = Markup(' aria-selected="{}" tabindex="{}" data-token').format(selected, 0 if self.current else -1)
        return said + Markup(' data-same="{}"').format(self.same) if self.same else said


@dataclass(slots=True)
class Facts:
    """What is known about the input of one step. `tokens`, `raw` and `span` in words; `rows`: of its one token.

    `equal`: which of the equal tokens it is, and the steps of the ones before and after it.
    """

    step: int
    tokens: str
    raw: str
    span: str
    becomes: list[Destination]
    rows: list[Row] = field(default_factory=list)
    equal: str = ""
    nearest: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Strip:
    """The tokens of the window, and how many there are outside it."""

    tokens: list[Token]
    before: int
    after: int
    facts: list[Facts]
    note: str
    hex_rows: list[tuple[int, str, str]]


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
        hex_rows=_hex_rows(index, window),
    )


def _hold_edges(index: TraceIndex, window: Window) -> set[int]:
    """Where held text begins or ends at any step of the window: tokens are split there, so that the cue can move."""
    steps = index.trace.steps[window.first - 1 : window.last]
    return {edge for step in steps for hold in step.holds for edge in (hold.start, hold.end)}


def _token(index: TraceIndex, known: Tokens, at: int, step: int, edges: set[int]) -> Token:
    piece, end = known.pieces[at], index.piece_ends[at]
    start = end - len(piece.text)
    own = index.step_of_piece(at)
    cuts = [edge for edge in edges if start < edge < end] if edges else []
    parts = runs(index, start, end, index.step(step).holds, cuts)
    chip = known.chip(at)
    revised = known.fates is not None and known.fates[at].revised
    why = dict.fromkeys([f", {part.title}" for part in parts if part.title] + [", taken back by the decoder"] * revised)
    return Token(
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
    )


def _label(piece: Piece, number: int, chip: Chip | None) -> str:
    ident = "" if piece.token_id is None else f", id {piece.token_id}"
    words = [spell(shorten(piece.text, 200))] if piece.text else []
    words += [] if chip is None else [chip.label]
    words += [KINDS[piece.kind]] if piece.kind != "text" and not (chip and chip.kind == "unknown") else []
    return f"{number}{ident}, {', '.join(words)}"


def _facts(index: TraceIndex, known: Tokens, number: int, own: list[int]) -> Facts:
    pieces, step = known.pieces, index.step(number)
    span = step.span
    raw = b"".join(pieces[at].raw or pieces[at].text.encode("utf-8", "surrogatepass") for at in own)
    facts = Facts(
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
            facts.rows[0] = Row("Part of", facts.rows[0].value, facts.rows[0].note)
    return facts


def _say_equal(index: TraceIndex, known: Tokens, at: int, facts: Facts) -> None:
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


def _hex_rows(index: TraceIndex, window: Window) -> list[tuple[int, str, str]]:
    """The window's text in rows: offset from its beginning, hexadecimal, printable ASCII."""
    raw = index.trace.text[window.start : min(window.end, window.start + 4096)].encode("utf-8", "surrogatepass")
    base = len(index.trace.text[: window.start].encode("utf-8", "surrogatepass"))
    rows = []
    for at in range(0, len(raw), ROW):
        part = raw[at : at + ROW]
        rows.append((base + at, part.hex(" ").upper(), "".join(chr(b) if 32 <= b < 127 else "." for b in part)))
    return rows
