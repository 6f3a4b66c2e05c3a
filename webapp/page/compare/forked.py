"""What an edited copy changed: the parts of a case that are not those of its parent, in words.

The outputs are aligned by their words and shown as what stayed, went and came, and so is every value too long to be
shown whole; the rest is a value before and after. Inside a run of letters without words, such as one long line of
base64, it is the characters that are told apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.cases.case import Case
from parsers.cases.engines import traced_chunking
from parsers.compare.divergence import shared_prefix
from parsers.replays.chunking import label
from webapp.glyphs import count, shorten
from webapp.page.compare.alignment import Hunk, text_hunks
from webapp.page.form.setup import decode_words

EXCERPT = 200
AROUND = 24
LONG_WORD = 40  # characters
HUNKS_SHOWN = 12


@dataclass(slots=True, frozen=True)
class Piece:
    """A piece of both outputs: `kind` is same, gone or new."""

    kind: str
    text: str


@dataclass(slots=True, frozen=True)
class Change:
    """One part that differs: `name` in a word, its value before and after; for the output and long values `pieces`, and
    `note` says how much of it."""

    name: str
    before: str = ""
    after: str = ""
    pieces: tuple[Piece, ...] = ()
    note: str = ""


@dataclass(slots=True, frozen=True)
class Fork:
    """What a copy changed of the case before it: of a stored one, which has the id `parent`, or of the run that was
    edited, which is at `url` and is `line` as JSON."""

    title: str
    changes: list[Change]
    parent: str = ""
    url: str = ""
    line: str = ""

    @property
    def is_edit(self) -> bool:
        """Return whether a run was edited that is stored nowhere, or an example."""
        return not self.parent

    @property
    def beside(self) -> str:
        """The query of the comparison with it; the page carries a case that is not stored as its first other text."""
        return "b_text=parent" if self.parent else "b_text=paste:1"

    @property
    def words(self) -> str:
        """Return the parts that differ, in a few words."""
        return ", ".join([change.name for change in self.changes]) or "nothing"


def fork_of(case_id: str, parent: Case, case: Case) -> Fork:
    """What `case` changed of `parent`, which is stored under an id."""
    return Fork(parent.title or f"case {case_id}", _changes(parent, case), case_id)


def edited_of(title: str, url: str, line: str, before: Case, case: Case) -> Fork:
    """What `case` changed of the run `before`, of which `line` is the JSON."""
    return Fork(title, _changes(before, case), url=url, line=line)


def _changes(before: Case, case: Case) -> list[Change]:
    return [*_output(before, case), *_values(before, case)]


def _output(parent: Case, case: Case) -> Iterator[Change]:
    before, after = parent.text(), case.text()
    if before != after:
        yield _in_pieces("text", before, after)


def _in_pieces(name: str, before: str, after: str) -> Change:
    hunks = [_narrowed(hunk, before, after) for hunk in text_hunks(before, after)]
    note = f"{count(len(hunks), 'place')}, {count(len(before), 'character')} before, {len(after):,} now"
    return Change(name, pieces=tuple(_pieces(hunks, before, after)), note=note)


def _narrowed(hunk: Hunk, before: str, after: str) -> Hunk:
    """A difference of long texts without what they begin and end with alike, which is no word that a reader knows."""
    gone, new = before[hunk.a0 : hunk.a1], after[hunk.b0 : hunk.b1]
    if min(len(gone), len(new)) <= LONG_WORD:
        return hunk
    head = shared_prefix(gone, new)
    tail = shared_prefix(gone[head:][::-1], new[head:][::-1])
    return Hunk(hunk.a0 + head, hunk.a1 - tail, hunk.b0 + head, hunk.b1 - tail)


def _pieces(hunks: Sequence[Hunk], before: str, after: str) -> Iterator[Piece]:
    """What went and came, with a little of what stayed around it."""
    done = 0
    for number, hunk in enumerate(hunks[:HUNKS_SHOWN]):
        yield Piece("same", _stayed(before[done : hunk.a0], first=number == 0))
        yield Piece("gone", _both_ends(before[hunk.a0 : hunk.a1]))
        yield Piece("new", _both_ends(after[hunk.b0 : hunk.b1]))
        done = hunk.a1
    rest = before[done:]
    more = len(hunks) - HUNKS_SHOWN
    yield Piece("same", rest if more <= 0 and len(rest) <= 2 * AROUND else f"{rest[:AROUND]}…")
    if more > 0:
        yield Piece("same", f" and {count(more, 'more place')}")


def _both_ends(text: str) -> str:
    """A text, or how it begins and ends and how much is between."""
    half = EXCERPT // 2
    return text if len(text) <= EXCERPT else f"{text[:half]}… {len(text) - 2 * half:,} more …{text[-half:]}"


def _stayed(text: str, *, first: bool) -> str:
    if len(text) <= 2 * AROUND:
        return text
    return f"{'' if first else text[:AROUND]}…{text[-AROUND:]}"


def _values(parent: Case, case: Case) -> Iterator[Change]:
    for name, value in PARTS.items():
        before, after = value(parent), value(case)
        if before == after:
            continue
        if before and after and max(len(before), len(after)) > EXCERPT:
            yield _in_pieces(name, before, after)
        else:
            yield Change(name, _shown(before), _shown(after))


def _shown(value: str) -> str:
    return shorten(value, EXCERPT) if value else "none"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""


def _dump(name: str) -> Callable[[Case], str]:
    def said(case: Case) -> str:
        part = case.model_dump(mode="json", by_alias=True, exclude_defaults=True, include={name}).get(name)
        return part if isinstance(part, str) else _json(part)

    return said


def _parser(case: Case) -> str:
    own = " of its own" if case.parser.format else ""
    return f"{case.parser.name}{own}" + (f" ({case.parser.engine})" if case.parser.engine else "")


def _grammar(case: Case) -> str:
    own = case.parser.format
    return _json(own.model_dump(mode="json", by_alias=True, exclude_defaults=True)) if own else ""


def _policy(case: Case) -> str:
    return ", ".join([f"{key} {value}" for key, value in sorted(case.parser.policy.items())])


PARTS: dict[str, Callable[[Case], str]] = {
    "parser": _parser,
    "grammar": _grammar,
    "policy": _policy,
    "contract": _dump("contract"),
    "tools": _dump("tools"),
    "request": _dump("context"),
    "chunking": lambda case: label(traced_chunking(case)),
    "tokenizer": lambda case: (case.tokenizer.name if case.tokenizer else None) or "",
    "decoding": decode_words,
    "server's stream": lambda case: count(len(case.input.stream), "chunk") if case.input.stream else "",
    "expected message": _dump("expect"),
    "comparison": _dump("compare"),
}
