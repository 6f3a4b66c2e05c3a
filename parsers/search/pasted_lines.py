"""What one line of a pasted text is: the head of a log's record, a frame, an error, or a sentence; and whether a
program printed lines that are such.

Linear: a line costs its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache

from parsers.search.line_forms import CLASS, ECHO, FRAME, HEAD, NAMED, NOISE, RAISED, WEAK_HEAD

_INSET = re.compile(r"^\s{2,}\S")
_BULLET = re.compile(r"^\s{0,8}(?:[-*•>#]{1,6}|\d{1,3}[.)])\s{1,4}")
_PLAIN = re.compile(r"[(\"'«„“‘¿¡*_]{0,3}[^\W\d_](?:[^\W\d_]|['’.-](?=[^\W\d_])){0,40}[)\"'»”“’*_]{0,3}[.,;:!?…]{0,3}")
_CAMEL = re.compile(r"[a-z][A-Z]")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = re.compile(r"[.!?…。！？:;：][)\"'»”“’*_]{0,3}\s*$")  # noqa: RUF001
_FEW, _MANY, _MOSTLY = 4, 8, 0.7  # words of a sentence that ends, of one that goes on, and the share that is plain


class Line(Enum):
    """What a line is by its form, the surest first."""

    FRAME = auto()  # a place in a program
    RAISED = auto()  # what befell a program, as no sentence begins
    HEAD = auto()  # the head of a log's record
    SAID = auto()  # a sentence
    NAMED = auto()  # an error, as a sentence may begin too
    WEAK = auto()  # the head of a record, likewise
    ECHO = auto()  # what a program shows below an error
    NOISE = auto()  # progress, rules
    INSET = auto()  # it is set in, and nothing else is known of it
    OTHER = auto()


_FORMS = ((Line.FRAME, FRAME), (Line.RAISED, RAISED), (Line.HEAD, HEAD))
_WEAKER = (
    (Line.NAMED, NAMED), (Line.WEAK, WEAK_HEAD), (Line.ECHO, ECHO), (Line.NOISE, NOISE), (Line.INSET, _INSET),
)  # fmt: skip
_PRINTED = frozenset(Line) - {Line.SAID, Line.INSET, Line.OTHER}  # a program printed it, as far as its form tells
_TRACED = (Line.FRAME, Line.RAISED)
_SHOWN, _DEEP = (Line.FRAME, Line.INSET, Line.ECHO), 5  # what a frame shows, and in how many lines
_OPENING = 2  # lines that say what the trace below them belongs to


@lru_cache(maxsize=4096)
def line_of(line: str) -> Line:
    """Return what a line is."""
    found = next((kind for kind, pattern in _FORMS if pattern.match(line)), None)
    if found is None and not _INSET.match(line) and is_sentence(line):
        found = Line.SAID
    return found or next((kind for kind, pattern in _WEAKER if pattern.match(line)), Line.OTHER)


def is_sentence(line: str) -> bool:
    """Return whether a line reads as a sentence, or a long part of one, of any language."""
    said = _BULLET.sub("", line, count=1)
    wide = len(_WIDE.findall(said))
    if wide >= _MANY or (wide >= _FEW and _ENDS.search(said)):
        return wide > len(said) * 0.3
    words = said.split()
    plain = sum([_PLAIN.fullmatch(word) is not None and not _CAMEL.search(word) for word in words])
    return len(words) >= (_FEW if _ENDS.search(said) else _MANY) and plain >= _MOSTLY * len(words)


def forms_of(lines: Sequence[str]) -> list[Line | None]:
    """What each line is, blank ones None. A sentence that names an error is that, and so is what stands right beside
    one: its message below it, its class below a frame, and what a program says above its frames, unless it introduces
    them."""
    kinds = [line_of(line) if line.strip() else None for line in lines]
    for at, kind in enumerate(kinds):
        if kind is Line.SAID and (NAMED.match(lines[at]) or _is_message(kinds, lines, at)):
            kinds[at] = Line.NAMED
    return kinds


def _is_message(kinds: Sequence[Line | None], lines: Sequence[str], at: int) -> bool:
    before = [kind for kind in kinds[max(0, at - _DEEP) : at] if kind is not None]
    named = Line.FRAME in before and before[-1] in _SHOWN and CLASS.match(lines[at])
    below = named or (at > 0 and kinds[at - 1] in (Line.RAISED, Line.NAMED))
    above = at == 0 and kinds[1:2] and kinds[1] in _TRACED and not lines[0].rstrip().endswith((":", "."))
    return bool(below or above)


def is_printed(forms: Sequence[Line | None]) -> bool:
    """Return whether a program printed lines of these forms, as far as they tell, and nobody says something about them.

    Half of them have a form of their own; the first does, or two at most say what a trace belongs to; the last is no
    sentence.
    """
    known = [form for form in forms if form is not None]
    opening = next((at for at, form in enumerate(known[: _OPENING + 1]) if form is not Line.OTHER), len(known))
    traced = known[opening : opening + 1]
    begun = bool(traced) and (traced[0] in _TRACED or (not opening and traced[0] in _PRINTED))
    if not begun or known[-1] is Line.SAID:
        return False
    formed = sum([form in _PRINTED for form in known])
    return formed >= len(known) / 2 and known.count(Line.SAID) <= len(known) / 3
