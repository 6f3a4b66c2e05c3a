"""Ten statements about the tokens of an output: what can be relied on, and what was assumed, lost or left out.

All of them are linear in the output. None raises on what a model wrote.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal

from parsers.cases.case import Case
from parsers.decoding import TokenFacts
from parsers.formats.model import Format
from parsers.vocabulary.types import Piece, UsageError
from webapp.glyphs import count, hexed, shorten
from webapp.page.form.setup import decode_sentence, decode_words
from webapp.page.inspect.index import TraceIndex
from webapp.page.inspect.tokens import known_tokens
from webapp.runs.runner import Run
from webapp.tokenizers.adapter import TokenizerAdapter
from webapp.vocabularies.losses import lost_words

State = Literal["ok", "note", "warn"]
_REPLACEMENT = "\ufffd"
_LISTED = 12
_BESIDE = "badges"  # what they are called beside a run
_REALISM = {
    "demo": "a demonstration: it cuts text as no model does",
    "real": "a model's own",
    "approximate": "a model's own, converted: some texts are cut otherwise",
    "lossy": "a model's own, whose ids do not keep the whole text",
    "none": "none: a token for every character, and no ids",
}


@dataclass(slots=True)
class Badge:
    """One statement. `label` is a few words, `sentence` says it whole; `token` (from 0) is the one it speaks of."""

    state: State
    label: str
    sentence: str
    token: int | None = None
    items: list[str] = field(default_factory=list)


@dataclass
class Subject:
    """Holds what is judged: the tokens as the model gave them, as the decode policy gives them, and their vocabulary.

    `vocabulary` is None where the tokenizer is not at hand.
    """

    case: Case
    format: Format
    exact: Sequence[Piece]
    pieces: Sequence[Piece]
    fates: Sequence[TokenFacts] | None
    vocabulary: TokenizerAdapter | None

    @cached_property
    def text(self) -> str:
        """The exact text."""
        return "".join([piece.text for piece in self.exact])

    @cached_property
    def ends(self) -> list[int]:
        """Return where each token ends in the exact text."""
        return list(accumulate(len(piece.text) for piece in self.exact))

    @cached_property
    def ids(self) -> list[int] | None:
        """The ids; None where there are not as many as tokens."""
        known = [piece.token_id for piece in self.exact if piece.token_id is not None]
        return known if len(known) == len(self.exact) else None

    @cached_property
    def marker_ids(self) -> dict[str, int]:
        """Markers that are one id, as far as that is known: of the vocabulary, the case and its tokens."""
        own = {_spelled(p): p.token_id for p in self.exact if p.kind in ("special", "added") and p.token_id is not None}
        return own | (self.case.markers() or {}) | dict(self.vocabulary.marker_ids if self.vocabulary else {})

    def at(self, offset: int) -> int:
        """The token that has the character at `offset`."""
        return bisect_left(self.ends, offset + 1)


def _spelled(piece: Piece) -> str:
    """Return what a token's bytes say, whatever became of its text; of a marker no blank before it."""
    return piece.marker or piece.text or (piece.raw or b"").decode("utf-8", "replace")


def badges(subject: Subject) -> dict[str, Badge]:
    """All ten by name, in order."""
    return {name: judge(subject) for name, judge in JUDGES.items()}


def _round_trip(s: Subject) -> Badge:
    if s.ids is None:
        return Badge("note", "no ids", "Not every token has an id, so there is nothing to decode.")
    if s.vocabulary is None:
        words = "The tokenizer is not at hand; the stored bytes are what is replayed."
        return Badge("note", "round trip not checked", words)
    given, back = s.case.text() or s.text, s.vocabulary.decode(s.ids)
    if given == back:
        return Badge("ok", "round trip", "Text to ids to text again gives the same text.")
    at = next((i for i, (one, other) in enumerate(zip(given, back, strict=False)) if one != other), -1)
    at = min(len(given), len(back)) if at < 0 else at
    one, other = (repr(text[at : at + 8]) if at < len(text) else "the end" for text in (given, back))
    words = (
        f"The ids decode to another text from character {at:,} on: {other} instead of {one}. {_reason(s, given, back)}"
    )
    return Badge("warn", f"differs at {at:,}", words, min(s.at(at), len(s.exact) - 1) if s.exact else None)


