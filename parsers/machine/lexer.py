"""State-scoped literals: where is the next terminal, and what must wait because it may become one?

A Scope is the set of literals one state (or an argument parser in it) can see. The rule is leftmost, then longest, over
the whole output, so a result never depends on how the text was cut:

* a complete literal counts only when no longer literal of the scope could still start at its place or earlier;
* the earliest suffix of the text seen so far that is a proper prefix of some literal is held, never more.

At most (longest literal - 1) characters are held and looked at again, so the work is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from parsers.vocabulary.states import Constant
from parsers.vocabulary.types import Delta, FormatError, Mode

Match = tuple[int, str | None, int]
_MARKED = frozenset({"special", "added"})  # kinds of pieces that may be a marker by their id


class Scope:
    """Literals by terminal name. `find` answers with positions in the buffer it was given."""

    __slots__ = ("_first", "_names", "_pattern", "_prefixes", "find_beginning", "literals", "longest")

    def __init__(self, literals: Mapping[str, str]) -> None:
        self.literals = dict(literals)
        self._names = {text: name for name, text in self.literals.items()}
        texts = sorted(self._names, key=len, reverse=True)
        if any(not text for text in texts):
            raise FormatError("a terminal needs at least one character", "/terminals")
        self.longest = len(texts[0]) if texts else 0
        self._pattern = re.compile("|".join(map(re.escape, texts)) or r"(?!)")
        self._first = re.compile("[" + "".join(re.escape(t[0]) for t in texts) + "]" if texts else r"(?!)")
        self.find_beginning = self._first.search  # of a literal: the next character that one begins with
        self._prefixes = frozenset(text[:n] for text in texts for n in range(1, len(text)))

    def find(self, buffer: str, pos: int, *, final: bool = False) -> Match:
        """The next thing of interest at or after `pos`.

        (start, name, stop) is a terminal; (start, None, len(buffer)) with start < len(buffer) is text to hold;
        (len(buffer), None, len(buffer)) says that all of it is plain text. `final`: no more text will come.
        """
        size = len(buffer)
        begin = self.find_beginning(buffer, pos)
        if begin is None:
            return size, None, size
        hit = self._pattern.search(buffer, begin.start())
        held = size if final else self._held(buffer, begin.start())
        if hit is not None and hit.start() < held:
            return hit.start(), self._names[hit.group()], hit.end()
        return held, None, size

    def _held(self, buffer: str, pos: int) -> int:
        """Return where the earliest suffix begins that could become a literal, or len(buffer)."""
        size = len(buffer)
        for start in range(max(pos, size - self.longest + 1), size):
            if buffer[start:] in self._prefixes:
                return start
        return size

    @property
    def begins(self) -> str:
        """A regular expression for the characters that a literal begins with; empty where there is no literal."""
        return "" if self._first.pattern == r"(?!)" else self._first.pattern

    def candidates(self, held: str) -> tuple[str, ...]:
        """Names of the literals that `held` is a proper prefix of."""
        return tuple(name for name, text in self.literals.items() if text != held and text.startswith(held))


# Deltas to lexer input: runs of text, and markers recognised by their token id.
#
# In text mode a delta is just its text. In ids mode a recorded piece whose text is a marker with an id of its own
# is a terminal, whatever surrounds it, and the same characters spelled by ordinary tokens stay text: the lexer is
# told to leave such literals alone (`by_id`).


@dataclass(slots=True)
class IdTerminal(Constant):
    """A marker recognised by its token id. `special` is the tokenizer's flag: only those may end a string.

    `known` is false for a special token that no literal of the format stands for.
    """

    text: str
    special: bool
    known: bool = True


class Scanner:
    """Splits deltas; `by_id` are the marker texts that only an id can mean in this run.

    With `drops`, special tokens that are no literal of the format are terminals too: unknown ones.
    """

    __slots__ = ("_drops", "_literals", "_within", "by_id", "mode")

    def __init__(
        self, mode: Mode, literals: Iterable[str], markers: Mapping[str, int] | None, *, drops: bool = False
    ) -> None:
        self.mode = mode
        self._drops = drops
        self._literals = frozenset(literals)
        self._within = "\n".join(self._literals)
        known = markers or {}
        self.by_id = frozenset(text for text in self._literals if text in known) if mode == "ids" else frozenset()

    def scan(self, delta: Delta) -> list[str | IdTerminal]:
        """The delta as runs of text and id terminals, in order; adjacent text is one run."""
        if self.mode == "text":
            text = delta.text
            return [text] if text else []
        out: list[str | IdTerminal] = []
        run: list[str] = []
        for piece in delta.pieces:
            special = piece.kind == "special"
            known = piece.text in self.by_id or (special and piece.text in self._literals)
            dropped = self._drops and special and piece.text not in self._within
            if not (piece.recorded and piece.kind in ("special", "added") and (known or dropped)):
                run.append(piece.text)
                continue
            if joined := "".join(run):
                out.append(joined)
            run = []
            out.append(IdTerminal(piece.text, piece.kind == "special", known))
        if joined := "".join(run):
            out.append(joined)
        return out


def is_plain(delta: Delta) -> bool:
    """Return whether no piece of a delta may be a marker by its id."""
    return _MARKED.isdisjoint([piece.kind for piece in delta.pieces])


def slices(text: str, at: int, size: int) -> Iterator[str]:
    """A text that stands `at` in the output, in parts that end where the characters so far are a multiple of `size`."""
    start = 0
    for stop in (*range(size - at % size, len(text), size), len(text)):
        yield text[start:stop]
        start = stop
