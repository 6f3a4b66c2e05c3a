"""The token strip: the tokens of the window, each as a link to the step that fed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from parsers.types import Piece
from webapp.page.glyphs import count, shorten, spell
from webapp.page.index import TraceIndex
from webapp.page.roles import Destination, Run, destinations, runs
from webapp.page.window import Window

KINDS = {"text": "ordinary", "special": "special", "added": "added", "partial": "part of a character",
         "unknown": "not in the vocabulary"}  # fmt: skip

ROW = 8  # bytes in a row of the Bytes tab


@dataclass(slots=True)
class Token:
    """One token. `number` counts from 1; `mark` stands for a token that yields no text of its own."""

    number: int
    step: int
    runs: list[Run]
    label: str
    mark: str
    badge: str
    breaks: bool
    future: bool
    current: bool

    @property
    def classes(self) -> str:
        """The CSS classes of this token."""
        flags = {"even": self.number % 2 == 0, "future": self.future, "special": bool(self.badge)}
        return " ".join(["token", *[name for name, on in flags.items() if on]])

    @property
    def attributes(self) -> Markup:
        """What the list box says of this option."""
        selected = "true" if self.current else "false"
        return Markup(' aria-selected="{}" tabindex="{}" data-token').format(selected, 0 if self.current else -1)


@dataclass(slots=True)
class Facts:
    """What is known about the input of one step, in words."""

    step: int
    tokens: str
    raw: str
    span: str
    becomes: list[Destination]


@dataclass(slots=True)
class Strip:
    """The tokens of the window, and how many there are outside it."""

    tokens: list[Token]
    before: int
    after: int
    facts: list[Facts]
    note: str
    hex_rows: list[tuple[int, str, str]]


def strip(index: TraceIndex, pieces: Sequence[Piece], window: Window, step: int) -> Strip:
    """The strip of `window` with the cursor on `step`."""
    edges = _hold_edges(index, window)
    tokens = [_token(index, pieces[at], at, step, edges) for at in range(window.token_first, window.token_last)]
    by_step: dict[int, list[int]] = {}
    for token in tokens:
        by_step.setdefault(token.step, []).append(token.number - 1)
    return Strip(
        tokens=tokens,
        before=window.token_first,
        after=len(pieces) - window.token_last,
        facts=[
            _facts(index, pieces, number, by_step.get(number, [])) for number in range(window.first, window.last + 1)
        ],
        note=f"{count(len(index.trace.text), 'character')}, {count(len(pieces), 'token')}",
        hex_rows=_hex_rows(index, window),
    )


def _hold_edges(index: TraceIndex, window: Window) -> set[int]:
    """Where held text begins or ends at any step of the window: tokens are split there, so that the cue can move."""
    steps = index.trace.steps[window.first - 1 : window.last]
    return {edge for step in steps for hold in step.holds for edge in (hold.start, hold.end)}


def _token(index: TraceIndex, piece: Piece, at: int, step: int, edges: set[int]) -> Token:
    end = index.piece_ends[at]
    start = end - len(piece.text)
    own = index.step_of_piece(at)
    cuts = [edge for edge in edges if start < edge < end] if edges else []
    parts = runs(index, start, end, index.step(step).holds, cuts)
    why = dict.fromkeys([f", {part.title}" for part in parts if part.title])
    return Token(
        number=at + 1,
        step=own,
        runs=parts,
        label=_label(piece, at + 1) + "".join(why),
        mark="" if piece.text else (piece.raw.hex(" ").upper() if piece.raw else "no text"),
        badge=piece.kind if piece.kind in {"special", "added", "unknown"} else "",
        breaks=piece.text.endswith("\n"),
        future=own > step,
        current=own == step,
    )


def _label(piece: Piece, number: int) -> str:
    ident = "" if piece.token_id is None else f", id {piece.token_id}"
    words = spell(shorten(piece.text, 200)) if piece.text else "no text of its own"
    return f"{number}{ident}, {words}" + (f", {KINDS[piece.kind]}" if piece.kind != "text" else "")


def _facts(index: TraceIndex, pieces: Sequence[Piece], number: int, own: list[int]) -> Facts:
    span = index.step(number).span
    raw = b"".join(pieces[at].raw or pieces[at].text.encode("utf-8", "surrogatepass") for at in own)
    return Facts(
        step=number,
        tokens=_tokens_in_words(pieces, own) or "none: the output ended" * index.step(number).end or "a part of one",
        raw=raw.hex(" ").upper() if len(raw) <= 24 else raw[:24].hex(" ").upper() + f" … {len(raw):,} in all",
        span=f"{span.start:,}–{span.end:,}",
        becomes=destinations(index, span.start, span.end),
    )


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