def _reason(s: Subject, given: str, back: str) -> str:
    if any(piece.kind == "unknown" for piece in s.exact):
        return "Some ids are not in the vocabulary and have no text."
    if s.vocabulary is not None and s.vocabulary.realism == "lossy":
        return _lost(s.vocabulary)
    for form in ("NFC", "NFKC"):
        if unicodedata.normalize(form, given) == back:
            return f"The tokenizer normalises text to {form}."
    if given.lstrip() == back.lstrip():
        return "White space at the beginning differs, as with SentencePiece."
    if _REPLACEMENT in back and _REPLACEMENT not in given:
        return "Some bytes are no whole characters."
    return "The text was changed after decoding, or the ids are of another vocabulary."


def _decoded(s: Subject) -> Badge:
    fates = s.fates or ()
    made = "".join([piece.text for piece in s.pieces])
    lost = [at for at, fate in enumerate(fates) if fate.lost]
    skipped = [at for at, fate in enumerate(fates) if fate.skipped]
    if made == s.text and not lost:
        return Badge("ok", "all text out", "The deltas joined are everything that the tokens say.")
    words = [f"{count(len(skipped), 'special token')} skipped"] if skipped else []
    size = sum(len(fates[at].lost) for at in lost)
    words += [f"{count(size, 'byte')} lost by the decode policy"] if lost else []
    stopped = [at for at, fate in enumerate(fates) if fate.stopped]
    words += ["the rest cut at the stop string"] if stopped else []
    words += [] if words else ["text changed"]
    first = min(skipped + lost + stopped, default=_first_change(s))
    label = f"{count(size, 'byte')} lost" if lost else words[0]
    text = f"Of {len(s.text):,} characters {len(made):,} came out: {', '.join(words)}."
    return Badge("warn" if lost else "note", label, text, first)


def _first_change(s: Subject) -> int | None:
    pairs = enumerate(zip(s.exact, s.pieces, strict=False))
    return next((at for at, (exact, piece) in pairs if exact.text != piece.text), None)


def _segmentation(s: Subject) -> Badge:
    if s.ids is None:
        return Badge("note", "tokens unknown", "Where the model's tokens ended is not recorded.")
    if not any(piece.recorded for piece in s.exact):
        words = "The text was cut by our tokenizer. The model may have cut it otherwise, its markers too."
        return Badge("note", "tokens assumed", words)
    if s.vocabulary is None:
        return Badge("ok", "as recorded", "The ids are the server's own.")
    canonical = s.vocabulary.encode(s.text) if _encodable(s) else []
    if canonical == s.ids:
        words = "The ids are the server's own, and the canonical ones of their text."
        return Badge("ok", "recorded, canonical", words)
    pairs = enumerate(zip(s.ids, canonical, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(s.ids), len(canonical), len(s.ids) - 1))
    words = f"The ids are the server's own. Encoding their text again gives others from token {at + 1:,} on."
    return Badge("note", f"not canonical at {at + 1:,}", words, at)


def _encodable(s: Subject) -> bool:
    return s.vocabulary is not None and s.vocabulary.realism != "none" and not re.search("[\ud800-\udfff]", s.text)


def _markers(s: Subject) -> Badge:
    tokens = s.format.tokens
    texts = list(tokens) or [text for text in s.format.terminals.values() if len(text) > 1]
    if not texts:
        return Badge("ok", "no markers", "This parser looks for no markers.")
    sizes = {text: _size(s, text) for text in texts}
    items = [f"`{text}`: {_sized(s, text, size)}" for text, size in sizes.items()]
    single = sum(size == 1 for size in sizes.values())
    words = f"{single} of {len(texts)} markers are one id."
    if single == len(texts):
        return Badge("ok", "markers are ids", words, items=items)
    if None in sizes.values():
        return Badge("note", "markers not known", f"{words} Of the others it is not known.", items=items)
    label = f"{len(texts) - single} of {len(texts)} no id"
    state: State = "warn" if tokens else "note"
    return Badge(state, label, f"{words} A model that has only these must spell the others.", items=items)


