"""What is worked out once about the tokens of a run, and kept with it: their vocabulary, the equal ones, the badges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsers.cases.model import Case
from parsers.decoding import TokenFacts
from parsers.formats.model import Format
from parsers.vocabulary.types import Piece, UsageError
from webapp.page.badges import Badge, Subject, badges
from webapp.page.glyphs import count
from webapp.page.running import Run
from webapp.page.tokens import Repeats, Tokens
from webapp.runs.prepare import tokenizer_of
from webapp.tokenizers.adapter import TokenizerAdapter

COMPARED = 2_000  # distinct ids looked at before a vocabulary is taken for that of stored tokens


def known_tokens(run: Run) -> Tokens:
    """The tokens of a run with all that the strip says of them."""
    if run.known is None:
        exact, fates = _decoded(run)
        vocabulary = vocabulary_of(run.case, run.format, exact)
        run.known = Tokens(run.pieces, fates, vocabulary, Repeats(run.pieces), exact)
    return run.known


def _decoded(run: Run) -> tuple[Sequence[Piece], Sequence[TokenFacts] | None]:
    """The tokens as the model gave them, and what became of each where the case names a decode policy."""
    if run.case.decode is None or run.decoded is None or len(run.stored) != len(run.pieces):
        return run.pieces, None
    return run.stored, run.decoded.tokens


@dataclass(slots=True)
class BadgeRow:
    """The badges as the page shows them; each with the step of the token it speaks of."""

    badges: list[tuple[Badge, int | None]]
    summary: str


def badge_row(run: Run) -> BadgeRow:
    """The badges of a run, and how many are not fine."""
    found = badges_of(run)
    steps = [None if badge.token is None else run.index.step_of_piece(badge.token) for badge in found]
    warn, note = (sum(badge.state == state for badge in found) for state in ("warn", "note"))
    words = [count(warn, "warning")] * bool(warn) + [count(note, "note")] * bool(note)
    return BadgeRow(list(zip(found, steps, strict=True)), ", ".join(words) or "all fine")


def badges_of(run: Run) -> list[Badge]:
    """The ten badges of a run."""
    if run.badges is None:
        known = known_tokens(run)
        subject = Subject(run.case, run.format, known.exact, run.pieces, known.fates, known.vocabulary)
        try:
            run.badges = badges(subject)
        except UsageError:  # the tokenizer is gone, or took too long
            run.badges = badges(replace(subject, vocabulary=None))
    return run.badges


def vocabulary_of(case: Case, fmt: Format, pieces: Sequence[Piece]) -> TokenizerAdapter | None:
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
