"""State-scoped literals: where is the next terminal, and what must wait because it may become one?

A Scope is the set of literals one state (or an argument parser in it) can see. The rule is leftmost, then longest, over
the whole output, so a result never depends on how the text was cut:

* a complete literal counts only when no longer literal of the scope could still start at its place or earlier;
* the earliest suffix of the text seen so far that is a proper prefix of some literal is held, never more.

In ids mode a marker that has an id may be a part of a longer literal (`<|close|>` of `<|close|>call<|sep|>`). Such a
literal counts only where each of these parts was given by its id.

At most (longest literal - 1) characters are held and looked at again, so the work is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from parsers.vocabulary.states import Constant
from parsers.vocabulary.types import Delta, FormatError, Mode, Piece

Match = tuple[int, str | None, int]
MARKED = frozenset({"special", "added"})  # kinds of pieces that may be a marker by their id
_SHORTEST_PART = 3  # characters


def _anywhere(at: int) -> bool:
    """In text mode the characters of a marker are the marker."""
    return True


class Scope:
    """Literals by terminal name. `find` answers with positions in the buffer it was given.

    `parts` are markers that only their ids mean. Where one stands in a literal, `find` asks `given`, which says of a
    place in the buffer whether a marker by its id begins there.
    """

    __slots__ = (
        "_first",
        "_free",
        "_names",
        "_needs",
        "_pattern",
        "_prefixes",
        "find_beginning",
        "literals",
        "longest",
    )

    def __init__(self, literals: Mapping[str, str], parts: Collection[str] = ()) -> None:
        self.literals = dict(literals)
        names = {text: name for name, text in self.literals.items()}
        texts = sorted(names, key=len, reverse=True)
        self._names = {text: names[text] for text in texts}
        self._needs = {text: places for text in texts if (places := _places_of(parts, text))}
        if any(not text for text in texts):
            raise FormatError("a terminal needs at least one character", "/terminals")
        self.longest = len(texts[0]) if texts else 0
        self._pattern = re.compile("|".join(map(re.escape, texts)) or r"(?!)")
        self._first = re.compile("[" + "".join(re.escape(t[0]) for t in texts) + "]" if texts else r"(?!)")
        self.find_beginning = self._first.search  # of a literal: the next character that one begins with
        self._prefixes = frozenset(text[:n] for text in texts for n in range(1, len(text)))
        whole = {text: min(self._needs.get(text, (len(text),))) for text in texts}  # before its first part
        self._free = frozenset(text[:n] for text, stop in whole.items() for n in range(1, min(stop + 1, len(text))))

    def find(self, buffer: str, pos: int, *, final: bool = False, given: Callable[[int], bool] = _anywhere) -> Match:
        """The next thing of interest at or after `pos`.

        (start, name, stop) is a terminal; (start, None, len(buffer)) with start < len(buffer) is text to hold;
        (len(buffer), None, len(buffer)) says that all of it is plain text. `final`: no more text will come.
        """
        size = len(buffer)
        begin = self.find_beginning(buffer, pos)
        if begin is None:
            return size, None, size
        if self._needs:
            hit = self._given_hit(buffer, begin.start(), given)
        else:
            found = self._pattern.search(buffer, begin.start())
            hit = None if found is None else (found.start(), self._names[found.group()], found.end())
        held = size if final else self._held(buffer, begin.start(), given)
        if hit is not None and hit[0] < held:
            return hit
        return held, None, size

    def _given_hit(self, buffer: str, pos: int, given: Callable[[int], bool]) -> Match | None:
        """The first literal, and there the longest, of which all parts were given by their ids."""
        found = self._pattern.search(buffer, pos)
        while found is not None:
            start = found.start()
            for text, name in self._names.items():
                if buffer.startswith(text, start) and self._is_given(text, start, given):
                    return start, name, start + len(text)
            found = self._pattern.search(buffer, start + 1)
        return None

    def _is_given(self, text: str, start: int, given: Callable[[int], bool], size: int | None = None) -> bool:
        """Return whether the parts of a literal that stands at `start` are given by their ids; with `size`, those in
        its first characters."""
        return all(given(start + place) for place in self._needs.get(text, ()) if size is None or place < size)

    def _held(self, buffer: str, pos: int, given: Callable[[int], bool]) -> int:
        """Return where the earliest suffix begins that could become a literal, or len(buffer)."""
        size = len(buffer)
        for start in range(max(pos, size - self.longest + 1), size):
            held = buffer[start:]
            if held in self._free or (held in self._prefixes and self._may_go_on(held, start, given)):
                return start
        return size

    def _may_go_on(self, held: str, start: int, given: Callable[[int], bool]) -> bool:
        """Return whether text at `start` begins a literal, as far as its parts are given by their ids. Such a part
        comes whole, so half of one is ordinary text."""
        texts = [text for text in self._names if text != held and text.startswith(held)]
        return any(self._is_given(text, start, given, len(held)) for text in texts)

    @property
    def begins(self) -> str:
        """A regular expression for the characters that a literal begins with; empty where there is no literal."""
        return "" if self._first.pattern == r"(?!)" else self._first.pattern

    def candidates(self, held: str) -> tuple[str, ...]:
        """Names of the literals that `held` is a proper prefix of."""
        return tuple(name for name, text in self.literals.items() if text != held and text.startswith(held))


def _places_of(parts: Collection[str], literal: str) -> tuple[int, ...]:
    """Return where parts begin in a literal, the longest one wherever several do."""
    places, at = [], 0
    while at < len(literal):
        size = max([len(part) for part in parts if literal.startswith(part, at)], default=0)
        places += [at] * (size > 0)
        at += size or 1
    return tuple(places)


# Deltas to lexer input: runs of text, and markers recognised by their token id.
#
# In text mode a delta is just its text. In ids mode a recorded piece whose text is a marker with an id of its own
# is a terminal, whatever surrounds it, and the same characters spelled by ordinary tokens stay text: the lexer is
# told to leave such literals alone (`by_id`), and to ask for such parts of other literals (`parts`).


@dataclass(slots=True, frozen=True)
class IdTerminal(Constant):
    """A marker recognised by its token id. `special` is the tokenizer's flag.

    `known` is false for a token that no literal of the format stands for; `is_part` says whether it stands in one.
    """

    text: str
    special: bool
    known: bool = True
    is_part: bool = False


class Scanner:
    """Splits deltas; `by_id` are the marker texts that only an id can mean in this run, `parts` are such texts inside
    other literals.

    With `drops`, special tokens that are no literal of the format are terminals too: unknown ones.
    """

    __slots__ = ("_drops", "_literals", "_within", "by_id", "mode", "parts")

    def __init__(
        self, mode: Mode, literals: Iterable[str], markers: Mapping[str, int] | None, *, drops: bool = False
    ) -> None:
        self.mode = mode
        self._drops = drops
        self._literals: frozenset[str] = frozenset()
        self.by_id: frozenset[str] = frozenset()
        self.parts: frozenset[str] = frozenset()
        if mode == "text":
            return
        known = markers or {}
        self._literals = frozenset(literals)
        self._within = "\n".join(self._literals)
        self.by_id = frozenset(text for text in self._literals if text in known)
        longer = "\n".join(self._literals - self.by_id)
        self.parts = frozenset(
            text for text in known if len(text) >= _SHORTEST_PART and text.strip() and text in longer
        )

    def scan(self, delta: Delta) -> list[str | IdTerminal]:
        """The delta as runs of text and id terminals, in order; adjacent text is one run."""
        if self.mode == "text":
            text = delta.text
            return [text] if text else []
        out: list[str | IdTerminal] = []
        run: list[str] = []
        for piece in delta.pieces:
            item = self._marker(piece) if piece.recorded and piece.kind in MARKED else None
            if item is None:
                run.append(piece.text)
                continue
            run.append(piece.text[: len(piece.text) - len(item.text)])
            if joined := "".join(run):
                out.append(joined)
            run = []
            out.append(item)
        if joined := "".join(run):
            out.append(joined)
        return out

    def _marker(self, piece: Piece) -> IdTerminal | None:
        """The marker that an added token is, if it means something here."""
        special, literal = piece.kind == "special", piece.text in self.by_id or piece.text in self._literals
        text = piece.text if literal else piece.marker
        known = text in self.by_id or (special and text in self._literals)
        is_part = text in self.parts
        dropped = self._drops and special and text not in self._within
        return IdTerminal(text, special, known, is_part) if known or is_part or dropped else None


def is_plain(delta: Delta) -> bool:
    """Return whether no piece of a delta may be a marker by its id."""
    pieces = delta.pieces
    return pieces[0].kind not in MARKED if len(pieces) == 1 else MARKED.isdisjoint([piece.kind for piece in pieces])


def slices(text: str, at: int, size: int) -> Iterator[str]:
    """A text that stands `at` in the output, in parts that end where the characters so far are a multiple of `size`."""
    start = 0
    for stop in (*range(size - at % size, len(text), size), len(text)):
        yield text[start:stop]
        start = stop