def _size(s: Subject, text: str) -> int | None:
    """Return how many tokens a marker is; 0 where the vocabulary cannot say it, None where that is not known."""
    if text in s.marker_ids:
        return 1
    if s.vocabulary is None:
        return None
    state = s.vocabulary.marker_state(text)
    return 0 if state.state == "absent" else len(state.ids)


def _sized(s: Subject, text: str, size: int | None) -> str:
    if size is None:
        return "not known"
    known = s.marker_ids.get(text)
    return f"id {known}" if known is not None else count(size, "token") if size else "absent"


def _marker_ids(s: Subject) -> Badge:
    known = s.marker_ids
    if not known or s.ids is None:
        return Badge("note", "text only", "No ids of markers are known: markers can be told by their text only.")
    bare = list(_bare(s, list(known)))
    if bare:
        at, text = bare[0]
        words = f"`{shorten(text, 40)}` stands here as ordinary text, without its id {known[text]}"
        more = f", and so do {count(len(bare) - 1, 'more marker')}" if len(bare) > 1 else ""
        return Badge("warn", "marker without id", f"{words}{more}. A parser that reads ids does not see it.", at)
    if (mute := _mute(s)) is not None:
        words = f"`{shorten(_spelled(s.exact[mute]), 40)}` is here as an id, its text is left out."
        return Badge("warn", "id without text", f"{words} A parser that reads text does not see it.", mute)
    return Badge("ok", "markers and ids agree", "Every marker in the text has its id, and every id its text.")


def _bare(s: Subject, texts: list[str]) -> Iterator[tuple[int, str]]:
    pattern = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True) if text)
    for match in re.finditer(pattern, s.text) if pattern else ():
        at = s.at(match.start())
        whole = s.exact[at].text == match[0]
        if not (whole and s.exact[at].kind in ("special", "added")):
            yield at, match[0]


def _mute(s: Subject) -> int | None:
    wanted = set(s.format.tokens) | set(s.format.terminals.values())
    pairs = enumerate(zip(s.exact, s.pieces, strict=False))
    return next((at for at, (exact, piece) in pairs if not piece.text and exact.text in wanted and exact.text), None)


def _unknown(s: Subject) -> Badge:
    found = [at for at, piece in enumerate(s.exact) if piece.kind == "unknown"]
    if not found:
        return Badge("ok", "ids known", "Every id is in the vocabulary.")
    ids = list(dict.fromkeys(s.exact[at].token_id for at in found))
    listed = ", ".join(map(str, ids[:_LISTED])) + (" …" if len(ids) > _LISTED else "")
    words = f"{count(len(found), 'token')} with an id that the vocabulary lacks: {listed}. They have no text."
    return Badge("warn", f"{len(found):,} unknown", words, found[0])


def _replaced(s: Subject) -> Badge:
    found = [at for at, piece in enumerate(s.exact) if _REPLACEMENT in piece.text]
    if not found:
        return Badge("ok", "no U+FFFD", "No character was replaced.")
    broken = [at for at in found if not _literal(s.exact, at)]
    times = count(len(found), "token")
    if broken:
        first = broken[0]
        words = f"{times} with U+FFFD: the bytes {hexed(s.exact[first].raw or b'')} are no whole character."
        return Badge("warn", "U+FFFD, from bytes", words, first)
    if s.exact[found[0]].recorded:
        return Badge("note", "U+FFFD, the model's", f"{times} with U+FFFD: the model wrote it itself.", found[0])
    words = f"{times} with U+FFFD in the text as it came: something had decoded it before, and the bytes are gone."
    return Badge("warn", "U+FFFD, pasted", words, found[0])


def _literal(pieces: Sequence[Piece], at: int) -> bool:
    """Return whether a U+FFFD that ends in token `at` is itself what the bytes spell; they may begin in the tokens
    before."""
    raw = pieces[at].raw
    if raw is None:
        return True
    before = b"".join([piece.raw or b"" for piece in pieces[max(0, at - 2) : at]])
    return _REPLACEMENT.encode() in before[-2:] + raw


def _end(s: Subject) -> Badge:
    ends = s.format.end_tokens
    last = next((at for at in reversed(range(len(s.exact))) if s.exact[at].kind != "unknown"), None)
    if last is not None and (text := _end_text(s, s.exact[last])):
        gone = " Its text is left out." if not s.pieces[last].text else ""
        return Badge("ok", "end token", f"The output ends with `{shorten(text, 40)}`.{gone}", last)
    if s.case.context.finish_reason == "length":
        return Badge("ok", "cut off", "The output was cut off at its length: no token ends it.")
    if not ends:
        return Badge("note", "no end token", "The format names no token that ends a turn, and none stands here.")
    words = f"No token ends the output: a server strips it, and a copied text lacks it. Of this format: `{ends[0]}`."
    return Badge("note", "end token stripped", words)


def _end_text(s: Subject, piece: Piece) -> str:
    text = _spelled(piece)
    ends = text in s.format.end_tokens or (piece.kind == "special" and text not in s.format.terminals.values())
    return text if ends else ""


def _policy(s: Subject) -> Badge:
    words = decode_words(s.case)
    if not words:
        return Badge("ok", "exact decode", "Every byte becomes text as soon as it can; special tokens keep theirs.")
    return Badge("note", shorten(words, 40), f"{decode_sentence(s.case)} Chosen: {words}.")


def _tokenizer(s: Subject) -> Badge:
    named = s.case.tokenizer.name if s.case.tokenizer else None
    if s.vocabulary is None:
        who = f"`{named}` is not at hand" if named else "It is not known which it is"
        return Badge("note", "tokenizer not at hand", f"The tokens are stored with the case. {who}.")
    realism = s.vocabulary.realism
    state: State = "ok" if realism == "real" else "note"
    label = {"none": "no tokenizer"}.get(realism, f"{realism} tokenizer")
    lost = f" {_lost(s.vocabulary)}" if realism == "lossy" else ""
    return Badge(state, label, f"{s.vocabulary.label}, {_REALISM[realism]}.{lost}")


def _lost(vocabulary: TokenizerAdapter) -> str:
    return f"Not kept: {'; '.join(lost_words(vocabulary.info['loses']))}."


JUDGES: dict[str, Callable[[Subject], Badge]] = {
    "round_trip": _round_trip,
    "decoded": _decoded,
    "segmentation": _segmentation,
    "markers": _markers,
    "marker_ids": _marker_ids,
    "unknown": _unknown,
    "replaced": _replaced,
    "end": _end,
    "policy": _policy,
    "tokenizer": _tokenizer,
}


@dataclass(slots=True, frozen=True)
class BadgeRow:
    """The badges as the page shows them: each with its name, and with the step of the token it speaks of."""

    badges: list[tuple[str, Badge, int | None]]
    summary: str


def has_badges(run: Run) -> bool:
    """True where the badges of a run are made already."""
    return run.beside.known(_BESIDE) is not None


def badge_row(run: Run, index: TraceIndex) -> BadgeRow:
    """The badges of a run, and how many are not fine; `index` knows the steps of their tokens."""
    found = badges_of(run)
    steps = {name: index.step_of_piece(badge.token) for name, badge in found.items() if badge.token is not None}
    warn, note = (sum(badge.state == state for badge in found.values()) for state in ("warn", "note"))
    words = [count(warn, "warning")] * bool(warn) + [count(note, "note")] * bool(note)
    row = [(name, badge, steps.get(name)) for name, badge in found.items()]
    return BadgeRow(row, ", ".join(words) or "all fine")


def badges_of(run: Run) -> dict[str, Badge]:
    """The ten badges of a run."""
    return run.beside.get(_BESIDE, lambda: _made(run))


def _made(run: Run) -> dict[str, Badge]:
    known = known_tokens(run)
    subject = Subject(run.case, run.format, known.exact, run.pieces, known.fates, known.vocabulary)
    try:
        return badges(subject)
    except UsageError:  # the tokenizer is gone, or took too long
        return badges(replace(subject, vocabulary=None))
